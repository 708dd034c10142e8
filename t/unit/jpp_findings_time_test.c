
/* Growth, by histories and inheritance; and profiles that say too little. */


#include "jpp_parsers.h"
#include "jpp_test_arena.h"
#include "jpp_test_findings.h"
#include "jpp_test_main.h"


static jpp_test_nginx_t  jpp_test;


/* a life of SECONDS; RSS stays as it is */

static void
jpp_time_test_grow(jpp_history_t *history, uint64_t seconds, uint64_t start,
    uint64_t per_hour)
{
    uint64_t  t;

    jpp_history_init(history);

    for (t = 0; t < seconds; t += 5) {
        jpp_history_add(history, t, start + per_hour * t / 3600,
                        200 * JPP_TEST_MIB);
    }
}


void
jpp_before_each(void)
{
    size_t  i;

    jpp_test_nginx_init(&jpp_test);

    for (i = 0; i < JPP_TEST_WORKERS; i++) {
        jpp_test.workers[i].history = &jpp_test.histories[i];
        jpp_time_test_grow(&jpp_test.histories[i], 7200, JPP_TEST_MIB, 0);
    }
}


JPP_TEST(jpp_time_test_grows)
{
    uint64_t        t, per_hour;
    jpp_history_t  *history;

    history = &jpp_test.histories[1];

    jpp_says("grows", "nothing grows");

    /* six hours: the last third is longer than one */

    jpp_time_test_grow(history, 21600, 100 * JPP_TEST_MIB, 15 * JPP_TEST_MIB);
    jpp_says("grows", "15 MiB an hour");

    jpp_time_test_grow(history, 21600, 100 * JPP_TEST_MIB, 17 * JPP_TEST_MIB);
    jpp_says("grows", "and more");

    jpp_time_test_grow(history, 21600, 1000 * JPP_TEST_MIB, 64 * JPP_TEST_MIB);
    jpp_says("grows", "4.6 % an hour");

    jpp_time_test_grow(history, 21600, 1000 * JPP_TEST_MIB, 80 * JPP_TEST_MIB);
    jpp_says("grows", "5.4 %");

    /* of several the fastest is named */

    jpp_time_test_grow(&jpp_test.histories[2], 21600, 0, 90 * JPP_TEST_MIB);
    jpp_says("grows", "the one that grows fastest");

    jpp_test.workers[2].jemalloc.state = JPP_JEMALLOC_OFF;
    jpp_has(jpp_test_find(&jpp_test.telemetry, "grows")->fix,
            "Compare what pools hold", "a worker without samples");
    jpp_test.workers[2].jemalloc.state = JPP_JEMALLOC_READY;

    jpp_test.histories[2] = *history;
    jpp_says("grows", "of two that are alike the first");

    /* what no single one would be worth */

    jpp_time_test_grow(&jpp_test.histories[1], 21600, 90 * JPP_TEST_MIB,
                       9 * JPP_TEST_MIB);
    jpp_time_test_grow(&jpp_test.histories[2], 21600, 90 * JPP_TEST_MIB,
                       8 * JPP_TEST_MIB);
    jpp_says("grows", "17 MiB of two");

    jpp_time_test_grow(&jpp_test.histories[2], 21600, 90 * JPP_TEST_MIB,
                       6 * JPP_TEST_MIB);
    jpp_says("grows", "15 MiB of two");

    /* an owner that is behind half of it, or less */

    jpp_time_test_grow(history, 21600, 100 * JPP_TEST_MIB, 40 * JPP_TEST_MIB);

    for (per_hour = 22; per_hour <= 24; per_hour += 2) {
        memset(&jpp_test.telemetry.held, 0, sizeof(jpp_held_t));

        for (t = 0; t < 21600; t += 5) {
            jpp_held_begin(&jpp_test.telemetry.held);
            jpp_held_see(&jpp_test.telemetry.held, "location /a of www",
                         "nginx.conf:41",
                         JPP_TEST_MIB + per_hour * JPP_TEST_MIB * t / 3600);
            jpp_held_add(&jpp_test.telemetry.held, 1 + t * 1000, 1,
                         200 * JPP_TEST_MIB);
        }

        jpp_says("grows", per_hour == 24 ? "whose it is" : "nobody's");
    }

    jpp_test.workers[1].history = NULL;
    jpp_test.workers[2].history = NULL;
    jpp_says("grows", "without a history");

    jpp_shows_notes("grows");
}


/* Of a limit that is near, the rate, if it is known and worth it. */

