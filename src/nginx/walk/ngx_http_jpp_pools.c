
#include "ngx_http_jpp_pools.h"

#include <malloc.h>


/* a table that is full takes less */
#define NGX_HTTP_JPP_WALK_CAP   (64 * 1024 * 1024)

/* of a slice, ns: what comes after the last look at the clock is work, too */
#define NGX_HTTP_JPP_SLICE      700000

/* how much work may be done before the clock is read again */
#define NGX_HTTP_JPP_UNREAD     16


/* This process's own function, of whatever allocator it has. */

size_t
ngx_http_jpp_size(const void *p)
{
    return malloc_usable_size((void *) p);
}


ngx_uint_t
ngx_http_jpp_walk_is_over(ngx_http_jpp_walk_t *walk)
{
    if (walk->table.facts.is_partial) {
        return 1;
    }

    if (walk->work < NGX_HTTP_JPP_UNREAD) {
        return 0;
    }

    walk->work = 0;

    return jpp_clock() >= walk->deadline;
}


static void
ngx_http_jpp_walk_read_free(ngx_http_jpp_walk_t *walk)
{
    ngx_uint_t               slot;
    const ngx_connection_t  *c;

    ngx_memzero(walk->is_free, walk->cycle->connection_n / 8 + 1);

    for (c = walk->cycle->free_connections; c != NULL; c = c->data) {
        slot = ngx_http_jpp_walk_slot(walk, c);
        walk->is_free[slot / 8] |= 1 << slot % 8;
        walk->work++;
    }

    walk->knows_free = 1;
}


/*
 * Mostly the descriptor says it, or that the connection was closed.  One that
 * has no descriptor may be a module's, or one that could not be accepted: then
 * its data says it, or the list of free ones, which may be long.
 */

ngx_uint_t
ngx_http_jpp_walk_is_used(ngx_http_jpp_walk_t *walk, const ngx_connection_t *c)
{
    ngx_uint_t  slot;

    if (c->fd != (ngx_socket_t) -1) {
        return 1;
    }

    if (c->read == NULL || c->read->closed) {
        return 0;
    }

    /* one that is free has the next for its data */

    if (c->data != NULL && ngx_http_jpp_walk_slot(walk, c->data) == NGX_ERROR) {
        return 1;
    }

    if (!walk->knows_free) {
        ngx_http_jpp_walk_read_free(walk);
    }

    slot = ngx_http_jpp_walk_slot(walk, c);

    return (walk->is_free[slot / 8] & 1 << slot % 8) == 0;
}


ngx_int_t
ngx_http_jpp_walk_slot(const ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c)
{
    const ngx_connection_t  *first;

    first = walk->cycle->connections;

    return first != NULL && c >= first
           && c < first + walk->cycle->connection_n
           && ((const u_char *) c - (const u_char *) first)
              % sizeof(ngx_connection_t) == 0
           ? c - first : NGX_ERROR;
}


jpp_ledger_range_t *
ngx_http_jpp_walk_range(ngx_http_jpp_walk_t *walk, jpp_ledger_kind_t kind,
    uint64_t start, uint64_t size)
{
    jpp_ledger_range_t  *range;

    range = jpp_vec_push(walk->held, sizeof(jpp_ledger_range_t));

    if (range != NULL) {
        range->start = start;
        range->end = start + size;
        range->kind = kind;
    }

    return range;
}


void
ngx_http_jpp_walk_hold(ngx_http_jpp_walk_t *walk, uint32_t owner, const void *p,
    size_t size)
{
    uint8_t  kind;

    if (walk->held != NULL && owner != 0 && size != 0) {
        kind = jpp_pools_owner_at(&walk->table, owner)->kind;

        (void) ngx_http_jpp_walk_range(walk, jpp_ledger_owners[kind],
                                       (uintptr_t) p, size);
    }
}


void
ngx_http_jpp_walk_add(ngx_http_jpp_walk_t *walk, uint32_t owner,
    jpp_pools_class_t class, uint32_t module, const void *p, size_t size,
    size_t unused)
{
    (void) jpp_pools_add(&walk->table, owner, class, module, 1, size, unused);

    ngx_http_jpp_walk_hold(walk, owner, p, size);
}


ngx_int_t
ngx_http_jpp_keyed_init(ngx_http_jpp_keyed_t *keyed, jpp_arena_t *arena,
    size_t size, uint32_t n)
{
    keyed->size = size;
    keyed->items = jpp_vec_create(arena);

    jpp_index_init(&keyed->index, arena);

    return keyed->items != NULL && jpp_index_expect(&keyed->index, n)
           ? NGX_OK : NGX_ERROR;
}


