
/* Growth, by histories and inheritance; and profiles that say too little. */


#include "jpp_parsers.h"
#include "jpp_profile.h"
#include "jpp_test_findings.h"
#include "jpp_test_main.h"


static jpp_test_nginx_t  jpp_test;


/* a life of SECONDS; RSS stays as it is */

static void
jpp_time_test_grow(jpp_history_t *history, uint64_t seconds, uint64_t start,
    uint64_t per_hour)
{
    uint64_t             t;
    jpp_history_point_t  point;

    jpp_history_init(history);

    for (t = 0; t < seconds; t += 5) {
        point.allocated = start + per_hour * t / 3600;
        point.rss = 200 * JPP_TEST_MIB;

        jpp_history_add(history, t, &point);
    }
}


static void
jpp_time_test_init(void)
{
    size_t  i;

    jpp_test_nginx_init(&jpp_test);

    for (i = 0; i < JPP_TEST_WORKERS; i++) {
        jpp_test.workers[i].history = &jpp_test.histories[i];
        jpp_time_test_grow(&jpp_test.histories[i], 7200, JPP_TEST_MIB, 0);
    }
}


static const char *
jpp_time_test_has(const char *id)
{
    return jpp_test_because(jpp_test_find(&jpp_test.telemetry, id));
}


JPP_TEST(jpp_time_test_grows)
{
    jpp_history_t  *history;

    jpp_time_test_init();
    history = &jpp_test.histories[1];

    jpp_is_str(jpp_time_test_has("grows"), NULL, "nothing grows");

    /* six hours: the last third is longer than one */

    jpp_time_test_grow(history, 21600, 100 * JPP_TEST_MIB, 15 * JPP_TEST_MIB);
    jpp_is_str(jpp_time_test_has("grows"), NULL, "15 MiB an hour");

    jpp_time_test_grow(history, 21600, 100 * JPP_TEST_MIB, 17 * JPP_TEST_MIB);
    jpp_is_str(jpp_time_test_has("grows"),
               "worker 1 (pid 4712) has 201.2 MiB allocated, and 17.0 MiB more "
               "every hour", "and more");

    jpp_time_test_grow(history, 21600, 1000 * JPP_TEST_MIB, 64 * JPP_TEST_MIB);
    jpp_is_str(jpp_time_test_has("grows"), NULL, "4.6 %% an hour");

    jpp_time_test_grow(history, 21600, 1000 * JPP_TEST_MIB, 80 * JPP_TEST_MIB);
    jpp_ok(jpp_time_test_has("grows") != NULL, "5.4 %%");

    /* of several the fastest is named */

    jpp_time_test_grow(&jpp_test.histories[2], 21600, 0, 90 * JPP_TEST_MIB);
    jpp_is_str(jpp_time_test_has("grows"),
               "2 workers have 2.0 GiB allocated, and 170.0 MiB more every "
               "hour, most of it in worker 2 (pid 4713)",
               "the one that grows fastest");

    /* what no single one would be worth */

    jpp_time_test_grow(&jpp_test.histories[1], 21600, 90 * JPP_TEST_MIB,
                       9 * JPP_TEST_MIB);
    jpp_time_test_grow(&jpp_test.histories[2], 21600, 90 * JPP_TEST_MIB,
                       8 * JPP_TEST_MIB);
    jpp_has(jpp_time_test_has("grows"), "2 workers have ", "17 MiB of two");

    jpp_time_test_grow(&jpp_test.histories[2], 21600, 90 * JPP_TEST_MIB,
                       6 * JPP_TEST_MIB);
    jpp_is_str(jpp_time_test_has("grows"), NULL, "15 MiB of two");

    jpp_test.workers[1].history = NULL;
    jpp_test.workers[2].history = NULL;
    jpp_is_str(jpp_time_test_has("grows"), NULL, "without a history");
}


