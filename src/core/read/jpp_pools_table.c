
#include "jpp_pools_table.h"


/* what tells owners and rows apart: their first members */
#define JPP_POOLS_OWNER_KEY  offsetof(jpp_pools_owner_t, n_units)
#define JPP_POOLS_ROW_KEY    (offsetof(jpp_pools_row_t, is_inherited) + 1)


static const char *const  jpp_pools_others[] = {
    JPP_POOLS_SORT_LIST(JPP_LIST_TEXT)
};


const jpp_pools_sort_t  jpp_pools_thirds[JPP_POOLS_KINDS] = {
    [JPP_POOLS_REQUEST] = JPP_POOLS_UPSTREAM_NAME,
    [JPP_POOLS_UPSTREAM] = JPP_POOLS_UPSTREAM_NAME,
    [JPP_POOLS_KEEPALIVE] = JPP_POOLS_UPSTREAM_NAME,
    [JPP_POOLS_STREAM] = JPP_POOLS_ADDRESS,
    [JPP_POOLS_MAIL] = JPP_POOLS_ADDRESS,
    [JPP_POOLS_MODULE_CONNECTION] = JPP_POOLS_MODULE_NAME
};


bool
jpp_pools_init(jpp_pools_t *table, jpp_arena_t *arena,
    jpp_pools_wants_t wants, uint32_t top)
{
    memset(table, 0, sizeof(jpp_pools_t));

    table->arena = arena;
    table->wants = wants;
    table->top = top < JPP_MAX_ROWS ? top : JPP_MAX_ROWS;

    table->names = jpp_vec_create(arena);
    table->keys = jpp_vec_create(arena);
    table->owners = jpp_vec_create(arena);
    table->rows = jpp_vec_create(arena);
    table->units = jpp_vec_create(arena);

    jpp_index_init(&table->name_index, arena);
    jpp_index_init(&table->key_index, arena);
    jpp_index_init(&table->owner_index, arena);
    jpp_index_init(&table->row_index, arena);

    return table->names != NULL && table->keys != NULL
           && table->owners != NULL && table->rows != NULL
           && table->units != NULL;
}


uint32_t
jpp_pools_find(const jpp_pools_t *table, const void *key)
{
    uint32_t  id;

    id = jpp_index_find(&table->key_index, table->keys, &key,
                        sizeof(jpp_pools_named_t), sizeof(key));

    return id != 0 ? jpp_vec_items(table->keys, jpp_pools_named_t)[id - 1].name
                   : 0;
}


/* The name DATA, or OTHER if there are too many. */

static uint32_t
jpp_pools_text(jpp_pools_t *table, const char *data, size_t len,
    const char *other)
{
    uint32_t    id, hash, pos;
    jpp_str_t  *name;

    hash = jpp_hash_bytes(data, len);
    pos = hash;

    while ((id = jpp_index_next(&table->name_index, hash, &pos)) != 0) {

        if (jpp_str_equal(jpp_vec_items(table->names, jpp_str_t)[id - 1],
                          (jpp_str_t) { data, len }))
        {
            return id;
        }
    }

    if (table->name_index.n >= JPP_POOLS_NAMES && other != NULL) {
        return jpp_pools_text(table, other, strlen(other), NULL);
    }

    data = jpp_arena_strndup(table->arena, data, len);
    name = data != NULL ? jpp_vec_push(table->names, sizeof(jpp_str_t)) : NULL;

    if (name == NULL) {
        return 0;
    }

    name->data = data;
    name->len = len;

    id = (uint32_t) jpp_vec_count(table->names, jpp_str_t);

    return jpp_index_add(&table->name_index, hash, id) ? id : 0;
}


/* What stands for NAME, if that is one, where there is no room. */

static uint32_t
jpp_pools_rest(jpp_pools_t *table, uint32_t name, jpp_pools_sort_t sort)
{
    const char  *other;

    other = jpp_pools_others[sort];

    return name != 0 ? jpp_pools_text(table, other, strlen(other), NULL) : 0;
}


