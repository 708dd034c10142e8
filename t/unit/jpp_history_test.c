
/* A whole life in a fixed number of points; and what is written of it. */


#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"
#include "jpp_worker.h"


/* points of a shape */
#define JPP_SHAPE  20


static jpp_history_t  jpp_history;
static jpp_output_t   jpp_history_output;


void
jpp_before_each(void)
{
    jpp_history_init(&jpp_history);
}


/* Points of seconds, the last after 15 without any: each has the most of its
   time, and time without a point has what came after it. */

JPP_TEST(jpp_history_test_points)
{
    size_t  i, k;

    static const uint64_t  points[][3] = {
        { 0, 10, 100 }, { 4, 12, 90 }, { 5, 11, 80 }, { 24, 20, 70 }
    };

    jpp_is_u64(jpp_history.n, 0, "a new one has no point");

    for (i = 0; i < 4; i++) {
        jpp_history_add(&jpp_history, points[i][0], points[i][1], points[i][2]);
        jpp_note("after %" PRIu64 " s", points[i][0]);

        for (k = 0; k < jpp_history.n; k++) {
            jpp_note_of("a point", jpp_history, allocated[k], rss[k]);
        }
    }

    jpp_shows_notes("points");
}


/* from second to second: points have the largest second of theirs */

JPP_TEST(jpp_history_test_merge)
{
    uint64_t  i, second, wrong, last;

    for (second = 0; second < 600; second++) {
        jpp_history_add(&jpp_history, second, second, 5000 - second);
    }

    jpp_is_u64(jpp_history.n, 120, "ten minutes are all points");
    jpp_is_u64(jpp_history.interval, 5, "of five seconds");

    jpp_history_add(&jpp_history, 600, 600, 4400);

    jpp_is_u64(jpp_history.n, 61, "one more: pairs become one");
    jpp_is_u64(jpp_history.interval, 10, "of ten seconds");

    for (i = 0, wrong = 0; i < 60; i++) {
        wrong += jpp_history.allocated[i] != i * 10 + 9
                 || jpp_history.rss[i] != 5000 - i * 10;
    }

    jpp_is_u64(wrong, 0, "each has the most of both");

    for (wrong = 0; second < 100000; second++) {
        jpp_history_add(&jpp_history, second, second, 1);

        wrong += jpp_history.n > JPP_HISTORY_POINTS || jpp_history.n < 60
                 || jpp_history.interval * jpp_history.n <= second;
    }

    jpp_is_u64(wrong, 0, "a day: always 60 points and more, from its start");

    for (i = 0, wrong = 0, last = 0; i < jpp_history.n - 1; i++) {
        wrong += jpp_history.allocated[i]
                 != (i + 1) * jpp_history.interval - 1;
        last = jpp_history.allocated[i];
    }

    jpp_is_u64(wrong, 0, "each has the last second of its time");
    jpp_ok(last < 99999 && jpp_history.allocated[jpp_history.n - 1] == 99999,
           "and the last one has now");
}


JPP_TEST(jpp_history_test_time)
{
    jpp_history_add(&jpp_history, UINT64_MAX - 1, 1, 1);

    jpp_ok(jpp_history.n > 0 && jpp_history.n <= JPP_HISTORY_POINTS,
           "all time there is");

    jpp_history_add(&jpp_history, 0, 2, 2);

    jpp_is_u64(jpp_history.rss[jpp_history.n - 1], 2,
               "what comes from before counts as now");
}


JPP_TEST(jpp_history_test_unknown)
{
    jpp_history_add(&jpp_history, 0, JPP_NONE, 7);

    jpp_is_u64(jpp_history.allocated[0], JPP_NONE, "unknown");

    jpp_history_add(&jpp_history, 1, 3, JPP_NONE);

    jpp_is_u64(jpp_history.allocated[0], 3, "until it is known");
    jpp_is_u64(jpp_history.rss[0], 7, "what was known stays");
}


JPP_TEST(jpp_history_test_json)
{
    uint8_t     buffer[64];
    jpp_json_t  json;
    jpp_sink_t  sink;

    jpp_history_add(&jpp_history, 0, JPP_NONE, 7);
    jpp_history_add(&jpp_history, 5, UINT64_MAX - 1, 8);

    jpp_history_output.len = 0;
    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_output_write,
                  &jpp_history_output);
    jpp_json_init(&json, &sink);

    jpp_json_open(&json, NULL, '{');
    jpp_history_json(&json, &jpp_history);
    jpp_history_json(&json, NULL);
    jpp_json_close(&json, '}');

    (void) jpp_sink_flush(&sink);

    jpp_shows(jpp_history_output.text, "as JSON");
}


