
#include "jpp_answers.h"
#include "jpp_diagnosis.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define JPP_MIB  ((uint64_t) 1024 * 1024)


static jpp_output_t     jpp_output;
static jpp_telemetry_t  jpp_telemetry;
static bool             jpp_time_is_trend;


/* One point for each five seconds: FROM, and STEP more each time. */

static void
jpp_time_history(jpp_history_t *history, uint64_t seconds, uint64_t from,
    uint64_t step)
{
    uint64_t  i, value;

    jpp_history_init(history);

    for (i = 0; i <= seconds; i += JPP_HISTORY_INTERVAL) {
        value = from + i / JPP_HISTORY_INTERVAL * step;
        jpp_history_add(history, i, value, 2 * value);
    }
}


/* The same of all of nginx. */

static void
jpp_time_held(uint64_t seconds, uint64_t from, uint64_t step)
{
    jpp_telemetry.held.begun = 1;
    jpp_telemetry.held.seconds = seconds;

    jpp_time_history(&jpp_telemetry.held.all, seconds, from, step);
}


static void
jpp_time_write(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    jpp_console_t  console = { 0 };

    if (jpp_time_is_trend) {
        jpp_console_trend(&fleet->workers[0], jpp_console_most(fleet), sink);
        return;
    }

    jpp_telemetry.fleet = fleet;
    jpp_telemetry.now = 1795236015;
    console.telemetry = &jpp_telemetry;

    jpp_console_time(&console, sink);
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

    history.rss[0] = history.allocated[1] = JPP_NONE;
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
    history.rss[3] = JPP_NONE;
    jpp_is_u64(jpp_console_most(&fleet), 26 * JPP_MIB, "of those known");
    history.rss[history.n - 1] = JPP_MIB;
    jpp_is_u64(jpp_console_most(&fleet), 24 * JPP_MIB, "wherever it is");
}


/* An event is a line in its step, the newest of each. */

JPP_TEST(jpp_test_time)
{
    size_t          i;
    jpp_fleet_t     fleet;
    jpp_history_t  *all;

    static jpp_event_t  events[] = {
        { .time = 1795236016, .text = "in the future" },
        { .time = 1795236005, .type = JPP_EVENT_RELOAD, .text = "<2>" },
        { .time = 1795236001, .type = JPP_EVENT_CRASH, .text = "two" },
        { .time = 1795236001, .type = JPP_EVENT_KILL, .text = "at once" },
        { .time = 1795235910, .text = "before all points" }
    };

    fleet = jpp_fleet_of(0, NULL, 0);
    all = &jpp_telemetry.held.all;

    jpp_time_held(100, 8 * JPP_MIB, JPP_MIB);
    jpp_telemetry.marks = events;
    jpp_telemetry.n_marks = sizeof(events) / sizeof(events[0]);
    jpp_shows(jpp_time_shown(&fleet), "it rises, and three events");

    jpp_telemetry.n_marks = 0;

    /* what is not known is not the most */

    for (i = 0; i < 3; i++) {
        all->rss[i] = JPP_NONE;
    }

    jpp_shows(jpp_time_shown(&fleet), "the first steps are unknown");

    all->rss[all->n - 2] = JPP_NONE;
    jpp_shows(jpp_time_shown(&fleet), "and one of the last");
}


/* Snapshots are lines that lead to them, and rows: the eight newest ones. */

