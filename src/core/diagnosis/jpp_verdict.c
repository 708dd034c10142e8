
/*
 * The verdict: one sentence that names the most severe finding, its owner, and
 * the directive that bounds it.
 */


#include "jpp_diagnosis.h"


/* what is below this share of all memory, in per cent, is not worth a name */
#define JPP_VERDICT_SHARE  10


const char *const  jpp_severities[] = { "Healthy", "Warning", "Critical" };


#define jpp_verdict_add(verdict, ...)                                         \
    jpp_text_add((verdict)->text, JPP_VERDICT_TEXT, __VA_ARGS__)


/* " (proxy_buffers 64 64k; 30 requests of 4.0 MiB each; nginx.conf:41)" */

static void
jpp_verdict_bound(jpp_verdict_t *verdict, const jpp_holder_t *holder)
{
    bool         has_units;
    const char  *before;

    has_units = holder->units != NULL && holder->n_units != 0;
    before = " (";

    if (holder->bound[0] != '\0') {
        jpp_verdict_add(verdict, "%s%s", before, holder->bound);
        before = "; ";
    }

    if (has_units && holder->n_units == 1) {
        jpp_verdict_add(verdict, "%sone of the %s", before, holder->units);

    } else if (has_units) {
        jpp_verdict_add(verdict, "%s%" PRIu64 " %s of %s each", before,
                        holder->n_units, holder->units,
                        jpp_bytes(holder->bytes / holder->n_units));
    }

    before = has_units ? "; " : before;

    if (holder->place[0] != '\0') {
        jpp_verdict_add(verdict, "%s%s", before, holder->place);
        before = "; ";
    }

    if (before[0] == ';') {
        jpp_verdict_add(verdict, ")");
    }
}


static void
jpp_verdict_owner(jpp_verdict_t *verdict, const char *owner, const char *place)
{
    jpp_print(verdict->owner, "%s", owner);
    jpp_print(verdict->place, "%s", place);
}


/* "120.0 MiB of 129.0 MiB are upstream buffers of location /export/ (...)" */

static void
jpp_verdict_holder(jpp_verdict_t *verdict, const jpp_holder_t *holder,
    uint64_t bytes, uint64_t all)
{
    jpp_verdict_owner(verdict, holder->who, holder->place);

    jpp_verdict_add(verdict, "%s of %s are %s", jpp_bytes(bytes),
                    jpp_bytes(all), holder->who);
    jpp_verdict_bound(verdict, holder);
}


uint64_t
jpp_verdict_total(const jpp_telemetry_t *telemetry)
{
    uint64_t           sum;
    const jpp_zone_t  *zone;

    sum = jpp_fleet_anon(telemetry->fleet);

    jpp_each(zone, telemetry->zones, telemetry->n_zones) {
        sum += zone->is_own ? 0 : jpp_less(zone->size, zone->free);
    }

    return sum;
}


/* What keeps a worker that does not answer may be known. */

static void
jpp_verdict_stuck(jpp_verdict_t *verdict, const jpp_telemetry_t *telemetry,
    int64_t pid)
{
    char                text[JPP_FINDING_STALL], owner[JPP_STALL_OWNER];
    const jpp_stall_t  *stall;

    jpp_each(stall, telemetry->stalls, telemetry->n_stalls) {
        if (stall->pid == pid && stall->state == JPP_STALL_LASTS) {
            jpp_verdict_owner(verdict, jpp_stall_owner(stall, owner),
                              stall->place);
            jpp_ascii_clean(verdict->place);
            jpp_verdict_add(verdict, "; %s",
                            jpp_finding_stall(stall, "it", text));
            return;
        }
    }
}


static void
jpp_verdict_missing(jpp_verdict_t *verdict, const jpp_telemetry_t *telemetry)
{
    const jpp_fleet_t    *fleet;
    const jpp_missing_t  *missing;

    verdict->severity = JPP_VERDICT_CRITICAL;
    verdict->id = "missing-worker";
    jpp_print(verdict->link, "status");

    fleet = telemetry->fleet;
    missing = fleet->missing;

    if (fleet->n_missing == 0) {
        jpp_verdict_add(verdict, "no worker answered");
        return;
    }

    jpp_verdict_add(verdict, "%s did not answer: %.300s",
                    jpp_worker_name(&missing->who), missing->why);
    jpp_verdict_stuck(verdict, telemetry, missing->who.pid);

    if (fleet->n_missing > 1) {
        jpp_verdict_add(verdict, "; %zu other worker%s did not answer either",
                        fleet->n_missing - 1, fleet->n_missing == 2 ? "" : "s");
    }
}