static uint32_t
jpp_pools_no_memory(jpp_pools_t *table)
{
    table->facts.is_partial = 1;

    return 0;
}


uint32_t
jpp_pools_name(jpp_pools_t *table, jpp_pools_sort_t sort, const void *key,
    const char *data, size_t len)
{
    jpp_pools_named_t  named;

    named.key = key;
    named.name = jpp_pools_find(table, key);

    if (named.name != 0) {
        return named.name;
    }

    named.name = jpp_pools_text(table, data, jpp_smaller(len, JPP_POOLS_NAME),
                                jpp_pools_others[sort]);

    if (named.name == 0
        || jpp_index_intern(&table->key_index, table->keys, &named,
                            sizeof(jpp_pools_named_t), sizeof(key)) == 0)
    {
        return jpp_pools_no_memory(table);
    }

    return named.name;
}


uint32_t
jpp_pools_owner(jpp_pools_t *table, jpp_pools_kind_t kind, uint32_t server,
    uint32_t location, uint32_t third)
{
    uint32_t           id;
    jpp_pools_owner_t  owner;

    memset(&owner, 0, sizeof(jpp_pools_owner_t));

    owner.kind = (uint8_t) kind;
    owner.server = server;
    owner.location = location;
    owner.third = third;

    id = jpp_index_find(&table->owner_index, table->owners, &owner,
                        sizeof(jpp_pools_owner_t), JPP_POOLS_OWNER_KEY);

    if (id != 0) {
        return id;
    }

    /* without room it is one of the rest, of which there are few */

    if (jpp_vec_count(table->owners, jpp_pools_owner_t) >= JPP_POOLS_OWNERS) {
        owner.server = jpp_pools_rest(table, server, JPP_POOLS_SERVER);
        owner.location = jpp_pools_rest(table, location, JPP_POOLS_LOCATION);
        owner.third = jpp_pools_rest(table, third, jpp_pools_thirds[kind]);
    }

    id = jpp_index_intern(&table->owner_index, table->owners, &owner,
                          sizeof(jpp_pools_owner_t), JPP_POOLS_OWNER_KEY);

    return id != 0 ? id : jpp_pools_no_memory(table);
}


void
jpp_pools_place(jpp_pools_t *table, uint32_t owner, uint32_t file,
    uint32_t line)
{
    jpp_pools_owner_t  *of;

    of = owner != 0 ? jpp_pools_owner_at(table, owner) : NULL;

    if (of != NULL && of->line == 0) {
        of->file = file;
        of->line = line;

    } else if (of != NULL && (of->file != file || of->line != line)) {
        of->file = 0;
        of->line = JPP_POOLS_SEVERAL;
    }
}


const char *
jpp_place_text(const char *file, size_t len, uint32_t line,
    char text[JPP_POOLS_PLACE])
{
    len = jpp_utf8_short(text, file, len, JPP_POOLS_PATH);

    (void) snprintf(text + len, JPP_POOLS_PLACE - len, ":%" PRIu32, line);

    return text;
}


const char *
jpp_pools_place_text(const jpp_pools_t *table, const jpp_pools_owner_t *owner,
    char text[JPP_POOLS_PLACE])
{
    jpp_str_t  file;

    text[0] = '\0';
    file = jpp_pools_str(table, owner->file);

    return owner->file != 0
           ? jpp_place_text(file.data, file.len, owner->line, text) : text;
}


/* Adds HELD to the row with its key, which is made if need be. */