JPP_TEST(jpp_time_test_shapes)
{
    uint64_t        i;
    jpp_history_t  *history;

    jpp_time_test_init();
    history = &jpp_test.histories[1];

    /* ten minutes are a start; what has grown since then has to be there */

    jpp_time_test_grow(history, 600, 0, 3600 * JPP_TEST_MIB);
    jpp_is_str(jpp_time_test_has("grows"), NULL, "a start");

    jpp_time_test_grow(history, 605, 0, 3600 * JPP_TEST_MIB);
    jpp_ok(jpp_time_test_has("grows") != NULL, "a MiB a second, after that");

    jpp_time_test_grow(history, 605, 0, 280 * JPP_TEST_MIB);
    jpp_is_str(jpp_time_test_has("grows"), NULL, "15 MiB in three minutes");

    /* a rise, one that has ended, and a step */

    jpp_time_test_grow(history, 21600, JPP_TEST_MIB, 100 * JPP_TEST_MIB);
    jpp_ok(jpp_time_test_has("grows") != NULL, "a steady rise");

    for (i = history->n / 6 * 5; i < history->n; i++) {
        history->points[i].allocated =
                               history->points[history->n / 6 * 5].allocated;
    }

    jpp_is_str(jpp_time_test_has("grows"), NULL,
               "one that has ended is no rise any more");

    for (i = 0; i < history->n; i++) {
        history->points[i].allocated = i < history->n - 20
                                       ? JPP_TEST_MIB : 500 * JPP_TEST_MIB;
    }

    jpp_is_str(jpp_time_test_has("grows"), NULL, "nor is a step");

    for (i = 0; i < history->n; i++) {
        history->points[i].allocated = (1000 - i / 6 * 100 + i % 6)
                                       * JPP_TEST_MIB;
    }

    jpp_is_str(jpp_time_test_has("grows"), NULL, "nor a saw that falls");

    /* what is not malloc's */

    for (i = 0; i < history->n; i++) {
        history->points[i].allocated = JPP_NONE;
        history->points[i].rss = i * 10 * JPP_TEST_MIB;
    }

    jpp_has(jpp_time_test_has("grows"), " resident, and ", "RSS alone");
}


JPP_TEST(jpp_time_test_limit)
{
    jpp_time_test_init();
    jpp_time_test_grow(&jpp_test.histories[0], 21600, 100 * JPP_TEST_MIB,
                       60 * JPP_TEST_MIB);
    jpp_time_test_grow(&jpp_test.histories[1], 21600, 100 * JPP_TEST_MIB,
                       40 * JPP_TEST_MIB);

    jpp_test.cgroup.binding = 0;
    jpp_test.cgroup.levels[0].limit = 2048 * JPP_TEST_MIB;
    jpp_test.cgroup.headroom = 240 * JPP_TEST_MIB;
    jpp_test.cgroup.stat.inactive_file = 10 * JPP_TEST_MIB;

    jpp_is_str(jpp_time_test_has("grows"),
               "2 workers have 795.4 MiB allocated, and 100.0 MiB more every "
               "hour, most of it in worker 0 (pid 4711): the limit of 2.0 GiB "
               "is reached in 2 h 30 min", "by all that grow");

    jpp_test.cgroup.headroom = 6000 * JPP_TEST_MIB;
    jpp_has(jpp_time_test_has("grows"), " is reached in 2 days", "in days");
}


JPP_TEST(jpp_time_test_reload)
{
    jpp_time_test_init();

    jpp_test.telemetry.inherited = 100 * JPP_TEST_MIB;
    jpp_is_str(jpp_time_test_has("reload-leak"), NULL, "the first one");

    jpp_test.telemetry.inherited_before = 10 * JPP_TEST_MIB;
    jpp_test.telemetry.inherited = 14 * JPP_TEST_MIB;
    jpp_is_str(jpp_time_test_has("reload-leak"), NULL, "4 MiB more");

    jpp_test.telemetry.inherited++;
    jpp_is_str(jpp_time_test_has("reload-leak"),
               "a worker of the newest configuration had 14.0 MiB as it "
               "started, one of the configuration before 10.0 MiB",
               "a byte more");

    jpp_test.telemetry.inherited_before = 100 * JPP_TEST_MIB;
    jpp_test.telemetry.inherited = 110 * JPP_TEST_MIB;
    jpp_is_str(jpp_time_test_has("reload-leak"), NULL, "a tenth");

    jpp_test.telemetry.inherited++;
    jpp_ok(jpp_time_test_has("reload-leak") != NULL, "and a byte");
}