void *
ngx_http_jpp_keyed_add(ngx_http_jpp_keyed_t *keyed, const void *key)
{
    void  *item;

    item = jpp_vec_push(keyed->items, keyed->size);

    if (item == NULL
        || !jpp_index_add(&keyed->index,
                          (uint32_t) jpp_hash_u64((uintptr_t) key),
                          keyed->items->len / keyed->size))
    {
        return NULL;
    }

    *(const void **) item = key;

    return item;
}


void *
ngx_http_jpp_keyed_next(const ngx_http_jpp_keyed_t *keyed, const void *key,
    uint32_t *pos)
{
    void      *item;
    uint32_t   id, hash, at;

    hash = (uint32_t) jpp_hash_u64((uintptr_t) key);
    at = hash + *pos;

    while ((id = jpp_index_next(&keyed->index, hash, &at)) != 0) {
        item = (u_char *) keyed->items->data + (id - 1) * keyed->size;

        if (*(const void **) item == key) {
            *pos = at - hash;
            return item;
        }
    }

    return NULL;
}


static int
ngx_http_jpp_larges_compare(const void *one, const void *two, void *ctx)
{
    const ngx_http_jpp_large_t *a = one;
    const ngx_http_jpp_large_t *b = two;

    return jpp_sort_order((uintptr_t) a->start, (uintptr_t) b->start);
}


void
ngx_http_jpp_larges_sort(ngx_http_jpp_large_t *larges, size_t n)
{
    jpp_sort(larges, n, sizeof(ngx_http_jpp_large_t),
             ngx_http_jpp_larges_compare, NULL);
}


ngx_http_jpp_large_t *
ngx_http_jpp_larges_find(ngx_http_jpp_large_t *larges, size_t n, const void *p)
{
    size_t         low, high, middle;
    const u_char  *address;

    address = p;
    low = 0;
    high = n;

    /* those below low begin at P or before it */

    while (low < high) {
        middle = low + (high - low) / 2;

        if (larges[middle].start <= address) {
            low = middle + 1;

        } else {
            high = middle;
        }
    }

    return low != 0 && address < larges[low - 1].start + larges[low - 1].size
           ? &larges[low - 1] : NULL;
}


static const ngx_http_jpp_phase_pt  ngx_http_jpp_phases[] = {
    ngx_http_jpp_config_walk,
    ngx_http_jpp_config_known,
    ngx_http_jpp_connections_walk,
    ngx_http_jpp_fakes_walk,
    ngx_http_jpp_others_walk,
    ngx_http_jpp_caches_walk,
    ngx_http_jpp_slots_walk,
    NULL
};

/* what this process started with, in no pool */
static uint64_t  ngx_http_jpp_outside;


void
ngx_http_jpp_pools_init(const ngx_cycle_t *cycle)
{
    uint64_t  known, total;

    ngx_http_jpp_connections_init();

    known = ngx_http_jpp_config_init(cycle) + ngx_http_jpp_slots_bytes(cycle);

    ngx_http_jpp_outside = jpp_stats_thread(&total) && total > known
                           ? total - known : 0;
}


static ngx_http_jpp_walk_t *
ngx_http_jpp_walk_create(ngx_http_jpp_reply_t *reply)
{
    size_t                      size;
    jpp_arena_t                *arena;
    ngx_http_jpp_walk_t        *walk;
    const jpp_message_pools_t  *wanted;

    walk = jpp_arena_object(sizeof(ngx_http_jpp_walk_t));
    if (walk == NULL) {
        return NULL;
    }

    reply->state = walk;

    arena = &walk->arena;
    wanted = &reply->question.pools;

    jpp_arena_init(arena, NGX_HTTP_JPP_WALK_CAP);

    walk->cycle = (const ngx_cycle_t *) ngx_cycle;
    walk->has_clients = wanted->has_clients;

    size = walk->cycle->connections != NULL
           ? walk->cycle->connection_n / 8 + 1 : 1;

    walk->is_counted = jpp_arena_alloc(arena, size);
    walk->is_free = jpp_arena_alloc(arena, size);
    walk->scope.larges = jpp_vec_create(arena);
    walk->known = jpp_vec_create(arena);
    walk->others = jpp_vec_create(arena);

    if (reply->question.type == JPP_MESSAGE_LEDGER) {
        walk->held = jpp_vec_create(arena);
    }

    if (walk->is_counted == NULL || walk->is_free == NULL
        || walk->scope.larges == NULL || walk->known == NULL
        || walk->others == NULL
        || ngx_http_jpp_keyed_init(&walk->clients, arena,
                                   sizeof(ngx_http_jpp_client_t), 64)
           != NGX_OK
        || ngx_http_jpp_keyed_init(&walk->fakes, arena,
                                   sizeof(ngx_http_jpp_fake_t), 0)
           != NGX_OK
        || ngx_http_jpp_keyed_init(&walk->marks, arena,
                                   sizeof(ngx_http_jpp_mark_t), 0)
           != NGX_OK
        || !jpp_pools_init(&walk->table, arena, wanted->wants, wanted->top)
        || ngx_http_jpp_servers_init(&walk->servers, walk->cycle, arena)
           != NGX_OK)
    {
        return NULL;
    }

    return walk;
}


