
#include "jpp_timeline.h"
#include "jpp_view.h"


/* columns of a time, 2026-11-26T16:22:05Z */
#define JPP_TIMELINE_TIME  20


static void
jpp_timeline_stall(const jpp_stall_t *stall, jpp_event_t *event)
{
    char  served[JPP_STALL_TEXT];

    memset(event, 0, sizeof(jpp_event_t));

    event->time = stall->time_nanos / 1000000000;
    event->type = JPP_EVENT_STALL;
    event->who.index = stall->index;
    event->who.pid = stall->pid;
    event->who.generation = stall->generation;

    (void) snprintf(event->text, JPP_EVENT_TEXT, "%" PRIu64 " ms, %.70s%.90s",
                    stall->nanos / 1000000, stall->where,
                    jpp_stall_served(stall, served));
}


static void
jpp_timeline_json(const jpp_events_t *events, const jpp_event_t *list,
    size_t n, size_t n_shown, jpp_sink_t *sink)
{
    size_t              i;
    jpp_json_t          json;
    const jpp_event_t  *event;

    jpp_json_init(&json, sink);
    jpp_json_open(&json, NULL, '{');
    jpp_json_open(&json, "counts", '{');

    for (i = 0; i < JPP_EVENT_STALL; i++) {
        jpp_json_u64(&json, jpp_event_types[i], events->counts[i]);
    }

    jpp_json_close(&json, '}');
    jpp_json_u64(&json, "kept", n);
    jpp_json_open(&json, "events", '[');

    jpp_each(event, list, n_shown) {
        jpp_json_open(&json, NULL, '{');
        jpp_json_str(&json, "time", jpp_date(event->time));
        jpp_json_str(&json, "event", jpp_event_types[event->type]);

        if (event->who.pid != 0) {
            jpp_json_identity(&json, &event->who);
        }

        jpp_json_name(&json, "text", event->text, strlen(event->text));
        jpp_json_close(&json, '}');
    }

    jpp_json_close(&json, ']');
    jpp_json_close(&json, '}');
    jpp_sink_str(sink, "\n");
}


static void
jpp_timeline_text(const jpp_event_t *list, size_t n, size_t n_shown,
    jpp_arena_t *arena, uint32_t cols, jpp_sink_t *sink)
{
    jpp_table_t         table;
    const jpp_event_t  *event;

    if (n == 0) {
        jpp_sink_str(sink, "no events yet\n");
        return;
    }

    jpp_table_init(&table, arena, cols);
    jpp_table_column(&table, "time", 0, JPP_TIMELINE_TIME);
    jpp_table_column(&table, "event", 0, JPP_TABLE_NAME);
    jpp_table_column(&table, "worker", 1, 0);
    jpp_table_column(&table, "pid", 2, 0);
    jpp_table_column(&table, "text", 0, 2 * JPP_TABLE_NAME);

    jpp_each(event, list, n_shown) {
        jpp_table_cell(&table, "%s", jpp_date(event->time));
        jpp_table_cell(&table, "%s", jpp_event_types[event->type]);

        if (event->who.pid != 0) {
            jpp_table_cell(&table, "%" PRIu32, event->who.index);
            jpp_table_cell(&table, "%" PRId64, event->who.pid);

        } else {
            jpp_table_cell(&table, "-");
            jpp_table_cell(&table, "-");
        }

        jpp_table_name(&table, event->text, strlen(event->text));
    }

    jpp_table_write(&table, sink);

    if (n > n_shown) {
        jpp_sink_printf(sink, "\n%zu older events: top=%d shows them\n",
                        n - n_shown, JPP_MAX_ROWS);
    }
}


bool
jpp_timeline_write(const jpp_events_t *events, const jpp_stall_t *stalls,
    size_t n, const jpp_args_t *args, jpp_arena_t *arena, jpp_sink_t *sink)
{
    size_t        i, k, n_events, n_shown;
    jpp_wrap_t    wrap;
    jpp_event_t  *from, *list;

    from = jpp_arena_alloc(arena, JPP_EVENTS * sizeof(jpp_event_t));
    list = jpp_arena_alloc(arena, (JPP_EVENTS + n) * sizeof(jpp_event_t));

    if (from == NULL || list == NULL) {
        return false;
    }

    /* the newest first */

    n_events = jpp_events_list(events, from);

    for (i = 0, k = 0; i + k < n_events + n; /* void */ ) {

        if (k < n && (i == n_events
                      || stalls[k].time_nanos / 1000000000 >= from[i].time))
        {
            jpp_timeline_stall(&stalls[k], &list[i + k]);
            k++;

        } else {
            list[i + k] = from[i];
            i++;
        }
    }

    n += n_events;
    n_shown = jpp_smaller(n, args->values[JPP_ARG_TOP]);

    if (!jpp_args_is_top(args)) {
        jpp_timeline_json(events, list, n, n_shown, sink);
        return true;
    }

    jpp_wrap_open(&wrap, args->values[JPP_ARG_COLS], sink);
    jpp_timeline_text(list, n, n_shown, arena, args->values[JPP_ARG_COLS],
                      &wrap.sink);

    return jpp_wrap_close(&wrap);
}