static void
jpp_verdict_healthy(jpp_verdict_t *verdict, const jpp_telemetry_t *telemetry)
{
    uint64_t             all, left;
    const jpp_holder_t  *holder;
    const jpp_cgroup_t  *cgroup;

    verdict->severity = JPP_VERDICT_HEALTHY;
    verdict->id = "healthy";

    all = jpp_verdict_total(telemetry);

    jpp_verdict_add(verdict, "%zu worker%s %s", telemetry->fleet->n,
                    telemetry->fleet->n == 1 ? " holds" : "s hold",
                    jpp_bytes(all));

    holder = telemetry->holders;

    if (telemetry->n_holders != 0
        && holder->bytes > all / 100 * JPP_VERDICT_SHARE)
    {
        jpp_verdict_owner(verdict, holder->who, holder->place);

        /* not all of what is allocated was ever touched */

        jpp_verdict_add(verdict, holder->bytes <= all ? ", %s of it %s"
                                 : "; %s set aside, not all of it touched, "
                                   "for %s",
                        jpp_bytes(holder->bytes), holder->who);
        jpp_verdict_bound(verdict, holder);
        jpp_print(verdict->link, "pools?format=top");
    }

    cgroup = telemetry->cgroup;
    left = jpp_cgroup_left(cgroup);

    if (left != JPP_NONE) {
        jpp_verdict_add(verdict, "; %s left below the limit of %s",
                        jpp_bytes(left),
                        jpp_bytes(cgroup->levels[cgroup->binding].limit));
    }
}


/* The first one that is not acknowledged; NULL: all are. */

static const jpp_finding_t *
jpp_verdict_first(const jpp_finding_t *findings, size_t n)
{
    const jpp_finding_t  *first, *finding;

    first = NULL;

    jpp_each(finding, findings, n) {
        if (finding->acknowledged != 0) {
            continue;
        }

        first = finding;

        /* stalls of nobody knows what say less than what comes next */

        if (finding->number != JPP_FINDING_STALLS
            || finding->owner[0] != '\0')
        {
            break;
        }
    }

    return first;
}


void
jpp_verdict_finding(const jpp_telemetry_t *telemetry,
    const jpp_finding_t *finding, jpp_verdict_t *verdict)
{
    uint64_t             bytes;
    const jpp_holder_t  *holder;

    memset(verdict, 0, sizeof(jpp_verdict_t));

    verdict->severity = finding->is_critical ? JPP_VERDICT_CRITICAL
                                             : JPP_VERDICT_WARNING;
    verdict->id = finding->id;
    verdict->since = finding->since;
    jpp_print(verdict->link, "%s", finding->link);

    /* an owner that holds half of what the finding is about explains it */

    holder = jpp_finding_holder(telemetry, finding);

    if (holder != NULL && strcmp(holder->who, finding->owner) == 0) {
        bytes = finding->pid != 0 ? holder->worker_bytes : holder->bytes;

        jpp_verdict_holder(verdict, holder, bytes,
                           jpp_larger(bytes, finding->bytes));
        jpp_verdict_add(verdict, "; %s", finding->because);
        return;
    }

    jpp_verdict_owner(verdict, finding->owner, finding->place);

    if (finding->owner[0] != '\0') {
        jpp_verdict_add(verdict, "%s", finding->because);
        return;
    }

    jpp_verdict_add(verdict, "%s: %s", finding->what, finding->because);

    if (finding->bytes != 0 && telemetry->n_holders != 0) {
        jpp_verdict_add(verdict, "; of all workers, ");
        jpp_verdict_holder(verdict, telemetry->holders,
                           telemetry->holders[0].bytes,
                           jpp_verdict_total(telemetry));
    }
}


void
jpp_verdict(const jpp_telemetry_t *telemetry, const jpp_finding_t *findings,
    size_t n, jpp_verdict_t *verdict)
{
    const jpp_fleet_t    *fleet;
    const jpp_finding_t  *first;

    memset(verdict, 0, sizeof(jpp_verdict_t));

    fleet = telemetry->fleet;

    if (fleet->n_missing != 0 || fleet->n == 0) {
        jpp_verdict_missing(verdict, telemetry);
        verdict->n_more = n;
        return;
    }

    first = jpp_verdict_first(findings, n);

    if (first != NULL) {
        jpp_verdict_finding(telemetry, first, verdict);
        verdict->n_more = n - 1;
        return;
    }

    jpp_verdict_healthy(verdict, telemetry);
    verdict->n_more = n;

    if (n != 0) {
        jpp_verdict_add(verdict, "; %zu finding%s acknowledged", n,
                        n == 1 ? " is" : "s are");
    }
}


void
jpp_verdict_line(jpp_sink_t *sink, const jpp_verdict_t *verdict)
{
    jpp_sink_printf(sink, "%s: %s.\n\n", jpp_severities[verdict->severity],
                    verdict->text);
}


void
jpp_verdict_json(jpp_json_t *json, const jpp_verdict_t *verdict)
{
    if (verdict == NULL) {
        jpp_json_null(json, "verdict");
        return;
    }

    jpp_json_open(json, "verdict", '{');

    jpp_json_str(json, "severity", jpp_severities[verdict->severity]);
    jpp_json_str(json, "id", verdict->id);
    jpp_json_str(json, "text", verdict->text);
    jpp_json_filled(json, "owner", verdict->owner);
    jpp_json_filled(json, "place", verdict->place);
    jpp_json_filled(json, "link", verdict->link);
    jpp_json_time(json, "since", verdict->since);

    jpp_json_close(json, '}');
}
