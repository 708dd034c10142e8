
#include "ngx_http_jpp_pools.h"
#include "ngx_http_jpp_serving.h"

#include "jpp_owners.h"

#if (NGX_HTTP_V2)
#include <ngx_http_v2_module.h>
#endif


/*
 * Whether a pool has some memory, also between any two instructions of nginx,
 * as serving.h needs it.
 */


/* what is looked for lies in the first ones */
#define NGX_HTTP_JPP_BLOCKS  64


/*
 * [signal] Do the first blocks of POOL have LEN bytes at P, which may be
 * anything?  And has POOL allocated P, of LEN bytes, wherever that is?
 */

static ngx_uint_t
ngx_http_jpp_serving_has(const ngx_pool_t *pool, const void *p, size_t len)
{
    ngx_uint_t     n;
    const u_char  *address;

    address = p;

    for (n = 0; pool != NULL && n < NGX_HTTP_JPP_BLOCKS; n++) {

        if (address >= (const u_char *) pool + sizeof(ngx_pool_data_t)
            && address < pool->d.last)
        {
            return (size_t) (pool->d.last - address) >= len;
        }

        pool = pool->d.next;
    }

    return 0;
}


static ngx_uint_t
ngx_http_jpp_serving_holds(const ngx_pool_t *pool, const void *p, size_t len)
{
    ngx_uint_t               n;
    const ngx_pool_large_t  *l;

    if (len <= pool->max) {
        return ngx_http_jpp_serving_has(pool, p, len);
    }

    for (l = pool->large, n = 0;
         n < NGX_HTTP_JPP_BLOCKS
         && ngx_http_jpp_serving_has(pool, l, sizeof(ngx_pool_large_t));
         l = l->next, n++)
    {
        if (l->alloc == p) {
            return p != NULL;
        }
    }

    return 0;
}


/*
 * The owners of serving.h: each is named when a sample needs it, and then known
 * by what it is in the configuration.
 *
 * [signal] All but the first.
 */


/* for an index of the servers, and a number for each listening socket */
#define NGX_HTTP_JPP_SERVING_CAP  (8 * 1024 * 1024)


static ngx_str_t  ngx_http_jpp_no_location = ngx_string("(no location)");
static ngx_str_t  ngx_http_jpp_whole_server = ngx_string("(server)");

static jpp_arena_t                  ngx_http_jpp_serving_arena;
static ngx_http_jpp_keyed_t         ngx_http_jpp_serving_servers;
static const ngx_listening_t       *ngx_http_jpp_serving_sockets;
static ngx_uint_t                   ngx_http_jpp_serving_n_sockets;
static uint32_t                    *ngx_http_jpp_serving_sessions;


static uint32_t
ngx_http_jpp_serving_name(const ngx_http_core_srv_conf_t *cscf,
    void **loc_conf, const ngx_str_t *location,
    const ngx_http_upstream_srv_conf_t *uscf)
{
    u_char                    text[JPP_POOLS_NAME], host[JPP_POOLS_NAME];
    uint32_t                  owner;
    ngx_str_t                 server, upstream;
    jpp_owner_raw_t           raw[JPP_ROOTS], file;
    ngx_http_jpp_loc_conf_t  *jlcf;

    server = ngx_http_jpp_server_text(cscf, text);
    ngx_str_null(&upstream);

    if (uscf != NULL) {
        upstream = ngx_http_jpp_upstream_text(uscf, host);
    }

    raw[JPP_ROOT_SERVER].data = (char *) server.data;
    raw[JPP_ROOT_SERVER].len = server.len;
    raw[JPP_ROOT_LOCATION].data = (char *) location->data;
    raw[JPP_ROOT_LOCATION].len = location->len;
    raw[JPP_ROOT_UPSTREAM].data = (char *) upstream.data;
    raw[JPP_ROOT_UPSTREAM].len = upstream.len;

    owner = jpp_owner_name(raw);

    jlcf = loc_conf[ngx_http_jemalloc_pprof_module.ctx_index];

    file.data = (char *) jlcf->file.data;
    file.len = jlcf->file.len;

    jpp_owner_place(owner, file, jlcf->line);

    return owner;
}


/* What CSCF serves without a location. */

