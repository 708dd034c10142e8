
#include "ngx_http_jpp_pools_walk.h"

#include "jpp_ledger.h"
#include "jpp_sort.h"

#include <malloc.h>


/* how much work may be done before the clock is read again */
#define NGX_HTTP_JPP_UNREAD  16


/* This process's own function, of whatever allocator it has. */

size_t
ngx_http_jpp_size(const void *p)
{
    return malloc_usable_size((void *) p);
}


ngx_uint_t
ngx_http_jpp_walk_is_over(ngx_http_jpp_walk_t *walk)
{
    if (walk->table.facts.reason != JPP_POOLS_WHOLE) {
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


/* Without memory, what lies there has its bytes, and no place. */

void
ngx_http_jpp_walk_hold(ngx_http_jpp_walk_t *walk, uint32_t owner, const void *p,
    size_t size)
{
    jpp_pools_kind_t     kind;
    jpp_ledger_range_t  *range;

    if (walk->held == NULL || owner == 0 || size == 0) {
        return;
    }

    range = jpp_vec_push(walk->held, sizeof(jpp_ledger_range_t));

    if (range != NULL) {
        kind = (jpp_pools_kind_t) jpp_pools_owner_at(&walk->table, owner)->kind;
        range->start = (uintptr_t) p;
        range->end = range->start + size;
        range->kind = jpp_ledger_of(kind);
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

    return keyed->items != NULL && jpp_index_init(&keyed->index, arena, n)
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
ngx_http_jpp_walk_compare(const void *a, const void *b, void *ctx)
{
    return jpp_sort_order(*(const uintptr_t *) a, *(const uintptr_t *) b);
}


void
ngx_http_jpp_sort(void *items, size_t n, size_t size)
{
    jpp_sort(items, n, size, ngx_http_jpp_walk_compare, NULL);
}


void *
ngx_http_jpp_search(void *items, size_t n, size_t size, const void *p)
{
    size_t  low, high, middle;

    low = 0;
    high = n;

    /* those below low begin at P or before it */

    while (low < high) {
        middle = low + (high - low) / 2;

        if (*(uintptr_t *) ((u_char *) items + middle * size) <= (uintptr_t) p)
        {
            low = middle + 1;

        } else {
            high = middle;
        }
    }

    return low != 0 ? (u_char *) items + (low - 1) * size : NULL;
}
