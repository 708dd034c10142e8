
#include <string.h>

#include "jpp_requests_rows.h"
#include "jpp_sort.h"


/* what is added up for a sum: of one class, by texts */
typedef struct {
    uint32_t                  row;     /* 1.. */
    jpp_requests_most_t       held;
} jpp_requests_sum_t;


typedef struct {
    const jpp_requests_t     *requests;
    jpp_requests_rows_t      *rows;
    jpp_by_t                  by;
    jpp_vec_t                *sums;    /* jpp_requests_sum_t */
    jpp_index_t               row_index;
    jpp_index_t               sum_index;
} jpp_requests_adding_t;


/*
 * Which owners count, by jpp_by_t, and what names the server of a sum.  A
 * connection has its requests, and a request its upstreams.
 */

static const struct {
    bool    counts[JPP_BY_UPSTREAM + 1];
    bool    is_third;
} jpp_requests_kinds[JPP_POOLS_KINDS] = {

                                      /* req con loc srv ups */
    [JPP_POOLS_CLIENT_CONNECTION] = { { 0,  1,  0,  1,  0 }, false },
    [JPP_POOLS_CLOSING] =           { { 0,  1,  0,  1,  0 }, false },
    [JPP_POOLS_HTTP2] =             { { 0,  1,  0,  1,  0 }, false },
    [JPP_POOLS_HTTP2_HEADERS] =     { { 0,  1,  0,  1,  0 }, false },
    [JPP_POOLS_HTTP3] =             { { 0,  1,  0,  1,  0 }, false },
    [JPP_POOLS_REQUEST] =           { { 1,  1,  1,  1,  0 }, false },
    [JPP_POOLS_UPSTREAM] =          { { 1,  1,  1,  1,  1 }, false },
    [JPP_POOLS_KEEPALIVE] =         { { 0,  1,  0,  0,  1 }, true },
    [JPP_POOLS_STREAM] =            { { 0,  1,  0,  1,  0 }, true },
    [JPP_POOLS_MAIL] =              { { 0,  1,  0,  1,  0 }, true },
    [JPP_POOLS_MODULE_CONNECTION] = { { 0,  1,  0,  0,  0 }, true },
    [JPP_POOLS_CONFIGURATION] =     { { 0,  0,  0,  0,  0 }, false },
    [JPP_POOLS_SLOTS_USED] =        { { 0,  0,  0,  0,  0 }, false },
    [JPP_POOLS_SLOTS_FREE] =        { { 0,  0,  0,  0,  0 }, false },
    [JPP_POOLS_OPEN_FILES] =        { { 0,  0,  0,  0,  0 }, false },
    [JPP_POOLS_RESOLVER] =          { { 0,  0,  0,  0,  0 }, false }
};


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

        if (jpp_requests_kinds[owner->kind].counts[by]
            && owner->kind != JPP_POOLS_UPSTREAM
            && (owner->kind == JPP_POOLS_REQUEST) == (by == JPP_BY_REQUEST))
        {
            rows->n += owner->n_units;
        }
    }

    held = jpp_vec_items(table->rows, jpp_pools_row_t);
    n = jpp_vec_count(table->rows, jpp_pools_row_t);

    for (i = 0; i < n; i++) {
        owner = jpp_pools_owner_at(table, held[i].owner);

        if (jpp_requests_kinds[owner->kind].counts[by]
            && !held[i].is_inherited)
        {
            rows->bytes += held[i].bytes;
        }
    }
}


static void
jpp_requests_unit(jpp_requests_row_t *row, const jpp_requests_worker_t *worker,
    const jpp_pools_unit_t *unit)
{
    const jpp_pools_t        *table;
    const jpp_pools_owner_t  *owner;

    table = &worker->table;
    owner = jpp_pools_owner_at(table, unit->owner);

    row->worker = worker;
    row->unit = unit;
    row->kind = (jpp_pools_kind_t) owner->kind;
    row->server = jpp_pools_str(table, owner->server);
    row->location = jpp_pools_str(table, owner->location);
    row->third = jpp_pools_str(table, unit->upstream != 0 ? unit->upstream
                                                          : owner->third);
    row->bytes = unit->bytes;
    row->unused = unit->unused;
    row->n_requests = unit->n_requests;

    owner = jpp_pools_owner_at(table, unit->most_owner);

    row->most.kind = (jpp_pools_kind_t) owner->kind;
    row->most.class = (jpp_pools_class_t) unit->most_class;
    row->most.module = jpp_pools_str(table, unit->most_module);
    row->most.bytes = unit->most_bytes;
}


