
/* The largest owners of nginx's memory. */


#include "jpp_diagnosis.h"


/* characters of a name that are shown: its beginning and its end */
#define JPP_HOLDER_SHOWN  40

/* bytes of what tells holders apart: two names, and the words before them */
#define JPP_HOLDER_KEY    (2 * JPP_POOLS_NAME + 64)

/* one class has so many per cent of what a holder is named by it */
#define JPP_HOLDER_MOSTLY  75


/* Where a kind of owner is in the configuration, and what it has many of. */
typedef struct {
    const char   *place;           /* before a name, or all of it */
    size_t        name;            /* of jpp_pools_owner_t; 0: none */
    size_t        of;              /* and of which server; 0: none */
    const char   *units;           /* NULL: it is one thing */
    bool          is_counted;      /* its units count as those of the place */
    const char   *bound;           /* the directive, whatever it holds */
} jpp_holder_place_t;


/* What a holder has of one class, or of one module. */
typedef struct jpp_holder_part_s  jpp_holder_part_t;

struct jpp_holder_part_s {
    jpp_holder_part_t   *next;
    jpp_pools_kind_t     kind;     /* that had it first */
    jpp_pools_class_t    class;
    jpp_str_t            module;
    uint64_t             bytes;
};


typedef struct {
    jpp_str_t            key;
    jpp_holder_t         holder;       /* what and who come last */
    uint64_t             own;          /* bytes, without what was inherited */
    uint64_t             inherited;    /* by the worker that inherited most */
    uint64_t             here;         /* in the worker at hand: all of it, */
    uint64_t             here_inherited;   /* and what it inherited */
    jpp_holder_part_t   *parts;
    uint64_t             generation;   /* that its place, if any, is of */

    jpp_pools_unit_t     unit;         /* the largest that is known one by */
    jpp_str_t            unit_prefix;  /*   one, and the name of its bound */
} jpp_holder_item_t;


#define JPP_HOLDER_OF(name)  offsetof(jpp_pools_owner_t, name)

static const jpp_holder_place_t  jpp_holder_places[JPP_POOLS_KINDS] = {

    [JPP_POOLS_CLIENT_CONNECTION] = {
        "server ", JPP_HOLDER_OF(server), 0, "client connections", true, NULL },
    [JPP_POOLS_CLOSING] = {
        "server ", JPP_HOLDER_OF(server), 0, "client connections", true, NULL },
    [JPP_POOLS_HTTP2] = {
        "server ", JPP_HOLDER_OF(server), 0, "HTTP/2 connections", true,
        NULL },
    [JPP_POOLS_HTTP2_HEADERS] = {
        "server ", JPP_HOLDER_OF(server), 0, "HTTP/2 connections", false,
        NULL },
    [JPP_POOLS_HTTP3] = {
        "server ", JPP_HOLDER_OF(server), 0, "HTTP/3 connections", true,
        NULL },
    [JPP_POOLS_REQUEST] = {
        "location ", JPP_HOLDER_OF(location), JPP_HOLDER_OF(server),
        "requests", true, NULL },
    [JPP_POOLS_UPSTREAM] = {
        "location ", JPP_HOLDER_OF(location), JPP_HOLDER_OF(server),
        "requests", false, NULL },
    [JPP_POOLS_KEEPALIVE] = {
        "upstream ", JPP_HOLDER_OF(third), 0, "idle connections", true,
        "keepalive" },
    [JPP_POOLS_STREAM] = {
        "stream server ", JPP_HOLDER_OF(third), 0, "sessions", true, NULL },
    [JPP_POOLS_MAIL] = {
        "mail server ", JPP_HOLDER_OF(third), 0, "sessions", true, NULL },
    [JPP_POOLS_MODULE_CONNECTION] = {
        "module ", JPP_HOLDER_OF(third), 0, "connections", true, NULL },
    [JPP_POOLS_CONFIGURATION] = {
        "the configuration", 0, 0, NULL, false, NULL },
    [JPP_POOLS_SLOTS_USED] = {
        "connection slots", 0, 0, NULL, false, "worker_connections" },
    [JPP_POOLS_SLOTS_FREE] = {
        "connection slots", 0, 0, NULL, false, "worker_connections" },
    [JPP_POOLS_OPEN_FILES] = {
        "the cache of open files", 0, 0, NULL, false, "open_file_cache" },
    [JPP_POOLS_RESOLVER] = { "the resolver's cache", 0, 0, NULL, false, NULL }
};


