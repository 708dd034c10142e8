
#include "jpp_history.h"


void
jpp_history_init(jpp_history_t *history)
{
    history->interval = JPP_HISTORY_INTERVAL;
    history->n = 0;
}


static uint64_t
jpp_history_more(uint64_t x, uint64_t y)
{
    return x == JPP_NONE || (y != JPP_NONE && y > x) ? y : x;
}


static void
jpp_history_most(jpp_history_point_t *point, const jpp_history_point_t *other)
{
    point->allocated = jpp_history_more(point->allocated, other->allocated);
    point->rss = jpp_history_more(point->rss, other->rss);
}


static void
jpp_history_merge(jpp_history_t *history)
{
    uint64_t  i;

    for (i = 0; i < history->n; i += 2) {
        history->points[i / 2] = history->points[i];

        if (i + 1 < history->n) {
            jpp_history_most(&history->points[i / 2], &history->points[i + 1]);
        }
    }

    history->n = (history->n + 1) / 2;
    history->interval *= 2;
}


void
jpp_history_add(jpp_history_t *history, uint64_t seconds,
    const jpp_history_point_t *point)
{
    while (seconds / history->interval >= JPP_HISTORY_POINTS) {
        jpp_history_merge(history);
    }

    while (history->n <= seconds / history->interval) {
        history->points[history->n++] = *point;
    }

    jpp_history_most(&history->points[history->n - 1], point);
}


void
jpp_history_json(jpp_json_t *json, const jpp_history_t *history)
{
    uint64_t                    i;
    const jpp_history_point_t  *point;

    if (history == NULL) {
        jpp_json_null(json, "history");
        return;
    }

    jpp_json_open(json, "history", '{');
    jpp_json_u64(json, "interval", history->interval);
    jpp_json_open(json, "points", '[');

    for (i = 0; i < history->n; i++) {
        point = &history->points[i];

        jpp_json_pair(json, point->allocated, point->rss);
    }

    jpp_json_close(json, ']');
    jpp_json_close(json, '}');
}
