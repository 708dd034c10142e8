
#include "jpp_console.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define JPP_MIB  ((uint64_t) 1024 * 1024)


static jpp_output_t          jpp_output;
static const jpp_cgroup_t   *jpp_time_cgroup;
static bool                  jpp_time_is_trend;
static int64_t               jpp_time_now;


/* One point for each five seconds: FROM, and STEP more each time. */

static void
jpp_time_history(jpp_history_t *history, uint64_t seconds, uint64_t from,
    uint64_t step)
{
    uint64_t             i;
    jpp_history_point_t  point;

    jpp_history_init(history);

    for (i = 0; i <= seconds; i += JPP_HISTORY_INTERVAL) {
        point.allocated = from + i / JPP_HISTORY_INTERVAL * step;
        point.rss = 2 * point.allocated;
        jpp_history_add(history, i, &point);
    }
}


static void
jpp_time_write(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    jpp_console_t       console = { 0 };
    jpp_telemetry_t     telemetry = { 0 };
    jpp_console_span_t  span;

    if (jpp_time_is_trend) {
        jpp_console_trend(&fleet->workers[0], jpp_console_most(fleet), sink);
        return;
    }

    telemetry.fleet = fleet;
    telemetry.cgroup = jpp_time_cgroup;
    console.telemetry = &telemetry;
    telemetry.now = jpp_time_now;

    jpp_console_span(&console, &span);
    jpp_console_time(&console, &span, sink);
}


static const char *
jpp_time_shown(const jpp_fleet_t *fleet)
{
    (void) jpp_output_fill(&jpp_output, jpp_time_write, fleet, 0);

    return jpp_output.text;
}


/* Equal steps are one; the highest of all workers is the height. */

JPP_TEST(jpp_test_trend)
{
    jpp_fleet_t    fleet;
    jpp_worker_t   worker;
    jpp_history_t  history;

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.history = &history;
    fleet = jpp_fleet_of(1, &worker, 1);

    jpp_time_is_trend = true;

    jpp_time_history(&history, 10, 6 * JPP_MIB, 0);
    jpp_shows(jpp_time_shown(&fleet), "flat");

    jpp_time_history(&history, 10, 3 * JPP_MIB, 3 * JPP_MIB);
    jpp_shows(jpp_time_shown(&fleet), "it rises");

    history.points[0].rss = history.points[1].allocated = JPP_NONE;
    jpp_shows(jpp_time_shown(&fleet), "unknown, in words, and not there");

    jpp_time_history(&history, 100000, JPP_MIB, JPP_MIB);
    jpp_ok(strlen(jpp_time_shown(&fleet)) < 1000, "120 points are short");

    history.n = 0;
    jpp_is_str(jpp_time_shown(&fleet), "", "no point, no picture");
    worker.history = NULL;
    jpp_is_str(jpp_time_shown(&fleet), "", "no history, no picture");

    jpp_time_is_trend = false;
}


JPP_TEST(jpp_test_scale)
{
    jpp_fleet_t    fleet;
    jpp_worker_t   workers[2];
    jpp_history_t  history;

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    workers[1] = jpp_fleet_worker(1, JPP_JEMALLOC_READY);
    fleet = jpp_fleet_of(2, workers, 2);

    jpp_is_u64(jpp_console_most(&fleet), 1, "never zero");

    jpp_time_history(&history, 60, JPP_MIB, JPP_MIB);
    workers[1].history = &history;
    jpp_is_u64(jpp_console_most(&fleet), 26 * JPP_MIB, "the most of any");
    history.points[3].rss = JPP_NONE;
    jpp_is_u64(jpp_console_most(&fleet), 26 * JPP_MIB, "of those known");
    history.points[history.n - 1].rss = JPP_MIB;
    jpp_is_u64(jpp_console_most(&fleet), 24 * JPP_MIB, "wherever it is");
}


/* The sums of an old worker and of one that came when half was over. */

JPP_TEST(jpp_test_time)
{
    jpp_fleet_t    fleet;
    jpp_worker_t   workers[3];
    jpp_history_t  old, young;

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    workers[1] = jpp_fleet_worker(1, JPP_JEMALLOC_READY);
    workers[2] = jpp_fleet_worker(2, JPP_JEMALLOC_READY);
    workers[1].started += 50;
    workers[0].history = &old;
    workers[1].history = &young;
    jpp_time_now = workers[0].started + 100;

    jpp_time_history(&old, 100, 8 * JPP_MIB, 0);
    jpp_time_history(&young, 50, 2 * JPP_MIB, 0);
    fleet = jpp_fleet_of(3, workers, 3);

    jpp_shows(jpp_time_shown(&fleet), "an old one, and a young one");

    /* what is not known is not the most */

    old.points[0].rss = JPP_NONE;
    jpp_shows(jpp_time_shown(&fleet), "the RSS of the first steps is unknown");

    old.points[old.n - 2].rss = young.points[young.n - 2].rss = JPP_NONE;
    jpp_shows(jpp_time_shown(&fleet), "and that of the last");
}


