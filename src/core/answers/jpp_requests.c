
/* The requests and connections that hold the most memory now. */


#include "jpp_answers.h"


#define JPP_REQUESTS_MOST    256


/* Names have any bytes; those that a row does not have are "". */
typedef struct {
    const jpp_requests_worker_t   *worker;
    jpp_pools_unit_t               unit;
    uint64_t                       kernel;     /* the kernel's, besides */
    uint64_t                       index;      /* of the worker */
    uint64_t                       pid;
    jpp_str_t                      kind_name;
    jpp_str_t                      doing;
    jpp_str_t                      server;
    jpp_str_t                      location;
    jpp_str_t                      third;      /* upstream, address, module: */
    jpp_pools_sort_t               sort;       /*   which */
    jpp_str_t                      client;     /* "": not to be shown */
    jpp_str_t                      uri;
    jpp_directive_of_t             most;       /* what holds most of it */
} jpp_requests_row_t;


typedef struct {
    jpp_vec_t                     *rows;       /* jpp_requests_row_t, the */
                                               /*   largest first */
    size_t                         n_shown;    /* of them */
    uint64_t                       n;          /* how many there are: units */
                                               /*   that were not sent, too */
    uint64_t                       bytes;      /* of all of them */
    uint64_t                       bytes_shown;
    uint64_t                       n_unproven;
} jpp_requests_rows_t;


/* how a cell of the table is written: numbers first */
typedef enum {
    JPP_REQUESTS_BYTES = 0,        /* of a uint64_t */
    JPP_REQUESTS_AGE,
    JPP_REQUESTS_NUMBER,
    JPP_REQUESTS_NAME,             /* of a jpp_str_t */
    JPP_REQUESTS_CLIENT,           /* of one, where clients are shown */
    JPP_REQUESTS_MOSTLY,           /* of the row */
    JPP_REQUESTS_BOUND
} jpp_requests_type_t;


#define JPP_REQUESTS_AT(member)  offsetof(jpp_requests_row_t, member)

static const struct {
    const char           *headings[2]; /* by request, by connection; NULL: */
                                       /*   not shown */
    jpp_requests_type_t   type;
    uint32_t              rank;        /* see jpp_table_column() */
    uint32_t              least;       /* width, in JPP_TABLE_NAME */
    size_t                offset;
} jpp_requests_columns[] = {
    { { "bytes", "bytes" }, JPP_REQUESTS_BYTES, 0, 0,
      JPP_REQUESTS_AT(unit.bytes) },
    { { "unused", "unused" }, JPP_REQUESTS_BYTES, 6, 0,
      JPP_REQUESTS_AT(unit.unused) },
    { { "kernel", "kernel" }, JPP_REQUESTS_BYTES, 4, 0,
      JPP_REQUESTS_AT(kernel) },
    { { "age", "age" }, JPP_REQUESTS_AGE, 1, 0,
      JPP_REQUESTS_AT(unit.age_msec) },
    { { NULL, "requests" }, JPP_REQUESTS_NUMBER, 2, 0,
      JPP_REQUESTS_AT(unit.n_requests) },
    { { "worker", "worker" }, JPP_REQUESTS_NUMBER, 7, 0,
      JPP_REQUESTS_AT(index) },
    { { "pid", "pid" }, JPP_REQUESTS_NUMBER, 8, 0, JPP_REQUESTS_AT(pid) },
    { { NULL, "kind" }, JPP_REQUESTS_NAME, 0, 2, JPP_REQUESTS_AT(kind_name) },
    { { "doing", "doing" }, JPP_REQUESTS_NAME, 3, 1, JPP_REQUESTS_AT(doing) },
    { { "server", "server" }, JPP_REQUESTS_NAME, 1, 1,
      JPP_REQUESTS_AT(server) },
    { { "location", NULL }, JPP_REQUESTS_NAME, 0, 2,
      JPP_REQUESTS_AT(location) },
    { { "upstream", "upstream/address/module" }, JPP_REQUESTS_NAME, 5, 1,
      JPP_REQUESTS_AT(third) },
    { { "mostly", "mostly" }, JPP_REQUESTS_MOSTLY, 4, 2, 0 },
    { { "bounded by", "bounded by" }, JPP_REQUESTS_BOUND, 2, 2, 0 },
    { { "client", "client" }, JPP_REQUESTS_CLIENT, 1, 1,
      JPP_REQUESTS_AT(client) },
    { { "uri", NULL }, JPP_REQUESTS_CLIENT, 1, 1, JPP_REQUESTS_AT(uri) }
};