JPP_TEST(jpp_time_test_near)
{
    char           name[32];
    uint64_t       t, step;
    jpp_held_t    *held;
    jpp_cgroup_t  *cgroup;

    cgroup = &jpp_test.cgroup;
    memset(cgroup, 0xff, sizeof(jpp_cgroup_t));
    cgroup->binding = 0;
    cgroup->levels[0].limit = 1000 * JPP_TEST_MIB;
    cgroup->headroom = 60 * JPP_TEST_MIB;
    jpp_test.telemetry.cgroup = cgroup;
    jpp_test.telemetry.now = 1000295;

    jpp_says("limit-near", "no rate is known");

    held = &jpp_test.telemetry.held;

    for (step = 0; step < 3; step++) {
        memset(held, 0, sizeof(jpp_held_t));

        for (t = 0; t < 300; t += 5) {
            jpp_held_add(held, 1 + t * 1000, JPP_TEST_MIB,
                         200 * JPP_TEST_MIB + t * step * 1024);
        }

        jpp_print(name, "%u KiB a second", (unsigned) step);
        jpp_says("limit-near", name);
    }

    jpp_shows_notes("limit-near");
}


JPP_TEST(jpp_time_test_shapes)
{
    uint64_t        i;
    jpp_history_t  *history;

    history = &jpp_test.histories[1];

    /* ten minutes are a start; what has grown since then has to be there */

    jpp_time_test_grow(history, 600, 0, 3600 * JPP_TEST_MIB);
    jpp_says("grows", "a start");

    jpp_time_test_grow(history, 605, 0, 3600 * JPP_TEST_MIB);
    jpp_says("grows", "a MiB a second, after that");

    jpp_time_test_grow(history, 605, 0, 280 * JPP_TEST_MIB);
    jpp_says("grows", "15 MiB in three minutes");

    /* a rise, one that has ended, and a step */

    jpp_time_test_grow(history, 21600, JPP_TEST_MIB, 100 * JPP_TEST_MIB);
    jpp_says("grows", "a steady rise");

    for (i = history->n / 6 * 5; i < history->n; i++) {
        history->allocated[i] = history->allocated[history->n / 6 * 5];
    }

    jpp_says("grows", "one that has ended is no rise any more");

    for (i = 0; i < history->n; i++) {
        history->allocated[i] = i < history->n - 20 ? JPP_TEST_MIB
                                                     : 500 * JPP_TEST_MIB;
    }

    jpp_says("grows", "nor is a step");

    for (i = 0; i < history->n; i++) {
        history->allocated[i] = (1000 - i / 6 * 100 + i % 6) * JPP_TEST_MIB;
    }

    jpp_says("grows", "nor a saw that falls");

    /* what is not malloc's */

    for (i = 0; i < history->n; i++) {
        history->allocated[i] = JPP_NONE;
        history->rss[i] = i * 10 * JPP_TEST_MIB;
    }

    jpp_says("grows", "RSS alone");

    jpp_shows_notes("shapes");
}


JPP_TEST(jpp_time_test_limit)
{
    jpp_time_test_grow(&jpp_test.histories[0], 21600, 100 * JPP_TEST_MIB,
                       60 * JPP_TEST_MIB);
    jpp_time_test_grow(&jpp_test.histories[1], 21600, 100 * JPP_TEST_MIB,
                       40 * JPP_TEST_MIB);

    jpp_test.cgroup.binding = 0;
    jpp_test.cgroup.levels[0].limit = 2048 * JPP_TEST_MIB;
    jpp_test.cgroup.headroom = 240 * JPP_TEST_MIB;
    jpp_test.cgroup.stat.inactive_file = 10 * JPP_TEST_MIB;

    jpp_says("grows", "by all that grow");

    jpp_test.cgroup.headroom = 6000 * JPP_TEST_MIB;
    jpp_says("grows", "in days");

    jpp_shows_notes("limit");
}


JPP_TEST(jpp_time_test_reload)
{
    jpp_test.telemetry.noted.inherited = 100 * JPP_TEST_MIB;
    jpp_says("reload-leak", "the first one");

    jpp_test.telemetry.noted.inherited_before = 10 * JPP_TEST_MIB;
    jpp_test.telemetry.noted.inherited = 14 * JPP_TEST_MIB;
    jpp_says("reload-leak", "4 MiB more");

    jpp_test.telemetry.noted.inherited++;
    jpp_says("reload-leak", "a byte more");

    jpp_test.telemetry.noted.inherited_before = 100 * JPP_TEST_MIB;
    jpp_test.telemetry.noted.inherited = 110 * JPP_TEST_MIB;
    jpp_says("reload-leak", "a tenth");

    jpp_test.telemetry.noted.inherited++;
    jpp_says("reload-leak", "and a byte");

    jpp_shows_notes("reload");
}


