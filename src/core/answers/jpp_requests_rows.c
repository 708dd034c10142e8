
#include <string.h>

#include "jpp_requests_rows.h"
#include "jpp_sort.h"


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

    held = jpp_vec_items(table->rows, jpp_pools_row_t);
    n = jpp_vec_count(table->rows, jpp_pools_row_t);

    for (i = 0; i < n; i++) {
        owner = jpp_pools_owner_at(table, held[i].owner);

        if (jpp_requests_counts(by, owner->kind) && !held[i].is_inherited) {
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
    const jpp_requests_row_t  *x, *y;

    (void) ctx;

    x = a;
    y = b;

    if (x->unit->bytes != y->unit->bytes) {
        return x->unit->bytes > y->unit->bytes ? -1 : 1;
    }

    if (x->unit->age_msec != y->unit->age_msec) {
        return x->unit->age_msec > y->unit->age_msec ? -1 : 1;
    }

    if (x->worker != y->worker) {
        return x->worker < y->worker ? -1 : 1;
    }

    order = jpp_requests_order(x->server, y->server);
    order = order != 0 ? order : jpp_requests_order(x->location, y->location);

    return order != 0 ? order : jpp_requests_order(x->third, y->third);
}


bool
jpp_requests_rows(jpp_requests_rows_t *rows, const jpp_requests_t *requests)
{
    size_t                   i, n, top;
    jpp_by_t                 by;
    jpp_requests_row_t      *row;
    jpp_requests_worker_t   *workers;

    memset(rows, 0, sizeof(jpp_requests_rows_t));

    by = (jpp_by_t) requests->args->values[JPP_ARG_BY];
    rows->rows = jpp_vec_create(requests->arena);

    if (rows->rows == NULL) {
        return false;
    }

    workers = jpp_vec_items(requests->workers, jpp_requests_worker_t);
    n = jpp_vec_count(requests->workers, jpp_requests_worker_t);

    for (i = 0; i < n; i++) {

        jpp_requests_totals(rows, by, &workers[i].table);

        if (!jpp_requests_units(rows, &workers[i])) {
            return false;
        }
    }

    row = jpp_vec_items(rows->rows, jpp_requests_row_t);
    n = jpp_vec_count(rows->rows, jpp_requests_row_t);

    jpp_sort(row, n, sizeof(jpp_requests_row_t), jpp_requests_compare, NULL);

    top = requests->args->values[JPP_ARG_TOP];
    rows->n_shown = n < top ? n : top;

    for (i = 0; i < rows->n_shown; i++) {
        rows->bytes_shown += row[i].unit->bytes;
    }

    return true;
}
