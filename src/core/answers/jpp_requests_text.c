
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jpp_directives.h"
#include "jpp_pools.h"
#include "jpp_requests_text.h"
#include "jpp_table.h"
#include "jpp_units.h"


#define JPP_REQUESTS_AGE     24
#define JPP_REQUESTS_MOST    256


/* a column: its heading, and its cell of a row */
typedef struct {
    const char   *heading;
    bool          is_right;
    bool          is_client;           /* shown with clients only */
    void        (*cell)(const jpp_requests_row_t *row, jpp_table_t *table);
} jpp_requests_column_t;


static void jpp_requests_bytes(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_unused(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_kernel(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_age(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_n_requests(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_worker(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_pid(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_kind(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_doing(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_server(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_location(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_third(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_mostly(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_bound(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_client(const jpp_requests_row_t *row,
    jpp_table_t *table);
static void jpp_requests_uri(const jpp_requests_row_t *row,
    jpp_table_t *table);


static const jpp_requests_column_t  jpp_requests_by_request[] = {
    { "bytes", true, false, jpp_requests_bytes },
    { "unused", true, false, jpp_requests_unused },
    { "kernel", true, false, jpp_requests_kernel },
    { "age", true, false, jpp_requests_age },
    { "worker", true, false, jpp_requests_worker },
    { "pid", true, false, jpp_requests_pid },
    { "doing", false, false, jpp_requests_doing },
    { "server", false, false, jpp_requests_server },
    { "location", false, false, jpp_requests_location },
    { "upstream", false, false, jpp_requests_third },
    { "mostly", false, false, jpp_requests_mostly },
    { "bounded by", false, false, jpp_requests_bound },
    { "client", false, true, jpp_requests_client },
    { "uri", false, true, jpp_requests_uri },
    { NULL, false, false, NULL }
};


static const jpp_requests_column_t  jpp_requests_by_connection[] = {
    { "bytes", true, false, jpp_requests_bytes },
    { "unused", true, false, jpp_requests_unused },
    { "kernel", true, false, jpp_requests_kernel },
    { "age", true, false, jpp_requests_age },
    { "requests", true, false, jpp_requests_n_requests },
    { "worker", true, false, jpp_requests_worker },
    { "pid", true, false, jpp_requests_pid },
    { "kind", false, false, jpp_requests_kind },
    { "doing", false, false, jpp_requests_doing },
    { "server", false, false, jpp_requests_server },
    { "upstream, address or module", false, false, jpp_requests_third },
    { "mostly", false, false, jpp_requests_mostly },
    { "bounded by", false, false, jpp_requests_bound },
    { "client", false, true, jpp_requests_client },
    { NULL, false, false, NULL }
};


static const struct {
    const char                    *one;
    const char                    *many;
    const jpp_requests_column_t   *columns;
} jpp_requests_lists[] = {
    [JPP_BY_REQUEST] = { "request", "requests", jpp_requests_by_request },
    [JPP_BY_CONNECTION] =
        { "connection", "connections", jpp_requests_by_connection }
};


static void
jpp_requests_heading(const jpp_requests_t *requests,
    const jpp_requests_rows_t *rows, jpp_sink_t *sink)
{
    char   shown[JPP_UNITS_TEXT], all[JPP_UNITS_TEXT];
    jpp_by_t  by;

    by = (jpp_by_t) requests->args->values[JPP_ARG_BY];

    (void) jpp_units_bytes(rows->bytes, all);

    if (rows->n_shown < rows->n) {
        jpp_sink_printf(sink, "the %zu largest of %" PRIu64 " %s: %s of %s\n",
                        rows->n_shown, rows->n, jpp_requests_lists[by].many,
                        jpp_units_bytes(rows->bytes_shown, shown), all);
        return;
    }

    jpp_sink_printf(sink, "%" PRIu64 " %s: %s\n", rows->n,
                    rows->n == 1 ? jpp_requests_lists[by].one
                                 : jpp_requests_lists[by].many, all);
}


static void
jpp_requests_notes(const jpp_requests_t *requests, jpp_sink_t *sink)
{
    size_t                        i, n, n_missing;
    jpp_by_t                      by;
    uint64_t                      n_unproven;
    const jpp_missing_t          *missing;
    const jpp_requests_worker_t  *workers;

    workers = jpp_vec_items(requests->workers, jpp_requests_worker_t);
    n = jpp_vec_count(requests->workers, jpp_requests_worker_t);
    missing = jpp_vec_items(requests->missing, jpp_missing_t);
    n_missing = jpp_vec_count(requests->missing, jpp_missing_t);

    jpp_sink_printf(sink, "\nworkers %zu/%zu\n", n, n + n_missing);

    for (i = 0; i < n_missing; i++) {
        jpp_sink_printf(sink, "worker %" PRIu32 " pid %" PRId64
                        " is missing: %.400s\n", missing[i].who.index,
                        missing[i].who.pid, missing[i].why);
    }

    n_unproven = 0;

    for (i = 0; i < n; i++) {

        n_unproven += workers[i].table.facts.n_unproven;

        if (workers[i].table.facts.reason == JPP_POOLS_WHOLE) {
            continue;
        }

        jpp_sink_printf(sink, "worker %" PRIu32 " pid %" PRId64 " is partial, "
                        "%" PRIu64 " connections were not seen: %s\n",
                        workers[i].who.index, workers[i].who.pid,
                        workers[i].table.facts.n_missed,
                        jpp_pools_reasons[workers[i].table.facts.reason]);
    }

    by = (jpp_by_t) requests->args->values[JPP_ARG_BY];

    if (by == JPP_BY_CONNECTION && n_unproven != 0) {
        jpp_sink_printf(sink, JPP_POOLS_UNPROVEN "\n", n_unproven);
    }

    jpp_sink_str(sink, "kernel: the kernel's memory for data in the queues of "
                 "the sockets, which is more than that data; none of it is "
                 "nginx's\n");

    if (!requests->has_clients) {
        jpp_sink_str(sink, "clients and URIs are not shown: clients=on does, "
                     "where the location allows it\n");
    }
}


bool
jpp_requests_text(const jpp_requests_t *requests,
    const jpp_requests_rows_t *rows, jpp_sink_t *sink)
{
    size_t                         i, k;
    uint32_t                       n, right;
    jpp_table_t                    table;
    const jpp_requests_row_t      *row;
    const jpp_requests_column_t   *columns, *shown[JPP_TABLE_COLUMNS];

    columns = jpp_requests_lists[requests->args->values[JPP_ARG_BY]].columns;
    right = 0;
    n = 0;

    for (k = 0; columns[k].heading != NULL; k++) {
        if (!columns[k].is_client || requests->has_clients) {
            right |= (uint32_t) columns[k].is_right << n;
            shown[n++] = &columns[k];
        }
    }

    jpp_table_init(&table, requests->arena, n, right);

    for (k = 0; k < n; k++) {
        jpp_table_cell(&table, "%s", shown[k]->heading);
    }

    row = jpp_vec_items(rows->rows, jpp_requests_row_t);

    for (i = 0; i < rows->n_shown; i++) {
        for (k = 0; k < n; k++) {
            shown[k]->cell(&row[i], &table);
        }
    }

    jpp_requests_heading(requests, rows, sink);

    if (!jpp_table_write(&table, sink)) {
        return false;
    }

    jpp_requests_notes(requests, sink);

    return true;
}


static void
jpp_requests_bytes(const jpp_requests_row_t *row, jpp_table_t *table)
{
    char  text[JPP_UNITS_TEXT];

    jpp_table_cell(table, "%s", jpp_units_bytes(row->unit->bytes, text));
}


static void
jpp_requests_unused(const jpp_requests_row_t *row, jpp_table_t *table)
{
    char  text[JPP_UNITS_TEXT];

    jpp_table_cell(table, "%s", jpp_units_bytes(row->unit->unused, text));
}


static void
jpp_requests_kernel(const jpp_requests_row_t *row, jpp_table_t *table)
{
    char  text[JPP_UNITS_TEXT];

    jpp_table_cell(table, "%s", jpp_units_bytes(row->unit->sending
                                                + row->unit->receiving, text));
}


static void
jpp_requests_age(const jpp_requests_row_t *row, jpp_table_t *table)
{
    uint64_t  msec;

    msec = row->unit->age_msec;

    if (msec < 100 * 1000) {
        jpp_table_cell(table, "%" PRIu64 ".%" PRIu64 " s", msec / 1000,
                       msec % 1000 / 100);

    } else if (msec < 100 * 60 * 1000) {
        jpp_table_cell(table, "%" PRIu64 " min", msec / 60000);

    } else {
        jpp_table_cell(table, "%" PRIu64 " h", msec / 3600000);
    }
}


static void
jpp_requests_n_requests(const jpp_requests_row_t *row, jpp_table_t *table)
{
    jpp_table_cell(table, "%" PRIu64, row->unit->n_requests);
}


static void
jpp_requests_worker(const jpp_requests_row_t *row, jpp_table_t *table)
{
    jpp_table_cell(table, "%" PRIu32, row->worker->who.index);
}


static void
jpp_requests_pid(const jpp_requests_row_t *row, jpp_table_t *table)
{
    jpp_table_cell(table, "%" PRId64, row->worker->who.pid);
}


static void
jpp_requests_kind(const jpp_requests_row_t *row, jpp_table_t *table)
{
    jpp_table_cell(table, "%s", jpp_pools_kind_name(row->kind));
}


static void
jpp_requests_name(jpp_str_t name, jpp_table_t *table)
{
    if (name.len == 0) {
        jpp_table_cell(table, "-");
        return;
    }

    jpp_table_name(table, name.data, name.len);
}


/* nginx's words for an action say more than those for a state */

static void
jpp_requests_doing(const jpp_requests_row_t *row, jpp_table_t *table)
{
    jpp_requests_name(jpp_pools_str(&row->worker->table,
                                    row->unit->action != 0
                                    ? row->unit->action : row->unit->state),
                      table);
}


static void
jpp_requests_server(const jpp_requests_row_t *row, jpp_table_t *table)
{
    jpp_requests_name(row->server, table);
}


static void
jpp_requests_location(const jpp_requests_row_t *row, jpp_table_t *table)
{
    jpp_requests_name(row->location, table);
}


static void
jpp_requests_third(const jpp_requests_row_t *row, jpp_table_t *table)
{
    jpp_requests_name(row->third, table);
}


static void
jpp_requests_mostly(const jpp_requests_row_t *row, jpp_table_t *table)
{
    char        text[JPP_REQUESTS_MOST], size[JPP_UNITS_TEXT];
    int         n;
    const char *class;

    class = jpp_pools_classes[row->most.class];

    n = snprintf(text, sizeof(text), "%s: %s%.*s",
                 jpp_units_bytes(row->most.bytes, size),
                 class != NULL ? class : "-",
                 (int) (row->most.module.len < 128 ? row->most.module.len
                                                   : 128),
                 row->most.module.data);

    jpp_table_name(table, text, (size_t) n);
}


static void
jpp_requests_bound(const jpp_requests_row_t *row, jpp_table_t *table)
{
    char                 text[2 * JPP_DIRECTIVE_TEXT];
    char                 names[JPP_DIRECTIVE_TEXT], value[JPP_DIRECTIVE_TEXT];
    int                  n;
    jpp_directive_of_t   of;

    of.kind = row->most.kind;
    of.class = row->most.class;
    of.module = row->most.module;
    of.prefix = jpp_pools_str(&row->worker->table, row->unit->bound_module);

    (void) jpp_directive_value(row->unit->bound_number, row->unit->bound_size,
                               value);
    (void) jpp_directive(&of, names);

    n = snprintf(text, sizeof(text), "%s%s%s", names[0] != '\0' ? names : "-",
                 names[0] != '\0' && value[0] != '\0' ? " " : "",
                 names[0] != '\0' ? value : "");

    jpp_table_name(table, text, (size_t) n);
}


static void
jpp_requests_client(const jpp_requests_row_t *row, jpp_table_t *table)
{
    jpp_str_t  name;

    name.data = row->unit->client;
    name.len = row->unit->client_len;

    jpp_requests_name(name, table);
}


static void
jpp_requests_uri(const jpp_requests_row_t *row, jpp_table_t *table)
{
    jpp_str_t  name;

    name.data = row->unit->uri;
    name.len = row->unit->uri_len;

    jpp_requests_name(name, table);
}
