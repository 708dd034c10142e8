
/*
 * The resource memory as tables for a terminal: findings, workers, the sum of
 * their ledgers, and zones.
 */


#include "jpp_diagnosis.h"
#include "jpp_memory.h"
#include "jpp_table.h"


#define JPP_MEMORY_CELL   (JPP_LEDGER_NAME + 64)


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
    char                     text[JPP_MEMORY_CELL];
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

        hint = jpp_memory_hint(&sum->facts, row);

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


void
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