static uint32_t
ngx_http_jpp_serving_name_server(const ngx_http_core_srv_conf_t *cscf)
{
    ngx_http_jpp_srv_conf_t  *jscf;

    jscf = cscf->ctx->srv_conf[ngx_http_jemalloc_pprof_module.ctx_index];

    if (jscf->owner == JPP_OWNER_NONE) {
        jscf->owner = ngx_http_jpp_serving_name(cscf, cscf->ctx->loc_conf,
                                                &ngx_http_jpp_no_location,
                                                NULL);
    }

    return jscf->owner;
}


/*
 * The location of R, by USCF if that is not NULL, which becomes BY.
 *
 * One who has interrupted this may do all of it: the owner is set last.
 */

static uint32_t
ngx_http_jpp_serving_name_another(const ngx_http_request_t *r,
    ngx_http_jpp_by_t *by, const ngx_http_upstream_srv_conf_t *uscf)
{
    uint32_t                   owner;
    ngx_str_t                 *name;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);
    name = clcf->name.len != 0 ? &clcf->name : &ngx_http_jpp_whole_server;

    owner = ngx_http_jpp_serving_name(
                ngx_http_get_module_srv_conf(r, ngx_http_core_module),
                r->loc_conf, name, uscf);

    __atomic_store_n(&by->owner, JPP_OWNER_NONE, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    by->upstream = uscf;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&by->owner, owner, __ATOMIC_RELAXED);

    return owner;
}


/* The sessions of stream or mail at LS. */

static uint32_t
ngx_http_jpp_serving_name_session(const ngx_listening_t *ls)
{
    uint32_t   *owner;
    ngx_uint_t  i;

    jpp_owner_raw_t  raw[JPP_ROOTS] = {
        [JPP_ROOT_SERVER] = { (char *) ls->addr_text.data,
                               ls->addr_text.len },
        [JPP_ROOT_LOCATION] = { "(session)", sizeof("(session)") - 1 }
    };

    i = ls - ngx_http_jpp_serving_sockets;

    if (i >= ngx_http_jpp_serving_n_sockets) {
        return JPP_OWNER_NONE;
    }

    owner = &ngx_http_jpp_serving_sessions[i];

    if (*owner == JPP_OWNER_NONE) {
        *owner = jpp_owner_name(raw);
    }

    return *owner;
}


/*
 * The streams of HTTP/2 that a connection serves: each has a connection that
 * is in no table, but in the pool of HTTP/2's, with a log of its own.
 *
 * [signal] Rules are those of serving.h.
 */


#if (NGX_HTTP_V2)


/* a module may be loaded by an nginx that was built without */
#pragma weak ngx_http_v2_module


/* of the pool of HTTP/2's: each has connections of seven streams */
#define NGX_HTTP_JPP_FAKES  64


/*
 * P if it is the connection of a stream, which begins as a copy of C; NULL: it
 * is something else, or waits to be used again.
 */

static const ngx_connection_t *
ngx_http_jpp_serving_fake(const ngx_connection_t *c,
    const ngx_http_v2_connection_t *h2c, const void *p)
{
    const ngx_pool_t          *pool;
    const ngx_connection_t    *fc;
    const ngx_http_log_ctx_t  *ctx;

    fc = p;
    pool = h2c->pool;

    if (!ngx_http_jpp_serving_has(pool, fc, sizeof(ngx_connection_t))
        || fc->fd != c->fd
        || fc->listening != c->listening
        || fc->number != c->number
        || !ngx_http_jpp_serving_has(pool, fc->log, sizeof(ngx_log_t)))
    {
        return NULL;
    }

    ctx = fc->log->data;

    return ngx_http_jpp_serving_has(pool, ctx, sizeof(ngx_http_log_ctx_t))
           && ctx->connection == fc
           && (ctx->request != NULL || fc->data == h2c->http_connection)
           ? fc : NULL;
}


/* The first that WORDS name; NULL: none. */