static bool
jpp_requests_units(jpp_requests_rows_t *rows,
    const jpp_requests_worker_t *worker)
{
    size_t                   i, n;
    jpp_requests_row_t      *row;
    const jpp_pools_unit_t  *units;

    units = jpp_vec_items(worker->table.units, jpp_pools_unit_t);
    n = jpp_vec_count(worker->table.units, jpp_pools_unit_t);

    for (i = 0; i < n; i++) {

        row = jpp_vec_push(rows->rows, sizeof(jpp_requests_row_t));
        if (row == NULL) {
            return false;
        }

        jpp_requests_unit(row, worker, &units[i]);
    }

    return true;
}


static uint32_t
jpp_requests_hash(jpp_str_t text, uint32_t before)
{
    return (uint32_t) jpp_hash_u64(jpp_hash_bytes(text.data, text.len)
                                   ^ (uint64_t) before << 32);
}


/* The row that OWNER belongs to, 1..; 0: no memory. */

static uint32_t
jpp_requests_group(jpp_requests_adding_t *adding, const jpp_pools_t *table,
    const jpp_pools_owner_t *owner)
{
    uint32_t             id, hash, pos;
    jpp_requests_row_t  *row, key;

    memset(&key, 0, sizeof(jpp_requests_row_t));

    key.server = jpp_pools_str(table, 0);
    key.location = key.server;
    key.third = key.server;

    if (adding->by == JPP_BY_UPSTREAM) {
        key.third = jpp_pools_str(table, owner->third);

    } else {
        key.server = jpp_pools_str(table,
                                   jpp_requests_kinds[owner->kind].is_third
                                   ? owner->third : owner->server);
    }

    if (adding->by == JPP_BY_LOCATION) {
        key.location = jpp_pools_str(table, owner->location);
    }

    hash = jpp_requests_hash(key.third,
                             jpp_requests_hash(key.location,
                                               jpp_requests_hash(key.server,
                                                                 0)));
    pos = hash;

    while ((id = jpp_index_next(&adding->row_index, hash, &pos)) != 0) {

        row = &jpp_vec_items(adding->rows->rows, jpp_requests_row_t)[id - 1];

        if (jpp_str_equal(row->server, key.server)
            && jpp_str_equal(row->location, key.location)
            && jpp_str_equal(row->third, key.third))
        {
            return id;
        }
    }

    row = jpp_vec_push(adding->rows->rows, sizeof(jpp_requests_row_t));
    id = (uint32_t) jpp_vec_count(adding->rows->rows, jpp_requests_row_t);

    if (row == NULL || !jpp_index_add(&adding->row_index, hash, id)) {
        return 0;
    }

    *row = key;

    return id;
}


/* Adds FROM to GROUP, and finds out what that holds most of. */

static bool
jpp_requests_held(jpp_requests_adding_t *adding, uint32_t group,
    const jpp_pools_t *table, const jpp_pools_row_t *from)
{
    uint32_t             id, hash, pos;
    jpp_str_t            module;
    jpp_requests_row_t  *row;
    jpp_requests_sum_t  *sum;
    jpp_pools_kind_t     kind;

    row = &jpp_vec_items(adding->rows->rows, jpp_requests_row_t)[group - 1];

    row->bytes += from->bytes;
    row->unused += from->unused;

    kind = (jpp_pools_kind_t) jpp_pools_owner_at(table, from->owner)->kind;
    module = jpp_pools_str(table, from->module);
    hash = jpp_requests_hash(module, group * 64 + kind * 4096 + from->class);
    pos = hash;
    sum = NULL;

    while ((id = jpp_index_next(&adding->sum_index, hash, &pos)) != 0) {

        sum = &jpp_vec_items(adding->sums, jpp_requests_sum_t)[id - 1];

        if (sum->row == group && sum->held.kind == kind
            && sum->held.class == (jpp_pools_class_t) from->class
            && jpp_str_equal(sum->held.module, module))
        {
            break;
        }
    }

    if (id == 0) {
        sum = jpp_vec_push(adding->sums, sizeof(jpp_requests_sum_t));
        id = (uint32_t) jpp_vec_count(adding->sums, jpp_requests_sum_t);

        if (sum == NULL || !jpp_index_add(&adding->sum_index, hash, id)) {
            return false;
        }

        sum->row = group;
        sum->held.kind = kind;
        sum->held.class = (jpp_pools_class_t) from->class;
        sum->held.module = module;
    }

    sum->held.bytes += from->bytes;

    if (sum->held.bytes > row->most.bytes) {
        row->most = sum->held;
    }

    return true;
}


/* Names of two workers are compared as texts: their ids differ. */