/* A line, and what scatters around it. */

JPP_TEST(jpp_history_test_slope)
{
    double    slope, error;
    uint64_t  values[4];

    static const uint64_t  line[] = { 10, 30, 50, 70 };

    slope = jpp_history_slope(line, 4, &error);
    jpp_ok(slope == 20 && error == 0, "a line: %g, %g", slope, error);

    memcpy(values, line, sizeof(line));
    values[1] = 36;
    values[2] = 44;

    slope = jpp_history_slope(values, 4, &error);
    jpp_ok(slope > 18.79 && slope < 18.81 && error > 2.54 && error < 2.55,
           "what scatters: %g, %g", slope, error);

    slope = jpp_history_slope(line, 2, &error);
    jpp_ok(slope == 20 && error == 0, "two points are a line");
    jpp_ok(jpp_history_slope(line, 1, NULL) == 0, "one is none");
}


static jpp_held_t  jpp_held;


static const jpp_held_owner_t *
jpp_held_test_owner(const char *who)
{
    size_t  i;

    for (i = 0; i <= JPP_HELD_OWNERS; i++) {
        if (strcmp(jpp_held.owners[i].who, who) == 0) {
            return &jpp_held.owners[i];
        }
    }

    return NULL;
}


/* The largest owners are told apart; a newcomer has to hold twice as much. */

JPP_TEST(jpp_history_test_owners)
{
    char                     name[JPP_HELD_NAME + 8];
    size_t                   i;
    jpp_grown_t              all, grown[JPP_HELD_OWNERS + 1];
    const jpp_held_owner_t  *owner, *others;

    memset(&jpp_held, 0, sizeof(jpp_held));
    others = &jpp_held.owners[JPP_HELD_OWNERS];

    jpp_held_begin(&jpp_held);

    for (i = 0; i < JPP_HELD_OWNERS; i++) {
        jpp_print(name, "owner %zu", i);
        jpp_held_see(&jpp_held, name, "nginx.conf:1", 1000 - i);
    }

    jpp_held_see(&jpp_held, "late", "", 900);
    jpp_held_add(&jpp_held, 1000, 5, 30000);
    jpp_held_add(&jpp_held, 6000, 5, 30000);

    owner = jpp_held_test_owner("owner 23");
    jpp_ok(owner != NULL && jpp_held_test_owner("late") == NULL,
           "the first ones have a place");
    jpp_is_u64(owner->bytes[0], 977, "with what they hold");
    jpp_is_str(owner->place, "nginx.conf:1", "and where");
    jpp_is_u64(others->bytes[1], 900, "the others are one");

    /* the smallest goes, and what it held is the others' */

    jpp_held_begin(&jpp_held);
    jpp_held_see(&jpp_held, "late", "", 1955);
    jpp_held_see(&jpp_held, "owner 23", "", 977);
    jpp_held_add(&jpp_held, 11000, 5, 30000);

    jpp_ok(jpp_held_test_owner("late") == NULL, "less than twice as much");
    jpp_is_u64(owner->bytes[2], 977, "the smallest stays");

    jpp_held_begin(&jpp_held);
    jpp_held_see(&jpp_held, "late", "", 1956);
    jpp_held_see(&jpp_held, "owner 23", "", 977);
    jpp_held_add(&jpp_held, 16000, 5, 30000);

    owner = jpp_held_test_owner("late");
    jpp_ok(owner != NULL, "twice as much");
    jpp_is_u64(owner->bytes[3], 1956, "its bytes");
    jpp_is_u64(owner->bytes[2], JPP_NONE, "which were not known before");
    jpp_ok(jpp_held_test_owner("owner 0") == NULL,
           "the one that held nothing any more is gone");
    jpp_is_u64(others->bytes[1], 1900, "its past is the others'");

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';

    for (i = 0; i < 2; i++) {
        jpp_held_begin(&jpp_held);
        jpp_held_see(&jpp_held, name, "", 5000);
    }

    name[JPP_HELD_NAME - 1] = '\0';
    jpp_ok(jpp_held_test_owner(name) != NULL, "a long name is cut");
    jpp_is_u64(jpp_held_test_owner(name)->last, 5000, "and found again");

    /* one that gives its place to another has held that, too */

    memset(&jpp_held, 0, sizeof(jpp_held));
    jpp_held_begin(&jpp_held);

    for (i = 0; i <= JPP_HELD_OWNERS; i++) {
        (void) snprintf(name, sizeof(name), "owner %zu", i);
        jpp_held_see(&jpp_held, name, "", i == 0 ? 977 : 5000);
    }

    jpp_held_add(&jpp_held, 1000, 5, 30000);

    jpp_is_u64(others->bytes[0], 977, "the others are what the smallest was");
    jpp_is_u64(jpp_held_grown(&jpp_held, 0, &all, grown), JPP_HELD_OWNERS + 1,
               "and one of those that may grow");
}


