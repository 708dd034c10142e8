
#include "jpp_verdict.h"


/* what is below this share of all memory, in per cent, is not worth a name */
#define JPP_VERDICT_SHARE  10


const char *const  jpp_severities[] = { "Healthy", "Warning", "Critical" };


static void
jpp_verdict_add(jpp_verdict_t *verdict, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
jpp_verdict_add(jpp_verdict_t *verdict, const char *fmt, ...)
{
    size_t   len;
    va_list  args;

    len = strlen(verdict->text);

    va_start(args, fmt);
    (void) vsnprintf(verdict->text + len, JPP_VERDICT_TEXT - len, fmt, args);
    va_end(args);
}


/* " (proxy_buffers 64 64k; 30 requests of 4.0 MiB)" */

static void
jpp_verdict_bound(jpp_verdict_t *verdict, const jpp_holder_t *holder)
{
    char         size[JPP_UNITS_TEXT];
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
                        jpp_units_bytes(holder->bytes / holder->n_units,
                                        size));
    }

    if (has_units || before[0] == ';') {
        jpp_verdict_add(verdict, ")");
    }
}


/* "120.0 MiB of 129.0 MiB are upstream buffers of location /export/ (...)" */

static void
jpp_verdict_holder(jpp_verdict_t *verdict, const jpp_holder_t *holder,
    uint64_t bytes, uint64_t all)
{
    char  its[JPP_UNITS_TEXT], whole[JPP_UNITS_TEXT];

    verdict->holder = holder;

    jpp_verdict_add(verdict, "%s of %s are %s", jpp_units_bytes(bytes, its),
                    jpp_units_bytes(all, whole), holder->who);
    jpp_verdict_bound(verdict, holder);
}


/* Name the owner that holds half of what FINDING is about; false: none does. */

static bool
jpp_verdict_explains(jpp_verdict_t *verdict, const jpp_telemetry_t *telemetry,
    const jpp_finding_t *finding)
{
    size_t               i;
    uint64_t             bytes;
    const jpp_holder_t  *holder;

    for (i = 0; i < telemetry->n_holders; i++) {
        holder = &telemetry->holders[i];
        bytes = holder->bytes;

        if (finding->pid != 0) {
            bytes = holder->worker.pid == finding->pid ? holder->worker_bytes
                                                       : 0;
        }

        if (finding->bytes != 0 && bytes >= finding->bytes / 2) {
            jpp_verdict_holder(verdict, holder, bytes,
                               jpp_larger(bytes, finding->bytes));
            return true;
        }
    }

    return false;
}


uint64_t
jpp_verdict_total(const jpp_telemetry_t *telemetry)
{
    size_t    i;
    uint64_t  sum;

    for (i = 0, sum = 0; i < telemetry->fleet->n; i++) {
        jpp_add_known(&sum,
                      telemetry->fleet->workers[i].activity.usage.rss_anon);
    }

    for (i = 0; i < telemetry->n_zones; i++) {
        if (!telemetry->zones[i].is_own) {
            sum += jpp_less(telemetry->zones[i].size, telemetry->zones[i].free);
        }
    }

    return sum;
}


/* What keeps a worker that does not answer may be known. */