JPP_TEST(jpp_test_ages)
{
    char    text[JPP_CONSOLE_AGE];
    size_t  i;

    static const int64_t  rows[][2] = {
        { 0, 0 }, { 1, 60 }, { 0, 60 }, { 0, 3599 }, { 0, 3600 }, { 0, 86399 },
        { 0, 86400 }, { 60, 0 }, { INT64_MIN, INT64_MAX },
        { INT64_MAX, INT64_MIN }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_note("from %" PRId64 " to %" PRId64 ": %s", rows[i][0], rows[i][1],
                 jpp_console_age(rows[i][0], rows[i][1], text));
    }

    jpp_shows_notes("ages");
}


/* It is shown where it is less than four times as high. */

JPP_TEST(jpp_test_limit)
{
    jpp_fleet_t    fleet;
    jpp_cgroup_t   cgroup;
    jpp_worker_t   worker;
    jpp_history_t  history;

    memset(&cgroup, 0xff, sizeof(jpp_cgroup_t));
    cgroup.n_levels = 1;
    cgroup.binding = 0;
    cgroup.headroom = 1;
    jpp_time_cgroup = &cgroup;

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    worker.history = &history;
    jpp_time_now = worker.started + 60;
    jpp_time_history(&history, 60, 8 * JPP_MIB, 0);
    fleet = jpp_fleet_of(1, &worker, 1);

    cgroup.levels[0].limit = 32 * JPP_MIB;
    jpp_shows(jpp_time_shown(&fleet), "above: it is the top, and explained");

    cgroup.levels[0].limit = 8 * JPP_MIB;
    jpp_shows(jpp_time_shown(&fleet), "below what all of them have");

    cgroup.levels[0].limit = 65 * JPP_MIB;
    jpp_lacks(jpp_time_shown(&fleet), "limit", "far above");

    cgroup.headroom = JPP_NONE;
    cgroup.binding = 1;
    jpp_lacks(jpp_time_shown(&fleet), "limit", "there is none");

    jpp_time_cgroup = NULL;
}


/* What workers say of their age may be anything. */

JPP_TEST(jpp_test_none)
{
    jpp_fleet_t    fleet;
    jpp_worker_t   worker;
    jpp_history_t  history;

    static const char  none[] = "<p>There is no history yet.</p>";

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    jpp_time_now = worker.started + 60;
    fleet = jpp_fleet_of(1, &worker, 1);
    jpp_has(jpp_time_shown(&fleet), none, "no history");

    worker.history = &history;
    jpp_time_history(&history, 0, JPP_MIB, 0);
    jpp_time_now = worker.started + 1;
    jpp_has(jpp_time_shown(&fleet), none, "just started");

    worker.started = INT64_MAX;
    jpp_has(jpp_time_shown(&fleet), none, "in the future");
    worker.started = INT64_MIN;
    jpp_has(jpp_time_shown(&fleet), none, "before all times");
    worker.started = 1;
    jpp_has(jpp_time_shown(&fleet), "<path", "long ago");
}


/* What was gained of late, of those that have lived long enough. */

JPP_TEST(jpp_test_rate)
{
    jpp_fleet_t         fleet;
    jpp_console_t       console = { 0 };
    jpp_worker_t        workers[2];
    jpp_history_t       old, young;
    jpp_telemetry_t     telemetry = { 0 };
    jpp_console_span_t  span;

    workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    workers[1] = jpp_fleet_worker(1, JPP_JEMALLOC_READY);
    workers[0].history = &old;
    fleet = jpp_fleet_of(2, workers, 2);

    telemetry.fleet = &fleet;
    console.telemetry = &telemetry;
    telemetry.now = workers[0].started + 60;

    jpp_time_history(&old, 55, JPP_MIB, JPP_MIB);
    jpp_console_span(&console, &span);
    jpp_is_i64(span.window, 0, "less than a minute");

    jpp_time_history(&old, 60, JPP_MIB, JPP_MIB);
    jpp_console_span(&console, &span);
    jpp_is_i64(span.window, 60, "a minute");
    jpp_is_i64(span.per_hour, (int64_t) (24 * 60 * JPP_MIB), "of an hour");

    jpp_time_history(&young, 10, JPP_MIB, 1000 * JPP_MIB);
    workers[1].history = &young;
    jpp_console_span(&console, &span);
    jpp_is_i64(span.per_hour, (int64_t) (24 * 60 * JPP_MIB),
               "the start of another does not count");

    old.points[12].rss = 0;
    jpp_console_span(&console, &span);
    jpp_is_i64(span.per_hour, -(int64_t) (2 * 60 * JPP_MIB), "it may fall");

    old.points[12].rss = JPP_NONE - 1;
    jpp_console_span(&console, &span);
    jpp_is_i64(span.per_hour, (int64_t) 1 << 60, "and is never absurd");

    old.points[12].rss = JPP_NONE;
    jpp_console_span(&console, &span);
    jpp_is_i64(span.window, 0, "unknown");

    /* of a long life, at least four points */

    jpp_time_history(&old, 100000, 100 * JPP_MIB, JPP_MIB);
    workers[1].history = NULL;
    telemetry.now = workers[0].started + 100000;
    jpp_console_span(&console, &span);
    jpp_is_i64(span.window, 4005, "four points and a bit");
    jpp_is_i64(span.per_hour, (int64_t) (2 * 720 * JPP_MIB), "at that rate");
}