/* A worker that was killed as it wrote the first point leaves no interval. */

JPP_TEST(jpp_history_test_killed)
{
    memset(&jpp_held, 0, sizeof(jpp_held));
    jpp_held.begun = 1000;

    jpp_held_add(&jpp_held, 6000, 1, 2);

    jpp_is_u64(jpp_held.all.n, 1, "the next one begins");
    jpp_is_u64(jpp_held.all.rss[0], 2, "with its own");
}


/*
 * SHAPE is points of 256 KiB, half of which the owner "a" has; "c" comes later.
 * Notes who grows, the first of whom has grown most, and returns all.
 */

static jpp_grown_t
jpp_held_test_shape(const uint8_t shape[JPP_SHAPE])
{
    size_t       i, n;
    uint64_t     value;
    jpp_grown_t  all, grown[JPP_HELD_OWNERS + 1];

    memset(&jpp_held, 0, sizeof(jpp_held));

    for (i = 0; i < JPP_SHAPE; i++) {
        value = shape[i] * (uint64_t) 256 * 1024;

        jpp_held_begin(&jpp_held);
        jpp_held_see(&jpp_held, "b", "", 30 << 20);
        jpp_held_see(&jpp_held, "a", "x:1", value / 2);

        if (i >= 12) {
            jpp_held_see(&jpp_held, "c", "", value);
        }

        jpp_held_add(&jpp_held, 1 + i * 5000, 1, value);
    }

    n = jpp_held_grown(&jpp_held, jpp_held_rise(&jpp_held), &all, grown);

    for (i = 0; i < n; i++) {
        jpp_note_of(grown[i].who, grown[i], is_rising, n, then, now, place);
    }

    return all;
}


JPP_TEST(jpp_history_test_grown)
{
    size_t       i;
    jpp_grown_t  all;

    static const struct {
        const char  *what;
        uint8_t      shape[JPP_SHAPE];
    } rows[] = {
        { "a leak rises, from its start",
          { 10, 16, 22, 28, 34, 40, 46, 52, 58, 64, 70, 76, 82, 88, 94, 100,
            106, 112, 118, 124 } },
        { "what comes and goes does not",
          { 100, 130, 160, 190, 220, 250, 100, 125, 150, 175, 200, 225, 250,
            100, 125, 150, 175, 200, 225, 250 } },
        { "a rise after a fall, since that has ended",
          { 160, 154, 148, 142, 136, 130, 124, 118, 112, 106, 100, 110, 120,
            130, 140, 150, 160, 170, 180, 190 } },
        { "nor does what is full",
          { 100, 115, 130, 145, 160, 175, 190, 205, 220, 235, 250, 250, 250,
            250, 250, 250, 250, 250, 250, 250 } },
        { "nor what has only begun to",
          { 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 115, 130, 145,
            160, 175, 190, 205, 220, 235, 250 } },
        { "a MiB is a rise",
          { 10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13,
            14, 14, 14, 14 } },
        { "it is not back yet where it was, and a quarter of the rise",
          { 80, 80, 80, 80, 80, 80, 80, 80, 80, 20, 28, 36, 44, 52, 60, 68,
            76, 84, 92, 100 } },
        { "what was long ago is no matter",
          { 200, 200, 50, 50, 50, 50, 50, 50, 50, 50, 50, 20, 30, 40, 50, 60,
            70, 80, 90, 100 } },
        { "a MiB of noise",
          { 10, 16, 12, 18, 14, 20, 16, 22, 18, 24, 20, 26, 22, 28, 24, 30, 26,
            32, 28, 34 } }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        all = jpp_held_test_shape(rows[i].shape);
        jpp_note_of(rows[i].what, all, is_rising, n, then, now);
        jpp_note("by %.0f MB an hour", all.per_hour / 1e6);
    }

    jpp_shows_notes("what grows");
}
