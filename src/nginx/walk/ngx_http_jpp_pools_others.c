
/*
 * Scans connections that were not accepted: kept alive to an upstream, or a
 * module's.  They come last, when all upstream peers are known.  Those without
 * a descriptor have to prove themselves.
 */


#include "ngx_http_jpp_pools.h"

#include <dlfcn.h>


/* where it is part of nginx */
extern ngx_module_t  ngx_http_upstream_keepalive_module __attribute__((weak));


/* of upstreams that nginx reads itself; NULL: none was seen yet */
static ngx_event_handler_pt  ngx_http_jpp_others_handler;


void
ngx_http_jpp_others_client(ngx_http_jpp_walk_t *walk, const ngx_connection_t *c,
    const ngx_log_t *log, const ngx_pool_t *pool, uint32_t owner,
    ngx_uint_t is_mail)
{
    ngx_http_jpp_client_t  *client;

    client = ngx_http_jpp_keyed_add(&walk->clients, log);
    if (client == NULL) {
        return;
    }

    client->pool = pool;
    client->slot = ngx_http_jpp_walk_slot(walk, c);
    client->owner = owner;
    client->is_mail = is_mail;
    client->number = c->number;
}


ngx_uint_t
ngx_http_jpp_others_count(ngx_http_jpp_walk_t *walk, const ngx_connection_t *pc)
{
    u_char      bit;
    ngx_uint_t  slot;

    slot = ngx_http_jpp_walk_slot(walk, pc);
    bit = 1 << slot % 8;

    if (walk->is_counted[slot / 8] & bit) {
        return 0;
    }

    walk->is_counted[slot / 8] |= bit;

    return 1;
}


void
ngx_http_jpp_others_postpone(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c)
{
    uint32_t             *slot;
    ngx_http_jpp_fake_t  *fake;

    if (c->fd == (ngx_socket_t) -1) {
        fake = ngx_http_jpp_keyed_add(&walk->fakes, c->log);

        if (fake != NULL) {
            fake->slot = ngx_http_jpp_walk_slot(walk, c);
            walk->table.facts.n_unproven++;

        } else {
            walk->table.facts.is_partial = 1;
        }

        return;
    }

    slot = jpp_vec_push(walk->others, sizeof(uint32_t));

    if (slot != NULL) {
        *slot = ngx_http_jpp_walk_slot(walk, c);

    } else {
        walk->table.facts.n_missed++;
    }
}


static void
ngx_http_jpp_others_see(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    uint32_t owner)
{
    ngx_http_jpp_scope_open(walk, c->pool);
    jpp_pools_begin(&walk->table, owner);

    ngx_http_jpp_count_pool(walk, c->pool, owner);

    ngx_http_jpp_buffers_connection(walk, c, NULL);
    ngx_http_jpp_count_flush(walk);
    ngx_http_jpp_unit_end(walk, owner, c, NULL);
}


/*
 * The data of a connection that is kept alive is an item of the configuration,
 * which begins with the address of the upstream's.
 */

static ngx_http_upstream_srv_conf_t *
ngx_http_jpp_others_upstream(const ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c)
{
    void                           *kcf;
    ngx_uint_t                      index;
    ngx_http_upstream_srv_conf_t  **uscf;
    ngx_http_upstream_main_conf_t  *umcf;

    umcf = ngx_http_cycle_get_module_main_conf(walk->cycle,
                                               ngx_http_upstream_module);

    if (umcf == NULL || &ngx_http_upstream_keepalive_module == NULL
        || !c->idle
        || !ngx_http_jpp_config_has(walk, c->data, sizeof(void *)))
    {
        return NULL;
    }

    kcf = *(void **) c->data;
    index = ngx_http_upstream_keepalive_module.ctx_index;

    ngx_http_jpp_each(uscf, &umcf->upstreams) {

        /* one without a block has no configuration */

        if ((*uscf)->srv_conf != NULL && (*uscf)->srv_conf[index] == kcf) {
            return *uscf;
        }
    }

    return NULL;
}


/* A file is named after its module; what is linked into nginx is nginx's. */

static uint32_t
ngx_http_jpp_others_code(ngx_http_jpp_walk_t *walk, uintptr_t address)
{
    size_t       len;
    Dl_info      info, nginx;
    uint32_t     id;
    const char  *name;

    id = jpp_pools_find(&walk->table, (void *) address);

    if (id != 0) {
        return id;
    }

    name = "nginx";

    if (address != 0
        && dladdr((void *) address, &info) != 0
        && dladdr(&ngx_cycle, &nginx) != 0
        && info.dli_fbase != nginx.dli_fbase)
    {
        name = jpp_path_name(info.dli_fname);
    }

    len = ngx_strlen(name);

    if (len > 3 && ngx_strcmp(name + len - 3, ".so") == 0) {
        len -= 3;
    }

    return jpp_pools_name(&walk->table, JPP_POOLS_MODULE_NAME,
                          (void *) address, name, len);
}


