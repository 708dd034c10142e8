
#include "ngx_http_jpp_pools_walk.h"

#include "jpp_ledger.h"

#include <malloc.h>


/* how much work may be done before the clock is read again */
#define NGX_HTTP_JPP_UNREAD  16


static void ngx_http_jpp_walk_read_free(ngx_http_jpp_walk_t *walk);


/* This process's own function, of whatever allocator it has. */

size_t
ngx_http_jpp_size(const void *p)
{
    return malloc_usable_size((void *) p);
}


uint64_t
ngx_http_jpp_walk_clock(void)
{
    struct timespec  now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);

    return (uint64_t) now.tv_sec * 1000000000 + now.tv_nsec;
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

    return ngx_http_jpp_walk_clock() >= walk->deadline;
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


/* Connections one after the other mostly have the same owner. */

void
ngx_http_jpp_walk_add(ngx_http_jpp_walk_t *walk, uint32_t owner,
    jpp_pools_class_t class, uint32_t module, uint64_t objects, uint64_t bytes,
    uint64_t unused)
{
    ngx_http_jpp_sum_t  *sum;

    sum = &walk->sum;

    if (sum->owner != owner || sum->class != class || sum->module != module) {
        ngx_http_jpp_walk_add_up(walk);

        sum->owner = owner;
        sum->class = class;
        sum->module = module;
    }

    sum->objects += objects;
    sum->bytes += bytes;
    sum->unused += unused;
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
        kind = (jpp_pools_kind_t) jpp_pools_owner_at(&walk->table,
                                                     owner)->kind;
        range->start = (uintptr_t) p;
        range->end = range->start + size;
        range->kind = jpp_ledger_of(kind);
    }
}


void
ngx_http_jpp_walk_add_up(ngx_http_jpp_walk_t *walk)
{
    ngx_http_jpp_sum_t  *sum;

    sum = &walk->sum;

    if (sum->objects != 0) {
        (void) jpp_pools_add(&walk->table, sum->owner, sum->class,
                             sum->module, sum->objects, sum->bytes,
                             sum->unused);
    }

    ngx_memzero(sum, sizeof(ngx_http_jpp_sum_t));
}
