
/*
 * Scans accepted connections: HTTP of any version, stream and mail; stream and
 * mail may be built in, loaded, or absent.
 */


#include "ngx_http_jpp_pools.h"

#if (NGX_HTTP_V2)
#include <ngx_http_v2_module.h>
#endif

#include <ngx_mail.h>
#include <ngx_stream.h>

#include <dlfcn.h>


/* so many free slots are as much work as a block */
#define NGX_HTTP_JPP_FREE  16


/*
 * Connections of HTTP/2, whose streams are in no table of nginx's, and of
 * HTTP/3, whose streams are connections.  A build of nginx without them has
 * none.
 */


#if (NGX_HTTP_V2)


/* a module may be loaded by an nginx that was built without */
#pragma weak ngx_http_v2_module


/*
 * The data of C, whose pool is in scope, if it is an HTTP/2 connection's, and
 * its server; or NULL.
 */

static ngx_http_v2_connection_t *
ngx_http_jpp_http2_of(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    ngx_http_core_srv_conf_t **cscf)
{
    ngx_http_v2_connection_t  *h2c;

    h2c = c->data;

    if (&ngx_http_v2_module == NULL || !ngx_http_jpp_in_scope(walk, h2c)
        || h2c->connection != c)
    {
        return NULL;
    }

    *cscf = ngx_http_jpp_request_server(walk, h2c->http_connection);

    return *cscf != NULL ? h2c : NULL;
}


static void
ngx_http_jpp_http2_headers(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool,
    const ngx_http_core_srv_conf_t *cscf)
{
    uint32_t               owner;
    ngx_http_jpp_extent_t  extent;

    extent = ngx_http_jpp_scope_extent(walk);

    owner = ngx_http_jpp_owner_server(walk, JPP_POOLS_HTTP2_HEADERS, cscf);

    ngx_http_jpp_count_pool(walk, pool, owner);
    ngx_http_jpp_count_flush(walk);
    ngx_http_jpp_scope_restore(walk, extent);
}


/*
 * A stream lies in the pool of its request.  nginx clears that of its node
 * before it frees the request, as it does with the request of a log.  True: the
 * pool that the connection parses headers into is this one's.
 */

static ngx_uint_t
ngx_http_jpp_http2_stream(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    ngx_http_v2_connection_t *h2c, const ngx_http_v2_node_t *node)
{
    ngx_http_request_t     *r;
    ngx_http_v2_stream_t   *stream;
    ngx_http_jpp_extent_t   extent;

    stream = node->stream;
    walk->work++;

    if (stream == NULL || stream->connection != h2c || stream->node != node) {
        return 0;
    }

    r = stream->request;

    if (r == NULL || r->stream != stream
        || !ngx_http_jpp_in_scope(walk, r->connection)
        || !ngx_http_jpp_request_is_of(r, r->connection))
    {
        return 0;
    }

    extent = ngx_http_jpp_scope_extent(walk);

    if (stream->pool != NULL) {
        ngx_http_jpp_http2_headers(walk, stream->pool,
                       ngx_http_get_module_srv_conf(r, ngx_http_core_module));
        ngx_http_jpp_scope_push(walk, stream->pool);
    }

    ngx_http_jpp_request_count(walk, c, r);

    ngx_http_jpp_scope_restore(walk, extent);

    return stream->pool == h2c->state.pool;
}


/*
 * Count the pools and the streams of H2C, the data of C, whose own pool was
 * counted for OWNER.
 */