#define JPP_REQUESTS_COLUMNS                                                  \
    (sizeof(jpp_requests_columns) / sizeof(jpp_requests_columns[0]))


static const char *const  jpp_requests_bys[2] = {
    [JPP_BY_REQUEST] = "request",
    [JPP_BY_CONNECTION] = "connection"
};


static const char *const  jpp_requests_protocols[JPP_POOLS_PROTOCOLS] = {
    [JPP_POOLS_HTTP1] = "HTTP/1",
    [JPP_POOLS_H2] = "HTTP/2",
    [JPP_POOLS_H3] = "HTTP/3",
    [JPP_POOLS_TCP] = "TCP",
    [JPP_POOLS_UDP] = "UDP",
    [JPP_POOLS_MAILS] = "mail"
};


jpp_code_t
jpp_requests_check(const jpp_args_t *args, jpp_err_t *err)
{
    if (jpp_roots_allow((jpp_by_t) args->values[JPP_ARG_BY])) {
        return jpp_err_set(err, JPP_ERR_ARG, "requests takes by=request and "
                           "by=connection: sums by location, server and "
                           "upstream are in locations and pools");
    }

    return JPP_OK;
}


bool
jpp_requests_init(jpp_requests_t *requests, jpp_arena_t *arena,
    const jpp_args_t *args)
{
    memset(requests, 0, sizeof(jpp_requests_t));

    requests->arena = arena;
    requests->args = args;
    requests->has_clients = args->values[JPP_ARG_CLIENTS] != 0;
    requests->workers = jpp_vec_create(arena);
    requests->missing = jpp_vec_create(arena);

    return requests->workers != NULL && requests->missing != NULL;
}


bool
jpp_requests_missing(jpp_requests_t *requests, const jpp_identity_t *who,
    const char *why)
{
    jpp_missing_t  *missing;

    missing = jpp_vec_push(requests->missing, sizeof(jpp_missing_t));

    if (missing == NULL) {
        return false;
    }

    missing->who = *who;
    missing->why = jpp_arena_strndup(requests->arena, why, strlen(why));

    return missing->why != NULL;
}


bool
jpp_requests_add(jpp_requests_t *requests, const jpp_identity_t *who,
    const char *data, size_t len)
{
    jpp_err_t               err;
    jpp_code_t              rc;
    jpp_pools_t             table;
    jpp_requests_worker_t  *worker;

    rc = jpp_pools_load(&table, requests->arena, data, len, &err);

    if (rc == JPP_ERR_MEMORY) {
        return false;
    }

    if (rc != JPP_OK) {
        return jpp_requests_missing(requests, who, err.text);
    }

    worker = jpp_vec_push(requests->workers, sizeof(jpp_requests_worker_t));

    if (worker == NULL) {
        return false;
    }

    worker->who = *who;
    worker->table = table;

    return true;
}


/*
 * The rows of a list, for its two forms.
 */


/* Whether a list has what an owner holds; a request has its upstreams. */

static bool
jpp_requests_counts(jpp_by_t by, uint8_t kind)
{
    return by == JPP_BY_CONNECTION
           ? kind <= JPP_POOLS_MODULE_CONNECTION
           : kind == JPP_POOLS_REQUEST || kind == JPP_POOLS_UPSTREAM;
}


