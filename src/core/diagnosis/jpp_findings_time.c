
/*
 * Findings about growing memory: of a worker, by its history, and from one
 * configuration to the next.
 */


#include "jpp_diagnosis.h"

#include <math.h>


/* less than this is not worth a sentence */
#define JPP_GROWS_FLOOR    (16 * JPP_FINDING_MIB)

#define JPP_RELOAD_FLOOR   (4 * JPP_FINDING_MIB)

/* seconds, and points of a history, that a rate is of; more bytes than that are
   not believed */
#define JPP_RATE_SOON      60
#define JPP_RATE_LATER     300
#define JPP_RATE_BACK      4
#define JPP_RATE_MUCH      ((int64_t) 1 << 60)

/* an owner, its place, and what is said about them */
#define JPP_GROWS_WHO      (JPP_HELD_NAME + JPP_HELD_PLACE + 64)

#define JPP_GROWS_HOUR     3600

/* seconds: more is not believed */
#define JPP_GROWS_MUCH     1e10


/* of a worker that grows, or of all that do */
typedef struct {
    uint64_t             now;
    uint64_t             per_hour;
    uint64_t             more;     /* in an hour, or in what was seen of it */
    size_t               n;        /* workers */
    const jpp_worker_t  *where;    /* the one that grows fastest */
} jpp_trend_t;


/*
 * The last third of a life, without its last point, which still grows.  A trend
 * that is known may pause.
 */

static bool
jpp_finding_rises(const jpp_finding_t *finding, const jpp_history_t *history,
    const uint64_t *values, jpp_grown_t *grown)
{
    size_t  n;

    n = history->n - 1;

    /* the first ten minutes are spent on what every start needs */

    return history->interval != JPP_HISTORY_INTERVAL
           && jpp_history_change(history, values, n - n / 3, n, grown)
           && (grown->is_rising || (finding->stands && grown->per_hour > 0));
}


/* The sum of workers whose memory grows; is it worth a sentence? */

static bool
jpp_finding_trends(const jpp_telemetry_t *telemetry,
    const jpp_finding_t *finding, bool is_allocated, jpp_trend_t *sum)
{
    double                hours;
    uint64_t              per_hour, fastest;
    jpp_grown_t           one;
    const jpp_worker_t   *worker;
    const jpp_history_t  *history;

    memset(sum, 0, sizeof(jpp_trend_t));
    fastest = 0;

    jpp_each(worker, telemetry->fleet->workers, telemetry->fleet->n) {
        history = worker->history;

        if (history == NULL
            || !jpp_finding_rises(finding, history,
                                  is_allocated ? history->allocated
                                               : history->rss, &one))
        {
            continue;
        }

        per_hour = (uint64_t) one.per_hour;
        hours = (double) (one.n * history->interval) / JPP_GROWS_HOUR;

        sum->now += one.now;
        sum->per_hour += per_hour;
        sum->more += (uint64_t) (one.per_hour * fmin(hours, 1));
        sum->n++;

        if (per_hour > fastest) {
            fastest = per_hour;
            sum->where = worker;
        }
    }

    return sum->where != NULL
           && jpp_finding_above(finding, sum->more, 100, JPP_GROWS_FLOOR)
           && jpp_finding_above(finding, sum->more, 5, sum->now);
}


int64_t
jpp_finding_rate(const jpp_held_t *held, int64_t *window)
{
    size_t           back, last;
    double           per_hour;
    uint64_t         interval;
    const uint64_t  *rss;

    *window = 0;

    interval = held->all.interval;
    rss = held->all.rss;

    back = interval == 0 ? 0
           : (held->seconds < 2 * JPP_RATE_LATER ? JPP_RATE_SOON
                                                 : JPP_RATE_LATER) / interval;
    back = jpp_larger(back, JPP_RATE_BACK);
    last = jpp_less(held->all.n, 1);

    if (last < back || rss[last] == JPP_NONE || rss[last - back] == JPP_NONE) {
        return 0;
    }

    /* a point has the last value of its time */

    *window = (int64_t) (held->seconds - (last - back + 1) * interval)
              + JPP_HISTORY_INTERVAL;

    per_hour = ((double) rss[last] - (double) rss[last - back])
               * JPP_GROWS_HOUR / (double) *window;

    return (int64_t) fmax(fmin(per_hour, JPP_RATE_MUCH), -JPP_RATE_MUCH);
}


const char *
jpp_finding_when(const jpp_cgroup_t *cgroup, uint64_t per_hour,
    char text[JPP_GROWS_TEXT])
{
    double    seconds;
    uint64_t  room;

    text[0] = '\0';

    room = jpp_cgroup_left(cgroup);

    if (room != JPP_NONE) {
        seconds = (double) room * JPP_GROWS_HOUR / (double) per_hour;

        (void) snprintf(text, JPP_GROWS_TEXT, ": the limit of %s is reached in "
                        "%s", jpp_bytes(cgroup->levels[cgroup->binding].limit),
                        jpp_span((uint64_t) fmin(seconds, JPP_GROWS_MUCH)));
    }

    return text;
}


