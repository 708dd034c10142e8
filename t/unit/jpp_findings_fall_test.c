
/*
 * Every rule at its bound: it rises just above, and once it stands it falls
 * only a fifth below.
 */


#include "jpp_diagnosis.h"
#include "jpp_test_findings.h"
#include "jpp_test_main.h"


/* Sets the numbers of a rule to X of its bounds. */
typedef void (*jpp_fall_set_pt)(double x);


typedef struct {
    jpp_finding_id_t    id;
    const char         *what;
    jpp_fall_set_pt     set;
} jpp_fall_row_t;


static jpp_test_nginx_t  jpp_test;
static jpp_finding_t     jpp_found[JPP_FINDINGS];
static jpp_notes_t       jpp_noted_down;


/* how much of the limit is left: less counts */

static void
jpp_fall_limit(double x)
{
    jpp_test.cgroup.binding = 0;
    jpp_test.cgroup.levels[0].limit = 10000 * JPP_TEST_MIB;
    jpp_test.cgroup.headroom = (uint64_t) ((2 - x) * 1000 * JPP_TEST_MIB);
}


static void
jpp_fall_little(double x)
{
    jpp_test.cgroup.binding = 0;
    jpp_test.cgroup.levels[0].limit = 512 * JPP_TEST_MIB;
    jpp_test.cgroup.headroom = (uint64_t) ((2 - x) * 64 * JPP_TEST_MIB);
}


static void
jpp_fall_grows(double x)
{
    uint64_t  t;

    jpp_test.workers[0].history = &jpp_test.histories[0];
    jpp_history_init(&jpp_test.histories[0]);

    for (t = 0; t < 21600; t += 5) {
        jpp_history_add(&jpp_test.histories[0], t,
                        50 * JPP_TEST_MIB
                        + (uint64_t) (x * 16 * JPP_TEST_MIB * t / 3600),
                        200 * JPP_TEST_MIB);
    }
}


static void
jpp_fall_reload(double x)
{
    jpp_test.telemetry.noted.inherited_before = 100 * JPP_TEST_MIB;
    jpp_test.telemetry.noted.inherited =
        (uint64_t) ((10 + x) * 10 * JPP_TEST_MIB);
}


static void
jpp_fall_pressure(double x)
{
    jpp_test.cgroup.pressure.some.avg60 = (uint64_t) (1000 * x + 0.5);
}


static void
jpp_fall_swap(double x)
{
    jpp_test.workers[0].activity.usage.swap =
        (uint64_t) (x * 16 * JPP_TEST_MIB);
}


static void
jpp_fall_zone(double x)
{
    jpp_test.telemetry.zones = jpp_test.zones;
    jpp_test.telemetry.n_zones = 1;
    jpp_test.zones[0].name = "one";
    jpp_test.zones[0].name_len = 3;
    jpp_test.zones[0].size = 100 * JPP_TEST_MIB;
    jpp_test.zones[0].free = (uint64_t) ((2 - x) * 5 * JPP_TEST_MIB);
}


static void
jpp_fall_old(double x)
{
    jpp_test.workers[2].activity.usage.rss_anon =
        (uint64_t) (x * 64 * JPP_TEST_MIB);
    jpp_test.workers[2].is_exiting = true;
}


static void
jpp_fall_old_share(double x)
{
    jpp_test.workers[0].activity.usage.rss_anon =
        (uint64_t) ((1000 - x * 300) * JPP_TEST_MIB);
    jpp_test.workers[2].activity.usage.rss_anon =
        (uint64_t) (x * 300 * JPP_TEST_MIB);
    jpp_test.workers[2].is_exiting = true;
}


static void
jpp_fall_odd(double x)
{
    jpp_test.workers[1].stats.allocated = (uint64_t) (x * 3000 * JPP_TEST_MIB);
}


static void
jpp_fall_outside(double x)
{
    jpp_test.workers[1].stats.resident = 20 * JPP_TEST_MIB;
    jpp_test.workers[1].activity.usage.rss_anon =
        (uint64_t) ((20 + x * 64) * JPP_TEST_MIB);
}


