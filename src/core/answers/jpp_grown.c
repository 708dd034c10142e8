
/*
 * The resource grown: which owners of memory have grown, how fast, and when the
 * limit will be reached.
 */


#include "jpp_answers.h"


/* More than the longest sentence: an owner, its place, a rate and a limit. */
#define JPP_GROWN_TEXT  1024


typedef struct {
    const jpp_held_t      *held;
    const jpp_cgroup_t    *cgroup;
    const jpp_snapshot_t  *base;       /* to compare with; NULL: none */
    int64_t                since;      /* seconds since the epoch */
    uint64_t               seconds;    /* from then on */
    size_t                 n_points;   /* that there are for a rate */
    jpp_grown_t            all;
    jpp_grown_t            owners[JPP_HELD_OWNERS + 1];
    size_t                 n;
    size_t                 n_shown;
    char                   sentence[JPP_GROWN_TEXT];
} jpp_growth_t;


/* Who grows, and how long that can last; or why nothing is said. */

static void
jpp_grown_sentence(jpp_growth_t *growth)
{
    char                when[JPP_GROWS_TEXT];
    const jpp_grown_t  *all, *first;

    all = &growth->all;
    first = growth->owners;
    when[0] = '\0';

    if (growth->n_points < JPP_GROWN_POINTS) {
        jpp_print(growth->sentence, "No rate is known yet: it needs %d points, "
                  "and %zu are recorded", JPP_GROWN_POINTS, growth->n_points);
        return;
    }

    if (!first->is_rising) {
        jpp_print(growth->sentence, "No owner keeps growing");
        return;
    }

    if (all->is_rising) {
        (void) jpp_finding_when(growth->cgroup, (uint64_t) all->per_hour, when);
    }

    jpp_print(growth->sentence, "%s%s%s%s grows by %s an hour%s", first->who,
              first->place[0] != '\0' ? " (" : "", first->place,
              first->place[0] != '\0' ? ")" : "",
              jpp_bytes((uint64_t) first->per_hour), when);
}


static void
jpp_grown_json_one(jpp_json_t *json, const char *key, const jpp_grown_t *one)
{
    jpp_json_open(json, key, '{');

    if (one->who != NULL) {
        jpp_json_name(json, "owner", one->who, strlen(one->who));
        jpp_json_filled(json, "place", one->place);
    }

    jpp_json_u64(json, "then", one->then);
    jpp_json_u64(json, "now", one->now);

    if (one->n >= JPP_GROWN_POINTS) {
        jpp_json_i64(json, "per_hour", (int64_t) one->per_hour);
        jpp_json_u64(json, "error", (uint64_t) one->error);

    } else {
        jpp_json_null(json, "per_hour");
        jpp_json_null(json, "error");
    }

    jpp_json_bool(json, "rising", one->is_rising);
    jpp_json_close(json, '}');
}


static void
jpp_grown_json(const jpp_growth_t *growth, jpp_sink_t *sink)
{
    jpp_json_t          json;
    const jpp_grown_t  *one;

    jpp_json_init(&json, sink);
    jpp_json_open(&json, NULL, '{');
    jpp_json_name(&json, "text", growth->sentence, strlen(growth->sentence));
    jpp_json_time(&json, "since", growth->since);
    jpp_json_u64(&json, "seconds", growth->seconds);
    jpp_json_u64(&json, "interval", growth->held->all.interval);
    jpp_grown_json_one(&json, "all", &growth->all);
    jpp_json_open(&json, "owners", '[');

    jpp_each(one, growth->owners, growth->n_shown) {
        jpp_grown_json_one(&json, NULL, one);
    }

    jpp_json_close(&json, ']');

    if (growth->base == NULL) {
        jpp_json_null(&json, "snapshot");

    } else {
        jpp_json_u64(&json, "snapshot", growth->base->id);
    }

    jpp_json_close(&json, '}');
    jpp_sink_str(sink, "\n");
}