JPP_TEST(jpp_time_test_vanished)
{
    jpp_test.telemetry.now = 1795236015;
    jpp_test.telemetry.noted.unclean_exits = 2;
    jpp_test.telemetry.noted.vanished.who.index = 1;
    jpp_test.telemetry.noted.vanished.who.pid = 4712;
    jpp_test.telemetry.noted.vanished.rss = 300 * JPP_TEST_MIB;

    jpp_says("oom-kill", "nobody knows when");

    jpp_test.telemetry.noted.vanished.at = 1795236010;
    jpp_test.telemetry.noted.killed.at = 1795236010;
    jpp_says("oom-kill", "a worker that vanished is named");
    jpp_is_i64(jpp_test_find(&jpp_test.telemetry, "oom-kill")->at, 1795236010,
               "and when");

    jpp_test.telemetry.noted.vanished.rss = JPP_NONE;
    jpp_says("oom-kill", "without what it had");

    /* an hour later it is no news, and acknowledged until the next one */

    jpp_test.telemetry.now += 3594;
    jpp_says("oom-kill", "for an hour");
    jpp_test.telemetry.now++;
    jpp_says("oom-kill", "and no longer");
    jpp_test.telemetry.now = 1795236000;
    jpp_says("oom-kill", "a clock that goes back");

    jpp_test.telemetry.noted.standing[JPP_FINDING_OOM_KILL].acknowledged =
        1795236010;
    jpp_is_i64(jpp_test_find(&jpp_test.telemetry, "oom-kill")->acknowledged,
               1795236010, "acknowledged");
    jpp_test.telemetry.noted.vanished.at++;
    jpp_is_i64(jpp_test_find(&jpp_test.telemetry, "oom-kill")->acknowledged, 0,
               "the next one is not");

    jpp_test.telemetry.noted.unclean_exits = UINT64_MAX;
    jpp_test.telemetry.noted.vanished.who.index = UINT32_MAX;
    jpp_test.telemetry.noted.vanished.who.pid = INT64_MIN;
    jpp_test.telemetry.noted.vanished.rss = UINT64_MAX - 1;
    jpp_says("oom-kill", "the longest");

    jpp_shows_notes("vanished");
}


JPP_TEST(jpp_time_test_thp)
{
    size_t  i;

    for (i = 0; i < 3; i++) {
        jpp_test.workers[i].stats.allocated = 50 * JPP_TEST_MIB;
        jpp_test.workers[i].activity.usage.rss_anon = 71 * JPP_TEST_MIB;
    }

    jpp_test.cgroup.stat.anon = 220 * JPP_TEST_MIB;
    jpp_test.cgroup.stat.anon_thp = 213 * JPP_TEST_MIB / 2;
    jpp_says("thp", "half of it");

    jpp_test.cgroup.stat.anon_thp++;
    jpp_says("thp", "a byte more");

    jpp_test.cgroup.stat.anon = 426 * JPP_TEST_MIB;
    jpp_says("thp", "half of it is of others");

    jpp_test.cgroup.stat.anon = 428 * JPP_TEST_MIB;
    jpp_says("thp", "most of it is of others");

    jpp_test.cgroup.stat.anon = JPP_NONE;
    jpp_says("thp", "nobody knows how much is");

    jpp_test.cgroup.stat.anon = 214 * JPP_TEST_MIB;
    jpp_test.workers[0].has_stats = false;
    jpp_says("thp", "of two workers");
    jpp_test.workers[0].has_stats = true;
    jpp_test.workers[0].activity.usage.rss_anon = JPP_NONE;
    jpp_says("thp", "or of those");
    jpp_test.workers[0].activity.usage.rss_anon = 71 * JPP_TEST_MIB;

    jpp_test.cgroup.stat.anon = 220 * JPP_TEST_MIB;
    jpp_test.workers[0].stats.allocated = 53 * JPP_TEST_MIB;
    jpp_says("thp", "1.4 times what is allocated");

    jpp_test.workers[0].stats.allocated = JPP_TEST_MIB;
    jpp_test.workers[0].activity.usage.rss_anon = JPP_TEST_MIB;
    jpp_test.workers[1] = jpp_test.workers[2] = jpp_test.workers[0];
    jpp_test.cgroup.stat.anon = 3 * JPP_TEST_MIB;
    jpp_says("thp", "little of it");

    jpp_shows_notes("thp");
}


/* The same of a profile. */

static const jpp_finding_t *
jpp_profiled(const jpp_profile_t *profile, bool is_whole, const char *id,
    const char *what)
{
    size_t                n;
    const jpp_finding_t  *finding;

    static jpp_finding_t  findings[JPP_FINDINGS];

    n = jpp_findings_profile(&jpp_test.fleet, profile, is_whole, findings);
    finding = jpp_test_pick(findings, n, id);
    jpp_test_says(finding, id, what);

    return finding;
}