static void
jpp_requests_totals(jpp_requests_rows_t *rows, jpp_by_t by,
    const jpp_pools_t *table)
{
    size_t                    i, n;
    const jpp_pools_row_t    *held;
    const jpp_pools_owner_t  *owner;

    n = jpp_vec_count(table->owners, jpp_pools_owner_t);

    for (i = 1; i <= n; i++) {
        owner = jpp_pools_owner_at(table, (uint32_t) i);

        if (jpp_requests_counts(by, owner->kind)
            && owner->kind != JPP_POOLS_UPSTREAM
            && (owner->kind == JPP_POOLS_REQUEST) == (by == JPP_BY_REQUEST))
        {
            rows->n += owner->n_units;
        }
    }

    jpp_vec_each(held, table->rows) {
        owner = jpp_pools_owner_at(table, held->owner);

        if (jpp_requests_counts(by, owner->kind) && !held->is_inherited) {
            rows->bytes += held->bytes;
        }
    }
}


static bool
jpp_requests_units(jpp_requests_rows_t *rows,
    const jpp_requests_worker_t *worker, bool has_clients)
{
    const jpp_pools_t        *table;
    jpp_requests_row_t       *row;
    const jpp_pools_unit_t   *unit;
    const jpp_pools_owner_t  *owner;

    table = &worker->table;

    jpp_vec_each(unit, table->units) {

        row = jpp_vec_push(rows->rows, sizeof(jpp_requests_row_t));
        if (row == NULL) {
            return false;
        }

        owner = jpp_pools_owner_at(table, unit->owner);

        row->worker = worker;
        row->unit = *unit;
        row->kernel = unit->sending + unit->receiving;
        row->index = worker->who.index;
        row->pid = (uint64_t) worker->who.pid;
        row->kind_name.data = jpp_pools_kind_name(owner->kind);
        row->kind_name.len = strlen(row->kind_name.data);

        /* nginx's words for an action say more than those for a state */

        row->doing = jpp_pools_str(table, unit->action != 0 ? unit->action
                                                            : unit->state);
        row->server = jpp_pools_str(table, owner->server);
        row->location = jpp_pools_str(table, owner->location);
        row->sort = jpp_pools_thirds[owner->kind];
        row->third = jpp_pools_str(table, unit->upstream != 0 ? unit->upstream
                                                              : owner->third);

        row->client.data = unit->client;
        row->client.len = has_clients ? unit->client_len : 0;
        row->uri.data = unit->uri;
        row->uri.len = has_clients ? unit->uri_len : 0;

        owner = jpp_pools_owner_at(table, unit->most_owner);

        row->most.kind = (jpp_pools_kind_t) owner->kind;
        row->most.class = (jpp_pools_class_t) unit->most_class;
        row->most.module = jpp_pools_str(table, unit->most_module);
        row->most.prefix = jpp_pools_str(table, unit->bound_module);
    }

    return true;
}


static int
jpp_requests_order(jpp_str_t a, jpp_str_t b)
{
    int  order;

    order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

    return order != 0 ? order : jpp_sort_order(a.len, b.len);
}


/* Of equal ones, the older comes first. */

static int
jpp_requests_compare(const void *a, const void *b, void *ctx)
{
    int                        order;
    const jpp_requests_row_t  *x = a, *y = b;

    (void) ctx;

    order = jpp_sort_order(y->unit.bytes, x->unit.bytes);
    order = order != 0 ? order : jpp_sort_order(y->unit.age_msec,
                                                x->unit.age_msec);
    order = order != 0 ? order : jpp_sort_order((uintptr_t) x->worker,
                                                (uintptr_t) y->worker);
    order = order != 0 ? order : jpp_requests_order(x->server, y->server);
    order = order != 0 ? order : jpp_requests_order(x->location, y->location);

    return order != 0 ? order : jpp_requests_order(x->third, y->third);
}


/* Initialize the caller's ROWS of REQUESTS.  False: no memory. */