static bool
jpp_pools_add_row(jpp_pools_t *table, const jpp_pools_row_t *held)
{
    uint32_t          id;
    jpp_pools_row_t  *rows, rest;

    if (held->owner == 0) {
        return false;
    }

    id = table->last_row;
    rows = jpp_vec_items(table->rows, jpp_pools_row_t);

    if (id == 0 || memcmp(&rows[id - 1], held, JPP_POOLS_ROW_KEY) != 0) {
        id = jpp_index_find(&table->row_index, table->rows, held,
                            sizeof(jpp_pools_row_t), JPP_POOLS_ROW_KEY);
    }

    if (id != 0) {
        table->last_row = id;

        rows[id - 1].objects += held->objects;
        rows[id - 1].bytes += held->bytes;
        rows[id - 1].unused += held->unused;

        return true;
    }

    if (jpp_vec_count(table->rows, jpp_pools_row_t) >= JPP_POOLS_ROWS
        && held->class != JPP_POOLS_OTHER)
    {
        rest = *held;
        rest.class = JPP_POOLS_OTHER;
        rest.module = 0;

        return jpp_pools_add_row(table, &rest);
    }

    table->last_row = jpp_index_intern(&table->row_index, table->rows, held,
                                       sizeof(jpp_pools_row_t),
                                       JPP_POOLS_ROW_KEY);

    return table->last_row != 0 || jpp_pools_no_memory(table);
}


void
jpp_pools_begin(jpp_pools_t *table, uint32_t owner)
{
    if (!jpp_pools_is_wanted(table, owner)) {

        if (owner != 0) {
            jpp_pools_owner_at(table, owner)->n_units++;
        }

        return;
    }

    memset(&table->open.unit, 0, sizeof(jpp_pools_unit_t));

    table->open.is_open = true;
    table->open.unit.owner = owner;
    table->open.n_sums = 0;
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

    } else {
        sum = &table->open.sums[table->open.n_sums++];
        *sum = (jpp_pools_sum_t) { .owner = row->owner, .class = row->class,
                                   .module = row->module };
    }

    sum->bytes += row->bytes;
}


bool
jpp_pools_add(jpp_pools_t *table, uint32_t owner, jpp_pools_class_t class,
    uint32_t module, uint64_t objects, uint64_t bytes, uint64_t unused)
{
    const jpp_pools_row_t  held = {
        .owner = owner, .class = (uint8_t) class, .module = module,
        .objects = objects, .bytes = bytes, .unused = unused
    };

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
    uint32_t                id;
    jpp_pools_row_t         held = { .owner = owner, .class = (uint8_t) class };
    const jpp_pools_row_t  *now;

    id = jpp_index_find(&table->row_index, table->rows, &held,
                        sizeof(jpp_pools_row_t), JPP_POOLS_ROW_KEY);

    if (id == 0) {
        return true;
    }

    now = &jpp_vec_items(table->rows, jpp_pools_row_t)[id - 1];

    held.is_inherited = 1;
    held.objects = jpp_smaller(objects, now->objects);
    held.bytes = jpp_smaller(bytes, now->bytes);
    held.unused = jpp_smaller(unused, now->unused);

    return jpp_pools_add_row(table, &held);
}


/* A directive that was found bounds what the unit had most of then. */

static void
jpp_pools_most(jpp_pools_open_t *open)
{
    uint8_t                 was;
    jpp_pools_unit_t       *unit;
    const jpp_pools_sum_t  *sum;

    unit = &open->unit;
    was = unit->most_class;

    unit->most_owner = unit->owner;
    unit->most_bytes = 0;

    jpp_each(sum, open->sums, open->n_sums) {
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
            table->facts.is_partial = 1;
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
    if (!table->open.is_open) {
        return NULL;
    }

    table->open.is_open = false;

    jpp_pools_owner_at(table, table->open.unit.owner)->n_units++;
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


uint64_t
jpp_pools_outside(const jpp_pools_t *table, bool *is_short)
{
    int64_t                 sum;
    const jpp_pools_row_t  *row;

    sum = 0;

    jpp_vec_each(row, table->rows) {
        if (!row->is_inherited) {
            sum = jpp_add_i64(sum, (int64_t) row->bytes);
        }
    }

    *is_short = (uint64_t) sum > table->facts.total;

    return *is_short ? 0 : table->facts.total - (uint64_t) sum;
}