static void
jpp_grown_text(const jpp_growth_t *growth, jpp_arena_t *arena, uint32_t cols,
    jpp_sink_t *sink)
{
    double              all;
    jpp_table_t         table;
    const jpp_grown_t  *one;

    jpp_sink_printf(sink, "%s.\n", growth->sentence);

    if (growth->n == 0) {
        return;
    }

    jpp_sink_printf(sink, "\nsince %s, %s ago: nginx held %s, now %s\n\n",
                    jpp_date(growth->since),
                    jpp_duration(growth->seconds * 1000000000),
                    jpp_bytes(growth->all.then), jpp_bytes(growth->all.now));

    jpp_table_init(&table, arena, cols);
    jpp_table_column(&table, "growth", 0, 0);
    jpp_table_column(&table, "share", 2, 0);
    jpp_table_column(&table, "an hour", 0, 0);
    jpp_table_column(&table, "+-", 3, 0);
    jpp_table_column(&table, "now", 1, 0);
    jpp_table_column(&table, "owner", 0, JPP_TABLE_NAME);
    jpp_table_column(&table, "place", 0, JPP_TABLE_NAME);

    all = (double) jpp_less(growth->all.now, growth->all.then);

    jpp_each(one, growth->owners, growth->n_shown) {
        jpp_table_cell(&table, "%s",
                       jpp_change((int64_t) (one->now - one->then)));
        jpp_table_cell(&table, "%.0f %%", all > 0
                       ? (double) jpp_less(one->now, one->then) * 100 / all
                       : 0);

        jpp_table_bytes(&table, one->is_rising ? (uint64_t) one->per_hour
                                               : JPP_NONE);
        jpp_table_bytes(&table, one->is_rising ? (uint64_t) one->error
                                               : JPP_NONE);
        jpp_table_bytes(&table, one->now);
        jpp_table_name(&table, one->who, strlen(one->who));
        jpp_table_name(&table, one->place, strlen(one->place));
    }

    (void) jpp_table_write(&table, sink);

    if (growth->base != NULL) {
        jpp_sink_printf(sink, "\nsince the snapshot of %s: "
                        "heap?base=%" PRIu64 "&format=html shows the growth "
                        "by function, pools?base=%" PRIu64 "&format=html by "
                        "location\n", jpp_date(growth->base->time),
                        growth->base->id, growth->base->id);
    }
}


bool
jpp_grown_write(const jpp_telemetry_t *telemetry, const jpp_args_t *args,
    jpp_arena_t *arena, jpp_sink_t *sink)
{
    size_t             from;
    uint64_t           back;
    jpp_wrap_t         wrap;
    jpp_growth_t      *growth;
    const jpp_held_t  *held;

    growth = jpp_arena_alloc(arena, sizeof(jpp_growth_t));
    if (growth == NULL) {
        return false;
    }

    held = &telemetry->held;

    growth->held = held;
    growth->cgroup = telemetry->cgroup;

    if (held->all.n != 0) {
        back = args->values[JPP_ARG_SINCE] / held->all.interval;

        from = !args->is_set[JPP_ARG_SINCE] ? jpp_held_rise(held)
               : jpp_less(held->all.n, back + 1);

        growth->seconds = held->seconds - from * held->all.interval;
        growth->n = jpp_held_grown(held, from, &growth->all, growth->owners);

        /* a rise that has just begun is none yet: memory fell before it */

        growth->n_points = args->is_set[JPP_ARG_SINCE] ? growth->all.n
                                                       : held->all.n;
    }

    growth->since = telemetry->now - (int64_t) growth->seconds;
    growth->base = jpp_snapshots_before(telemetry->snapshots,
                                        telemetry->n_snapshots, growth->since);
    growth->n_shown = jpp_smaller(growth->n, args->values[JPP_ARG_TOP]);

    jpp_grown_sentence(growth);

    if (!jpp_args_is_top(args)) {
        jpp_grown_json(growth, sink);
        return true;
    }

    jpp_wrap_open(&wrap, args->values[JPP_ARG_COLS], sink);
    jpp_grown_text(growth, arena, args->values[JPP_ARG_COLS], &wrap.sink);

    return jpp_wrap_close(&wrap);
}