JPP_TEST(jpp_time_test_vanished)
{
    jpp_time_test_init();

    jpp_test.telemetry.now = 1795236015;
    jpp_test.telemetry.unclean_exits = 2;
    jpp_test.telemetry.vanished.who.index = 1;
    jpp_test.telemetry.vanished.who.pid = 4712;
    jpp_test.telemetry.vanished.rss = 300 * JPP_TEST_MIB;

    jpp_is_str(jpp_time_test_has("oom-kill"), NULL, "nobody knows when");

    jpp_test.telemetry.vanished.at = 1795236010;
    jpp_is_str(jpp_time_test_has("oom-kill"),
               "at 2026-11-21T04:40:10Z worker 1 (pid 4712, with an RSS of "
               "300.0 MiB) crashed or was killed; since nginx started, 2 of "
               "its workers crashed or were killed, and the kernel has killed "
               "0 of the processes of its cgroup because memory ran out",
               "a worker that vanished is named");
    jpp_is_i64(jpp_test_find(&jpp_test.telemetry, "oom-kill")->at, 1795236010,
               "and when");

    jpp_test.telemetry.vanished.rss = JPP_NONE;
    jpp_has(jpp_time_test_has("oom-kill"),
            " worker 1 (pid 4712) crashed or was killed; ",
            "without what it had");

    /* an hour later it is no news, and acknowledged until the next one */

    jpp_test.telemetry.now += 3594;
    jpp_ok(jpp_time_test_has("oom-kill") != NULL, "for an hour");
    jpp_test.telemetry.now++;
    jpp_is_str(jpp_time_test_has("oom-kill"), NULL, "and no longer");
    jpp_test.telemetry.now = 1795236000;
    jpp_ok(jpp_time_test_has("oom-kill") != NULL, "a clock that goes back");

    jpp_test.telemetry.standing[JPP_FINDING_OOM_KILL].acknowledged = 1795236010;
    jpp_is_i64(jpp_test_find(&jpp_test.telemetry, "oom-kill")->acknowledged,
               1795236010, "acknowledged");
    jpp_test.telemetry.vanished.at++;
    jpp_is_i64(jpp_test_find(&jpp_test.telemetry, "oom-kill")->acknowledged, 0,
               "the next one is not");

    jpp_test.telemetry.unclean_exits = UINT64_MAX;
    jpp_test.telemetry.vanished.who.index = UINT32_MAX;
    jpp_test.telemetry.vanished.who.pid = INT64_MIN;
    jpp_test.telemetry.vanished.rss = UINT64_MAX - 1;
    jpp_has(jpp_time_test_has("oom-kill"), " memory ran out", "the longest");
}


JPP_TEST(jpp_time_test_thp)
{
    size_t  i;

    jpp_time_test_init();

    for (i = 0; i < 3; i++) {
        jpp_test.workers[i].stats.allocated = 50 * JPP_TEST_MIB;
        jpp_test.workers[i].activity.usage.rss_anon = 71 * JPP_TEST_MIB;
    }

    jpp_test.cgroup.stat.anon = 220 * JPP_TEST_MIB;
    jpp_test.cgroup.stat.anon_thp = 213 * JPP_TEST_MIB / 2;
    jpp_is_str(jpp_time_test_has("thp"), NULL, "half of it");

    jpp_test.cgroup.stat.anon_thp++;
    jpp_is_str(jpp_time_test_has("thp"),
               "106.5 MiB of huge pages in the cgroup, and 213.0 MiB of "
               "anonymous memory in the workers, for 150.0 MiB that are "
               "allocated", "a byte more");

    jpp_test.cgroup.stat.anon = 428 * JPP_TEST_MIB;
    jpp_is_str(jpp_time_test_has("thp"), NULL, "most of it is of others");

    jpp_test.cgroup.stat.anon = 220 * JPP_TEST_MIB;
    jpp_test.workers[0].stats.allocated = 53 * JPP_TEST_MIB;
    jpp_is_str(jpp_time_test_has("thp"), NULL, "1.4 times what is allocated");

    jpp_test.workers[0].stats.allocated = JPP_TEST_MIB;
    jpp_test.workers[0].activity.usage.rss_anon = JPP_TEST_MIB;
    jpp_test.workers[1] = jpp_test.workers[2] = jpp_test.workers[0];
    jpp_test.cgroup.stat.anon = 3 * JPP_TEST_MIB;
    jpp_is_str(jpp_time_test_has("thp"), NULL, "little of it");
}


static const char *
jpp_time_test_profiled(const jpp_profile_t *profile, bool is_whole,
    const char *id)
{
    size_t  n;

    static jpp_finding_t  findings[JPP_FINDINGS];

    n = jpp_findings_profile(&jpp_test.fleet, profile, is_whole, findings);

    return jpp_test_because(jpp_test_pick(findings, n, id));
}


/* samples of a single stack, of 100 MiB */

