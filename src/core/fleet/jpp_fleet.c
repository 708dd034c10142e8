
#include "jpp_fleet.h"


/* of a bound, in per cent, that one which stands keeps to */
#define JPP_FINDING_FALL   80
#define JPP_FINDING_CLIMB  120


const char *const  jpp_finding_ids[] = {
    JPP_FINDING_LIST(JPP_LIST_TEXT)
    [JPP_FINDINGS] = NULL
};


bool
jpp_finding_above(const jpp_finding_t *finding, uint64_t value,
    unsigned percent, uint64_t bytes)
{
    return (unsigned __int128) value * 100 * 100
           > (unsigned __int128) bytes * percent
             * (finding->stands ? JPP_FINDING_FALL : 100);
}


bool
jpp_finding_below(const jpp_finding_t *finding, uint64_t value,
    unsigned percent, uint64_t bytes)
{
    return (unsigned __int128) value * 100 * 100
           < (unsigned __int128) bytes * percent
             * (finding->stands ? JPP_FINDING_CLIMB : 100);
}


bool
jpp_finding_because(jpp_finding_t *finding, const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    (void) vsnprintf(finding->because, sizeof(finding->because), fmt, args);
    va_end(args);

    return true;
}


uint64_t
jpp_fleet_anon(const jpp_fleet_t *fleet)
{
    uint64_t             own, sum, shared;
    const jpp_worker_t  *worker;

    sum = shared = 0;

    jpp_each(worker, fleet->workers, fleet->n) {
        own = jpp_worker_own(worker);

        if (own != JPP_NONE) {
            sum += own;
            shared = jpp_larger(shared, worker->activity.usage.rss_anon - own);
        }
    }

    return sum + shared;
}


uint64_t
jpp_fleet_held(const jpp_fleet_t *fleet)
{
    uint64_t             sum;
    const jpp_worker_t  *worker;

    sum = 0;

    jpp_each(worker, fleet->workers, fleet->n) {
        jpp_add_known(&sum, worker->activity.usage.rss_anon);
    }

    return sum;
}


const char *
jpp_finding_severity(const jpp_finding_t *finding)
{
    return finding->is_critical ? "Critical" : "Warning";
}


const char *
jpp_finding_acknowledged(const jpp_finding_t *finding,
    char text[JPP_FINDING_LINK])
{
    text[0] = '\0';

    if (finding->acknowledged != 0) {
        (void) snprintf(text, JPP_FINDING_LINK, ", acknowledged at %s",
                        jpp_date(finding->acknowledged));
    }

    return text;
}


void
jpp_findings_json(jpp_json_t *json, const jpp_finding_t *findings, size_t n)
{
    const jpp_finding_t  *finding;

    jpp_json_open(json, "findings", '[');

    jpp_each(finding, findings, n) {
        jpp_json_open(json, NULL, '{');

        jpp_json_str(json, "id", finding->id);
        jpp_json_str(json, "severity", jpp_finding_severity(finding));
        jpp_json_bool(json, "critical", finding->is_critical);
        jpp_json_str(json, "what", finding->what);
        jpp_json_str(json, "because", finding->because);
        jpp_json_filled(json, "owner", finding->owner);
        jpp_json_filled(json, "place", finding->place);
        jpp_json_str(json, "fix", finding->fix);
        jpp_json_filled(json, "link", finding->link);
        jpp_json_time(json, "since", finding->since);
        jpp_json_time(json, "acknowledged", finding->acknowledged);

        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');
}


void
jpp_missing_json(jpp_json_t *json, const jpp_missing_t *missing, size_t n)
{
    const jpp_missing_t  *worker;

    jpp_json_open(json, "missing", '[');

    jpp_each(worker, missing, n) {
        jpp_json_open(json, NULL, '{');
        jpp_json_identity(json, &worker->who);
        jpp_json_str(json, "why", worker->why);
        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');
}


void
jpp_missing_text(jpp_sink_t *sink, const jpp_missing_t *missing, size_t n)
{
    for ( /* void */ ; n != 0; n--, missing++) {
        jpp_sink_printf(sink, "worker %" PRIu32 " pid %" PRId64
                        " is missing: %.400s\n", missing->who.index,
                        missing->who.pid, missing->why);
    }
}