static void
jpp_fall_outside_share(double x)
{
    jpp_test.workers[1].stats.resident =
        (uint64_t) ((1000 - x * 250) * JPP_TEST_MIB);
    jpp_test.workers[1].activity.usage.rss_anon = 1000 * JPP_TEST_MIB;
}


static void
jpp_fall_retained(double x)
{
    jpp_test.workers[1].activity.usage.rss_anon = 81 * JPP_TEST_MIB;
    jpp_test.workers[1].stats.dirty = (uint64_t) (x * 64 * JPP_TEST_MIB);
}


/* of what it shares it returns nothing */

static void
jpp_fall_retained_own(double x)
{
    jpp_test.workers[1].activity.usage.rss_anon = 100 * JPP_TEST_MIB;
    jpp_test.workers[1].activity.usage.private =
        (uint64_t) (x * 64 * JPP_TEST_MIB);
    jpp_test.workers[1].stats.dirty = 90 * JPP_TEST_MIB;
}


static void
jpp_fall_retained_share(double x)
{
    jpp_test.workers[1].activity.usage.rss_anon = 3000 * JPP_TEST_MIB;
    jpp_test.workers[1].stats.dirty = (uint64_t) (x * 1500 * JPP_TEST_MIB);
}


static void
jpp_fall_fragmented(double x)
{
    jpp_test.workers[0].stats.active =
        (uint64_t) ((1000 + x * 1200) * JPP_TEST_MIB);
}


static void
jpp_fall_thp(double x)
{
    size_t  i;

    jpp_test.cgroup.stat.anon = 4000 * JPP_TEST_MIB;
    jpp_test.cgroup.stat.anon_thp = 4000 * JPP_TEST_MIB;

    for (i = 0; i < 3; i++) {
        jpp_test.workers[i].activity.usage.rss_anon =
            (uint64_t) ((1000 + x * 400) * JPP_TEST_MIB);
    }
}


static void
jpp_fall_peak(double x)
{
    jpp_test.workers[1].activity.usage.rss = 200 * JPP_TEST_MIB;
    jpp_test.workers[1].activity.usage.peak =
        (uint64_t) ((200 + x * 100) * JPP_TEST_MIB);
}


static void
jpp_fall_stalls(double x)
{
    jpp_test.workers[1].activity.minute.slow = (uint64_t) (1000 * x + 0.5);
}


static const jpp_fall_row_t  jpp_fall_rows[] = {
    { JPP_FINDING_LIMIT_NEAR, "a tenth of the limit", jpp_fall_limit },
    { JPP_FINDING_LIMIT_NEAR, "64 MiB", jpp_fall_little },
    { JPP_FINDING_GROWS, "16 MiB an hour", jpp_fall_grows },
    { JPP_FINDING_RELOAD_LEAK, "a tenth more", jpp_fall_reload },
    { JPP_FINDING_PRESSURE, "a tenth of the time", jpp_fall_pressure },
    { JPP_FINDING_SWAP, "16 MiB", jpp_fall_swap },
    { JPP_FINDING_ZONE_FULL, "a twentieth is free", jpp_fall_zone },
    { JPP_FINDING_OLD_WORKERS, "64 MiB", jpp_fall_old },
    { JPP_FINDING_OLD_WORKERS, "three tenths", jpp_fall_old_share },
    { JPP_FINDING_ODD_WORKER, "three times", jpp_fall_odd },
    { JPP_FINDING_OUTSIDE, "64 MiB", jpp_fall_outside },
    { JPP_FINDING_OUTSIDE, "a quarter", jpp_fall_outside_share },
    { JPP_FINDING_RETAINED, "64 MiB", jpp_fall_retained },
    { JPP_FINDING_RETAINED, "64 MiB of its own", jpp_fall_retained_own },
    { JPP_FINDING_RETAINED, "half", jpp_fall_retained_share },
    { JPP_FINDING_FRAGMENTED, "two fifths", jpp_fall_fragmented },
    { JPP_FINDING_THP, "two fifths", jpp_fall_thp },
    { JPP_FINDING_PEAK, "half", jpp_fall_peak },
    { JPP_FINDING_STALLS, "a second", jpp_fall_stalls }
};


