
/*
 * When snapshots are taken: hours of memory and limits, second by second.
 */


#include "jpp_snapshots.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define JPP_MIB  ((uint64_t) 1024 * 1024)


static jpp_trigger_t  jpp_trigger;
static uint64_t       jpp_now;
static uint64_t       jpp_taken;


static const jpp_trigger_look_t  jpp_calm = {
    .generation = 1, .held = 100 * JPP_MIB, .usage = 200 * JPP_MIB,
    .limit = 1024 * JPP_MIB, .kills = 0, .near = 85, .growth = 25
};


static void
jpp_trigger_fresh(void)
{
    memset(&jpp_trigger, 0, sizeof(jpp_trigger));
    jpp_trigger.kills = JPP_NONE;
    jpp_now = 1000000;
    jpp_taken = 0;
}


/* A second passes, in which LOOK is seen. */

static void
jpp_trigger_second(jpp_trigger_look_t look)
{
    jpp_snapshot_t  about;

    jpp_now += 1000;
    look.now = jpp_now;

    if (jpp_trigger_is_due(&jpp_trigger, jpp_now)
        && jpp_trigger_look(&jpp_trigger, &look, &about))
    {
        jpp_taken++;

        if (jpp_taken <= 40) {
            jpp_note("%" PRIu64 " s: %s: %s (rise %" PRIu64 ")",
                     (jpp_now - 1000000) / 1000,
                     jpp_snapshot_reasons[about.reason], about.text,
                     about.rise);
        }
    }
}


static void
jpp_trigger_seconds(jpp_trigger_look_t look, unsigned n)
{
    while (n-- != 0) {
        jpp_trigger_second(look);
    }
}


/* MIB are held and used more each second. */

static void
jpp_trigger_rises(jpp_trigger_look_t *look, double mib, unsigned seconds)
{
    uint64_t  more;

    more = (uint64_t) (mib * (double) JPP_MIB);

    while (seconds-- != 0 && look->usage + more < look->limit) {
        look->usage += more;
        look->held += more;
        jpp_trigger_second(*look);
    }
}


JPP_TEST(jpp_trigger_test_day)
{
    jpp_trigger_look_t  look;

    jpp_trigger_fresh();
    jpp_trigger_seconds(jpp_calm, 86400);
    jpp_shows_notes("a day in which nothing happens");

    jpp_trigger_fresh();
    look = jpp_calm;
    jpp_trigger_rises(&look, 0.005, 86400);
    jpp_shows_notes("a day of a leak of 18 MiB an hour");

    jpp_trigger_fresh();
    look = jpp_calm;
    look.usage = look.limit = JPP_NONE;
    jpp_trigger_seconds(look, 86400);
    jpp_is_u64(jpp_taken, 1, "without any limit, one");
    (void) jpp_notes();
}


/* 100 MiB/s into a limit of 1 GiB leave at least two. */

JPP_TEST(jpp_trigger_test_rise)
{
    jpp_trigger_look_t  look;

    jpp_trigger_fresh();
    jpp_trigger_seconds(jpp_calm, 100);

    look = jpp_calm;
    look.limit = 1124 * JPP_MIB;
    look.usage = 100 * JPP_MIB;
    jpp_trigger_seconds(look, 20);
    jpp_taken = 0;
    jpp_trigger_rises(&look, 100, 1000);

    jpp_ok(jpp_taken >= 2, "there are at least two");

    /* it was killed, and begins again */

    look = jpp_calm;
    look.kills = 1;
    look.held = 10 * JPP_MIB;
    jpp_trigger_seconds(look, 10);
    jpp_shows_notes("100 MiB/s");
}


JPP_TEST(jpp_trigger_test_near)
{
    unsigned            i;
    jpp_trigger_look_t  look, less;

    jpp_trigger_fresh();
    jpp_trigger_seconds(jpp_calm, 100);
    look = less = jpp_calm;
    look.usage = 880 * JPP_MIB;
    jpp_trigger_seconds(look, 300);

    look.usage = 960 * JPP_MIB;
    jpp_trigger_seconds(look, 30);
    look.usage = 840 * JPP_MIB;
    jpp_trigger_seconds(look, 30);
    look.usage = 880 * JPP_MIB;
    jpp_trigger_seconds(look, 5);
    look.usage = 700 * JPP_MIB;
    jpp_trigger_seconds(look, 300);
    look.usage = 880 * JPP_MIB;
    jpp_trigger_seconds(look, 30);
    jpp_shows_notes("near the limit");

    /* a day that swings around the mark */

    jpp_trigger_fresh();
    less.usage = 860 * JPP_MIB;
    look.usage = 875 * JPP_MIB;

    for (i = 0; i < 86400; i++) {
        jpp_trigger_second(i & 1 ? look : less);
    }

    jpp_ok(jpp_taken < 800, "a day around the mark leaves a bounded number");
    jpp_note("in a day: %" PRIu64, jpp_taken);
    jpp_shows_notes("around the mark");
}


JPP_TEST(jpp_trigger_test_others)
{
    jpp_trigger_look_t  look;

    /* somebody asks, and asks again at once */

    jpp_trigger_fresh();
    jpp_trigger.is_wanted = true;
    jpp_trigger_seconds(jpp_calm, 5);
    jpp_trigger.is_wanted = true;
    jpp_trigger_seconds(jpp_calm, 5);

    /* a reload, and what it has done by a minute later */

    look = jpp_calm;
    look.generation = 2;
    look.held = 140 * JPP_MIB;
    jpp_trigger_seconds(look, 100);

    /* what was freed is no growth when it comes back */

    look.held = 400 * JPP_MIB;
    jpp_trigger_seconds(look, 100);
    look.held = 100 * JPP_MIB;
    jpp_trigger_seconds(look, 100);
    look.held = 170 * JPP_MIB;
    jpp_trigger_seconds(look, 100);

    /* with so little left, a snapshot would be the end */

    look = jpp_calm;
    look.usage = look.limit - 7 * JPP_MIB;
    jpp_trigger_seconds(look, 100);

    /* two looks in one second are one */

    jpp_ok(!jpp_trigger_is_due(&jpp_trigger, jpp_now + 999), "not yet");
    jpp_ok(!jpp_trigger_is_due(&jpp_trigger, jpp_now - 5000),
           "nor by a clock that is behind");
    jpp_ok(jpp_trigger_is_due(&jpp_trigger, jpp_now + 1000), "now");

    jpp_shows_notes("asked for, a reload, growth");
}