static void
ngx_http_jpp_http2_connection(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    ngx_http_v2_connection_t *h2c, uint32_t owner,
    ngx_http_core_srv_conf_t *cscf)
{
    ngx_uint_t               i, n, has_stream;
    ngx_http_v2_node_t      *node;
    ngx_http_v2_srv_conf_t  *h2scf;

    ngx_http_jpp_scope_mark(walk, h2c, JPP_POOLS_HTTP2_BUFFERS);
    ngx_http_jpp_scope_mark(walk, h2c->streams_index, JPP_POOLS_HTTP2_BUFFERS);
    ngx_http_jpp_scope_mark(walk, h2c->hpack.storage, JPP_POOLS_HTTP2_BUFFERS);
    ngx_http_jpp_scope_mark(walk, h2c->hpack.entries, JPP_POOLS_HTTP2_BUFFERS);

    /* there is none while the connection is idle */

    if (h2c->pool != NULL) {
        ngx_http_jpp_scope_push(walk, h2c->pool);
        ngx_http_jpp_count_pool(walk, h2c->pool, owner);
    }

    ngx_http_jpp_count_flush(walk);

    h2scf = cscf->ctx->srv_conf[ngx_http_v2_module.ctx_index];
    n = h2scf->streams_index_mask + 1;
    has_stream = 0;

    if (!ngx_http_jpp_scope_has(walk, h2c->streams_index,
                                n * sizeof(ngx_http_v2_node_t *)))
    {
        return;
    }

    for (i = 0; i < n; i++) {

        for (node = h2c->streams_index[i];
             ngx_http_jpp_in_scope(walk, node);
             node = node->index)
        {
            has_stream |= ngx_http_jpp_http2_stream(walk, c, h2c, node);
        }
    }

    if (h2c->state.pool != NULL && !has_stream) {
        ngx_http_jpp_http2_headers(walk, h2c->state.pool, cscf);
    }
}

#endif


/* Is C a connection of HTTP/3, or a stream of one? */

#if (NGX_HTTP_V3)
#define ngx_http_jpp_http3_is(c)  ((c)->listening->quic)
#else
#define ngx_http_jpp_http3_is(c)  0
#endif


/*
 * The server of C, a stream of HTTP/3 which has no request; NULL: unknown.
 *
 * A stream does not outlive its connection, which has a session as its data.
 */

static ngx_http_core_srv_conf_t *
ngx_http_jpp_http3_server(ngx_http_jpp_walk_t *walk, const ngx_connection_t *c)
{
#if (NGX_HTTP_V3)
    void                          **session;
    ngx_connection_t               *parent;
    const ngx_http_connection_t    *hc;

    if (c->quic == NULL) {
        return NULL;
    }

    parent = c->quic->parent;

    if (ngx_http_jpp_walk_slot(walk, parent) == NGX_ERROR
        || parent->fd == (ngx_socket_t) -1 || parent->pool == NULL)
    {
        return NULL;
    }

    session = parent->data;

    if (!ngx_http_jpp_pool_has(parent->pool, session, sizeof(void *))) {
        return NULL;
    }

    hc = *session;

    return ngx_http_jpp_pool_has(parent->pool, hc,
                                 sizeof(ngx_http_connection_t))
           ? ngx_http_jpp_servers_find(&walk->servers, hc->conf_ctx) : NULL;
#else
    return NULL;
#endif
}


/* What a client's connection is, as its data says. */
typedef struct {
    jpp_pools_kind_t             kind;
    ngx_http_request_t          *request;      /* NULL: none */
    ngx_http_core_srv_conf_t    *cscf;         /* NULL: unknown */
    void                        *http2;        /* of JPP_POOLS_HTTP2 */
} ngx_http_jpp_found_t;


/*
 * Nothing refers to what a connection was accepted with, but it is still there:
 * nginx allocates it a little before what the log refers to.
 */

static ngx_http_core_srv_conf_t *
ngx_http_jpp_http_closing(ngx_http_jpp_walk_t *walk, const ngx_connection_t *c)
{
    const u_char              *p, *first;
    ngx_http_core_srv_conf_t  *cscf;

    p = c->log->data;
    first = (const u_char *) c->pool + sizeof(ngx_pool_t);

    if (p < first || p >= c->pool->d.last) {
        return NULL;
    }

    while (p >= first + NGX_ALIGNMENT) {
        p -= NGX_ALIGNMENT;
        cscf = ngx_http_jpp_request_server(walk, (const void *) p);

        if (cscf != NULL) {
            return cscf;
        }
    }

    return NULL;
}


/*
 * nginx keeps the request of a client's log exact: it is set when a request is
 * created, and cleared before its pool is destroyed.
 */