static void
jpp_fall_test_init(void)
{
    size_t        i;
    jpp_stats_t  *stats;

    jpp_test_nginx_init(&jpp_test);

    for (i = 0; i < JPP_TEST_WORKERS; i++) {
        stats = &jpp_test.workers[i].stats;

        stats->allocated = 1000 * JPP_TEST_MIB;
        stats->active = 1000 * JPP_TEST_MIB;
        stats->resident = 1000 * JPP_TEST_MIB;
    }
}


static bool
jpp_fall_test_at(const jpp_fall_row_t *row, double x, bool stands)
{
    jpp_finding_t  finding;

    jpp_fall_test_init();

    jpp_test.telemetry.noted.standing[row->id].holds = stands;

    row->set(x);

    jpp_finding_of(row->id, &finding);

    return jpp_test_find(&jpp_test.telemetry, finding.id) != NULL;
}


/* A value that swings around its bound: one line of the log, and no flicker. */

JPP_TEST(jpp_fall_test_log)
{
    size_t    n, said;
    int64_t   now;
    unsigned  missed;

    static const double  swing[] = { 1.05, 0.95, 1.01, 0.85, 0.99, 1.1 };

    jpp_notes_init(&jpp_noted_down);

    for (now = 1000, said = 0, missed = 0; now < 5000; now += 5) {
        jpp_fall_test_init();
        jpp_fall_swap(swing[now / 5 % 6]);

        jpp_test.telemetry.noted = jpp_noted_down.noted;

        n = jpp_findings(&jpp_test.telemetry, jpp_found);
        missed += now > 1030 && n == 0;
        said += jpp_active_update(&jpp_noted_down, jpp_found, n, now);
    }

    jpp_is_u64(said, 1, "a value around its bound is said once in an hour");
    jpp_is_u64(missed, 0, "and is seen all the time");

    jpp_fall_test_init();
    jpp_fall_swap(0.7);
    jpp_test.telemetry.noted = jpp_noted_down.noted;
    n = jpp_findings(&jpp_test.telemetry, jpp_found);
    (void) jpp_active_update(&jpp_noted_down, jpp_found, n, now);

    jpp_is_u64(n, 0, "clearly below it is over");
    jpp_ok(!jpp_noted_down.noted.standing[JPP_FINDING_SWAP].holds,
           "from the next look on, at the old bound");
}


JPP_TEST(jpp_findings_fall_test)
{
    size_t                 i;
    const jpp_fall_row_t  *row;
    jpp_finding_t          finding;

    for (i = 0; i < sizeof(jpp_fall_rows) / sizeof(jpp_fall_rows[0]); i++) {
        row = &jpp_fall_rows[i];

        jpp_finding_of(row->id, &finding);

        jpp_ok(!jpp_fall_test_at(row, 0.999, false)
               && jpp_fall_test_at(row, 1.001, false),
               "%s rises at %s", finding.id, row->what);
        jpp_ok(jpp_fall_test_at(row, 0.81, true)
               && !jpp_fall_test_at(row, 0.79, true),
               "and falls a fifth below");
    }
}


/* Owners are those of the last time that any were known. */

JPP_TEST(jpp_fall_test_held)
{
    uint64_t      i, total;
    jpp_held_t   *held = &jpp_noted_down.held;
    jpp_holder_t  holder = { .where = "zone one", .place = "nginx.conf:1" };

    jpp_fall_test_init();
    jpp_notes_init(&jpp_noted_down);

    jpp_test.telemetry.holders = &holder;
    total = jpp_verdict_total(&jpp_test.telemetry);

    for (i = 0; i < 3; i++) {
        holder.bytes = 70 - i;
        jpp_test.telemetry.n_holders = i % 2 == 0;

        jpp_is_u64(jpp_notes_held(&jpp_noted_down, &jpp_test.telemetry,
                                  1 + 5000 * i), total, "all of nginx");
        jpp_is_u64(held->owners[0].last, i == 2 ? 68 : 70, "and its owner");
        jpp_is_u64(held->all.allocated[i],
                   3 * jpp_test.workers[0].stats.allocated, "and allocations");
    }
}