/*
 * The module whose file has the handler of its events; of a connection that has
 * no socket, that of its log.
 */

static uint32_t
ngx_http_jpp_others_module(ngx_http_jpp_walk_t *walk, const ngx_connection_t *c)
{
    uintptr_t  handler;

    handler = (uintptr_t) c->read->handler;

    if (handler == 0 && c->log != NULL
        && ngx_http_jpp_pool_has(c->pool, c->log, sizeof(ngx_log_t)))
    {
        handler = (uintptr_t) c->log->handler;
    }

    return jpp_pools_owner(&walk->table, JPP_POOLS_MODULE_CONNECTION, 0, 0,
                           ngx_http_jpp_others_code(walk, handler));
}


/*
 * 0: its pool is the client's or its request's, and was counted with that, or
 * with another connection that has no client (its owner is 0).  All of these
 * have the same log, which is compared only, as the pool is: each is the same
 * connection as long as its number is.
 */

static uint32_t
ngx_http_jpp_others_owner(ngx_http_jpp_walk_t *walk, ngx_connection_t *c)
{
    uint32_t                       pos, owner, upstream;
    const ngx_connection_t        *other;
    const ngx_http_jpp_client_t   *client;
    ngx_http_upstream_srv_conf_t  *uscf;

    pos = 0;
    owner = 0;

    while ((client = ngx_http_jpp_keyed_next(&walk->clients, c->log, &pos))
           != NULL)
    {
        other = &walk->cycle->connections[client->slot];

        if (other->number != client->number) {
            continue;
        }

        if (c->pool == client->pool || c->pool == other->pool) {

            if (client->is_mail) {
                ngx_http_jpp_sessions_auth(walk, other, c, client->owner);
            }

            return 0;
        }

        owner = ngx_max(owner, client->owner);
    }

    if (owner != 0) {
        /*
         * Where a walk takes more than a slice, C may have been connected after
         * its client, OWNER, was seen. The handler of upstreams follows its
         * data, too.
         */

        upstream = ngx_http_jpp_others_handler != NULL
                   && c->read->handler == ngx_http_jpp_others_handler
                   && c->data != NULL
                   ? ngx_http_jpp_owner_upstream(walk, c->data) : 0;

        return upstream != 0 ? upstream : owner;
    }

    uscf = ngx_http_jpp_others_upstream(walk, c);

    if (uscf != NULL) {
        return jpp_pools_owner(&walk->table, JPP_POOLS_KEEPALIVE, 0, 0,
                               ngx_http_jpp_name_upstream(walk, uscf));
    }

    return ngx_http_jpp_others_module(walk, c);
}


ngx_int_t
ngx_http_jpp_others_walk(ngx_http_jpp_walk_t *walk)
{
    uint32_t           slot, owner;
    ngx_connection_t  *c;

    while (walk->next < jpp_vec_count(walk->others, uint32_t)) {

        if (ngx_http_jpp_walk_is_over(walk)) {
            return NGX_AGAIN;
        }

        slot = jpp_vec_items(walk->others, uint32_t)[walk->next++];
        c = &walk->cycle->connections[slot];

        /* it may have become another one since it was postponed */

        if (c->fd != (ngx_socket_t) -1 && c->listening == NULL
            && c->pool != NULL && c->pool != walk->cycle->pool
            && ngx_http_jpp_others_count(walk, c))
        {
            owner = ngx_http_jpp_others_owner(walk, c);

            if (owner != 0) {
                /*
                 * another may share its pool: two sockets of a timer that came
                 * late
                 */

                if (c->log != walk->cycle->log) {
                    ngx_http_jpp_others_client(walk, c, c->log, c->pool, 0, 0);
                }

                ngx_http_jpp_others_see(walk, c, owner);
            }
        }
    }

    return NGX_OK;
}


void
ngx_http_jpp_others_upstreams(const ngx_connection_t *pc)
{
#if (NGX_HTTP_SSL)
    if (pc->ssl != NULL) {
        return;
    }
#endif

    ngx_http_jpp_others_handler = pc->read->handler;
}


void
ngx_http_jpp_others_foreign(ngx_http_jpp_walk_t *walk, ngx_connection_t *c)
{
    uint32_t  owner;

    owner = ngx_http_jpp_others_module(walk, c);

    ngx_http_jpp_others_client(walk, c, c->log, c->pool, owner, 0);
    ngx_http_jpp_others_see(walk, c, owner);
}


/*
 * Fake connections: those without a descriptor, which modules create to
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


/* of the first block of a pool: a log is among the first things in it */
#define NGX_HTTP_JPP_FIRST  128


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
