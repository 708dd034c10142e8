
/*
 * Scans fake connections: those without a descriptor, which modules create to
 * run code outside requests, such as a timer of Lua.  A module may also leave a
 * fake connection behind whose pool it has destroyed, as lua-nginx-module does
 * with that of init_worker_by_lua.  The connection does not show which kind it
 * is.
 *
 * So such a pool is not read until a timer of nginx proves it alive.  nginx
 * itself uses a timer that is set, and the log it has.  If that is the log of
 * the connection, carries the number of the connection, which no other has, and
 * was taken from the pool, then the pool is there.  Until then memory is only
 * read with care.
 */


#include "ngx_http_jpp_pools_walk.h"

#include "jpp_proc.h"


/* of the first block of a pool: a log is among the first things in it */
#define NGX_HTTP_JPP_FIRST  128


void
ngx_http_jpp_fakes_postpone(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c)
{
    ngx_http_jpp_fake_t  *fake;

    fake = ngx_http_jpp_keyed_add(&walk->fakes, c->log);

    if (fake == NULL) {
        walk->table.facts.reason = JPP_POOLS_NO_MEMORY;
        return;
    }

    fake->slot = ngx_http_jpp_walk_slot(walk, c);
    walk->table.facts.n_unproven++;
}


/*
 * POOL is as ngx_create_pool() makes it, and has LOG in its first block, or as
 * a large allocation, whose cell is in that block.
 */

static ngx_uint_t
ngx_http_jpp_fakes_is_from(const jpp_peek_t *peek, const ngx_log_t *log,
    const ngx_pool_t *pool)
{
    size_t         i, n;
    uintptr_t      words[NGX_HTTP_JPP_FIRST];
    ngx_pool_t     copy;
    const u_char  *first, *last, *end;

    if (!jpp_peek(peek, (uintptr_t) pool, &copy, sizeof(ngx_pool_t))) {
        return 0;
    }

    first = (const u_char *) pool + sizeof(ngx_pool_t);
    last = copy.d.last;
    end = copy.d.end;

    if (last < first || last > end
        || copy.max != ngx_min((size_t) (end - first),
                               NGX_MAX_ALLOC_FROM_POOL))
    {
        return 0;
    }

    if ((const u_char *) log >= first && (const u_char *) (log + 1) <= last) {
        return 1;
    }

    n = ngx_min((size_t) (last - first), sizeof(words)) / sizeof(uintptr_t);

    if (!jpp_peek(peek, (uintptr_t) first, words, n * sizeof(uintptr_t))) {
        return 0;
    }

    for (i = 0; i < n; i++) {
        if (words[i] == (uintptr_t) log) {
            return 1;
        }
    }

    return 0;
}


/* Without descriptors nothing is proven. */

static ngx_uint_t
ngx_http_jpp_fakes_is_alive(const ngx_connection_t *c)
{
    ngx_log_t   log;
    jpp_peek_t  peek;
    ngx_uint_t  is_alive;

    if (c->fd != (ngx_socket_t) -1 || c->pool == NULL || c->number == 0
        || !jpp_peek_open(&peek))
    {
        return 0;
    }

    is_alive = jpp_peek(&peek, (uintptr_t) c->log, &log, sizeof(ngx_log_t))
               && log.connection == c->number
               && ngx_http_jpp_fakes_is_from(&peek, c->log, c->pool);
    jpp_peek_close(&peek);

    return is_alive;
}


/* Logs are compared by their addresses, so that most timers end here. */

static void
ngx_http_jpp_fakes_timer(ngx_http_jpp_walk_t *walk, ngx_rbtree_node_t *node)
{
    uint32_t              pos;
    ngx_event_t          *ev;
    ngx_connection_t     *c;
    ngx_http_jpp_fake_t  *fake;

    ev = ngx_rbtree_data(node, ngx_event_t, timer);

    pos = 0;

    while ((fake = ngx_http_jpp_keyed_next(&walk->fakes, ev->log, &pos))
           != NULL)
    {
        c = &walk->cycle->connections[fake->slot];

        if (c->log == ev->log && ngx_http_jpp_fakes_is_alive(c)
            && ngx_http_jpp_others_count(walk, c))
        {
            walk->table.facts.n_unproven--;

            ngx_http_jpp_others_foreign(walk, c);
        }
    }
}


ngx_int_t
ngx_http_jpp_fakes_walk(ngx_http_jpp_walk_t *walk)
{
    return walk->table.facts.n_unproven == 0
           ? NGX_OK
           : ngx_http_jpp_tree_walk(walk, &ngx_event_timer_rbtree,
                                    ngx_http_jpp_fakes_timer);
}