static void
jpp_timeline_list_json(const jpp_snapshot_t *list, size_t n, size_t n_shown,
    jpp_sink_t *sink)
{
    size_t                 i;
    jpp_json_t             json;
    const jpp_snapshot_t  *one;

    jpp_json_init(&json, sink);
    jpp_json_open(&json, NULL, '{');
    jpp_json_u64(&json, "kept", n);
    jpp_json_open(&json, "snapshots", '[');

    for (i = 0; i < n_shown; i++) {
        one = &list[n - 1 - i];

        jpp_json_open(&json, NULL, '{');
        jpp_json_u64(&json, "id", one->id);
        jpp_json_str(&json, "time", jpp_date(one->time));
        jpp_json_str(&json, "reason", jpp_snapshot_reasons[one->reason]);
        jpp_json_name(&json, "text", one->text, strnlen(one->text,
                                                        JPP_SNAPSHOT_TEXT));
        jpp_json_numbers(&json, { "generation", one->generation },
                         { "rise", one->rise },
                         { "workers", one->n_workers },
                         { "asked", one->n_asked },
                         { "left_out", one->n_left_out }, { "held", one->held },
                         { "usage", one->usage }, { "limit", one->limit },
                         { "bytes", one->len });
        jpp_json_filled(&json, "owner", one->owner);
        jpp_json_filled(&json, "place", one->place);
        jpp_json_u64(&json, "owner_bytes", one->owner_bytes);
        jpp_json_close(&json, '}');
    }

    jpp_json_close(&json, ']');
    jpp_json_close(&json, '}');
    jpp_sink_str(sink, "\n");
}


static void
jpp_timeline_list_text(const jpp_snapshot_t *list, size_t n, size_t n_shown,
    jpp_arena_t *arena, uint32_t cols, jpp_sink_t *sink)
{
    size_t                 i;
    jpp_table_t            table;
    const jpp_snapshot_t  *one;

    if (n == 0) {
        jpp_sink_str(sink, "no snapshots yet: one is taken a minute after "
                     "nginx has started, and at once by control with "
                     "snapshot=1\n");
        return;
    }

    jpp_table_init(&table, arena, cols);
    jpp_table_column(&table, "id", 0, 0);
    jpp_table_column(&table, "time", 0, JPP_TIMELINE_TIME);
    jpp_table_column(&table, "reason", 0, JPP_TABLE_NAME);
    jpp_table_column(&table, "held", 1, 0);
    jpp_table_column(&table, "workers", 2, 0);
    jpp_table_column(&table, "generation", 3, 0);
    jpp_table_column(&table, "text", 0, 2 * JPP_TABLE_NAME);

    for (i = 0; i < n_shown; i++) {
        one = &list[n - 1 - i];

        jpp_table_cell(&table, "%" PRIu64, one->id);
        jpp_table_cell(&table, "%s", jpp_date(one->time));
        jpp_table_cell(&table, "%s", jpp_snapshot_reasons[one->reason]);
        jpp_table_bytes(&table, one->held);
        jpp_table_cell(&table, "%" PRIu32 "/%" PRIu32, one->n_workers,
                       one->n_asked);
        jpp_table_cell(&table, "%" PRIu64, one->generation);
        jpp_table_name(&table, one->text, strnlen(one->text,
                                                  JPP_SNAPSHOT_TEXT));
    }

    (void) jpp_table_write(&table, sink);

    one = &list[n - 1];

    jpp_sink_printf(sink, "\nheap?at=%" PRIu64 "&format=top shows the heap "
                    "then, heap?base=%" PRIu64 "&format=top what has grown "
                    "since\n", one->id, one->id);

    if (n > n_shown) {
        jpp_sink_printf(sink, "%zu older snapshots: top=%d shows them\n",
                        n - n_shown, JPP_SNAPSHOTS);
    }
}


bool
jpp_timeline_snapshots(const jpp_snapshot_t *list, size_t n,
    const jpp_args_t *args, jpp_arena_t *arena, jpp_sink_t *sink)
{
    size_t      n_shown;
    jpp_wrap_t  wrap;

    n_shown = jpp_smaller(n, args->values[JPP_ARG_TOP]);

    if (!jpp_args_is_top(args)) {
        jpp_timeline_list_json(list, n, n_shown, sink);
        return true;
    }

    jpp_wrap_open(&wrap, args->values[JPP_ARG_COLS], sink);
    jpp_timeline_list_text(list, n, n_shown, arena, args->values[JPP_ARG_COLS],
                           &wrap.sink);

    return jpp_wrap_close(&wrap);
}
