
/*
 * Every rule at its bound: it rises just above, and once it stands it falls
 * only a fifth below.
 */


#include "jpp_diagnosis.h"
#include "jpp_test_findings.h"
#include "jpp_test_main.h"


#define JPP_MIB                 ((double) JPP_TEST_MIB)

/* MiB of a number of worker I, or of what the kernel counts of it */
#define JPP_MIBS(at, base, times)  { at, (base) * JPP_MIB, (times) * JPP_MIB }
#define JPP_OF(i, field)           &jpp_test.workers[i].field
#define JPP_USAGE(i, field)        JPP_OF(i, activity.usage.field)


/* a number that is BASE and so many times X, what a rule is of its bound */
typedef struct {
    uint64_t  *at;
    double     base;
    double     times;
} jpp_fall_number_t;


typedef struct {
    jpp_finding_id_t     id;
    const char          *what;
    void               (*set)(double x);     /* what else there is */
    jpp_fall_number_t    numbers[6];         /* up to the first NULL */
} jpp_fall_row_t;


static jpp_test_nginx_t  jpp_test;
static jpp_finding_t     jpp_found[JPP_FINDINGS];
static jpp_notes_t       jpp_noted_down;


static void
jpp_fall_limited(double x)
{
    (void) x;

    jpp_test.cgroup.binding = 0;
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
jpp_fall_zone(double x)
{
    (void) x;

    jpp_test.telemetry.zones = jpp_test.zones;
    jpp_test.telemetry.n_zones = 1;
    jpp_test.zones[0].name = "one";
    jpp_test.zones[0].name_len = 3;
}


static void
jpp_fall_exiting(double x)
{
    (void) x;

    jpp_test.workers[2].is_exiting = true;
}


static const jpp_fall_row_t  jpp_fall_rows[] = {

    /* how much of the limit, or of a zone, is left: less counts */

    { JPP_FINDING_LIMIT_NEAR, "a tenth of the limit", jpp_fall_limited,
      { JPP_MIBS(&jpp_test.cgroup.levels[0].limit, 10000, 0),
        JPP_MIBS(&jpp_test.cgroup.headroom, 2000, -1000) } },
    { JPP_FINDING_LIMIT_NEAR, "64 MiB", jpp_fall_limited,
      { JPP_MIBS(&jpp_test.cgroup.levels[0].limit, 512, 0),
        JPP_MIBS(&jpp_test.cgroup.headroom, 128, -64) } },
    { JPP_FINDING_GROWS, "16 MiB an hour", jpp_fall_grows, { { NULL, 0, 0 } } },
    { JPP_FINDING_RELOAD_LEAK, "a tenth more", NULL,
      { JPP_MIBS(&jpp_test.telemetry.noted.inherited_before, 100, 0),
        JPP_MIBS(&jpp_test.telemetry.noted.inherited, 100, 10) } },
    { JPP_FINDING_PRESSURE, "a tenth of the time", NULL,
      { { &jpp_test.cgroup.pressure.some.avg60, 0.5, 1000 } } },
    { JPP_FINDING_SWAP, "16 MiB", NULL, { JPP_MIBS(JPP_USAGE(0, swap), 0, 16) }
      },
    { JPP_FINDING_ZONE_FULL, "a twentieth is free", jpp_fall_zone,
      { JPP_MIBS(&jpp_test.zones[0].size, 100, 0),
        JPP_MIBS(&jpp_test.zones[0].free, 10, -5) } },
    { JPP_FINDING_OLD_WORKERS, "64 MiB", jpp_fall_exiting,
      { JPP_MIBS(JPP_USAGE(2, rss_anon), 0, 64) } },
    { JPP_FINDING_OLD_WORKERS, "three tenths", jpp_fall_exiting,
      { JPP_MIBS(JPP_USAGE(0, rss_anon), 1000, -300),
        JPP_MIBS(JPP_USAGE(2, rss_anon), 0, 300) } },
    { JPP_FINDING_ODD_WORKER, "three times", NULL,
      { JPP_MIBS(JPP_OF(1, stats.allocated), 0, 3000) } },
    { JPP_FINDING_OUTSIDE, "64 MiB", NULL,
      { JPP_MIBS(JPP_OF(1, stats.resident), 20, 0),
        JPP_MIBS(JPP_USAGE(1, rss_anon), 20, 64) } },
    { JPP_FINDING_OUTSIDE, "a quarter", NULL,
      { JPP_MIBS(JPP_OF(1, stats.resident), 1000, -250),
        JPP_MIBS(JPP_USAGE(1, rss_anon), 1000, 0) } },
    { JPP_FINDING_RETAINED, "64 MiB", NULL,
      { JPP_MIBS(JPP_USAGE(1, rss_anon), 81, 0),
        JPP_MIBS(JPP_OF(1, stats.dirty), 0, 64) } },

    /* of what it shares it returns nothing */

    { JPP_FINDING_RETAINED, "64 MiB of its own", NULL,
      { JPP_MIBS(JPP_USAGE(1, rss_anon), 100, 0),
        JPP_MIBS(JPP_USAGE(1, private), 0, 64),
        JPP_MIBS(JPP_OF(1, stats.dirty), 90, 0) } },
    { JPP_FINDING_RETAINED, "half", NULL,
      { JPP_MIBS(JPP_USAGE(1, rss_anon), 3000, 0),
        JPP_MIBS(JPP_OF(1, stats.dirty), 0, 1500) } },
    { JPP_FINDING_FRAGMENTED, "two fifths", NULL,
      { JPP_MIBS(JPP_OF(0, stats.active), 1000, 1200) } },
    { JPP_FINDING_THP, "two fifths", NULL,
      { JPP_MIBS(&jpp_test.cgroup.stat.anon, 4000, 0),
        JPP_MIBS(&jpp_test.cgroup.stat.anon_thp, 4000, 0),
        JPP_MIBS(JPP_USAGE(0, rss_anon), 1000, 400),
        JPP_MIBS(JPP_USAGE(1, rss_anon), 1000, 400),
        JPP_MIBS(JPP_USAGE(2, rss_anon), 1000, 400) } },
    { JPP_FINDING_PEAK, "half", NULL,
      { JPP_MIBS(JPP_USAGE(1, rss), 200, 0),
        JPP_MIBS(JPP_USAGE(1, peak), 200, 100) } },
    { JPP_FINDING_STALLS, "a second", NULL,
      { { JPP_OF(1, activity.minute.slow), 0.5, 1000 } } }
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
    jpp_finding_t             finding;
    const jpp_fall_number_t  *number;

    jpp_fall_test_init();

    jpp_test.telemetry.noted.standing[row->id].holds = stands;

    for (number = row->numbers; number->at != NULL; number++) {
        *number->at = (uint64_t) (number->base + number->times * x);
    }

    if (row->set != NULL) {
        row->set(x);
    }

    jpp_finding_of(row->id, &finding);

    return jpp_test_find(&jpp_test.telemetry, finding.id) != NULL;
}


/* What is said at NOW of X times 16 MiB in swap, and of N findings. */

static size_t
jpp_fall_look(double x, int64_t now, size_t *n)
{
    jpp_fall_test_init();
    jpp_test.workers[0].activity.usage.swap = (uint64_t) (x * 16 * JPP_MIB);
    jpp_test.telemetry.noted = jpp_noted_down.noted;
    *n = jpp_findings(&jpp_test.telemetry, jpp_found);

    return jpp_active_update(&jpp_noted_down, jpp_found, *n, now);
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
        said += jpp_fall_look(swing[now / 5 % 6], now, &n);
        missed += now > 1030 && n == 0;
    }

    jpp_is_u64(said, 1, "a value around its bound is said once in an hour");
    jpp_is_u64(missed, 0, "and is seen all the time");

    (void) jpp_fall_look(0.7, now, &n);
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
    jpp_holder_t  holder = { .lasting = "zone one", .place = "nginx.conf:1" };

    jpp_fall_test_init();
    jpp_notes_init(&jpp_noted_down);

    jpp_test.workers[0].activity.usage.rss_anon = 7;
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