bool
jpp_finding_shown(jpp_finding_t *finding, const jpp_snapshot_t *snapshot)
{
    uint64_t  all;

    if (snapshot == NULL) {
        return true;
    }

    jpp_print(finding->link, "pools?at=%" PRIu64 "&format=top", snapshot->id);
    jpp_text_add(finding->fix, sizeof(finding->fix), " %s shows whose memory "
                 "it was at %s.", finding->link, jpp_date(snapshot->time));

    if (snapshot->owner[0] == '\0') {
        return true;
    }

    /* not all of what is allocated was ever touched */

    all = jpp_larger(snapshot->held, snapshot->owner_bytes);

    jpp_text_add(finding->because, sizeof(finding->because), "; in snapshot %"
                 PRIu64 ", %s of %s are %s%s%s%s", snapshot->id,
                 jpp_bytes(snapshot->owner_bytes), jpp_bytes(all),
                 snapshot->owner, snapshot->place[0] != '\0' ? " (" : "",
                 snapshot->place, snapshot->place[0] != '\0' ? ")" : "");

    if (snapshot->owner_bytes >= all / 2) {
        jpp_print(finding->owner, "%s", snapshot->owner);
        jpp_print(finding->place, "%s", snapshot->place);
    }

    return true;
}


/*
 * A snapshot from before the rise says at once which functions hold more.
 * Without samples there is no such difference, but pools can be compared.
 */

static void
jpp_finding_compared(const jpp_telemetry_t *telemetry,
    const jpp_worker_t *worker, jpp_finding_t *finding)
{
    bool                   is_sampled;
    const jpp_snapshot_t  *base;

    is_sampled = jpp_source(&worker->jemalloc, &worker->sampler)
                 != JPP_SOURCE_NONE;

    base = jpp_snapshots_before(telemetry->snapshots, telemetry->n_snapshots,
                                telemetry->now
                                - (int64_t) jpp_held_since(&telemetry->held));

    if (base != NULL) {
        jpp_print(finding->link, "%s?base=%" PRIu64 "&format=top",
                  is_sampled ? "heap" : "pools", base->id);
        jpp_print(finding->fix, "%s shows which %s hold more than at %s. %s",
                  finding->link, is_sampled ? "functions" : "locations",
                  jpp_date(base->time), is_sampled
                  ? "If heap shows less growth, the rest does not come from "
                    "malloc: memory?format=top shows the rest."
                  : "To see the functions of later allocations, POST "
                    "sampler=on to control.");
        return;
    }

    if (is_sampled) {
        return;
    }

    jpp_print(finding->fix, "Compare what pools hold now and in ten minutes. "
              "To see the functions of later allocations, POST sampler=on to "
              "control.");
    jpp_print(finding->link, "pools?format=top&worker=pid-%" PRId64,
              worker->who.pid);
}


/* TEXT is who is behind at least half of TREND; "": nobody is known to be. */

static void
jpp_finding_grower(const jpp_held_t *held, const jpp_trend_t *trend,
    jpp_finding_t *finding, char text[JPP_GROWS_WHO])
{
    jpp_grown_t  all, grown[JPP_HELD_OWNERS + 1];

    text[0] = '\0';

    if (jpp_held_grown(held, held->all.n - held->all.n / 3, &all, grown) != 0
        && grown->is_rising
        && grown->per_hour * 2 >= (double) trend->per_hour)
    {
        jpp_print(finding->owner, "%s", grown->who);
        jpp_print(finding->place, "%s", grown->place);

        (void) snprintf(text, JPP_GROWS_WHO, "%s%s%s%s grows by %s an hour; ",
                        grown->who, grown->place[0] != '\0' ? " (" : "",
                        grown->place, grown->place[0] != '\0' ? ")" : "",
                        jpp_bytes((uint64_t) grown->per_hour));
    }
}


/* memory that is not malloc's shows in the RSS alone */

bool
jpp_finding_grows(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    char         when[JPP_GROWS_TEXT], who[JPP_GROWS_WHO];
    bool         is_allocated;
    const char  *what;
    jpp_trend_t  trend;

    is_allocated = jpp_finding_trends(telemetry, finding, true, &trend);

    if (!is_allocated
        && !jpp_finding_trends(telemetry, finding, false, &trend))
    {
        return false;
    }

    jpp_finding_compared(telemetry, trend.where, finding);
    (void) jpp_finding_when(telemetry->cgroup, trend.per_hour, when);
    jpp_finding_grower(&telemetry->held, &trend, finding, who);

    what = is_allocated ? "allocated" : "resident";

    if (trend.n == 1) {
        return jpp_finding_about(finding, trend.now, trend.where->who.pid)
               && jpp_finding_because(finding, "%s%s has %s %s, and %s more "
                      "every hour%s", who, jpp_worker_name(&trend.where->who),
                      jpp_bytes(trend.now), what, jpp_bytes(trend.per_hour),
                      when);
    }

    return jpp_finding_about(finding, trend.now, 0)
           && jpp_finding_because(finding, "%s%zu workers have %s %s, and %s "
                  "more every hour, most of it in %s%s", who, trend.n,
                  jpp_bytes(trend.now), what, jpp_bytes(trend.per_hour),
                  jpp_worker_name(&trend.where->who), when);
}


bool
jpp_finding_reload_leak(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    uint64_t  now, bytes, more;

    now = telemetry->noted.inherited;
    bytes = telemetry->noted.inherited_before;
    more = jpp_less(now, bytes);

    return bytes != JPP_NONE && now != JPP_NONE && more != 0
           && jpp_finding_above(finding, more, 100, JPP_RELOAD_FLOOR)
           && jpp_finding_above(finding, more, 10, bytes)
           && jpp_finding_about(finding, now, 0)
           && jpp_finding_because(finding, "new workers start with %s; "
                  "workers of the previous configuration started with %s",
                  jpp_bytes(now), jpp_bytes(bytes));
}