static const ngx_connection_t *
ngx_http_jpp_serving_words(const ngx_connection_t *c,
    const ngx_http_v2_connection_t *h2c, const uintptr_t *words, uint32_t n,
    ngx_uint_t *is_reading)
{
    uint32_t                 i;
    uintptr_t                word, low, high;
    const ngx_pool_t        *block;
    const ngx_connection_t  *first;

    low = UINTPTR_MAX;
    high = 0;
    first = NULL;
    *is_reading = 0;

    for (block = h2c->pool, i = 0;
         block != NULL && i < NGX_HTTP_JPP_FAKES;
         block = block->d.next, i++)
    {
        low = ngx_min(low, (uintptr_t) block);
        high = ngx_max(high, (uintptr_t) block->d.last);
    }

    for (i = 0; i < n && i < JPP_SERVING_WORDS; i++) {
        word = jpp_frame_word((uintptr_t) &words[i]);

        if (word == (uintptr_t) c->read) {
            *is_reading = 1;
        }

        if (first == NULL && word - low < high - low
            && word % sizeof(void *) == 0)
        {
            first = ngx_http_jpp_serving_fake(c, h2c, (const void *) word);
        }
    }

    return first;
}


/*
 * What the log of the stream of C, a connection of HTTP/2, refers to that the N
 * WORDS of a stack name first; NULL: they name none.  Then it WAITS for the
 * next while there is no other: which that is would be unknown.
 */

static ngx_http_log_ctx_t *
ngx_http_jpp_serving_http2(const ngx_connection_t *c, const uintptr_t *words,
    uint32_t n, uintptr_t *waits)
{
    ngx_uint_t                       is_reading;
    const ngx_connection_t          *fc;
    const ngx_http_v2_stream_t      *stream;
    const ngx_http_v2_connection_t  *h2c;

    h2c = c->data;
    *waits = h2c->processing == 0 ? JPP_SERVING_FIRST : 0;

    /* without a stream nginx may be freeing the pool, which it forgets last */

    if (words == NULL || h2c->processing == 0 || h2c->pool == NULL) {
        return NULL;
    }

    fc = ngx_http_jpp_serving_words(c, h2c, words, n, &is_reading);

    /* headers, or a body, that are parsed: nginx forgets a stream that ends */

    stream = is_reading ? h2c->state.stream : NULL;

    if (stream != NULL && stream->connection == h2c) {
        fc = stream->request->connection;
    }

    return fc != NULL ? fc->log->data : NULL;
}


/* Is C a connection of HTTP/2?  And what such DATA was accepted with. */

static ngx_uint_t
ngx_http_jpp_serving_http2_is(const ngx_connection_t *c)
{
    return &ngx_http_v2_module != NULL
           && ngx_http_jpp_serving_holds(c->pool, c->data,
                                         sizeof(ngx_http_v2_connection_t))
           && ((ngx_http_v2_connection_t *) c->data)->connection == c;
}

#endif


ngx_int_t  ngx_http_jpp_serving_located;

static ngx_cycle_t  *ngx_http_jpp_serving_cycle;

/* nginx's handler of the logs of HTTP; NULL: none was seen yet */
static ngx_log_handler_pt  ngx_http_jpp_serving_handler;


/* Learns the servers and the listening sockets, too. */

ngx_int_t
ngx_http_jpp_serving_init(ngx_cycle_t *cycle)
{
    jpp_arena_t                *arena;
    ngx_http_core_srv_conf_t  **cscf;
    ngx_http_core_main_conf_t  *cmcf;
    ngx_http_jpp_loc_conf_t    *jlcf;

    cmcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_core_module);

    ngx_http_jpp_serving_cycle = cycle;
    ngx_http_jpp_serving_located = cmcf->phase_engine.location_rewrite_index;

    arena = &ngx_http_jpp_serving_arena;

    if (arena->cap != 0) {
        jpp_arena_destroy(arena);
    }

    jpp_arena_init(arena, NGX_HTTP_JPP_SERVING_CAP);

    ngx_http_jpp_serving_sockets = cycle->listening.elts;
    ngx_http_jpp_serving_n_sockets = cycle->listening.nelts;
    ngx_http_jpp_serving_sessions =
        jpp_arena_alloc(arena, (cycle->listening.nelts + 1)
                               * sizeof(uint32_t));

    if (ngx_http_jpp_serving_sessions == NULL
        || ngx_http_jpp_servers_init(&ngx_http_jpp_serving_servers, cycle,
                                     arena)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_http_jpp_each(cscf, &cmcf->servers) {
        jlcf = (*cscf)->ctx->loc_conf[ngx_http_jemalloc_pprof_module.ctx_index];
        jlcf->is_server = 1;
    }

    return NGX_OK;
}


