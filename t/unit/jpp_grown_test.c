
/* What the resource grown says of a history. */


#include "jpp_answers.h"
#include "jpp_test_arena.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


#define JPP_MIB  ((uint64_t) 1024 * 1024)


static jpp_telemetry_t  jpp_telemetry;
static jpp_cgroup_t     jpp_cgroup;
static jpp_snapshot_t   jpp_snapshots[3];
static jpp_output_t     jpp_output;
static const char      *jpp_query;

static jpp_held_t *const  jpp_held = &jpp_telemetry.held;


/* SECONDS in which "location /export/ of www" gains a MiB in each five. */

static void
jpp_grown_test_fill(uint64_t seconds)
{
    uint64_t  t;

    memset(jpp_held, 0, sizeof(jpp_held_t));

    for (t = 0; t < seconds; t += 5) {
        jpp_held_begin(jpp_held);
        jpp_held_see(jpp_held, "zone a<b\x01", "", 20 * JPP_MIB);
        jpp_held_see(jpp_held, "location /export/ of www", "nginx.conf:41",
                     10 * JPP_MIB + t / 5 * JPP_MIB);
        jpp_held_add(jpp_held, 1 + t * 1000, 1,
                     60 * JPP_MIB + t / 5 * 2 * JPP_MIB);
    }

    memset(&jpp_cgroup, 0xff, sizeof(jpp_cgroup));
    jpp_cgroup.n_levels = 1;
    jpp_cgroup.binding = 0;
    jpp_cgroup.levels[0].limit = 512 * JPP_MIB;
    jpp_cgroup.headroom = 120 * JPP_MIB;
}


static void
jpp_grown_test_write(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    jpp_args_t   args;

    (void) fleet;

    jpp_args_init(&args, &jpp_words_top, &jpp_words_top);
    (void) jpp_args_query(&args, jpp_query, strlen(jpp_query), NULL);

    jpp_test_anew();

    jpp_telemetry.now = 1795236015;
    jpp_telemetry.cgroup = &jpp_cgroup;

    if (!jpp_grown_write(&jpp_telemetry, &args, &arena, sink))
    {
        jpp_sink_fail(sink, ENOMEM);
    }
}


static void
jpp_grown_test_shows(const char *query, const char *name)
{
    jpp_query = query;

    (void) jpp_output_fill(&jpp_output, jpp_grown_test_write, NULL, 0);
    jpp_shows(jpp_output.text, "%s", name);
}


JPP_TEST(jpp_grown_test_shown)
{
    jpp_grown_test_fill(0);
    jpp_grown_test_shows("", "nothing was seen");
    jpp_grown_test_shows("format=json", "nothing was seen, as JSON");

    jpp_grown_test_fill(5);
    jpp_grown_test_shows("", "nothing has grown");

    jpp_grown_test_fill(25);
    jpp_grown_test_shows("", "five points are no rate");

    jpp_grown_test_fill(30);
    jpp_grown_test_shows("", "six points are");
    jpp_grown_test_shows("format=json", "the same as JSON");

    jpp_grown_test_fill(300);
    jpp_grown_test_shows("", "five minutes");
    jpp_grown_test_shows("since=60s&top=1", "of the last minute");
    jpp_grown_test_shows("since=7d&top=1", "since more than all times");

    jpp_cgroup.headroom = 48 * 720 * JPP_MIB;
    jpp_grown_test_shows("top=1", "two days are left");

    jpp_cgroup.binding = 1;
    jpp_grown_test_shows("top=1", "without a limit");

    jpp_held_add(jpp_held, 300001, 1, 60 * JPP_MIB);
    jpp_grown_test_shows("top=1", "all of nginx has just fallen");
    jpp_grown_test_shows("since=5s&top=1", "of two points");
}


JPP_TEST(jpp_grown_test_compared)
{
    size_t  i;

    jpp_grown_test_fill(300);

    /* four minutes before the growth, a minute before it, and within it */

    for (i = 0; i < 3; i++) {
        jpp_snapshots[i].id = 7 + i;
        jpp_snapshots[i].time = 1795236015 - 540 + (int64_t) i * 180;
    }

    jpp_telemetry.snapshots = jpp_snapshots;
    jpp_telemetry.n_snapshots = 3;

    jpp_grown_test_shows("top=1", "with the last snapshot before it");
    jpp_grown_test_shows("top=1&since=60s", "or before what is asked for");
    jpp_grown_test_shows("format=json", "as JSON");

    jpp_telemetry.snapshots = &jpp_snapshots[2];
    jpp_telemetry.n_snapshots = 1;

    jpp_grown_test_shows("top=1", "else with the first one within it");

    jpp_telemetry.n_snapshots = 0;
}


JPP_TEST(jpp_grown_test_fails)
{
    char      name[16];
    unsigned  i;

    jpp_grown_test_fill(300);

    for (i = 0; i < 20; i++) {
        jpp_print(name, "zone %u", i);
        jpp_held_see(jpp_held, name, "", JPP_MIB);
    }

    jpp_held_add(jpp_held, 300000, 1, 1);

    jpp_query = "";
    jpp_output_fails(&jpp_output, jpp_grown_test_write, NULL);
    jpp_query = "format=json";
    jpp_output_fails(&jpp_output, jpp_grown_test_write, NULL);
}