/* "upstream buffers of location /export/"; NULL: the units' name says more */

static const char *const  jpp_holder_classes[JPP_POOLS_CLASSES] = {
    [JPP_POOLS_BLOCKS] = "pools",
    [JPP_POOLS_HEADERS] = "client header buffers",
    [JPP_POOLS_BODY] = "request bodies",
    [JPP_POOLS_UPSTREAM_HEADER] = "upstream header buffers",
    [JPP_POOLS_UPSTREAM_BUFFERS] = "upstream buffers",
    [JPP_POOLS_OUTPUT] = "output buffers",
    [JPP_POOLS_TLS] = "TLS buffers",
    [JPP_POOLS_HTTP2_BUFFERS] = "HTTP/2 buffers",
    [JPP_POOLS_SESSION] = "session buffers",
    [JPP_POOLS_MODULE] = "allocations by "
};


void
jpp_holders_init(jpp_holders_t *holders, jpp_arena_t *arena)
{
    memset(holders, 0, sizeof(jpp_holders_t));

    holders->arena = arena;
    holders->items = jpp_vec_create(arena);
    holders->list = jpp_vec_create(arena);
    holders->failed = holders->items == NULL || holders->list == NULL;

    jpp_index_init(&holders->index, arena);
}


/* A copy of STR. */

static jpp_str_t
jpp_holders_copy(jpp_holders_t *holders, jpp_str_t str)
{
    str.data = jpp_arena_strndup(holders->arena, str.data, str.len);
    holders->failed |= str.data == NULL;

    return str;
}


