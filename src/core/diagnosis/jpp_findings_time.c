
/*
 * Findings about memory that grows: of workers, by their history, and from one
 * configuration to the next.
 */


#include "jpp_findings.h"


/* less than this is not worth a sentence */
#define JPP_GROWS_FLOOR    (16 * JPP_FINDING_MIB)

#define JPP_RELOAD_FLOOR   (4 * JPP_FINDING_MIB)

/* " 4294967295 days" and what is said around it */
#define JPP_GROWS_TEXT     96

#define JPP_GROWS_HOUR     3600
#define JPP_GROWS_DAY      (24 * JPP_GROWS_HOUR)


/* of a worker that grows */
typedef struct {
    const char  *what;             /* "allocated", "resident" */
    uint64_t     now;
    uint64_t     per_hour;
} jpp_trend_t;


static uint64_t
jpp_finding_point(const jpp_history_t *history, size_t offset, size_t i)
{
    const char  *point;

    point = (const char *) &history->points[i];

    return *(const uint64_t *) (const void *) (point + offset);
}


/* of the least squares, in bytes a point */

static double
jpp_finding_slope(const jpp_history_t *history, size_t offset, size_t start,
    size_t n)
{
    size_t  i;
    double  x, y, sum_x, sum_y, sum_xx, sum_xy;

    sum_x = sum_y = sum_xx = sum_xy = 0;

    for (i = 0; i < n; i++) {
        x = (double) i;
        y = (double) jpp_finding_point(history, offset, start + i);

        sum_x += x;
        sum_y += y;
        sum_xx += x * x;
        sum_xy += x * y;
    }

    x = (double) n;

    return (x * sum_xy - sum_x * sum_y) / (x * sum_xx - sum_x * sum_x);
}


static bool
jpp_finding_is_steady(const jpp_history_t *history, size_t offset,
    size_t start, size_t third)
{
    size_t  i;

    for (i = 0; i < 4; i++) {
        if (jpp_finding_slope(history, offset, start + i * (third / 4),
                              third / 4)
            <= 0)
        {
            return false;
        }
    }

    return true;
}


/*
 * The last third of a life, which has to be upward in each of its quarters.
 * What is compared with the bounds is what an hour of it has added, or all of
 * it where that is less: ten seconds of a burst are no trend.  A trend that is
 * known may pause for a quarter.
 */

static bool
jpp_finding_rises(const jpp_finding_t *finding, const jpp_history_t *history,
    size_t offset, jpp_trend_t *trend)
{
    double    slope, points;
    size_t    i, n, third, start;
    uint64_t  more;

    /* the first ten minutes are spent on what every start needs */

    if (history->interval == JPP_HISTORY_INTERVAL) {
        return false;
    }

    n = history->n - 1;            /* the last point still grows */
    third = n / 3;
    start = n - third;

    for (i = start; i < n; i++) {
        if (jpp_finding_point(history, offset, i) == JPP_NONE) {
            return false;
        }
    }

    /* quarters that rise, and a fall between two of them */

    slope = jpp_finding_slope(history, offset, start, third);

    if (slope <= 0
        || (!finding->stands
            && !jpp_finding_is_steady(history, offset, start, third)))
    {
        return false;
    }

    points = (double) JPP_GROWS_HOUR / (double) history->interval;

    trend->now = jpp_finding_point(history, offset, n - 1);
    trend->per_hour = (uint64_t) (slope * points);

    points = points < (double) third ? points : (double) third;
    more = (uint64_t) (slope * points);

    return jpp_finding_above(finding, more, 100, JPP_GROWS_FLOOR)
           && jpp_finding_above(finding, more, 5, trend->now);
}


/* memory that is not malloc's shows in the RSS alone */

static bool
jpp_finding_trend(const jpp_finding_t *finding, const jpp_history_t *history,
    jpp_trend_t *trend)
{
    trend->what = "allocated";

    if (jpp_finding_rises(finding, history,
                          offsetof(jpp_history_point_t, allocated), trend))
    {
        return true;
    }

    trend->what = "resident";

    return jpp_finding_rises(finding, history,
                             offsetof(jpp_history_point_t, rss), trend);
}


/* when all that grow have taken what the tightest limit leaves */

static const char *
jpp_finding_when(const jpp_cgroup_t *cgroup, uint64_t per_hour,
    char text[JPP_GROWS_TEXT])
{
    char      limit[JPP_UNITS_TEXT];
    uint64_t  room, seconds;

    text[0] = '\0';

    if (cgroup == NULL || cgroup->binding == cgroup->n_levels) {
        return text;
    }

    room = cgroup->headroom;

    if (cgroup->stat.inactive_file != JPP_NONE) {
        room += cgroup->stat.inactive_file;
    }

    seconds = (uint64_t) ((double) room * JPP_GROWS_HOUR / (double) per_hour);

    (void) jpp_units_bytes(cgroup->levels[cgroup->binding].limit, limit);

    if (seconds < 2 * JPP_GROWS_DAY) {
        (void) snprintf(text, JPP_GROWS_TEXT, ": the limit of %s is reached in "
                        "%" PRIu64 " h %" PRIu64 " min", limit,
                        seconds / JPP_GROWS_HOUR,
                        seconds % JPP_GROWS_HOUR / 60);

    } else {
        (void) snprintf(text, JPP_GROWS_TEXT, ": the limit of %s is reached in "
                        "%" PRIu64 " days", limit, seconds / JPP_GROWS_DAY);
    }

    return text;
}


/* of several the one that grows fastest */

bool
jpp_finding_grows(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    char                 now[JPP_UNITS_TEXT], more[JPP_UNITS_TEXT];
    char                 when[JPP_GROWS_TEXT];
    size_t               i;
    uint64_t             all;
    jpp_trend_t          trend, most;
    const jpp_worker_t  *worker, *where;

    where = NULL;
    all = 0;
    most.per_hour = 0;

    for (i = 0; i < telemetry->fleet->n; i++) {
        worker = &telemetry->fleet->workers[i];

        if (worker->history == NULL
            || !jpp_finding_trend(finding, worker->history, &trend))
        {
            continue;
        }

        all += trend.per_hour;

        if (trend.per_hour > most.per_hour) {
            most = trend;
            where = worker;
        }
    }

    return where != NULL
           && jpp_finding_about(finding, most.now, where->who.pid)
           && jpp_finding_because(finding, "worker %" PRIu32 " (pid %" PRId64
                  ") has %s %s, and %s more every hour%s", where->who.index,
                  where->who.pid, jpp_units_bytes(most.now, now), most.what,
                  jpp_units_bytes(most.per_hour, more),
                  jpp_finding_when(telemetry->cgroup, all, when));
}


bool
jpp_finding_reload_leak(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    char      before[JPP_UNITS_TEXT], now[JPP_UNITS_TEXT];
    uint64_t  bytes, more;

    bytes = telemetry->inherited_before;
    more = jpp_less(telemetry->inherited, bytes);

    return bytes != JPP_NONE && telemetry->inherited != JPP_NONE && more != 0
           && jpp_finding_above(finding, more, 100, JPP_RELOAD_FLOOR)
           && jpp_finding_above(finding, more, 10, bytes)
           && jpp_finding_about(finding, telemetry->inherited, 0)
           && jpp_finding_because(finding, "a worker of the newest "
                  "configuration had %s as it started, one of the "
                  "configuration before %s",
                  jpp_units_bytes(telemetry->inherited, now),
                  jpp_units_bytes(bytes, before));
}
