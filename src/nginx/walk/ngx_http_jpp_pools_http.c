
/*
 * Scans connections that HTTP accepted: their kind, and their server.
 */


#include <ngx_http_v2_module.h>

#include "ngx_http_jpp_pools_walk.h"


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

    if (&ngx_http_v2_module == NULL
        || !ngx_http_jpp_scope_has(walk, h2c, sizeof(ngx_http_v2_connection_t))
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

#endif


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
        || !ngx_http_jpp_scope_has(walk, r->connection,
                                   sizeof(ngx_connection_t))
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
             ngx_http_jpp_scope_has(walk, node, sizeof(ngx_http_v2_node_t));
             node = node->index)
        {
            has_stream |= ngx_http_jpp_http2_stream(walk, c, h2c, node);
        }
    }

    if (h2c->state.pool != NULL && !has_stream) {
        ngx_http_jpp_http2_headers(walk, h2c->state.pool, cscf);
    }
}


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
           ? ngx_http_jpp_names_server(walk, hc->conf_ctx) : NULL;
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
        cscf = ngx_http_jpp_request_server(walk, p);

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

    ctx = ngx_http_jpp_scope_has(walk, c->log, sizeof(ngx_log_t))
          ? c->log->data : NULL;

    if (!ngx_http_jpp_scope_has(walk, ctx, sizeof(ngx_http_log_ctx_t))
        || ctx->connection != c)
    {
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


void
ngx_http_jpp_http_connection(ngx_http_jpp_walk_t *walk, ngx_connection_t *c)
{
    uint32_t              owner;
    ngx_http_jpp_last_t  *last;
    ngx_http_jpp_found_t  found;

    ngx_http_jpp_scope_open(walk, c->pool);
    ngx_http_jpp_count_larges(walk, c->pool);

    ngx_memzero(&found, sizeof(ngx_http_jpp_found_t));

    if (ngx_http_jpp_http_log(walk, c, &found) != NGX_OK) {

        /* a timer of Lua, for example, that borrows a client's listening */

        ngx_http_jpp_others_foreign(walk, c);
        return;
    }

    last = &walk->last;

    if (last->id == 0 || last->cscf != found.cscf || last->kind != found.kind) {
        last->cscf = found.cscf;
        last->kind = found.kind;
        last->id = ngx_http_jpp_owner_server(walk, found.kind, found.cscf);
    }

    owner = last->id;

    ngx_http_jpp_unit_begin(walk, owner, 0);

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

    ngx_http_jpp_unit_end(walk, 0, c, found.request);
}