uint64_t
ngx_http_jpp_serving_number(uint32_t index)
{
    ngx_connection_t  *c;

    c = &ngx_http_jpp_serving_cycle->connections[index];

    if (c->read == NULL) {
        return 0;
    }

    if (c->number != 0 || c->fd == (ngx_socket_t) -1) {
        return c->number;
    }

    /* nginx's channel, and connections of modules, have none */

    return c->read->accept || c->read->handler == NULL ? JPP_SERVING_NEW : 0;
}


/* The data of the log of C, if that is HTTP's; an upstream has its client's. */

static ngx_http_log_ctx_t *
ngx_http_jpp_serving_log(const ngx_connection_t *c)
{
    ngx_log_t           *log;
    ngx_http_log_ctx_t  *ctx;

    log = c->log;

    if (ngx_http_jpp_serving_handler != NULL) {
        return log->handler == ngx_http_jpp_serving_handler ? log->data : NULL;
    }

    ctx = log->data;

    if (log->handler == NULL || c->listening == NULL
        || c->listening->handler != ngx_http_init_connection
        || !ngx_http_jpp_serving_has(c->pool, ctx, sizeof(ngx_http_log_ctx_t))
        || ctx->connection != c)
    {
        return NULL;
    }

    ngx_http_jpp_serving_handler = log->handler;

    return ctx;
}


/* The owner of CTX's request; JPP_OWNER_NONE: there is none. */

static uint32_t
ngx_http_jpp_serving_of(const ngx_http_log_ctx_t *ctx, uintptr_t *waits)
{
    ngx_http_request_t  *r, *current;

    r = ctx->request;

    if (r == NULL) {
        *waits = JPP_SERVING_NEXT;
        return JPP_OWNER_NONE;
    }

    /* a subrequest, or what is left over from a request before */

    current = ctx->current_request;

    if (current != r
        && (r->pool == NULL
            || !ngx_http_jpp_serving_holds(r->pool, current,
                                           sizeof(ngx_http_request_t))))
    {
        current = r;
    }

    return ngx_http_jpp_serving_request(current, waits);
}


uint32_t
ngx_http_jpp_serving_served(uint32_t index, const uintptr_t *words, uint32_t n,
    uintptr_t *waits)
{
#if (NGX_HTTP_V2)
    uint32_t  owner;
#endif
    ngx_connection_t    *c;
    ngx_http_log_ctx_t  *ctx;

    c = &ngx_http_jpp_serving_cycle->connections[index];

    /* Lua frees a fake connection with 0, when its log is gone */

    if (c->fd == (ngx_socket_t) -1 || c->fd == 0) {
        return JPP_OWNER_NONE;
    }

    if (c->number == 0) {
        /* It was just accepted, or it listens. */

        if (c->read->accept) {
            *waits = JPP_SERVING_OTHERS;
            return JPP_OWNER_NONE;
        }

        *waits = JPP_SERVING_NEXT;

        return JPP_OWNER_ACCEPT;
    }

    ctx = ngx_http_jpp_serving_log(c);

    if (ctx != NULL && ctx->request != NULL) {
        return ngx_http_jpp_serving_of(ctx, waits);
    }

    /* an upstream's, while its client is unknown */

    if (c->listening == NULL) {
        return JPP_OWNER_NONE;
    }

    if (c->listening->handler != ngx_http_init_connection) {
        return ngx_http_jpp_serving_name_session(c->listening);
    }

#if (NGX_HTTP_V2)
    if (ngx_http_jpp_serving_http2_is(c)) {
        ctx = ngx_http_jpp_serving_http2(c, words, n, waits);

        if (ctx == NULL) {
            return *waits != 0 ? JPP_OWNER_NONE
                               : ngx_http_jpp_serving_meanwhile(index);
        }

        *waits = 0;
        owner = ngx_http_jpp_serving_of(ctx, waits);

        if (*waits != 0) {
            *waits = (uintptr_t) ctx->connection;
        }

        return owner;
    }
#endif

    *waits = JPP_SERVING_NEXT;

    return JPP_OWNER_NONE;
}