static ngx_int_t
ngx_http_jpp_http_log(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    ngx_http_jpp_found_t *found)
{
    void                *first;
    ngx_http_request_t  *r;
    ngx_http_log_ctx_t  *ctx;

    found->kind = ngx_http_jpp_http3_is(c) ? JPP_POOLS_HTTP3
                                           : JPP_POOLS_CLIENT_CONNECTION;

    ctx = ngx_http_jpp_in_scope(walk, c->log) ? c->log->data : NULL;

    if (!ngx_http_jpp_in_scope(walk, ctx) || ctx->connection != c) {

        /* a stream of HTTP/3 that nginx itself has opened has its parent's */

        if (!ngx_http_jpp_http3_is(c)) {
            return NGX_DECLINED;
        }

        found->cscf = ngx_http_jpp_http3_server(walk, c);

        return NGX_OK;
    }

    r = ctx->request;

    if (r != NULL && ngx_http_jpp_request_is_of(r, c)) {
        found->request = r;
        found->cscf = ngx_http_get_module_srv_conf(r, ngx_http_core_module);

        return NGX_OK;
    }

    found->cscf = ngx_http_jpp_request_server(walk, c->data);

    if (found->cscf == NULL) {
        /*
         * Without a request: data may be that of one which is no more, while
         * the end of TLS is waited for.
         */

        first = ngx_http_jpp_scope_has(walk, c->data, sizeof(void *))
                ? *(void **) c->data : NULL;

        if (ngx_http_jpp_http3_is(c)) {
            found->cscf = ngx_http_jpp_request_server(walk, first);

            if (found->cscf == NULL) {
                found->cscf = ngx_http_jpp_http3_server(walk, c);
            }

        } else {
            found->kind = JPP_POOLS_CLOSING;

#if (NGX_HTTP_V2)
            found->http2 = first == c
                           ? ngx_http_jpp_http2_of(walk, c, &found->cscf)
                           : NULL;

            if (found->http2 != NULL) {
                found->kind = JPP_POOLS_HTTP2;
            }
#endif
        }

        if (found->cscf == NULL) {
            found->cscf = ngx_http_jpp_http_closing(walk, c);
        }
    }

    return NGX_OK;
}


static void
ngx_http_jpp_http_connection(ngx_http_jpp_walk_t *walk, ngx_connection_t *c)
{
    uint32_t              owner;
    ngx_http_jpp_found_t  found;

    ngx_http_jpp_scope_open(walk, c->pool);
    ngx_http_jpp_count_larges(walk, c->pool);

    ngx_memzero(&found, sizeof(ngx_http_jpp_found_t));

    if (ngx_http_jpp_http_log(walk, c, &found) != NGX_OK) {

        /* a timer of Lua, for example, that borrows a client's listening */

        ngx_http_jpp_others_foreign(walk, c);
        return;
    }

    owner = ngx_http_jpp_owner_server(walk, found.kind, found.cscf);

    jpp_pools_begin(&walk->table, owner);

    ngx_http_jpp_count_claim(walk, c->pool, owner);
    ngx_http_jpp_buffers_connection(walk, c,
        found.request != NULL ? found.request->http_connection
        : found.kind == JPP_POOLS_CLIENT_CONNECTION ? c->data : NULL);

    if (found.http2 == NULL) {
        ngx_http_jpp_count_flush(walk);

        if (found.request != NULL) {
            ngx_http_jpp_request_count(walk, c, found.request);
        }
    }

#if (NGX_HTTP_V2)
    if (found.http2 != NULL) {
        ngx_http_jpp_http2_connection(walk, c, found.http2, owner, found.cscf);
    }
#endif

    ngx_http_jpp_unit_end(walk, owner, c, found.request);
}


/* The sessions of stream, or of mail. */
typedef struct {
    jpp_pools_kind_t   kind;
    const char        *symbol;         /* what accepts its connections */
    void              *accepts;        /* the same; NULL: there is none */

    /* Mark the buffers of DATA, which is in scope; its peer, or NULL. */
    ngx_connection_t  *(*buffers)(ngx_http_jpp_walk_t *walk,
                                  const ngx_connection_t *c, void *data);
} ngx_http_jpp_sessions_t;


static ngx_connection_t *
ngx_http_jpp_sessions_stream(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c, void *data)
{
    ngx_stream_session_t *s = data;

    ngx_stream_upstream_t  *u;

    if (!ngx_http_jpp_in_scope(walk, s)
        || s->signature != NGX_STREAM_MODULE || s->connection != c
        || !ngx_http_jpp_in_scope(walk, s->upstream))
    {
        return NULL;
    }

    u = s->upstream;

    ngx_http_jpp_scope_mark(walk, s, JPP_POOLS_SESSION);
    ngx_http_jpp_scope_mark(walk, u, JPP_POOLS_SESSION);
    ngx_http_jpp_scope_mark(walk, u->upstream_buf.start, JPP_POOLS_SESSION);
    ngx_http_jpp_scope_mark(walk, u->downstream_buf.start, JPP_POOLS_SESSION);
    return u->peer.connection;
}