static bool
jpp_requests_rows(jpp_requests_rows_t *rows, const jpp_requests_t *requests)
{
    size_t                  n;
    jpp_by_t                by;
    jpp_requests_row_t     *row;
    jpp_requests_worker_t  *worker;

    memset(rows, 0, sizeof(jpp_requests_rows_t));

    by = (jpp_by_t) requests->args->values[JPP_ARG_BY];
    rows->rows = jpp_vec_create(requests->arena);

    if (rows->rows == NULL) {
        return false;
    }

    jpp_vec_each(worker, requests->workers) {

        jpp_requests_totals(rows, by, &worker->table);
        rows->n_unproven += worker->table.facts.n_unproven;

        if (!jpp_requests_units(rows, worker, requests->has_clients)) {
            return false;
        }
    }

    n = jpp_vec_count(rows->rows, jpp_requests_row_t);

    jpp_sort(rows->rows->data, n, sizeof(jpp_requests_row_t),
             jpp_requests_compare, NULL);

    rows->n_shown = jpp_smaller(n, requests->args->values[JPP_ARG_TOP]);
    rows->rows->len = rows->n_shown * sizeof(jpp_requests_row_t);

    jpp_vec_each(row, rows->rows) {
        rows->bytes_shown += row->unit.bytes;
    }

    return true;
}


/*
 * A list as JSON.
 */


/* null: it has none */

static void
jpp_requests_json_name(jpp_json_t *json, const char *key, jpp_str_t name)
{
    if (name.len == 0) {
        jpp_json_null(json, key);

    } else {
        jpp_json_name(json, key, name.data, name.len);
    }
}


static void
jpp_requests_json_most(const jpp_requests_row_t *row, jpp_json_t *json)
{
    char                     text[JPP_DIRECTIVE_TEXT];
    const jpp_pools_unit_t  *unit;

    unit = &row->unit;

    jpp_json_open(json, "mostly", '{');

    jpp_json_str(json, "class", row->most.class == JPP_POOLS_MODULE
                                ? "module"
                                : jpp_pools_classes[row->most.class]);
    jpp_requests_json_name(json, "module", row->most.module);
    jpp_json_u64(json, "bytes", unit->most_bytes);

    jpp_json_filled(json, "directive", jpp_directive(&row->most, text));
    jpp_json_filled(json, "value", jpp_directive_value(unit->bound_number,
                                                       unit->bound_size, text));

    jpp_json_close(json, '}');
}


static void
jpp_requests_json_row(const jpp_requests_row_t *row, jpp_json_t *json)
{
    const jpp_pools_t       *table;
    const jpp_pools_unit_t  *unit;

    static const jpp_str_t  none = { "", 0 };

    unit = &row->unit;
    table = &row->worker->table;

    jpp_json_open(json, NULL, '{');

    jpp_json_numbers(json, { "bytes", unit->bytes },
                     { "unused", unit->unused });

    jpp_requests_json_name(json, "server", row->server);
    jpp_requests_json_name(json, "location", row->location);
    jpp_json_str(json, "kind", row->kind_name.data);
    jpp_requests_json_name(json, "upstream", row->sort
                           == JPP_POOLS_UPSTREAM_NAME ? row->third : none);
    jpp_requests_json_name(json, "module", row->sort
                           == JPP_POOLS_MODULE_NAME ? row->third : none);
    jpp_requests_json_name(json, "address", row->sort
                           == JPP_POOLS_ADDRESS ? row->third : none);

    jpp_json_u64(json, "requests", unit->n_requests);

    jpp_requests_json_most(row, json);

    jpp_json_identity(json, &row->worker->who);

    jpp_json_object(json, "kernel", { "sending", unit->sending },
                    { "receiving", unit->receiving });

    jpp_json_u64(json, "age_ms", unit->age_msec);
    jpp_json_str(json, "protocol", jpp_requests_protocols[unit->protocol]);
    jpp_json_bool(json, "tls", unit->is_tls);

    jpp_requests_json_name(json, "state", jpp_pools_str(table, unit->state));
    jpp_requests_json_name(json, "action", jpp_pools_str(table, unit->action));
    jpp_requests_json_name(json, "client", row->client);
    jpp_requests_json_name(json, "uri", row->uri);

    jpp_json_close(json, '}');
}


