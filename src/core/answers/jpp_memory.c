
/*
 * The resource memory, as JSON and as tables: the memory of all workers, of
 * their cgroup, of the machine and of the shared zones.
 */


#include "jpp_answers.h"


/* "smaps of pid 4711" */
#define JPP_MEMORY_KEY    64

/* bytes of the name of a zone that is busy */
#define JPP_MEMORY_ZONE   64

/* of a table: what a row is called */
#define JPP_MEMORY_CELL   (JPP_LEDGER_NAME + 64)


/* The ledgers that workers answered with, added up. */
typedef struct {
    jpp_ledger_t         ledger;       /* its rows */
    jpp_ledger_facts_t   facts;
    size_t               n;            /* workers */
} jpp_memory_sum_t;


static const char *const  jpp_memory_details[] = {
    [JPP_DETAIL_LEDGER] = "ledger",
    [JPP_DETAIL_SMAPS] = "smaps",
    [JPP_DETAIL_ARENAS] = "arenas"
};


#define JPP_MEMORY_STAT(name, ...)  { #name, offsetof(jpp_stats_t, name) },

static const jpp_keys_row_t  jpp_memory_stats[] = {
    JPP_STATS_SUMS(JPP_MEMORY_STAT)
    JPP_STATS_DETAILS(JPP_MEMORY_STAT)
    { NULL, 0 }
};


#define JPP_MEMORY_USAGE(name, ...)  { #name, offsetof(jpp_usage_t, name) },

static const jpp_keys_row_t  jpp_memory_usage[] = {
    JPP_USAGE_STATUS(JPP_MEMORY_USAGE)
    JPP_USAGE_OTHER(JPP_MEMORY_USAGE)
    { NULL, 0 }
};


/*
 * What was asked for besides.
 */


/*
 * Load answer I of MEMORY, and LEDGER from it where ledgers were asked for;
 * false: ERR says why not.
 */

static bool
jpp_memory_load(const jpp_memory_t *memory, size_t i,
    jpp_ledger_read_t *ledger, jpp_err_t *err)
{
    const jpp_memory_answer_t  *answer;

    answer = &memory->answers[i];
    ledger->facts.why[0] = '\0';

    if (answer->data == NULL) {
        (void) jpp_err_set(err, JPP_ERR_GONE, "%s",
                           answer->why != NULL ? answer->why
                                               : "it has ended meanwhile");
        return false;
    }

    return memory->detail != JPP_DETAIL_LEDGER
           || jpp_ledger_load(ledger, answer->data, answer->len, err)
              == JPP_OK;
}


static bool
jpp_memory_add(jpp_memory_sum_t *sum, const jpp_ledger_read_t *one)
{
    jpp_ledger_row_t        *row;
    jpp_ledger_sums_t       *sums;
    const jpp_ledger_row_t  *from;

    sums = &sum->facts.sums;

    sums->pss += one->facts.sums.pss;
    sums->rss += one->facts.sums.rss;
    sums->swap += one->facts.sums.swap;
    sums->anonymous += one->facts.sums.anonymous;
    sums->n_mappings += one->facts.sums.n_mappings;
    sums->n_unpaged += one->facts.sums.n_unpaged;
    sums->n_unnamed += one->facts.sums.n_unnamed;
    sum->facts.sockets += one->facts.sockets;
    sum->facts.n_sockets += one->facts.n_sockets;
    sum->facts.nanos += one->facts.nanos;
    sum->facts.has_luajit |= one->facts.has_luajit;
    sum->facts.lua += one->facts.lua;
    sum->n++;

    jpp_each(from, one->rows, one->n) {
        row = jpp_ledger_row(&sum->ledger, (jpp_ledger_kind_t) from->kind,
                             from->name, from->name_len);

        row->bytes += from->bytes;
        row->least += from->least;
        row->most += from->most;
        row->how = row->how > from->how ? row->how : from->how;

        jpp_add_known(&row->held, from->held);
    }

    return !sum->ledger.failed;
}


/* NULL: no memory */