/*
 * Until all phases are done, or the slice is over.  Rests come first: the fewer
 * pools are gone by then.
 */

static ngx_int_t
ngx_http_jpp_walk_go_on(ngx_http_jpp_walk_t *walk)
{
    ngx_uint_t          i, n;
    ngx_connection_t   *c;
    const ngx_cycle_t  *cycle;

    walk->work = 0;
    walk->knows_free = 0;

    while (ngx_http_jpp_phases[walk->phase] != NULL) {

        if (ngx_http_jpp_rests_walk(walk) == NGX_AGAIN
            || ngx_http_jpp_phases[walk->phase](walk) == NGX_AGAIN)
        {
            if (!walk->table.facts.is_partial) {
                return NGX_AGAIN;
            }

            /* Without memory the rest is only counted. */

            ngx_http_jpp_rests_end(walk);

            cycle = walk->cycle;
            n = cycle->connections != NULL ? cycle->connection_n : 0;

            walk->knows_free = 0;

            for (i = walk->slot; i < n; i++) {
                c = &cycle->connections[i];

                walk->table.facts.n_missed +=
                    ngx_http_jpp_walk_is_used(walk, c) && c->pool != NULL
                    && c->pool != cycle->pool;
            }

            (void) ngx_http_jpp_slots_walk(walk);

            break;
        }

        walk->phase++;
        walk->next = 0;
    }

    return NGX_OK;
}


/* The total last: between slices nginx allocates and frees. */

static void
ngx_http_jpp_walk_facts(ngx_http_jpp_walk_t *walk)
{
    u_char             *last;
    ngx_uint_t          i, k;
    jpp_jemalloc_t      jemalloc;
    jpp_pools_facts_t  *facts;

    static const char *const  scripts[] = {
        "ngx_http_js_module", "ngx_stream_js_module", "ngx_http_perl_module"
    };

    facts = &walk->table.facts;

    jpp_jemalloc_read(&jemalloc);

    last = (u_char *) facts->allocator + JPP_POOLS_ALLOCATOR - 1;

    facts->is_estimate = jemalloc.state == JPP_JEMALLOC_ABSENT;

    *ngx_slprintf((u_char *) facts->allocator, last,
                  facts->is_estimate ? "%s" : "jemalloc %s",
                  facts->is_estimate ? jemalloc.allocator : jemalloc.version) =
        '\0';

    for (i = 0; walk->cycle->modules[i] != NULL; i++) {
        for (k = 0; k < sizeof(scripts) / sizeof(char *); k++) {
            facts->has_scripts |= ngx_strcmp(walk->cycle->modules[i]->name,
                                             scripts[k])
                                  == 0;
        }
    }

    facts->outside_inherited = ngx_http_jpp_outside;
    facts->has_total = jpp_stats_thread(&facts->total);
}


ngx_int_t
ngx_http_jpp_pools_walk(ngx_http_jpp_reply_t *reply)
{
    uint64_t              start, nanos;
    ngx_int_t             rc;
    jpp_pools_facts_t    *facts;
    ngx_http_jpp_walk_t  *walk;

    start = jpp_clock();

    walk = reply->state != NULL ? reply->state
                                : ngx_http_jpp_walk_create(reply);
    if (walk == NULL) {
        (void) jpp_err_memory(&reply->reply.err);
        return NGX_ERROR;
    }

    /* a single process that was reloaded has another configuration now */

    if (walk->cycle != ngx_cycle) {
        (void) jpp_err_set(&reply->reply.err, JPP_ERR_GONE,
                           "its configuration was replaced meanwhile: try "
                           "again");
        return NGX_ERROR;
    }

    walk->deadline = start + NGX_HTTP_JPP_SLICE;

    rc = ngx_http_jpp_walk_go_on(walk);

    facts = &walk->table.facts;
    nanos = jpp_clock() - start;

    facts->n_slices++;
    facts->nanos += nanos;
    facts->longest_nanos = ngx_max(facts->longest_nanos, nanos);

    if (rc == NGX_OK) {
        ngx_http_jpp_walk_facts(walk);
    }

    return rc;
}


void
ngx_http_jpp_pools_release(ngx_http_jpp_reply_t *reply)
{
    ngx_http_jpp_walk_t  *walk;

    walk = reply->state;

    if (walk != NULL) {
        ngx_http_jpp_rests_end(walk);

        jpp_arena_destroy(&walk->arena);
        jpp_arena_object_destroy(walk);

        reply->state = NULL;
    }
}