JPP_TEST(jpp_time_test_profile)
{
    int64_t        values[JPP_HEAP_COLUMNS] = { 0 };
    jpp_arena_t    arena;
    jpp_profile_t  profile;

    jpp_time_test_init();
    jpp_arena_init(&arena, 1 << 30);
    jpp_ok(jpp_parser_init(&jpp_parser_heap, &profile, &arena), "a profile");

    values[JPP_HEAP_INUSE_OBJECTS] = 1000;
    values[JPP_HEAP_INUSE_SPACE] = 70 * (int64_t) JPP_TEST_MIB;
    jpp_profile_end(&profile, jpp_profile_begin(&profile, 0, 0));
    jpp_ok(jpp_profile_commit(&profile, values), "with a sample");

    jpp_test.fleet.n = 1;
    jpp_test.workers[0].inherited = 0;
    jpp_test.workers[0].stats.allocated = 4 * JPP_TEST_MIB + 1;

    /* 70 MiB in 1000 objects: the error follows from the period */

    profile.n_seen[1] = 99;
    profile.period = 660 << 10;
    jpp_is_str(jpp_time_test_profiled(&profile, true, "few-samples"), NULL,
               "a tenth off is enough");

    profile.period = 800 << 10;
    jpp_is_str(jpp_time_test_profiled(&profile, true, "few-samples"),
               "99 in all, for 4.0 MiB that are allocated: +- 10 %",
               "more is not");
    jpp_is_str(jpp_time_test_profiled(&profile, false, "few-samples"), NULL,
               "a part has fewer");

    jpp_vec_items(profile.columns[JPP_HEAP_INUSE_OBJECTS], int64_t)[0] = 3;
    jpp_is_str(jpp_time_test_profiled(&profile, true, "few-samples"), NULL,
               "three large ones are seen in any case");
    jpp_vec_items(profile.columns[JPP_HEAP_INUSE_OBJECTS], int64_t)[0] = 1000;

    jpp_vec_items(profile.columns[JPP_HEAP_INUSE_SPACE], int64_t)[0] = 0;
    jpp_ok(jpp_time_test_profiled(&profile, true, "few-samples") != NULL,
           "and nothing at all says nothing");
    jpp_vec_items(profile.columns[JPP_HEAP_INUSE_SPACE], int64_t)[0] =
                                              70 * (int64_t) JPP_TEST_MIB;

    jpp_test.workers[0].stats.allocated--;
    jpp_is_str(jpp_time_test_profiled(&profile, true, "few-samples"), NULL,
               "a small one needs none");

    /* one generation inherits once: 80 + 60 MiB, of which 40 twice */

    jpp_test.fleet.n = 2;
    jpp_test.workers[0].stats.allocated = 80 * JPP_TEST_MIB;
    jpp_test.workers[0].inherited = 40 * JPP_TEST_MIB;
    jpp_test.workers[1].stats.allocated = 60 * JPP_TEST_MIB;
    jpp_test.workers[1].inherited = 40 * JPP_TEST_MIB;
    jpp_is_str(jpp_time_test_profiled(&profile, true, "explains"), NULL,
               "70 of 100");

    jpp_test.workers[1].stats.allocated = 600 * JPP_TEST_MIB;
    jpp_is_str(jpp_time_test_profiled(&profile, true, "explains"),
               "70.0 MiB of 640.0 MiB", "70 of 640");
    jpp_is_str(jpp_time_test_profiled(&profile, false, "explains"), NULL,
               "a part cannot have all");

    jpp_test.workers[0].stats.allocated = 600 * JPP_TEST_MIB;
    jpp_test.workers[1].inherited = JPP_NONE;
    jpp_is_str(jpp_time_test_profiled(&profile, true, "explains"), NULL,
               "nobody knows what all is");

    jpp_test.workers[1].inherited = 40 * JPP_TEST_MIB;
    jpp_test.workers[1].has_stats = false;
    jpp_is_str(jpp_time_test_profiled(&profile, true, "explains"), NULL,
               "nor what one has");
    jpp_test.workers[1].has_stats = true;

    /* two generations inherit twice */

    jpp_test.workers[0].stats.allocated = 74 * JPP_TEST_MIB;
    jpp_test.workers[1].stats.allocated = 60 * JPP_TEST_MIB;
    jpp_test.workers[1].inherited = 40 * JPP_TEST_MIB;
    jpp_test.workers[1].who.generation++;
    jpp_is_str(jpp_time_test_profiled(&profile, true, "explains"), NULL,
               "64 MiB are missing");

    jpp_test.workers[0].stats.allocated++;
    jpp_is_str(jpp_time_test_profiled(&profile, true, "explains"),
               "70.0 MiB of 134.0 MiB", "and a byte");

    profile.is_difference = true;
    jpp_is_str(jpp_time_test_profiled(&profile, true, "explains"), NULL,
               "a change is no whole");

    jpp_arena_destroy(&arena);
}