static ngx_connection_t *
ngx_http_jpp_sessions_mail(ngx_http_jpp_walk_t *walk, const ngx_connection_t *c,
    void *data)
{
    ngx_mail_session_t *s = data;

    if (!ngx_http_jpp_in_scope(walk, s)
        || s->signature != NGX_MAIL_MODULE || s->connection != c)
    {
        return NULL;
    }

    ngx_http_jpp_scope_mark(walk, s, JPP_POOLS_SESSION);

    if (ngx_http_jpp_in_scope(walk, s->buffer)) {
        ngx_http_jpp_scope_mark(walk, s->buffer->start, JPP_POOLS_SESSION);
    }

    if (!ngx_http_jpp_in_scope(walk, s->proxy)) {
        return NULL;
    }

    if (ngx_http_jpp_in_scope(walk, s->proxy->buffer)) {
        ngx_http_jpp_scope_mark(walk, s->proxy->buffer->start,
                                JPP_POOLS_SESSION);
    }

    return s->proxy->upstream.connection;
}


static const ngx_module_t  *ngx_http_jpp_auth_http;


/*
 * What auth_http asks with has a pool of its own, and is the first in it.  The
 * session does not forget it when the answer is there; but until then there is
 * the connection, which it refers to, and no proxy yet.
 */

void
ngx_http_jpp_sessions_auth(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *accepted, const ngx_connection_t *c, uint32_t owner)
{
    ngx_uint_t              index;
    ngx_pool_t             *pool;
    ngx_mail_session_t     *s;
    ngx_peer_connection_t  *peer;

    s = accepted->data;

    /*
     * With NGX_DEBUG_PALLOC nothing lies behind its pool, so that pool cannot
     * be found: the cycle, which is the first in its own, shows that.
     */

    if (ngx_http_jpp_auth_http == NULL || c->data != s
        || (const u_char *) walk->cycle
           != (const u_char *) walk->cycle->pool + sizeof(ngx_pool_t))
    {
        return;
    }

    index = ngx_http_jpp_auth_http->ctx_index;

    ngx_http_jpp_scope_open(walk, accepted->pool);
    ngx_http_jpp_count_larges(walk, accepted->pool);

    if (!ngx_http_jpp_in_scope(walk, s)
        || s->signature != NGX_MAIL_MODULE || s->connection != accepted
        || s->proxy != NULL
        || !ngx_http_jpp_scope_has(walk, s->ctx, (index + 1) * sizeof(void *))
        || s->ctx[index] == NULL)
    {
        return;
    }

    /* it begins with two buffers, and then the peer */

    peer = (ngx_peer_connection_t *) ((ngx_buf_t **) s->ctx[index] + 2);
    pool = (ngx_pool_t *) ((u_char *) s->ctx[index] - sizeof(ngx_pool_t));

    if (peer->connection == c
        && ngx_http_jpp_pool_has(pool, peer, sizeof(ngx_peer_connection_t)))
    {
        /* the session's own were counted with it */

        ngx_http_jpp_scope_open(walk, pool);
        ngx_http_jpp_count_pool(walk, pool, owner);
        ngx_http_jpp_count_flush(walk);
    }
}


static ngx_http_jpp_sessions_t  ngx_http_jpp_sessions[] = {
    { JPP_POOLS_STREAM, "ngx_stream_init_connection", NULL,
      ngx_http_jpp_sessions_stream },

    { JPP_POOLS_MAIL, "ngx_mail_init_connection", NULL,
      ngx_http_jpp_sessions_mail },

    { 0, NULL, NULL, NULL }
};


/* for one that is missing dlsym() would keep memory */

static void *
ngx_http_jpp_sessions_symbol(const char *name)
{
    return jpp_images_has(name) ? dlsym(RTLD_DEFAULT, name) : NULL;
}


/* By name: a module may be loaded after this one. */