/* samples of a single stack, of 100 MiB */

JPP_TEST(jpp_time_test_profile)
{
    int64_t        values[JPP_HEAP_COLUMNS] = { 0 };
    uint32_t       lg;
    jpp_profile_t  profile;

    jpp_ok(jpp_parser_init(&jpp_parser_heap, &profile, &arena), "a profile");

    values[JPP_HEAP_INUSE_OBJECTS] = 1000;
    values[JPP_HEAP_INUSE_SPACE] = 70 * (int64_t) JPP_TEST_MIB;
    jpp_profile_end(&profile, jpp_profile_begin(&profile, 0, 0));
    jpp_ok(jpp_profile_commit(&profile, NULL, values), "with a sample");

    jpp_test.fleet.n = 1;
    jpp_test.workers[0].inherited = 0;
    jpp_test.workers[0].stats.allocated = 4 * JPP_TEST_MIB + 1;

    /* 70 MiB in 1000 objects: the error follows from the period */

    profile.n_seen[1] = 99;
    profile.period = 660 << 10;
    jpp_profiled(&profile, true, "few-samples", "a tenth off is enough");

    profile.period = 800 << 10;
    jpp_profiled(&profile, true, "few-samples", "more is not");
    jpp_profiled(&profile, false, "few-samples", "a part has fewer");

    for (lg = JPP_JEMALLOC_LG_MIN; lg < JPP_JEMALLOC_LG_MIN + 5; lg++) {
        jpp_test.workers[0].jemalloc.lg_sample = lg;
        jpp_note("fix: %s", jpp_profiled(&profile, true, "few-samples",
                                         "a finer rate")->fix);
    }

    jpp_test.workers[0].jemalloc.lg_sample = 19;

    jpp_vec_items(profile.columns[JPP_HEAP_INUSE_OBJECTS], int64_t)[0] = 3;
    jpp_profiled(&profile, true, "few-samples",
                 "three large ones are seen in any case");
    jpp_vec_items(profile.columns[JPP_HEAP_INUSE_OBJECTS], int64_t)[0] = 1000;

    jpp_vec_items(profile.columns[JPP_HEAP_INUSE_SPACE], int64_t)[0] = 0;
    jpp_profiled(&profile, true, "few-samples",
                 "and nothing at all says nothing");
    jpp_vec_items(profile.columns[JPP_HEAP_INUSE_SPACE], int64_t)[0] =
                                              70 * (int64_t) JPP_TEST_MIB;

    jpp_test.workers[0].stats.allocated--;
    jpp_profiled(&profile, true, "few-samples", "a small one needs none");

    /* one generation inherits once: 80 + 60 MiB, of which 40 twice */

    jpp_test.fleet.n = 2;
    jpp_test.workers[0].stats.allocated = 80 * JPP_TEST_MIB;
    jpp_test.workers[0].inherited = 40 * JPP_TEST_MIB;
    jpp_test.workers[1].stats.allocated = 60 * JPP_TEST_MIB;
    jpp_test.workers[1].inherited = 40 * JPP_TEST_MIB;
    jpp_profiled(&profile, true, "explains", "70 of 100");

    jpp_test.workers[1].stats.allocated = 600 * JPP_TEST_MIB;
    jpp_profiled(&profile, true, "explains", "70 of 640");
    jpp_profiled(&profile, false, "explains", "a part cannot have all");

    jpp_test.workers[0].stats.allocated = 600 * JPP_TEST_MIB;
    jpp_test.workers[1].inherited = JPP_NONE;
    jpp_profiled(&profile, true, "explains", "nobody knows what all is");

    jpp_test.workers[1].inherited = 40 * JPP_TEST_MIB;
    jpp_test.workers[1].has_stats = false;
    jpp_profiled(&profile, true, "explains", "nor what one has");
    jpp_test.workers[1].has_stats = true;

    /* two generations inherit twice */

    jpp_test.workers[0].stats.allocated = 74 * JPP_TEST_MIB;
    jpp_test.workers[1].stats.allocated = 60 * JPP_TEST_MIB;
    jpp_test.workers[1].inherited = 40 * JPP_TEST_MIB;
    jpp_test.workers[1].who.generation++;
    jpp_profiled(&profile, true, "explains", "64 MiB are missing");

    jpp_test.workers[0].stats.allocated++;
    jpp_profiled(&profile, true, "explains", "and a byte");

    profile.is_difference = true;
    jpp_profiled(&profile, true, "explains", "a change is no whole");

    jpp_shows_notes("profile");
}