static void
jpp_requests_json(const jpp_requests_t *requests,
    const jpp_requests_rows_t *rows, jpp_sink_t *sink)
{
    size_t                        n, n_missing;
    jpp_json_t                    json;
    const jpp_requests_row_t     *row;
    const jpp_requests_worker_t  *worker;

    n = jpp_vec_count(requests->workers, jpp_requests_worker_t);
    n_missing = jpp_vec_count(requests->missing, jpp_missing_t);

    jpp_json_init(&json, sink);
    jpp_json_open(&json, NULL, '{');

    jpp_json_str(&json, "module", JPP_VERSION);
    jpp_json_numbers(&json, { "asked", n + n_missing }, { "answered", n });
    jpp_json_str(&json, "by",
                 jpp_requests_bys[requests->args->values[JPP_ARG_BY]]);
    jpp_json_numbers(&json, { "count", rows->n }, { "bytes", rows->bytes });

    jpp_json_open(&json, "rows", '[');

    jpp_vec_each(row, rows->rows) {
        jpp_requests_json_row(row, &json);
    }

    jpp_json_close(&json, ']');

    jpp_json_u64(&json, "unproven", rows->n_unproven);

    jpp_json_open(&json, "partial", '[');

    jpp_vec_each(worker, requests->workers) {

        if (!worker->table.facts.is_partial) {
            continue;
        }

        jpp_json_open(&json, NULL, '{');
        jpp_json_identity(&json, &worker->who);
        jpp_json_u64(&json, "missed", worker->table.facts.n_missed);
        jpp_json_str(&json, "why", JPP_POOLS_CUT);
        jpp_json_close(&json, '}');
    }

    jpp_json_close(&json, ']');

    jpp_missing_json(&json, jpp_vec_items(requests->missing, jpp_missing_t),
                     n_missing);

    jpp_json_close(&json, '}');
}


/*
 * A list as a table for a terminal, with notes below.
 */


static void
jpp_requests_notes(const jpp_requests_t *requests,
    const jpp_requests_rows_t *rows, jpp_sink_t *sink)
{
    size_t                        n, n_missing;
    const jpp_requests_worker_t  *worker;

    n = jpp_vec_count(requests->workers, jpp_requests_worker_t);
    n_missing = jpp_vec_count(requests->missing, jpp_missing_t);

    jpp_sink_printf(sink, "\nworkers %zu/%zu\n", n, n + n_missing);

    jpp_missing_text(sink, jpp_vec_items(requests->missing, jpp_missing_t),
                     n_missing);

    jpp_vec_each(worker, requests->workers) {
        if (worker->table.facts.is_partial) {
            jpp_sink_printf(sink, "worker %" PRIu32 " pid %" PRId64
                            " is partial, " JPP_POOLS_CUT_TEXT "\n",
                            worker->who.index, worker->who.pid,
                            worker->table.facts.n_missed);
        }
    }

    if (requests->args->values[JPP_ARG_BY] == JPP_BY_CONNECTION
        && rows->n_unproven != 0)
    {
        jpp_sink_printf(sink, JPP_POOLS_UNPROVEN "\n", rows->n_unproven);
    }

    jpp_sink_str(sink, "kernel: kernel memory for socket queues, including "
                 "overhead; not part of nginx's memory\n");

    if (!requests->has_clients) {
        jpp_sink_str(sink, "clients and URIs are hidden: clients=on shows "
                           "them, if the location allows it\n");
    }
}


static void
jpp_requests_mostly(const jpp_requests_row_t *row, jpp_table_t *table)
{
    int         n;
    char        text[JPP_REQUESTS_MOST];
    const char *class;

    class = jpp_pools_classes[row->most.class];

    n = snprintf(text, sizeof(text), "%s: %s%.*s",
                 jpp_bytes(row->unit.most_bytes),
                 class != NULL ? class : "-",
                 (int) (row->most.module.len < 128 ? row->most.module.len
                                                   : 128),
                 row->most.module.data);

    jpp_table_name(table, text, (size_t) n);
}


static void
jpp_requests_bound(const jpp_requests_row_t *row, jpp_table_t *table)
{
    int   n;
    char  text[2 * JPP_DIRECTIVE_TEXT];
    char  names[JPP_DIRECTIVE_TEXT], value[JPP_DIRECTIVE_TEXT];

    (void) jpp_directive_value(row->unit.bound_number, row->unit.bound_size,
                               value);
    (void) jpp_directive(&row->most, names);

    n = snprintf(text, sizeof(text), "%s%s%s", names[0] != '\0' ? names : "-",
                 names[0] != '\0' && value[0] != '\0' ? " " : "",
                 names[0] != '\0' ? value : "");

    jpp_table_name(table, text, (size_t) n);
}


