
#include <string.h>

#include "jpp_pools_units.h"


void
jpp_pools_begin(jpp_pools_t *table, uint32_t owner)
{
    memset(&table->open.unit, 0, sizeof(jpp_pools_unit_t));

    table->open.is_open = owner != 0;
    table->open.unit.owner = owner;
    table->open.n_sums = 0;
}


static bool
jpp_pools_add_row(jpp_pools_t *table, const jpp_pools_row_t *held)
{
    jpp_pools_row_t  *row;

    row = jpp_pools_row(table, held);

    if (row == NULL) {
        return false;
    }

    row->objects += held->objects;
    row->bytes += held->bytes;
    row->unused += held->unused;

    return true;
}


/* ROW is what the open unit got. */

static void
jpp_pools_unit_add(jpp_pools_t *table, const jpp_pools_row_t *row)
{
    uint32_t                  i;
    jpp_pools_sum_t          *sum;
    jpp_pools_unit_t         *unit;
    const jpp_pools_owner_t  *owner;

    unit = &table->open.unit;
    owner = jpp_pools_owner_at(table, row->owner);

    unit->objects += row->objects;
    unit->bytes += row->bytes;
    unit->unused += row->unused;

    if (owner->kind == JPP_POOLS_UPSTREAM) {
        unit->upstream = owner->third;
    }

    for (i = 0; i < table->open.n_sums; i++) {
        sum = &table->open.sums[i];

        if (sum->owner == row->owner && sum->class == row->class
            && sum->module == row->module)
        {
            sum->bytes += row->bytes;
            return;
        }
    }

    if (i == JPP_POOLS_SUMS) {
        sum = &table->open.sums[i - 1];
        sum->owner = unit->owner;
        sum->class = JPP_POOLS_OTHER;
        sum->module = 0;
        sum->bytes += row->bytes;
        return;
    }

    sum = &table->open.sums[table->open.n_sums++];
    sum->owner = row->owner;
    sum->class = row->class;
    sum->module = row->module;
    sum->bytes = row->bytes;
}


bool
jpp_pools_add(jpp_pools_t *table, uint32_t owner, jpp_pools_class_t class,
    uint32_t module, uint64_t objects, uint64_t bytes, uint64_t unused)
{
    jpp_pools_row_t  held;

    memset(&held, 0, sizeof(jpp_pools_row_t));

    held.owner = owner;
    held.class = (uint8_t) class;
    held.module = module;
    held.objects = objects;
    held.bytes = bytes;
    held.unused = unused;

    if (!jpp_pools_add_row(table, &held)) {
        return false;
    }

    if (table->open.is_open) {
        jpp_pools_unit_add(table, &held);
    }

    return true;
}


bool
jpp_pools_add_inherited(jpp_pools_t *table, uint32_t owner,
    jpp_pools_class_t class, uint64_t objects, uint64_t bytes,
    uint64_t unused)
{
    jpp_pools_row_t  held;

    memset(&held, 0, sizeof(jpp_pools_row_t));

    held.owner = owner;
    held.class = (uint8_t) class;
    held.is_inherited = 1;
    held.objects = objects;
    held.bytes = bytes;
    held.unused = unused;

    return jpp_pools_add_row(table, &held);
}


static bool
jpp_pools_is_wanted(const jpp_pools_t *table, jpp_pools_kind_t kind)
{
    switch (table->wants) {

    case JPP_POOLS_REQUESTS:
        return kind == JPP_POOLS_REQUEST;

    case JPP_POOLS_CONNECTIONS:
        return kind != JPP_POOLS_REQUEST;

    case JPP_POOLS_NO_UNITS:
    case JPP_POOLS_WANTS:
        break;
    }

    return false;
}


/* A directive that was found bounds what the unit had most of then. */

static void
jpp_pools_most(jpp_pools_open_t *open)
{
    uint8_t                 was;
    uint32_t                i;
    jpp_pools_unit_t       *unit;
    const jpp_pools_sum_t  *sum;

    unit = &open->unit;
    was = unit->most_class;

    unit->most_owner = unit->owner;
    unit->most_bytes = 0;

    for (i = 0; i < open->n_sums; i++) {
        sum = &open->sums[i];

        if (sum->bytes > unit->most_bytes) {
            unit->most_owner = sum->owner;
            unit->most_class = sum->class;
            unit->most_module = sum->module;
            unit->most_bytes = sum->bytes;
        }
    }

    if (unit->most_class != was) {
        unit->bound_module = 0;
        unit->bound_number = 0;
        unit->bound_size = 0;
    }
}


/*
 * The units are a heap: the smallest of those kept is the first, and no unit is
 * smaller than that at half its place.
 */

static jpp_pools_unit_t *
jpp_pools_keep(jpp_pools_t *table)
{
    size_t             i, k, n;
    jpp_pools_unit_t  *units;

    n = jpp_vec_count(table->units, jpp_pools_unit_t);
    units = jpp_vec_items(table->units, jpp_pools_unit_t);

    if (n < table->top) {

        if (jpp_vec_push(table->units, sizeof(jpp_pools_unit_t)) == NULL) {
            table->facts.reason = JPP_POOLS_NO_MEMORY;
            return NULL;
        }

        units = jpp_vec_items(table->units, jpp_pools_unit_t);

        for (i = n; i != 0; i = k) {
            k = (i - 1) / 2;

            if (units[k].bytes <= table->open.unit.bytes) {
                break;
            }

            units[i] = units[k];
        }

    } else {

        if (n == 0 || table->open.unit.bytes <= units[0].bytes) {
            return NULL;
        }

        for (i = 0; (k = 2 * i + 1) < n; i = k) {

            k += k + 1 < n && units[k + 1].bytes < units[k].bytes;

            if (units[k].bytes >= table->open.unit.bytes) {
                break;
            }

            units[i] = units[k];
        }
    }

    units[i] = table->open.unit;

    return &units[i];
}


jpp_pools_unit_t *
jpp_pools_end(jpp_pools_t *table)
{
    jpp_pools_unit_t   *unit;
    jpp_pools_owner_t  *owner;

    if (!table->open.is_open) {
        return NULL;
    }

    table->open.is_open = false;
    unit = &table->open.unit;

    owner = jpp_pools_owner_at(table, unit->owner);
    owner->n_units++;

    if (!jpp_pools_is_wanted(table, (jpp_pools_kind_t) owner->kind)) {
        return NULL;
    }

    jpp_pools_most(&table->open);

    return jpp_pools_keep(table);
}


void
jpp_pools_park(jpp_pools_t *table, jpp_pools_open_t *parked)
{
    jpp_pools_most(&table->open);

    *parked = table->open;
    table->open.is_open = false;
}


void
jpp_pools_resume(jpp_pools_t *table, const jpp_pools_open_t *parked)
{
    table->open = *parked;
}