static const char *
jpp_holders_text(jpp_holders_t *holders, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static const char *
jpp_holders_text(jpp_holders_t *holders, const char *fmt, ...)
{
    va_list      args;
    const char  *text;

    va_start(args, fmt);
    text = jpp_arena_vprintf(holders->arena, fmt, args);
    va_end(args);

    holders->failed |= text == NULL;

    return text;
}


/* What a key consists of. */
typedef struct {
    const char   *place;
    jpp_str_t     name;            /* any bytes */
    jpp_str_t     of;
    uint64_t      generation;      /* 0: it is of all */
} jpp_holder_key_t;


static const jpp_holder_key_t  jpp_holder_nowhere = {
    "", { "", 0 }, { "", 0 }, 0
};


/* The words of KEY. */

static const char *
jpp_holders_where(jpp_holders_t *holders, const jpp_holder_key_t *key)
{
    char    name[JPP_UTF8_SHORT(JPP_HOLDER_SHOWN)];
    char    of[JPP_UTF8_SHORT(JPP_HOLDER_SHOWN)];
    char    since[40];
    size_t  n, n_of;

    n = jpp_utf8_short(name, key->name.data, key->name.len, JPP_HOLDER_SHOWN);
    n_of = jpp_utf8_short(of, key->of.data, key->of.len, JPP_HOLDER_SHOWN);

    jpp_print(since, " of generation %" PRIu64, key->generation);

    return jpp_holders_text(holders, "%s%.*s%s%.*s%s", key->place, (int) n,
                            name, n_of != 0 ? " of " : "", (int) n_of, of,
                            key->generation != 0 ? since : "");
}


/* The item of KEY, which is made if need be; NULL: no memory. */

static jpp_holder_item_t *
jpp_holders_item(jpp_holders_t *holders, const jpp_holder_key_t *key)
{
    char                 bytes[JPP_HOLDER_KEY];
    uint32_t             id, hash, pos;
    jpp_str_t            str = { bytes, 0 };
    jpp_holder_item_t   *item, **items;

    if (holders->failed) {
        return NULL;
    }

    str.len = (size_t) snprintf(bytes, 64, "%.40s %" PRIu64, key->place,
                                key->generation) + 1;

    memcpy(bytes + str.len, key->name.data, key->name.len);
    str.len += key->name.len;
    bytes[str.len++] = '\0';

    memcpy(bytes + str.len, key->of.data, key->of.len);
    str.len += key->of.len;

    hash = jpp_hash_bytes(bytes, str.len);
    pos = hash;

    while ((id = jpp_index_next(&holders->index, hash, &pos)) != 0) {
        item = jpp_vec_items(holders->items, jpp_holder_item_t *)[id - 1];

        if (jpp_str_equal(item->key, str)) {
            return item;
        }
    }

    item = jpp_arena_alloc(holders->arena, sizeof(jpp_holder_item_t));
    items = jpp_vec_push(holders->items, sizeof(jpp_holder_item_t *));

    if (item == NULL || items == NULL) {
        holders->failed = true;
        return NULL;
    }

    *items = item;

    item->key = jpp_holders_copy(holders, str);
    item->holder.where = jpp_holders_where(holders, key);
    item->holder.lasting = key->generation != 0 ? key->place
                                                : item->holder.where;

    id = (uint32_t) jpp_vec_count(holders->items, jpp_holder_item_t *);
    holders->failed |= !jpp_index_add(&holders->index, hash, id);

    return holders->failed ? NULL : item;
}


/* The place of OWNER, which ITEM has in one of WORKER's tables. */

static void
jpp_holders_at(jpp_holders_t *holders, jpp_holder_item_t *item,
    const jpp_worker_t *worker, const jpp_pools_t *table,
    const jpp_pools_owner_t *owner)
{
    char  text[JPP_POOLS_PLACE];

    if (owner->line == 0 || worker->who.generation < item->generation) {
        return;
    }

    (void) jpp_pools_place_text(table, owner, text);

    if (item->holder.place == NULL
        || worker->who.generation > item->generation)
    {
        item->generation = worker->who.generation;
        item->holder.place = jpp_holders_text(holders, "%s", text);

    } else if (strcmp(item->holder.place, text) != 0) {
        item->holder.place = "";
    }
}


/* The item of OWNER, by its place in the configuration. */

static jpp_holder_item_t *
jpp_holders_place(jpp_holders_t *holders, const jpp_worker_t *worker,
    const jpp_pools_t *table, const jpp_pools_owner_t *owner)
{
    const char                *ids;
    jpp_holder_key_t           key;
    jpp_holder_item_t         *item;
    const jpp_holder_place_t  *place;

    place = &jpp_holder_places[owner->kind];
    ids = (const char *) owner;

    key = jpp_holder_nowhere;
    key.place = place->place;
    key.name = jpp_pools_str(table, place->name == 0 ? 0
                   : *(const uint32_t *) (const void *) (ids + place->name));
    key.of = jpp_pools_str(table, place->of == 0 ? 0
                   : *(const uint32_t *) (const void *) (ids + place->of));

    if (owner->kind == JPP_POOLS_CONFIGURATION) {
        key.generation = worker->who.generation;
    }

    item = jpp_holders_item(holders, &key);

    if (item != NULL) {
        item->holder.units = place->units;
        item->holder.bound = place->bound;

        if (place->is_counted) {
            item->holder.n_units += owner->n_units;
        }

        jpp_holders_at(holders, item, worker, table, owner);
    }

    return item;
}


/* Count ROW, of the kind KIND, as a part of ITEM. */

static void
jpp_holders_part(jpp_holders_t *holders, jpp_holder_item_t *item,
    const jpp_pools_t *table, const jpp_pools_row_t *row, jpp_pools_kind_t kind)
{
    jpp_str_t            module;
    jpp_holder_part_t   *part;

    module = jpp_pools_str(table, row->module);

    for (part = item->parts; part != NULL; part = part->next) {
        if (part->class == row->class && jpp_str_equal(part->module, module)) {
            part->bytes += row->bytes;
            return;
        }
    }

    part = jpp_arena_alloc(holders->arena, sizeof(jpp_holder_part_t));

    if (part == NULL) {
        holders->failed = true;
        return;
    }

    part->kind = kind;
    part->class = row->class;
    part->module = jpp_holders_copy(holders, module);
    part->bytes = row->bytes;
    part->next = item->parts;
    item->parts = part;
}


/* What WORKER has of ITEM is complete. */

static void
jpp_holders_fold(jpp_holder_item_t *item, const jpp_worker_t *worker)
{
    if (item->here > item->holder.worker_bytes) {
        item->holder.worker_bytes = item->here;
        item->holder.worker = worker->who;
    }

    item->own += jpp_less(item->here, item->here_inherited);
    item->inherited = jpp_larger(item->inherited,
                                 jpp_smaller(item->here_inherited, item->here));

    item->here = 0;
    item->here_inherited = 0;
}


/* BYTES of WORKER that are in no pool, as the item of KEY, or NULL: there are
   none; BOUND may be NULL. */

static jpp_holder_item_t *
jpp_holders_add_to(jpp_holders_t *holders, const jpp_worker_t *worker,
    const jpp_holder_key_t *key, const char *bound, uint64_t bytes)
{
    jpp_holder_item_t  *item;

    item = bytes != 0 ? jpp_holders_item(holders, key) : NULL;

    if (item != NULL) {
        item->holder.bound = bound;
        item->here += bytes;
        jpp_holders_fold(item, worker);
    }

    return item;
}


static void
jpp_holders_add(jpp_holders_t *holders, const jpp_worker_t *worker,
    const char *place, const char *bound, uint64_t bytes)
{
    jpp_holder_key_t  key;

    key = jpp_holder_nowhere;
    key.place = place;

    (void) jpp_holders_add_to(holders, worker, &key, bound, bytes);
}


/* What WORKER has of malloc() outside of the pools of TABLE. */

static void
jpp_holders_outside(jpp_holders_t *holders, const jpp_worker_t *worker,
    const jpp_pools_t *table)
{
    bool                      is_short;
    uint64_t                  all, bytes;
    jpp_holder_key_t          key;
    jpp_holder_item_t        *item;
    const jpp_pools_owner_t  *owner;

    all = jpp_less(jpp_pools_outside(table, &is_short),
                   table->facts.outside_inherited);
    bytes = 0;

    if (table->facts.outside_owner != 0) {
        bytes = jpp_smaller(table->facts.outside_bytes, all);
        owner = jpp_pools_owner_at(table, table->facts.outside_owner);

        key = jpp_holder_nowhere;
        key.place = "malloc memory of server ";
        key.name = jpp_pools_str(table, owner->server);

        if (owner->location != 0) {
            key.place = "malloc memory of location ";
            key.of = key.name;
            key.name = jpp_pools_str(table, owner->location);
        }

        item = jpp_holders_add_to(holders, worker, &key, "in no pool, by "
                                  "samples; see heap?by=location&format=top",
                                  bytes);
        if (item != NULL) {
            jpp_holders_at(holders, item, worker, table, owner);
        }
    }

    jpp_holders_add(holders, worker, "malloc outside of nginx's pools",
                    "see heap?by=location&format=top", all - bytes);
}


void
jpp_holders_pools(jpp_holders_t *holders, const jpp_worker_t *worker,
    const jpp_pools_t *table)
{
    size_t                   i, n;
    jpp_holder_item_t      **items, **item, *one;
    const jpp_pools_row_t   *row;
    const jpp_pools_unit_t  *unit;

    n = jpp_vec_count(table->owners, jpp_pools_owner_t);
    items = jpp_arena_alloc(holders->arena,
                            (n + 1) * sizeof(jpp_holder_item_t *));

    if (items == NULL || holders->failed) {
        holders->failed = true;
        return;
    }

    for (i = 1; i <= n; i++) {
        items[i] = jpp_holders_place(holders, worker, table,
                                     jpp_pools_owner_at(table, (uint32_t) i));

        if (items[i] == NULL) {
            return;
        }
    }

    jpp_vec_each(row, table->rows) {
        if (row->is_inherited) {
            items[row->owner]->here_inherited += row->bytes;
            continue;
        }

        items[row->owner]->here += row->bytes;
        jpp_holders_part(holders, items[row->owner], table, row,
                         jpp_pools_owner_at(table, row->owner)->kind);
    }

    /* a unit that is known one by one has the values of its directive */

    jpp_vec_each(unit, table->units) {
        one = items[unit->most_owner];

        if (one != NULL && unit->bound_module != 0
            && unit->most_bytes > one->unit.most_bytes)
        {
            one->unit = *unit;
            one->unit_prefix = jpp_holders_copy(holders,
                                  jpp_pools_str(table, unit->bound_module));
        }
    }

    jpp_vec_each(item, holders->items) {
        jpp_holders_fold(*item, worker);
    }

    if (table->facts.has_total) {
        jpp_holders_outside(holders, worker, table);
    }
}


void
jpp_holders_worker(jpp_holders_t *holders, const jpp_worker_t *worker)
{
    jpp_holders_add(holders, worker,
                    worker->jemalloc.mappers == 1 << JPP_MAPPER_LUAJIT
                    ? "LuaJIT's heap" : "anonymous maps that are not malloc's",
                    NULL,
                    jpp_worker_outside(worker));
    jpp_holders_add(holders, worker, "the profiler's own samples", NULL,
                    worker->sampler.bytes);
}


void
jpp_holders_zone(jpp_holders_t *holders, const jpp_zone_t *zone)
{
    jpp_holder_key_t    key;
    jpp_holder_item_t  *item;

    if (zone->is_own) {
        return;
    }

    key = jpp_holder_nowhere;
    key.place = "zone ";
    key.name.data = zone->name;
    key.name.len = jpp_smaller(zone->name_len, JPP_POOLS_NAME);

    item = jpp_holders_item(holders, &key);

    if (item != NULL) {
        item->inherited = jpp_less(zone->size, zone->free);
    }
}


/* Most of ITEM is PART, or NULL: "upstream buffers"; "": it is one thing. */

static const char *
jpp_holders_what(jpp_holders_t *holders, const jpp_holder_item_t *item,
    const jpp_holder_part_t *part)
{
    char         module[JPP_UTF8_SHORT(JPP_HOLDER_SHOWN)];
    size_t       n;
    const char  *units, *what;

    units = item->holder.units;
    what = part != NULL ? jpp_holder_classes[part->class] : NULL;

    if (units == NULL || what == NULL) {
        return units != NULL ? units : "";
    }

    n = jpp_utf8_short(module, part->module.data, part->module.len,
                       JPP_HOLDER_SHOWN);

    return jpp_holders_text(holders, "%s%.*s%s%s", what, (int) n, module,
                            n != 0 ? " for " : "", n != 0 ? units : "");
}


/* "proxy_buffers 64 64k", where the walk knows the values; or "". */

static const char *
jpp_holders_bound(jpp_holders_t *holders, const jpp_holder_item_t *item,
    const jpp_holder_part_t *part)
{
    bool                 is_known;
    char                 names[JPP_DIRECTIVE_TEXT], value[JPP_DIRECTIVE_TEXT];
    jpp_directive_of_t   of;

    if (item->holder.bound != NULL || part == NULL) {
        return item->holder.bound != NULL ? item->holder.bound : "";
    }

    is_known = item->unit.most_bytes != 0
               && item->unit.most_class == part->class;

    of.kind = part->kind;
    of.class = part->class;
    of.module = part->module;
    of.prefix = is_known ? item->unit_prefix : (jpp_str_t) { "", 0 };

    (void) jpp_directive(&of, names);
    (void) jpp_directive_value(is_known ? item->unit.bound_number : 0,
                               is_known ? item->unit.bound_size : 0, value);

    return jpp_holders_text(holders, "%s%s%s", names,
                            names[0] != '\0' && value[0] != '\0' ? " " : "",
                            names[0] != '\0' ? value : "");
}


static int
jpp_holders_compare(const void *a, const void *b, void *ctx)
{
    const jpp_holder_t *one = a, *other = b;

    (void) ctx;

    return one->bytes != other->bytes
           ? jpp_sort_order(other->bytes, one->bytes)
           : strcmp(one->who, other->who);
}


size_t
jpp_holders_close(jpp_holders_t *holders, const jpp_holder_t **first)
{
    size_t                n;
    uint64_t              all;
    jpp_holder_t         *holder;
    jpp_holder_item_t   **items, *item;
    jpp_holder_part_t    *part, *most;

    if (holders->failed) {
        return 0;
    }

    jpp_vec_each(items, holders->items) {
        item = *items;

        if (item->own + item->inherited == 0) {
            continue;
        }

        most = NULL;
        all = 0;

        for (part = item->parts; part != NULL; part = part->next) {
            all += part->bytes;
        }

        for (part = item->parts; part != NULL; part = part->next) {
            if (part->bytes >= all / 100 * JPP_HOLDER_MOSTLY) {
                most = part;
            }
        }

        holder = jpp_vec_push(holders->list, sizeof(jpp_holder_t));

        if (holder == NULL) {
            return 0;
        }

        *holder = item->holder;
        holder->bytes = item->own + item->inherited;
        holder->what = jpp_holders_what(holders, item, most);
        holder->bound = jpp_holders_bound(holders, item, most);

        if (holder->place == NULL) {
            holder->place = "";
        }

        if (holders->failed) {
            return 0;
        }

        holder->who = holder->what[0] == '\0' ? holder->where
                      : jpp_holders_text(holders, "%s of %s", holder->what,
                                         holder->where);
    }

    if (holders->failed) {
        return 0;
    }

    *first = jpp_vec_items(holders->list, jpp_holder_t);
    n = jpp_vec_count(holders->list, jpp_holder_t);

    jpp_sort(holders->list->data, n, sizeof(jpp_holder_t), jpp_holders_compare,
             NULL);

    return n;
}