static void
jpp_verdict_stuck(jpp_verdict_t *verdict, const jpp_telemetry_t *telemetry,
    int64_t pid)
{
    char                text[JPP_FINDING_STALL];
    size_t              i;
    const jpp_stall_t  *stall;

    for (i = 0; i < telemetry->n_stalls; i++) {
        stall = &telemetry->stalls[i];

        if (stall->pid == pid && stall->state == JPP_STALL_LASTS) {
            (void) jpp_stall_owner(stall, verdict->owner);
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

    fleet = telemetry->fleet;
    missing = fleet->missing;

    if (fleet->n_missing == 0) {
        jpp_verdict_add(verdict, "no worker answered");
        return;
    }

    jpp_verdict_add(verdict, "worker %" PRIu32 " (pid %" PRId64 ") did not "
                    "answer: %.300s", missing->who.index, missing->who.pid,
                    missing->why);
    jpp_verdict_stuck(verdict, telemetry, missing->who.pid);

    if (fleet->n_missing > 1) {
        jpp_verdict_add(verdict, "; nor did %zu other%s", fleet->n_missing - 1,
                        fleet->n_missing == 2 ? "" : "s");
    }
}


static void
jpp_verdict_healthy(jpp_verdict_t *verdict, const jpp_telemetry_t *telemetry)
{
    char                 text[JPP_UNITS_TEXT];
    uint64_t             all;
    const jpp_holder_t  *holder;
    const jpp_cgroup_t  *cgroup;

    verdict->severity = JPP_VERDICT_HEALTHY;
    verdict->id = "healthy";

    all = jpp_verdict_total(telemetry);

    jpp_verdict_add(verdict, "%zu worker%s %s", telemetry->fleet->n,
                    telemetry->fleet->n == 1 ? " holds" : "s hold",
                    jpp_units_bytes(all, text));

    holder = telemetry->holders;

    if (telemetry->n_holders != 0
        && holder->bytes > all / 100 * JPP_VERDICT_SHARE)
    {
        verdict->holder = holder;

        /* not all of what is allocated was ever touched */

        jpp_verdict_add(verdict, holder->bytes <= all ? ", %s of it %s"
                                                      : ", %s set aside for %s",
                        jpp_units_bytes(holder->bytes, text), holder->who);
        jpp_verdict_bound(verdict, holder);
    }

    cgroup = telemetry->cgroup;

    if (cgroup != NULL && cgroup->headroom != JPP_NONE) {
        jpp_verdict_add(verdict, "; %s left",
                        jpp_units_bytes(cgroup->headroom, text));
        jpp_verdict_add(verdict, " below the limit of %s",
                        jpp_units_bytes(cgroup->levels[cgroup->binding].limit,
                                        text));
    }
}


void
jpp_verdict(const jpp_telemetry_t *telemetry, const jpp_finding_t *findings,
    size_t n, jpp_verdict_t *verdict)
{
    const jpp_fleet_t  *fleet;

    memset(verdict, 0, sizeof(jpp_verdict_t));

    fleet = telemetry->fleet;
    verdict->n_more = n;

    if (fleet->n_missing != 0 || fleet->n == 0) {
        jpp_verdict_missing(verdict, telemetry);
        return;
    }

    if (n == 0) {
        jpp_verdict_healthy(verdict, telemetry);
        return;
    }

    verdict->n_more = n - 1;

    /* stalls of nobody knows what say less than what comes next */

    if (n > 1 && findings->number == JPP_FINDING_STALLS
        && findings->owner[0] == '\0')
    {
        findings++;
    }

    verdict->severity = findings->is_critical ? JPP_VERDICT_CRITICAL
                                              : JPP_VERDICT_WARNING;
    verdict->id = findings->id;

    if (findings->owner[0] != '\0') {
        memcpy(verdict->owner, findings->owner, JPP_STALL_OWNER);
        jpp_verdict_add(verdict, "%s", findings->because);
        return;
    }

    if (jpp_verdict_explains(verdict, telemetry, findings)) {
        jpp_verdict_add(verdict, "; %s", findings->because);
        return;
    }

    jpp_verdict_add(verdict, "%s: %s", findings->what, findings->because);

    if (findings->bytes != 0 && telemetry->n_holders != 0) {
        jpp_verdict_add(verdict, "; of all workers, ");
        jpp_verdict_holder(verdict, telemetry->holders,
                           telemetry->holders[0].bytes,
                           jpp_verdict_total(telemetry));
    }
}


void
jpp_verdict_line(jpp_sink_t *sink, const jpp_verdict_t *verdict)
{
    jpp_sink_printf(sink, "%s: ", jpp_severities[verdict->severity]);
    jpp_sink_str(sink, verdict->text);
    jpp_sink_str(sink, ".\n\n");
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
    jpp_json_str(json, "owner",
                 verdict->holder != NULL ? verdict->holder->who
                 : verdict->owner[0] != '\0' ? verdict->owner : NULL);

    jpp_json_close(json, '}');
}
