
#include "ngx_http_jpp_pools_count.h"
#include "ngx_http_jpp_pools_http2.h"
#include "ngx_http_jpp_pools_names.h"
#include "ngx_http_jpp_pools_requests.h"
#include "ngx_http_jpp_pools_scope.h"

#if (NGX_HTTP_V2)

#include <ngx_http_v2_module.h>

/* a module may be loaded by an nginx that was built without */
#pragma weak ngx_http_v2_module


static ngx_uint_t ngx_http_jpp_http2_stream(ngx_http_jpp_walk_t *walk,
    ngx_connection_t *c, ngx_http_v2_connection_t *h2c,
    const ngx_http_v2_node_t *node);
static void ngx_http_jpp_http2_headers(ngx_http_jpp_walk_t *walk,
    ngx_pool_t *pool, const ngx_http_core_srv_conf_t *cscf);


void *
ngx_http_jpp_http2_of(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    ngx_http_core_srv_conf_t **cscf)
{
    ngx_http_v2_connection_t  *h2c;
    ngx_http_jpp_server_t     *server;

    h2c = c->data;

    if (&ngx_http_v2_module == NULL
        || !ngx_http_jpp_scope_has(walk, h2c, sizeof(ngx_http_v2_connection_t))
        || h2c->connection != c)
    {
        return NULL;
    }

    server = ngx_http_jpp_request_server(walk, h2c->http_connection);

    if (server == NULL) {
        return NULL;
    }

    *cscf = server->cscf;

    return h2c;
}


void
ngx_http_jpp_http2_connection(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    void *http2, uint32_t owner, ngx_http_core_srv_conf_t *cscf)
{
    ngx_http_v2_connection_t *h2c = http2;

    ngx_uint_t                     i, n, has_stream;
    ngx_http_v2_node_t            *node;
    ngx_http_v2_srv_conf_t        *h2scf;

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
             ngx_http_jpp_scope_has(walk, node,
                                    sizeof(ngx_http_v2_node_t));
             node = node->index)
        {
            has_stream |= ngx_http_jpp_http2_stream(walk, c, h2c, node);
        }
    }

    if (h2c->state.pool != NULL && !has_stream) {
        ngx_http_jpp_http2_headers(walk, h2c->state.pool, cscf);
    }
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


static void
ngx_http_jpp_http2_headers(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool,
    const ngx_http_core_srv_conf_t *cscf)
{
    uint32_t               owner;
    ngx_http_jpp_extent_t  extent;

    extent = ngx_http_jpp_scope_extent(walk);

    owner = jpp_pools_owner(&walk->table, JPP_POOLS_HTTP2_HEADERS,
                            ngx_http_jpp_name_server(walk, cscf), 0, 0);

    ngx_http_jpp_count_pool(walk, pool, owner);
    ngx_http_jpp_count_flush(walk);
    ngx_http_jpp_scope_restore(walk, extent);
}

#else

void *
ngx_http_jpp_http2_of(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    ngx_http_core_srv_conf_t **cscf)
{
    (void) walk;
    (void) c;
    (void) cscf;

    return NULL;
}


void
ngx_http_jpp_http2_connection(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    void *http2, uint32_t owner, ngx_http_core_srv_conf_t *cscf)
{
    (void) c;
    (void) http2;
    (void) owner;
    (void) cscf;

    ngx_http_jpp_count_flush(walk);
}

#endif


#if (NGX_HTTP_V3)

ngx_uint_t
ngx_http_jpp_http3_is(const ngx_connection_t *c)
{
    return c->listening->quic;
}


/* A stream does not outlive its connection, which has a session as its data. */

ngx_http_jpp_server_t *
ngx_http_jpp_http3_server(ngx_http_jpp_walk_t *walk, const ngx_connection_t *c)
{
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
}

#else

ngx_uint_t
ngx_http_jpp_http3_is(const ngx_connection_t *c)
{
    (void) c;

    return 0;
}


ngx_http_jpp_server_t *
ngx_http_jpp_http3_server(ngx_http_jpp_walk_t *walk, const ngx_connection_t *c)
{
    (void) walk;
    (void) c;

    return NULL;
}

#endif