JPP_TEST(jpp_test_snapshots)
{
    size_t          i;
    jpp_fleet_t     fleet;
    jpp_worker_t    worker;

    static jpp_event_t     event = {
        .time = 1795236001, .type = JPP_EVENT_SNAPSHOT, .text = "no line of it"
    };
    static jpp_snapshot_t  list[10];

    for (i = 0; i < 10; i++) {
        list[i].id = 5 + i;
        list[i].time = 1795236001 - 9000 + (int64_t) i * 1000;
        list[i].reason = i == 9 ? JPP_SNAPSHOT_LIMIT : JPP_SNAPSHOT_GROWTH;
        list[i].held = 90 * JPP_MIB;
        jpp_print(list[i].text, "usage is 86 %% of 512.0 <MiB>");
    }

    list[9].owner_bytes = 60 * JPP_MIB;
    jpp_print(list[9].owner, "request bodies of location /<a> of www");
    jpp_print(list[9].place, "nginx.conf:41");

    worker = jpp_fleet_worker(0, JPP_JEMALLOC_READY);
    fleet = jpp_fleet_of(1, &worker, 1);

    jpp_time_held(100, 8 * JPP_MIB, JPP_MIB);
    jpp_telemetry.marks = &event;
    jpp_telemetry.n_marks = 1;
    jpp_telemetry.snapshots = list;
    jpp_telemetry.n_snapshots = 10;
    jpp_shows(jpp_time_shown(&fleet), "ten snapshots, one within the picture");

    /* without samples there is no heap to compare */

    worker.jemalloc.state = JPP_JEMALLOC_OFF;
    jpp_telemetry.snapshots = &list[9];
    jpp_telemetry.n_snapshots = 1;
    jpp_shows(jpp_time_shown(&fleet), "pools alone");

    jpp_telemetry.n_snapshots = 0;
    jpp_telemetry.n_marks = 0;
}


/* It is shown where it is less than four times as high. */

JPP_TEST(jpp_test_limit)
{
    jpp_fleet_t   fleet;
    jpp_cgroup_t  cgroup;

    memset(&cgroup, 0xff, sizeof(jpp_cgroup_t));
    cgroup.n_levels = 1;
    cgroup.binding = 0;
    cgroup.headroom = 1;
    jpp_telemetry.cgroup = &cgroup;

    jpp_time_held(60, 8 * JPP_MIB, 0);
    fleet = jpp_fleet_of(0, NULL, 0);

    cgroup.levels[0].limit = 64 * JPP_MIB;
    jpp_shows(jpp_time_shown(&fleet), "above: it is the top, and explained");

    cgroup.levels[0].limit = 8 * JPP_MIB;
    jpp_shows(jpp_time_shown(&fleet), "below what all of them have");

    cgroup.levels[0].limit = 65 * JPP_MIB;
    jpp_lacks(jpp_time_shown(&fleet), "limit", "far above");

    cgroup.headroom = JPP_NONE;
    cgroup.binding = 1;
    jpp_lacks(jpp_time_shown(&fleet), "limit", "there is none");

    jpp_telemetry.cgroup = NULL;
}


JPP_TEST(jpp_test_none)
{
    jpp_fleet_t  fleet;

    static const char  none[] = "<p>There is no history yet.</p>";

    fleet = jpp_fleet_of(0, NULL, 0);

    memset(&jpp_telemetry.held, 0, sizeof(jpp_held_t));
    jpp_has(jpp_time_shown(&fleet), none, "no history");

    jpp_time_held(0, JPP_MIB, 0);
    jpp_has(jpp_time_shown(&fleet), none, "a point is none");

    jpp_time_held(5, JPP_MIB, 0);
    jpp_has(jpp_time_shown(&fleet), "<path", "two are one");
}


/* Notes what was gained of late. */

static void
jpp_time_note(const char *what)
{
    int64_t  rate, window;

    rate = jpp_finding_rate(&jpp_telemetry.held, &window);
    jpp_note("%s: %" PRId64 " by %" PRId64 " s", what, rate, window);
}


JPP_TEST(jpp_test_rate)
{
    uint64_t  *rss;

    rss = jpp_telemetry.held.all.rss;

    jpp_time_held(55, JPP_MIB, JPP_MIB);
    jpp_time_note("less than a minute");
    jpp_time_held(60, JPP_MIB, JPP_MIB);
    jpp_time_note("a minute");
    rss[12] = 0;
    jpp_time_note("it may fall");
    rss[12] = JPP_NONE - 1;
    jpp_time_note("and is never absurd");
    rss[12] = JPP_NONE;
    jpp_time_note("unknown");

    jpp_time_held(600, 100 * JPP_MIB, JPP_MIB);
    jpp_time_note("of ten minutes, five of them");
    jpp_time_held(100000, 100 * JPP_MIB, JPP_MIB);
    jpp_time_note("of a long life, at least four points");
    jpp_shows_notes("what was gained of late");
}