/* The server that the address of C has for requests without a name; of one that
   was closed only the port is known. */

static ngx_http_core_srv_conf_t *
ngx_http_jpp_serving_default(const ngx_connection_t *c)
{
    ngx_uint_t            i, n, is_v6;
    ngx_http_port_t      *port;
    ngx_http_in_addr_t   *addr;
    ngx_http_in6_addr_t  *addr6;
    struct sockaddr_in   *sin;
    struct sockaddr_in6  *sin6;

    port = c->listening->servers;
    addr = port->addrs;
    addr6 = port->addrs;
    sin = (struct sockaddr_in *) c->local_sockaddr;
    sin6 = (struct sockaddr_in6 *) c->local_sockaddr;

    is_v6 = c->listening->sockaddr->sa_family == AF_INET6;
    n = port->naddrs - 1;
    i = c->fd != (ngx_socket_t) -1 && c->local_sockaddr != NULL ? 0 : n;

    while (i < n
           && (is_v6
               ? ngx_memcmp(&addr6[i].addr6, &sin6->sin6_addr, 16) != 0
               : addr[i].addr != sin->sin_addr.s_addr))
    {
        i++;
    }

    return is_v6 ? addr6[i].conf.default_server : addr[i].conf.default_server;
}


/* The server of C, which has no request. */

static uint32_t
ngx_http_jpp_serving_open(const ngx_connection_t *c)
{
    const void                   *data;
    ngx_http_core_srv_conf_t     *cscf;
    const ngx_http_connection_t  *hc;

    data = c->data;

#if (NGX_HTTP_V2)
    if (ngx_http_jpp_serving_http2_is(c)) {
        data = ((const ngx_http_v2_connection_t *) data)->http_connection;
    }
#endif

    /* it may be something else than what C was accepted with */

    hc = data;
    cscf = ngx_http_jpp_serving_holds(c->pool, hc,
                                      sizeof(ngx_http_connection_t))
           ? ngx_http_jpp_servers_find(&ngx_http_jpp_serving_servers,
                                       hc->conf_ctx)
           : NULL;

    return ngx_http_jpp_serving_name_server(
               cscf != NULL ? cscf : ngx_http_jpp_serving_default(c));
}


/* Until it is used again, one that was closed says where it came from. */

uint32_t
ngx_http_jpp_serving_meanwhile(uint32_t index)
{
    ngx_connection_t  *c;

    c = &ngx_http_jpp_serving_cycle->connections[index];

    if (c->read != NULL && c->read->accept) {
        return JPP_OWNER_ACCEPT;
    }

    if (c->listening == NULL
        || c->listening->handler != ngx_http_init_connection)
    {
        return JPP_OWNER_NONE;
    }

    return c->fd != (ngx_socket_t) -1
           ? ngx_http_jpp_serving_open(c)
           : ngx_http_jpp_serving_name_server(ngx_http_jpp_serving_default(c));
}


uint32_t
ngx_http_jpp_serving_request(ngx_http_request_t *r, uintptr_t *waits)
{
    uint32_t                             owner;
    ngx_http_jpp_by_t                   *by;
    ngx_http_upstream_t                 *u;
    ngx_http_jpp_loc_conf_t             *jlcf;
    const ngx_http_upstream_srv_conf_t  *uscf;

    jlcf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    if (!ngx_http_jpp_serving_is_located(r, jlcf)) {
        *waits = JPP_SERVING_NEXT;

        return ngx_http_jpp_serving_name_server(
                   ngx_http_get_module_srv_conf(r, ngx_http_core_module));
    }

    /* nginx ends what is to be done for one that has answered */

    u = r->upstream;

    uscf = u != NULL && u->cleanup != NULL ? u->upstream : NULL;
    by = &jlcf->owners[uscf != NULL];
    owner = __atomic_load_n(&by->owner, __ATOMIC_RELAXED);

    return owner != JPP_OWNER_NONE && by->upstream == uscf
           ? owner
           : ngx_http_jpp_serving_name_another(r, by, uscf);
}