void
ngx_http_jpp_connections_init(void)
{
    ngx_http_jpp_sessions_t  *sessions;

    for (sessions = ngx_http_jpp_sessions; sessions->symbol != NULL; sessions++)
    {
        sessions->accepts = ngx_http_jpp_sessions_symbol(sessions->symbol);
    }

    ngx_http_jpp_auth_http =
        ngx_http_jpp_sessions_symbol("ngx_mail_auth_http_module");
}


static ngx_uint_t
ngx_http_jpp_sessions_connection(ngx_http_jpp_walk_t *walk, ngx_connection_t *c)
{
    uint32_t                        owner;
    const ngx_str_t                *address;
    ngx_connection_t               *pc;
    const ngx_http_jpp_sessions_t  *sessions;

    sessions = ngx_http_jpp_sessions;

    while (sessions->symbol != NULL
           && (sessions->accepts == NULL
               || (void *) c->listening->handler != sessions->accepts))
    {
        sessions++;
    }

    if (sessions->symbol == NULL) {
        return 0;
    }

    ngx_http_jpp_scope_open(walk, c->pool);

    address = &c->listening->addr_text;

    owner = jpp_pools_owner(&walk->table, sessions->kind, 0, 0,
                            jpp_pools_name(&walk->table, JPP_POOLS_ADDRESS,
                                           c->listening, (char *) address->data,
                                           address->len));

    jpp_pools_begin(&walk->table, owner);
    ngx_http_jpp_others_client(walk, c, c->log, c->pool, owner,
                               sessions->kind == JPP_POOLS_MAIL);

    ngx_http_jpp_count_pool(walk, c->pool, owner);
    ngx_http_jpp_buffers_connection(walk, c, NULL);

    pc = sessions->buffers(walk, c, c->data);

    /* the peer has the session's pool */

    if (pc != NULL
        && ngx_http_jpp_walk_slot(walk, pc) != NGX_ERROR
        && pc->pool == c->pool)
    {
        (void) ngx_http_jpp_others_count(walk, pc);
        ngx_http_jpp_buffers_tls(walk, pc);
    }

    ngx_http_jpp_count_flush(walk);
    ngx_http_jpp_unit_end(walk, owner, c, NULL);

    return 1;
}


static void
ngx_http_jpp_walk_connection(ngx_http_jpp_walk_t *walk, ngx_connection_t *c)
{
    /* what listens has no pool, and channels have the configuration's */

    if (c->pool == NULL || c->pool == walk->cycle->pool) {
        return;
    }

#if (NGX_SSL)
    walk->table.facts.n_tls += c->ssl != NULL;
#endif

    if (c->fd == (ngx_socket_t) -1 || c->listening == NULL) {
        ngx_http_jpp_others_postpone(walk, c);

    } else if (c->listening->handler == ngx_http_init_connection) {
        ngx_http_jpp_http_connection(walk, c);

    } else if (!ngx_http_jpp_sessions_connection(walk, c)) {
        ngx_http_jpp_others_foreign(walk, c);
    }
}


/*
 * Most slots are free, and each costs a line of the processor's cache: a walk
 * that sees all that are used in one slice, while nothing changes, is done.
 */

ngx_int_t
ngx_http_jpp_connections_walk(ngx_http_jpp_walk_t *walk)
{
    ngx_uint_t          n_used, n_seen;
    ngx_connection_t   *c;
    const ngx_cycle_t  *cycle;

    cycle = walk->cycle;

    if (cycle->connections == NULL) {
        return NGX_OK;
    }

    /* in a later slice nobody knows how many are before this one */

    n_used = walk->slot == 0 ? cycle->connection_n - cycle->free_connection_n
                             : cycle->connection_n;
    n_seen = 0;

    while (walk->slot < cycle->connection_n && n_seen < n_used) {

        if (ngx_http_jpp_walk_is_over(walk)) {
            return NGX_AGAIN;
        }

        c = &cycle->connections[walk->slot++];
        walk->work += walk->slot % NGX_HTTP_JPP_FREE == 0;

        if (ngx_http_jpp_walk_is_used(walk, c)) {
            n_seen++;
            walk->work++;

            ngx_http_jpp_walk_connection(walk, c);
        }
    }

    walk->slot = cycle->connection_n;

    return NGX_OK;
}
