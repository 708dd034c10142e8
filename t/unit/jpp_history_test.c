
/* A whole life in a fixed number of points; and what is written of it. */


#include "jpp_worker.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"
#include "jpp_test_main.h"


static jpp_history_t  jpp_history;
static jpp_output_t   jpp_history_output;


static void
jpp_history_test_add(uint64_t seconds, uint64_t allocated, uint64_t rss)
{
    jpp_history_point_t  point;

    point.allocated = allocated;
    point.rss = rss;

    jpp_history_add(&jpp_history, seconds, &point);
}


JPP_TEST(jpp_history_test_points)
{
    jpp_history_init(&jpp_history);

    jpp_is_u64(jpp_history.n, 0, "a new one has no point");

    jpp_history_test_add(0, 10, 100);

    jpp_is_u64(jpp_history.n, 1, "the first is there at once");

    jpp_history_test_add(4, 12, 90);

    jpp_is_u64(jpp_history.n, 1, "and stands for five seconds");
    jpp_is_u64(jpp_history.points[0].allocated, 12, "with the most in them");
    jpp_is_u64(jpp_history.points[0].rss, 100, "of each");

    jpp_history_test_add(5, 11, 80);

    jpp_is_u64(jpp_history.n, 2, "then comes the second");
    jpp_is_u64(jpp_history.points[0].allocated, 12, "the first stays");
    jpp_is_u64(jpp_history.points[1].allocated, 11, "the second has its own");

    /* a worker that was kept for 15 seconds */

    jpp_history_test_add(24, 20, 70);

    jpp_is_u64(jpp_history.n, 5, "time without a point is filled");
    jpp_is_u64(jpp_history.points[2].allocated, 20, "with what came after it");
    jpp_is_u64(jpp_history.points[4].rss, 70, "up to now");
}


/* from second to second: points have the largest second of theirs */

JPP_TEST(jpp_history_test_merge)
{
    uint64_t  i, second, wrong, last;

    jpp_history_init(&jpp_history);

    for (second = 0; second < 600; second++) {
        jpp_history_test_add(second, second, 5000 - second);
    }

    jpp_is_u64(jpp_history.n, 120, "ten minutes are all points");
    jpp_is_u64(jpp_history.interval, 5, "of five seconds");

    jpp_history_test_add(600, 600, 4400);

    jpp_is_u64(jpp_history.n, 61, "one more: pairs become one");
    jpp_is_u64(jpp_history.interval, 10, "of ten seconds");

    for (i = 0, wrong = 0; i < 60; i++) {
        wrong += jpp_history.points[i].allocated != i * 10 + 9
                 || jpp_history.points[i].rss != 5000 - i * 10;
    }

    jpp_is_u64(wrong, 0, "each has the most of both");

    for (wrong = 0; second < 100000; second++) {
        jpp_history_test_add(second, second, 1);

        wrong += jpp_history.n > JPP_HISTORY_POINTS || jpp_history.n < 60
                 || jpp_history.interval * jpp_history.n <= second;
    }

    jpp_is_u64(wrong, 0, "a day: always 60 points and more, from its start");

    for (i = 0, wrong = 0, last = 0; i < jpp_history.n - 1; i++) {
        wrong += jpp_history.points[i].allocated
                 != (i + 1) * jpp_history.interval - 1;
        last = jpp_history.points[i].allocated;
    }

    jpp_is_u64(wrong, 0, "each has the last second of its time");
    jpp_ok(last < 99999
           && jpp_history.points[jpp_history.n - 1].allocated == 99999,
           "and the last one has now");
}


JPP_TEST(jpp_history_test_time)
{
    jpp_history_init(&jpp_history);

    jpp_history_test_add(UINT64_MAX - 1, 1, 1);

    jpp_ok(jpp_history.n > 0 && jpp_history.n <= JPP_HISTORY_POINTS,
           "all time there is");

    jpp_history_test_add(0, 2, 2);

    jpp_is_u64(jpp_history.points[jpp_history.n - 1].rss, 2,
               "what comes from before counts as now");
}


JPP_TEST(jpp_history_test_unknown)
{
    jpp_history_init(&jpp_history);

    jpp_history_test_add(0, JPP_NONE, 7);

    jpp_is_u64(jpp_history.points[0].allocated, JPP_NONE, "unknown");

    jpp_history_test_add(1, 3, JPP_NONE);

    jpp_is_u64(jpp_history.points[0].allocated, 3, "until it is known");
    jpp_is_u64(jpp_history.points[0].rss, 7, "what was known stays");
}


JPP_TEST(jpp_history_test_json)
{
    uint8_t     buffer[64];
    jpp_json_t  json;
    jpp_sink_t  sink;

    jpp_history_init(&jpp_history);
    jpp_history_test_add(0, JPP_NONE, 7);
    jpp_history_test_add(5, UINT64_MAX - 1, 8);

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