static void
jpp_requests_cell(const jpp_requests_row_t *row, size_t column,
    jpp_table_t *table)
{
    uint64_t          number, msec;
    const void       *at;
    const jpp_str_t  *name;

    at = (const char *) row + jpp_requests_columns[column].offset;
    name = at;

    switch (jpp_requests_columns[column].type) {

    case JPP_REQUESTS_BYTES:
        memcpy(&number, at, sizeof(number));
        jpp_table_bytes(table, number);
        return;

    case JPP_REQUESTS_AGE:

        msec = row->unit.age_msec;

        if (msec < 100 * 1000) {
            jpp_table_cell(table, "%" PRIu64 ".%" PRIu64 " s", msec / 1000,
                           msec % 1000 / 100);

        } else {
            jpp_table_cell(table, "%s", jpp_span(msec / 1000));
        }

        return;

    case JPP_REQUESTS_NUMBER:
        memcpy(&number, at, sizeof(number));
        jpp_table_cell(table, "%" PRIu64, number);
        return;

    case JPP_REQUESTS_NAME:
    case JPP_REQUESTS_CLIENT:

        if (name->len == 0) {
            jpp_table_cell(table, "-");

        } else {
            jpp_table_name(table, name->data, name->len);
        }

        return;

    case JPP_REQUESTS_MOSTLY:
        jpp_requests_mostly(row, table);
        return;

    case JPP_REQUESTS_BOUND:
        jpp_requests_bound(row, table);
    }
}


static void
jpp_requests_text(const jpp_requests_t *requests,
    const jpp_requests_rows_t *rows, jpp_sink_t *sink)
{
    size_t                     k, shown[JPP_REQUESTS_COLUMNS];
    uint32_t                   by, n;
    jpp_table_t                table;
    const jpp_requests_row_t  *row;

    by = requests->args->values[JPP_ARG_BY];
    n = 0;

    jpp_table_init(&table, requests->arena,
                   requests->args->values[JPP_ARG_COLS]);

    for (k = 0; k < JPP_REQUESTS_COLUMNS; k++) {
        if (jpp_requests_columns[k].headings[by] != NULL
            && (jpp_requests_columns[k].type != JPP_REQUESTS_CLIENT
                || requests->has_clients))
        {
            jpp_table_column(&table, jpp_requests_columns[k].headings[by],
                             jpp_requests_columns[k].rank,
                             jpp_requests_columns[k].least * JPP_TABLE_NAME);
            shown[n++] = k;
        }
    }

    jpp_vec_each(row, rows->rows) {
        for (k = 0; k < n; k++) {
            jpp_requests_cell(row, shown[k], &table);
        }
    }

    if (rows->n_shown < rows->n) {
        jpp_sink_printf(sink, "the %zu largest of %" PRIu64 " %ss: %s of %s\n",
                        rows->n_shown, rows->n, jpp_requests_bys[by],
                        jpp_bytes(rows->bytes_shown), jpp_bytes(rows->bytes));

    } else {
        jpp_sink_printf(sink, "%" PRIu64 " %s%s: %s\n", rows->n,
                        jpp_requests_bys[by], rows->n == 1 ? "" : "s",
                        jpp_bytes(rows->bytes));
    }

    jpp_table_write(&table, sink);
    jpp_requests_notes(requests, rows, sink);
}


bool
jpp_requests_write(const jpp_requests_t *requests, jpp_sink_t *sink)
{
    jpp_wrap_t           wrap;
    jpp_requests_rows_t  rows;

    if (!jpp_requests_rows(&rows, requests)) {
        return false;
    }

    if (!jpp_args_is_top(requests->args)) {
        jpp_requests_json(requests, &rows, sink);
        return true;
    }

    jpp_wrap_open(&wrap, requests->args->values[JPP_ARG_COLS], sink);
    jpp_requests_text(requests, &rows, &wrap.sink);

    return jpp_wrap_close(&wrap);
}