static jpp_memory_sum_t *
jpp_memory_sum(const jpp_memory_t *memory)
{
    size_t              i;
    jpp_err_t           err;
    jpp_vec_t          *none;
    jpp_memory_sum_t   *sum;
    jpp_ledger_read_t   one;

    sum = jpp_arena_alloc(memory->arena, sizeof(jpp_memory_sum_t));
    none = jpp_vec_create(memory->arena);

    if (sum == NULL || none == NULL
        || !jpp_ledger_init(&sum->ledger, memory->arena, 1, none))
    {
        return NULL;
    }

    for (i = 0; i < memory->n_answers; i++) {

        if (jpp_memory_load(memory, i, &one, &err)
            && !jpp_memory_add(sum, &one))
        {
            return NULL;
        }
    }

    jpp_ledger_sort(&sum->ledger);

    return sum;
}


/* of the N_WORKERS together; 0: of one */

static void
jpp_memory_ledger_json(jpp_json_t *json, size_t n_workers,
    const jpp_ledger_facts_t *facts, const jpp_ledger_row_t *row, size_t n)
{
    char                      text[JPP_LEDGER_HINT];
    const char               *hint;
    const jpp_ledger_sums_t  *sums;

    sums = &facts->sums;

    jpp_json_open(json, "ledger", '{');

    if (n_workers != 0) {
        jpp_json_u64(json, "workers", n_workers);
    }

    jpp_json_numbers(json,
        { "pss", sums->pss }, { "rss", sums->rss },
        { "anonymous", sums->anonymous }, { "mappings", sums->n_mappings },
        { "mappings_without_pages", sums->n_unpaged },
        { "names_without_row", sums->n_unnamed },
        { "read_us", facts->nanos / 1000 });
    jpp_json_object(json, "beside",
        { "swap", sums->swap }, { "socket_queues", facts->sockets },
        { "sockets", facts->n_sockets });

    jpp_json_open(json, "rows", '[');

    for ( /* void */ ; n != 0; n--, row++) {
        jpp_json_open(json, NULL, '{');

        jpp_json_str(json, "what", jpp_ledger_kinds[row->kind]);

        if (row->name_len != 0) {
            jpp_json_name(json, "name", row->name, row->name_len);
        }

        hint = jpp_ledger_hint(facts, row, text);

        if (hint != NULL) {
            jpp_json_str(json, "hint", hint);
        }

        jpp_json_u64(json, "bytes", row->bytes);

        if (row->how == JPP_LEDGER_BOUND) {
            jpp_json_numbers(json, { "least", row->least },
                             { "most", row->most });
        }

        if (row->held != JPP_NONE) {
            jpp_json_u64(json, "held", row->held);
        }

        jpp_json_str(json, "how", jpp_ledger_hows[row->how]);
        jpp_json_bool(json, "anonymous",
                      jpp_ledger_kind_is_anonymous((jpp_ledger_kind_t)
                                                   row->kind));
        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');
    jpp_json_close(json, '}');
}


/* What WHO answered, as a member that the detail names, or null. */

static void
jpp_memory_detail_json(jpp_json_t *json, const jpp_memory_t *memory,
    const jpp_identity_t *who)
{
    size_t                      i;
    jpp_err_t                   err;
    const char                 *key;
    jpp_ledger_read_t           ledger;
    const jpp_memory_answer_t  *answer;

    if (memory->detail == JPP_DETAIL_NONE) {
        return;
    }

    key = jpp_memory_details[memory->detail];
    answer = memory->answers;

    for (i = 0; i < memory->n_answers; i++, answer++) {
        if (answer->who.pid == who->pid
            && answer->who.generation == who->generation)
        {
            break;
        }
    }

    if (i == memory->n_answers
        || !jpp_memory_load(memory, i, &ledger, &err))
    {
        jpp_json_null(json, key);

    } else if (memory->detail == JPP_DETAIL_LEDGER) {
        jpp_memory_ledger_json(json, 0, &ledger.facts, ledger.rows, ledger.n);

    } else {

        /* what the kernel or jemalloc wrote, as it is */

        jpp_json_bytes(json, key, answer->data, answer->len);
    }
}


/* Why it is null, of whom it is. */

static void
jpp_memory_detail_why(jpp_json_t *json, const jpp_memory_t *memory)
{
    bool                has;
    char                key[JPP_MEMORY_KEY];
    size_t              i;
    jpp_err_t           err;
    jpp_ledger_read_t   ledger;

    if (memory->detail == JPP_DETAIL_NONE) {
        return;
    }

    if (memory->refused != NULL) {
        jpp_json_str(json, jpp_memory_details[memory->detail], memory->refused);
        return;
    }

    for (i = 0; i < memory->n_answers; i++) {

        has = jpp_memory_load(memory, i, &ledger, &err);

        if (has && ledger.facts.why[0] == '\0') {
            continue;
        }

        jpp_print(key, "%s%s of pid %" PRId64,
                  jpp_memory_details[memory->detail], has ? ".pages" : "",
                  memory->answers[i].who.pid);

        jpp_json_str(json, key, has ? ledger.facts.why : err.text);
    }
}


/*
 * Memory as JSON.
 */


/* what workers share, files and shared memory, is counted once: the most */

static void
jpp_memory_total(jpp_json_t *json, const jpp_memory_t *memory,
    const jpp_memory_sum_t *sum)
{
    uint64_t             allocated, resident, anon, swap, file, shmem;
    const jpp_usage_t   *usage;
    const jpp_fleet_t   *fleet;
    const jpp_worker_t  *worker;

    fleet = memory->telemetry->fleet;
    allocated = resident = anon = swap = JPP_NONE;
    file = shmem = 0;

    jpp_each(worker, fleet->workers, fleet->n) {
        usage = &worker->activity.usage;

        if (worker->has_stats) {
            jpp_add_known(&allocated, worker->stats.allocated);
            jpp_add_known(&resident, worker->stats.resident);
        }

        jpp_add_known(&anon, usage->rss_anon);
        jpp_add_known(&swap, usage->swap);

        file = jpp_larger(file, jpp_known(usage->rss_file));
        shmem = jpp_larger(shmem, jpp_known(usage->rss_shmem));
    }

    jpp_json_open(json, "total", '{');

    jpp_json_numbers(json,
        { "allocated", allocated }, { "resident", resident },
        { "rss_anon", anon }, { "anon_once", jpp_fleet_anon(fleet) },
        { "swap", swap }, { "rss_file_once", file },
        { "rss_shmem_once", shmem });

    if (sum != NULL && sum->n != 0) {
        jpp_memory_ledger_json(json, sum->n, &sum->facts,
                               jpp_vec_items(sum->ledger.rows,
                                             jpp_ledger_row_t),
                               jpp_vec_count(sum->ledger.rows,
                                             jpp_ledger_row_t));

    } else if (sum != NULL) {
        jpp_json_null(json, "ledger");
    }

    jpp_json_close(json, '}');
}


static void
jpp_memory_rows(jpp_json_t *json, const char *key, const void *values,
    const jpp_keys_row_t *row)
{
    uint64_t  value;

    jpp_json_open(json, key, '{');

    for ( /* void */ ; row->key != NULL; row++) {
        memcpy(&value, (const char *) values + row->offset, sizeof(value));
        jpp_json_known(json, row->key, value);
    }

    jpp_json_close(json, '}');
}


static void
jpp_memory_workers(jpp_json_t *json, const jpp_memory_t *memory)
{
    const jpp_fleet_t     *fleet;
    const jpp_worker_t    *worker;
    const jpp_activity_t  *activity;

    fleet = memory->telemetry->fleet;

    jpp_json_open(json, "workers", '[');

    jpp_each(worker, fleet->workers, fleet->n) {
        jpp_json_open(json, NULL, '{');

        activity = &worker->activity;

        jpp_json_identity(json, &worker->who);
        jpp_json_bool(json, "exiting", worker->is_exiting);
        jpp_json_str(json, "started", jpp_date(worker->started));

        if (worker->has_stats) {
            jpp_memory_rows(json, "jemalloc", &worker->stats, jpp_memory_stats);

        } else {
            jpp_json_null(json, "jemalloc");
        }

        jpp_status_lua(json, &worker->lua);

        jpp_memory_rows(json, "process", &activity->usage, jpp_memory_usage);
        jpp_json_i64(json, "oom_score_adj", activity->usage.oom_score_adj);

        jpp_json_open(json, "nginx", '{');

        jpp_json_numbers(json, { "connections", activity->connections },
                         { "connections_used", jpp_activity_used(activity) });
        jpp_json_object(json, "loop",
            { "iterations", jpp_loop_count(&activity->loop) },
            { "p50_ms", jpp_loop_quantile(&activity->loop, 500) },
            { "p99_ms", jpp_loop_quantile(&activity->loop, 990) },
            { "max_ms", activity->loop.max },
            { "last_minute_max_ms", activity->minute.longest },
            { "last_minute_slow_ms", activity->minute.slow });

        jpp_json_close(json, '}');

        jpp_history_json(json, worker->history);

        jpp_memory_detail_json(json, memory, &worker->who);
        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');
}


static void
jpp_memory_pressure_line(jpp_json_t *json, const char *key,
    const jpp_pressure_line_t *line)
{
    jpp_json_object(json, key,
        { "total_us", line->total }, { "avg10_hundredths", line->avg10 },
        { "avg60_hundredths", line->avg60 },
        { "avg300_hundredths", line->avg300 });
}


static void
jpp_memory_pressure(jpp_json_t *json, const jpp_pressure_t *pressure)
{
    jpp_json_open(json, "pressure", '{');
    jpp_memory_pressure_line(json, "some", &pressure->some);
    jpp_memory_pressure_line(json, "full", &pressure->full);
    jpp_json_close(json, '}');
}


static void
jpp_memory_cgroup(jpp_json_t *json, const jpp_cgroup_t *cgroup)
{
    const jpp_cgroup_level_t  *level;

    if (cgroup == NULL) {
        jpp_json_null(json, "cgroup");
        return;
    }

    jpp_json_open(json, "cgroup", '{');

    jpp_json_u64(json, "version", cgroup->version);
    jpp_json_name(json, "path", cgroup->path, strlen(cgroup->path));
    jpp_json_numbers(json,
        { "usage", cgroup->usage }, { "working_set", cgroup->working_set },
        { "headroom", cgroup->headroom }, { "low", cgroup->low },
        { "peak", cgroup->peak }, { "swap_usage", cgroup->swap_usage },
        { "swap_limit", cgroup->swap_limit });

    jpp_json_open(json, "levels", '[');

    jpp_each(level, cgroup->levels, cgroup->n_levels) {
        jpp_json_open(json, NULL, '{');

        jpp_json_name(json, "path", level->len != 0 ? cgroup->path : "/",
                      level->len != 0 ? level->len : 1);
        jpp_json_numbers(json, { "usage", level->usage },
                         { "limit", level->limit }, { "high", level->high });
        jpp_json_bool(json, "binding",
                      level == &cgroup->levels[cgroup->binding]);

        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');

    jpp_memory_rows(json, "stat", &cgroup->stat, jpp_cgroup_stat_rows);
    jpp_memory_rows(json, "events", &cgroup->events, jpp_cgroup_events_rows);
    jpp_memory_pressure(json, &cgroup->pressure);

    jpp_json_close(json, '}');
}


static void
jpp_memory_system(jpp_json_t *json, const jpp_system_t *system)
{
    jpp_json_open(json, "system", '{');

    jpp_json_numbers(json,
        { "total", system->total }, { "available", system->available },
        { "swap_total", system->swap_total },
        { "swap_free", system->swap_free },
        { "commit_limit", system->commit_limit },
        { "committed", system->committed },
        { "overcommit", system->overcommit });
    jpp_json_filled(json, "thp", system->thp);
    jpp_memory_pressure(json, &system->pressure);

    jpp_json_close(json, '}');
}


static void
jpp_memory_zone_json(jpp_json_t *json, const jpp_zone_t *zone)
{
    const jpp_zone_slot_t  *slot;

    jpp_json_open(json, NULL, '{');

    jpp_json_name(json, "name", zone->name, zone->name_len);
    jpp_json_numbers(json,
        { "size", zone->size }, { "free", zone->free },
        { "used_in_slots", zone->used }, { "allocations", zone->allocations },
        { "failures", zone->failures });

    jpp_json_open(json, "slots", '[');

    jpp_each(slot, zone->slots, zone->n_slots) {
        jpp_json_object(json, NULL,
            { "size", slot->size }, { "total", slot->total },
            { "used", slot->used }, { "allocations", slot->allocations },
            { "failures", slot->failures });
    }

    jpp_json_close(json, ']');
    jpp_json_close(json, '}');
}


/* which zones were busy as they were read */

static void
jpp_memory_zones_why(jpp_json_t *json, const jpp_telemetry_t *telemetry)
{
    int                len;
    char               name[JPP_UTF8_ESCAPED(JPP_MEMORY_ZONE)];
    char               key[sizeof("zones.") + sizeof(name)];
    const jpp_zone_t  *zone;

    jpp_each(zone, telemetry->zones, telemetry->n_zones) {
        if (zone->was_busy) {
            len = (int) jpp_utf8_escape(name, zone->name,
                                        zone->name_len < JPP_MEMORY_ZONE
                                        ? zone->name_len : JPP_MEMORY_ZONE);

            jpp_print(key, "zones.%.*s", len, name);

            jpp_json_str(json, key, "the zone changed while it was read: its "
                                    "numbers are from several moments");
        }
    }
}


static bool
jpp_memory_has(const jpp_memory_t *memory, jpp_field_t field)
{
    return (memory->args->values[JPP_ARG_FIELDS] & (uint32_t) 1 << field) != 0;
}


static void
jpp_memory_json(const jpp_memory_t *memory, const jpp_memory_sum_t *sum,
    jpp_sink_t *sink)
{
    size_t                  n, i;
    jpp_json_t              json;
    jpp_finding_t           findings[JPP_FINDINGS];
    jpp_verdict_t           verdict;
    const jpp_fleet_t      *fleet;
    const jpp_telemetry_t  *telemetry;

    telemetry = memory->telemetry;
    fleet = telemetry->fleet;

    jpp_json_init(&json, sink);

    jpp_json_open(&json, NULL, '{');

    jpp_json_str(&json, "time", jpp_date(telemetry->now));
    jpp_json_str(&json, "host", fleet->host);
    jpp_json_u64(&json, "generation", telemetry->generation);
    jpp_json_str(&json, "loaded", jpp_date(telemetry->loaded));
    jpp_json_numbers(&json,
        { "asked", fleet->n_asked }, { "answered", fleet->n },
        { "unclean_exits", telemetry->noted.unclean_exits });

    if (jpp_memory_has(memory, JPP_FIELD_FINDINGS)) {
        n = jpp_findings(telemetry, findings);

        jpp_verdict(telemetry, findings, n, &verdict);
        jpp_verdict_json(&json, &verdict);
        jpp_findings_json(&json, findings, n);
    }

    if (jpp_memory_has(memory, JPP_FIELD_TOTAL)) {
        jpp_memory_total(&json, memory, sum);
    }

    if (jpp_memory_has(memory, JPP_FIELD_WORKERS)) {
        jpp_memory_workers(&json, memory);
    }

    if (jpp_memory_has(memory, JPP_FIELD_MISSING)) {
        jpp_missing_json(&json, fleet->missing, fleet->n_missing);
    }

    if (jpp_memory_has(memory, JPP_FIELD_CGROUP)) {
        jpp_memory_cgroup(&json, telemetry->cgroup);
    }

    if (jpp_memory_has(memory, JPP_FIELD_SYSTEM)) {
        jpp_memory_system(&json, telemetry->system);
    }

    if (jpp_memory_has(memory, JPP_FIELD_ZONES)) {
        jpp_json_open(&json, "zones", '[');

        for (i = 0; i < telemetry->n_zones; i++) {
            jpp_memory_zone_json(&json, &telemetry->zones[i]);
        }

        jpp_json_close(&json, ']');
    }

    if (jpp_memory_has(memory, JPP_FIELD_UNAVAILABLE)) {
        /* why something is null */

        jpp_json_open(&json, "unavailable", '{');

        if (memory->telemetry->cgroup == NULL) {
            jpp_json_str(&json, "cgroup", memory->telemetry->cgroup_why);
        }

        jpp_memory_zones_why(&json, memory->telemetry);
        jpp_memory_detail_why(&json, memory);

        jpp_json_close(&json, '}');
    }

    jpp_json_close(&json, '}');
}


/*
 * The same as tables for a terminal: findings, workers, the sum of their
 * ledgers, and zones.
 */

static void
jpp_memory_table_worker(jpp_table_t *table, const jpp_worker_t *worker)
{
    const jpp_stats_t     *stats;
    const jpp_usage_t     *usage;
    const jpp_activity_t  *activity;

    static const jpp_stats_t  none = {
        .allocated = JPP_NONE, .active = JPP_NONE, .resident = JPP_NONE
    };

    activity = &worker->activity;
    usage = &activity->usage;
    stats = worker->has_stats ? &worker->stats : &none;

    if (worker->is_exiting) {
        jpp_table_cell(table, "exiting");

    } else {
        jpp_table_cell(table, "%" PRIu32, worker->who.index);
    }

    jpp_table_cell(table, "%" PRId64, worker->who.pid);
    jpp_table_cell(table, "%" PRIu64, worker->who.generation);

    jpp_table_bytes(table, stats->allocated);
    jpp_table_bytes(table, stats->active);
    jpp_table_bytes(table, stats->resident);
    jpp_table_bytes(table, usage->rss_anon);
    jpp_table_bytes(table, usage->rss_file);
    jpp_table_bytes(table, usage->rss_shmem);
    jpp_table_bytes(table, usage->swap);
    jpp_table_bytes(table, usage->page_tables);
    jpp_table_cell(table, "%" PRIu64 "/%" PRIu64,
                   jpp_activity_used(activity), activity->connections);
}


static void
jpp_memory_table_workers(const jpp_memory_t *memory, jpp_sink_t *sink)
{
    size_t              i;
    jpp_table_t         table;
    const jpp_fleet_t  *fleet;

    fleet = memory->telemetry->fleet;

    jpp_table_init(&table, memory->arena, memory->args->values[JPP_ARG_COLS]);
    jpp_table_column(&table, "worker", 0, JPP_TABLE_NAME);
    jpp_table_column(&table, "pid", 0, 0);
    jpp_table_column(&table, "generation", 7, 0);
    jpp_table_column(&table, "allocated", 2, 0);
    jpp_table_column(&table, "active", 8, 0);
    jpp_table_column(&table, "resident", 6, 0);
    jpp_table_column(&table, "anonymous", 1, 0);
    jpp_table_column(&table, "files", 5, 0);
    jpp_table_column(&table, "shared", 4, 0);
    jpp_table_column(&table, "swap", 1, 0);
    jpp_table_column(&table, "page tables", 6, 0);
    jpp_table_column(&table, "connections", 3, 0);

    for (i = 0; i < fleet->n; i++) {
        jpp_memory_table_worker(&table, &fleet->workers[i]);
    }

    jpp_table_write(&table, sink);
}


static void
jpp_memory_table_ledger(const jpp_memory_t *memory,
    const jpp_memory_sum_t *sum, jpp_sink_t *sink)
{
    int                      len;
    char                     text[JPP_MEMORY_CELL], lua[JPP_LEDGER_HINT];
    uint64_t                 bytes, per_mille;
    const char              *hint;
    jpp_table_t              table;
    const jpp_fleet_t       *fleet;
    const jpp_worker_t      *worker;
    const jpp_ledger_row_t  *row;

    if (sum == NULL || sum->n == 0) {
        return;
    }

    jpp_table_init(&table, memory->arena, memory->args->values[JPP_ARG_COLS]);
    jpp_table_column(&table, "bytes", 0, 0);
    jpp_table_column(&table, "%", 1, 0);
    jpp_table_column(&table, "set aside", 3, 0);
    jpp_table_column(&table, "known", 2, JPP_TABLE_NAME);
    jpp_table_column(&table, "what", 0, 3 * JPP_TABLE_NAME);

    jpp_vec_each(row, sum->ledger.rows) {

        if (row->bytes == 0) {
            continue;
        }

        per_mille = sum->facts.sums.pss == 0 ? 0
                    : jpp_ledger_scale(row->bytes, 1000, sum->facts.sums.pss);

        jpp_table_bytes(&table, row->bytes);
        jpp_table_cell(&table, "%" PRIu64 ".%" PRIu64, per_mille / 10,
                       per_mille % 10);
        jpp_table_bytes(&table, row->held);
        jpp_table_cell(&table, "%s", jpp_ledger_hows[row->how]);

        hint = jpp_ledger_hint(&sum->facts, row, lua);

        len = snprintf(text, sizeof(text), "%s%s%s",
                       jpp_ledger_kinds[row->kind],
                       hint != NULL ? ": " : row->name_len != 0 ? " " : "",
                       hint != NULL ? hint : "");

        memcpy(text + len, row->name, row->name_len);

        jpp_table_name(&table, text, (size_t) len + row->name_len);
    }

    jpp_sink_printf(sink, "\nthe ledger of %zu worker%s: %s of Pss, which "
                    "counts a page shared by four processes as a quarter in "
                    "each\n\n",
                    sum->n, sum->n == 1 ? "" : "s",
                    jpp_bytes(sum->facts.sums.pss));

    jpp_table_write(&table, sink);

    fleet = memory->telemetry->fleet;

    bytes = 0;

    jpp_each(worker, fleet->workers, fleet->n) {
        jpp_add_known(&bytes, worker->activity.usage.page_tables);
    }

    jpp_sink_printf(sink, "\nin the kernel, in addition: page tables %s, "
                    "memory of %" PRIu64 " sockets %s, swap %s\n",
                    jpp_bytes(bytes), sum->facts.n_sockets,
                    jpp_bytes(sum->facts.sockets),
                    jpp_bytes(sum->facts.sums.swap));
}


/* sizes that no page is divided into are left out */

static void
jpp_memory_zone_text(jpp_table_t *table, const jpp_zone_t *zone)
{
    size_t                  i;
    const char             *text;
    const jpp_zone_slot_t  *slot;

    jpp_table_bytes(table, zone->size);
    jpp_table_bytes(table, jpp_less(zone->size, zone->free));
    jpp_table_cell(table, "%" PRIu64, zone->failures);
    jpp_table_name(table, zone->name, zone->name_len);

    for (i = 0, text = ""; i < zone->n_slots && text != NULL; i++) {
        slot = &zone->slots[i];

        if (slot->total != 0 || slot->failures != 0) {
            text = jpp_arena_printf(table->arena, "%s%s%" PRIu64 " of %" PRIu64
                                    " x %s", text, text[0] != '\0' ? ", " : "",
                                    slot->used, slot->total,
                                    jpp_bytes(slot->size));
        }
    }

    table->failed |= text == NULL;
    jpp_table_cell(table, "%s", text != NULL && text[0] != '\0' ? text : "-");
}


static void
jpp_memory_zones_text(const jpp_memory_t *memory, jpp_sink_t *sink)
{
    size_t                  i;
    jpp_table_t             table;
    const jpp_telemetry_t  *telemetry;

    telemetry = memory->telemetry;

    if (telemetry->n_zones == 0) {
        return;
    }

    jpp_table_init(&table, memory->arena, memory->args->values[JPP_ARG_COLS]);
    jpp_table_column(&table, "size", 1, 0);
    jpp_table_column(&table, "in use", 0, 0);
    jpp_table_column(&table, "refused", 1, 0);
    jpp_table_column(&table, "zone", 0, JPP_TABLE_NAME);
    jpp_table_column(&table, "slots in use, by size", 2, 3 * JPP_TABLE_NAME);

    for (i = 0; i < telemetry->n_zones; i++) {
        jpp_memory_zone_text(&table, &telemetry->zones[i]);
    }

    jpp_sink_str(sink, "\nzones of shared memory, in whole pages\n\n");

    jpp_table_write(&table, sink);
}


static void
jpp_memory_table(const jpp_memory_t *memory, const jpp_memory_sum_t *sum,
    jpp_sink_t *sink)
{
    char                  known[JPP_FINDING_LINK];
    size_t                i, n;
    jpp_err_t             err;
    const char           *why;
    jpp_finding_t         findings[JPP_FINDINGS];
    jpp_verdict_t         verdict;
    const jpp_fleet_t    *fleet;
    jpp_ledger_read_t     ledger;

    fleet = memory->telemetry->fleet;

    n = jpp_findings(memory->telemetry, findings);

    jpp_verdict(memory->telemetry, findings, n, &verdict);
    jpp_verdict_line(sink, &verdict);

    jpp_sink_printf(sink, "memory of %s at %s\n\n", fleet->host,
                    jpp_date(memory->telemetry->now));

    for (i = 0; i < n; i++) {
        jpp_sink_printf(sink, "%s %s: %s: %s\n%s\nsince %s%s%s%s\n\n",
                        findings[i].is_critical ? "!!" : "!", findings[i].id,
                        findings[i].what, findings[i].because,
                        findings[i].fix, jpp_date(findings[i].since),
                        jpp_finding_acknowledged(&findings[i], known),
                        findings[i].link[0] != '\0' ? "; ask for " : "",
                        findings[i].link);
    }

    jpp_memory_table_workers(memory, sink);
    jpp_memory_table_ledger(memory, sum, sink);
    jpp_memory_zones_text(memory, sink);

    jpp_sink_printf(sink, "\nworkers %zu/%" PRIu32 "\n", fleet->n,
                    fleet->n_asked);

    jpp_missing_text(sink, fleet->missing, fleet->n_missing);

    if (memory->refused != NULL) {
        jpp_sink_printf(sink, "no ledger: %.480s\n", memory->refused);
    }

    for (i = 0; i < memory->n_answers; i++) {
        why = jpp_memory_load(memory, i, &ledger, &err)
              ? ledger.facts.why : err.text;

        if (why[0] != '\0') {
            jpp_sink_printf(sink, "the ledger of pid %" PRId64 " is %s: "
                            "%.400s\n", memory->answers[i].who.pid,
                            why == err.text ? "missing" : "less exact", why);
        }
    }
}


static const char *const  jpp_memory_formats[] = { "json", "top" };

const jpp_words_t  jpp_memory_words = JPP_WORD_LIST(jpp_memory_formats, 2, 0);


jpp_detail_t
jpp_memory_detail(const jpp_args_t *args)
{
    if (args->is_set[JPP_ARG_DETAIL]) {
        return (jpp_detail_t) args->values[JPP_ARG_DETAIL];
    }

    return jpp_args_is_top(args) ? JPP_DETAIL_LEDGER : JPP_DETAIL_NONE;
}


jpp_code_t
jpp_memory_check(const jpp_args_t *args, jpp_err_t *err)
{
    if (jpp_args_is_top(args) && jpp_memory_detail(args) != JPP_DETAIL_LEDGER) {
        return jpp_err_set(err, JPP_ERR_ARG,
                           "format=top shows the ledger only: leave format out "
                           "for detail=smaps and detail=arenas, which are "
                           "JSON");
    }

    return JPP_OK;
}


bool
jpp_memory_write(const jpp_memory_t *memory, jpp_sink_t *sink)
{
    jpp_wrap_t         wrap;
    jpp_memory_sum_t  *sum;

    sum = NULL;

    if (memory->detail == JPP_DETAIL_LEDGER) {

        sum = jpp_memory_sum(memory);
        if (sum == NULL) {
            return false;
        }
    }

    if (!jpp_args_is_top(memory->args)) {
        jpp_memory_json(memory, sum, sink);
        return true;
    }

    jpp_wrap_open(&wrap, memory->args->values[JPP_ARG_COLS], sink);
    jpp_memory_table(memory, sum, &wrap.sink);

    return jpp_wrap_close(&wrap);
}
