
/* Findings about memory that is gone, or has grown, and snapshots of it. */


#include "jpp_test_findings.h"
#include "jpp_test_main.h"


#define JPP_NOW  1795236010


static jpp_test_nginx_t  jpp_test;
static jpp_snapshot_t    jpp_snapshots[3];


/* What the finding ID says, and what to do. */

static void
jpp_shown_tells(const char *id, const char *what)
{
    const jpp_finding_t  *finding;

    jpp_says(id, what);
    finding = jpp_test_find(&jpp_test.telemetry, id);
    jpp_note_of(what, *finding, owner, place, fix, link);
}


/* Three snapshots, two minutes apart; the second one has most. */

void
jpp_before_each(void)
{
    size_t           i;
    jpp_snapshot_t  *one;

    jpp_test_nginx_init(&jpp_test);
    memset(jpp_snapshots, 0, sizeof(jpp_snapshots));

    for (i = 0; i < 3; i++) {
        one = &jpp_snapshots[i];

        one->id = 5 + i;
        one->time = JPP_NOW - 300 + (int64_t) i * 120;
        one->held = (i == 1 ? 400 : 200) * JPP_TEST_MIB;
        one->owner_bytes = one->held / 4 * 3;
        jpp_print(one->owner, "request bodies of location /fill of www");
        jpp_print(one->place, "nginx.conf:41");
    }

    for (i = 0; i < JPP_TEST_WORKERS; i++) {
        jpp_test.workers[i].started = JPP_NOW - 3600;
        jpp_test.workers[i].activity.usage.rss_anon = 50 * JPP_TEST_MIB;
        jpp_test.workers[i].activity.usage.rss = 60 * JPP_TEST_MIB;
        jpp_test.workers[i].activity.usage.peak = 61 * JPP_TEST_MIB;
    }

    jpp_test.telemetry.now = JPP_NOW;
    jpp_test.telemetry.snapshots = jpp_snapshots;
    jpp_test.telemetry.n_snapshots = 3;
}


JPP_TEST(jpp_shown_test_kill)
{
    jpp_test.cgroup.events.oom_kill = 1;
    jpp_test.telemetry.oom_kills = 0;
    jpp_test.telemetry.noted.killed.n = 1;
    jpp_test.telemetry.noted.killed.at = JPP_NOW - 100;

    jpp_shown_tells("oom-kill", "the largest one before it");

    jpp_snapshots[1].owner_bytes = 199 * JPP_TEST_MIB;
    jpp_snapshots[1].place[0] = '\0';
    jpp_shown_tells("oom-kill", "of an owner with less than half");

    jpp_snapshots[1].owner_bytes = 500 * JPP_TEST_MIB;
    jpp_shown_tells("oom-kill", "of one that has not touched all of it");

    jpp_snapshots[1].owner[0] = '\0';
    jpp_shown_tells("oom-kill", "of nobody");

    /* the one that was taken at the kill is noticed first */

    jpp_test.telemetry.noted.killed.at = jpp_snapshots[0].time - 10;
    jpp_says("oom-kill", "taken ten seconds after");

    jpp_test.telemetry.noted.killed.at--;
    jpp_says("oom-kill", "eleven seconds after");

    jpp_test.telemetry.noted.killed.at = JPP_NOW;
    jpp_snapshots[1].time = JPP_NOW - 601;
    jpp_says("oom-kill", "more than ten minutes before");

    jpp_shows_notes("kill");
}


JPP_TEST(jpp_shown_test_peak)
{
    /* three workers hold 150 MiB, and one of them had 500 MiB more */

    jpp_test.workers[1].activity.usage.peak = 560 * JPP_TEST_MIB;

    jpp_shown_tells("peak", "half of it");

    jpp_snapshots[1].held--;
    jpp_says("peak", "less than half");
    jpp_is_str(jpp_test_find(&jpp_test.telemetry, "peak")->link, "metrics",
               "no snapshot shows it");

    jpp_snapshots[1].held = 400 * JPP_TEST_MIB;
    jpp_test.workers[1].started = jpp_snapshots[1].time + 1;
    jpp_says("peak", "before this worker was there");

    jpp_shows_notes("peak");
}


JPP_TEST(jpp_shown_test_grows)
{
    uint64_t       t;
    jpp_held_t    *held;
    jpp_worker_t  *worker;

    held = &jpp_test.telemetry.held;
    worker = &jpp_test.workers[1];
    worker->history = &jpp_test.histories[1];
    jpp_history_init(&jpp_test.histories[1]);

    for (t = 0; t < 7200; t += 5) {
        jpp_history_add(&jpp_test.histories[1], t,
                        (100 + 90 * t / 3600) * JPP_TEST_MIB,
                        200 * JPP_TEST_MIB);

        /* all of it has grown since half an hour ago */

        jpp_held_begin(held);
        jpp_held_add(held, 1 + t * 1000, 1,
                     (300 + (t < 5400 ? 100 : t / 60)) * JPP_TEST_MIB
                     + (t < 5400 ? 5400 - t : 0));
    }

    jpp_shown_tells("grows", "since the first one after its beginning");

    jpp_snapshots[0].time = JPP_NOW - 7000;
    jpp_snapshots[1].time = JPP_NOW - 2000;
    jpp_shown_tells("grows", "since the last one before it");

    worker->jemalloc.state = JPP_JEMALLOC_OFF;
    jpp_shown_tells("grows", "without samples");

    jpp_test.telemetry.n_snapshots = 0;
    jpp_shown_tells("grows", "without snapshots");

    jpp_shows_notes("grows");
}