static bool
jpp_requests_groups(jpp_requests_adding_t *adding, const jpp_pools_t *table)
{
    size_t                    i, n;
    uint32_t                  group;
    jpp_requests_row_t       *row;
    const jpp_pools_row_t    *held;
    const jpp_pools_owner_t  *owner;

    n = jpp_vec_count(table->owners, jpp_pools_owner_t);

    for (i = 1; i <= n; i++) {
        owner = jpp_pools_owner_at(table, (uint32_t) i);

        if (!jpp_requests_kinds[owner->kind].counts[adding->by]) {
            continue;
        }

        group = jpp_requests_group(adding, table, owner);
        if (group == 0) {
            return false;
        }

        row = &jpp_vec_items(adding->rows->rows, jpp_requests_row_t)[group - 1];

        if (owner->kind == JPP_POOLS_REQUEST
            || (owner->kind == JPP_POOLS_UPSTREAM
                && adding->by == JPP_BY_UPSTREAM))
        {
            row->n_requests += owner->n_units;

        } else if (owner->kind != JPP_POOLS_UPSTREAM) {
            row->n_others += owner->n_units;
        }
    }

    held = jpp_vec_items(table->rows, jpp_pools_row_t);
    n = jpp_vec_count(table->rows, jpp_pools_row_t);

    for (i = 0; i < n; i++) {
        owner = jpp_pools_owner_at(table, held[i].owner);

        if (!jpp_requests_kinds[owner->kind].counts[adding->by]
            || held[i].is_inherited)
        {
            continue;
        }

        group = jpp_requests_group(adding, table, owner);

        if (group == 0 || !jpp_requests_held(adding, group, table, &held[i])) {
            return false;
        }
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


/* Of equal ones, the older comes first; and sums are by name. */

static int
jpp_requests_compare(const void *a, const void *b, void *ctx)
{
    int                        order;
    const jpp_requests_row_t  *x, *y;

    (void) ctx;

    x = a;
    y = b;

    order = jpp_sort_order(y->bytes, x->bytes);

    if (order == 0 && x->unit != NULL) {
        order = jpp_sort_order(y->unit->age_msec, x->unit->age_msec);
    }

    order = order != 0 ? order : jpp_sort_order((uintptr_t) x->worker,
                                                (uintptr_t) y->worker);
    order = order != 0 ? order : jpp_requests_order(x->server, y->server);
    order = order != 0 ? order : jpp_requests_order(x->location, y->location);

    return order != 0 ? order : jpp_requests_order(x->third, y->third);
}


bool
jpp_requests_rows(jpp_requests_rows_t *rows, const jpp_requests_t *requests)
{
    bool                     is_done;
    size_t                   i, n, top;
    jpp_requests_row_t      *row;
    jpp_requests_adding_t    adding;
    jpp_requests_worker_t   *workers;

    memset(rows, 0, sizeof(jpp_requests_rows_t));
    memset(&adding, 0, sizeof(jpp_requests_adding_t));

    adding.requests = requests;
    adding.rows = rows;
    adding.by = (jpp_by_t) requests->args->values[JPP_ARG_BY];
    adding.sums = jpp_vec_create(requests->arena);
    rows->rows = jpp_vec_create(requests->arena);

    if (rows->rows == NULL || adding.sums == NULL
        || !jpp_index_init(&adding.row_index, requests->arena, 0)
        || !jpp_index_init(&adding.sum_index, requests->arena, 0))
    {
        return false;
    }

    workers = jpp_vec_items(requests->workers, jpp_requests_worker_t);
    n = jpp_vec_count(requests->workers, jpp_requests_worker_t);

    for (i = 0; i < n; i++) {

        jpp_requests_totals(rows, adding.by, &workers[i].table);

        is_done = jpp_requests_wants(adding.by) != JPP_POOLS_NO_UNITS
                  ? jpp_requests_units(rows, &workers[i])
                  : jpp_requests_groups(&adding, &workers[i].table);

        if (!is_done) {
            return false;
        }
    }

    row = jpp_vec_items(rows->rows, jpp_requests_row_t);
    n = jpp_vec_count(rows->rows, jpp_requests_row_t);

    jpp_sort(row, n, sizeof(jpp_requests_row_t), jpp_requests_compare, NULL);

    if (jpp_requests_wants(adding.by) == JPP_POOLS_NO_UNITS) {
        rows->n = n;
    }

    top = requests->args->values[JPP_ARG_TOP];
    rows->n_shown = n < top ? n : top;

    for (i = 0; i < rows->n_shown; i++) {
        rows->bytes_shown += row[i].bytes;
    }

    return true;
}
