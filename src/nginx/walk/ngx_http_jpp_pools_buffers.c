
#include "ngx_http_jpp_pools_buffers.h"
#include "ngx_http_jpp_pools_names.h"
#include "ngx_http_jpp_pools_scope.h"


static void ngx_http_jpp_buffers_tls(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c);
static void ngx_http_jpp_buffers_body(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_body_t *body);
static void ngx_http_jpp_buffers_upstream(ngx_http_jpp_walk_t *walk,
    const ngx_http_upstream_t *u);
static void ngx_http_jpp_buffers_pipe(ngx_http_jpp_walk_t *walk,
    const ngx_event_pipe_t *p);
static void ngx_http_jpp_buffers_to_upstream(ngx_http_jpp_walk_t *walk,
    const ngx_http_upstream_t *u);
static void ngx_http_jpp_buffers_buf(ngx_http_jpp_walk_t *walk,
    const ngx_buf_t *b, jpp_pools_class_t class);


void
ngx_http_jpp_buffers_connection(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c, const void *hc)
{
    const ngx_http_connection_t  *connection;

    if (walk->scope.n_unnamed == 0) {
        return;
    }

    ngx_http_jpp_buffers_buf(walk, c->buffer, JPP_POOLS_HEADERS);
    ngx_http_jpp_buffers_tls(walk, c);

    if (!ngx_http_jpp_scope_has(walk, hc, sizeof(ngx_http_connection_t))) {
        return;
    }

    connection = hc;

    ngx_http_jpp_scope_mark_chain(walk, connection->busy, JPP_POOLS_HEADERS);
    ngx_http_jpp_scope_mark_chain(walk, connection->free, JPP_POOLS_HEADERS);
}


void
ngx_http_jpp_buffers_peer(ngx_http_jpp_walk_t *walk, const ngx_connection_t *pc)
{
    if (walk->scope.n_unnamed != 0) {
        ngx_http_jpp_buffers_tls(walk, pc);
    }
}


static void
ngx_http_jpp_buffers_tls(ngx_http_jpp_walk_t *walk, const ngx_connection_t *c)
{
#if (NGX_SSL)
    if (ngx_http_jpp_scope_has(walk, c->ssl, sizeof(ngx_ssl_connection_t))) {
        ngx_http_jpp_buffers_buf(walk, c->ssl->buf, JPP_POOLS_TLS);
    }
#else
    (void) walk;
    (void) c;
#endif
}


void
ngx_http_jpp_buffers_request(ngx_http_jpp_walk_t *walk, ngx_http_request_t *r,
    uint32_t upstream)
{
    if (walk->scope.n_unnamed == 0) {
        return;
    }

    ngx_http_jpp_buffers_buf(walk, r->header_in, JPP_POOLS_HEADERS);

    if (ngx_http_jpp_scope_has(walk, r->request_body,
                               sizeof(ngx_http_request_body_t)))
    {
        ngx_http_jpp_buffers_body(walk, r->request_body);
    }

#if (NGX_HTTP_V2)
    if (ngx_http_jpp_scope_has(walk, r->stream, sizeof(ngx_http_v2_stream_t))) {
        ngx_http_jpp_buffers_buf(walk, r->stream->preread, JPP_POOLS_BODY);
    }
#endif

    walk->scope.owner = upstream;

#if (NGX_HTTP_CACHE)
    if (ngx_http_jpp_scope_has(walk, r->cache, sizeof(ngx_http_cache_t))) {
        ngx_http_jpp_buffers_buf(walk, r->cache->buf,
                                 JPP_POOLS_UPSTREAM_HEADER);
    }
#endif

    if (ngx_http_jpp_scope_has(walk, r->upstream, sizeof(ngx_http_upstream_t)))
    {
        ngx_http_jpp_buffers_upstream(walk, r->upstream);
        walk->scope.owner = 0;
        ngx_http_jpp_buffers_to_upstream(walk, r->upstream);
    }

    walk->scope.owner = 0;
}


static void
ngx_http_jpp_buffers_body(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_body_t *body)
{
    ngx_http_jpp_buffers_buf(walk, body->buf, JPP_POOLS_BODY);

    ngx_http_jpp_scope_mark_chain(walk, body->bufs, JPP_POOLS_BODY);
    ngx_http_jpp_scope_mark_chain(walk, body->busy, JPP_POOLS_BODY);
    ngx_http_jpp_scope_mark_chain(walk, body->free, JPP_POOLS_BODY);
}


static void
ngx_http_jpp_buffers_upstream(ngx_http_jpp_walk_t *walk,
    const ngx_http_upstream_t *u)
{
    ngx_http_jpp_scope_mark(walk, u->buffer.start, JPP_POOLS_UPSTREAM_HEADER);
    ngx_http_jpp_scope_mark(walk, u->from_client.start,
                            JPP_POOLS_UPSTREAM_BUFFERS);

    if (ngx_http_jpp_scope_has(walk, u->pipe, sizeof(ngx_event_pipe_t))) {
        ngx_http_jpp_buffers_pipe(walk, u->pipe);
    }

    ngx_http_jpp_scope_mark_chain(walk, u->out_bufs,
                                  JPP_POOLS_UPSTREAM_BUFFERS);
    ngx_http_jpp_scope_mark_chain(walk, u->busy_bufs,
                                  JPP_POOLS_UPSTREAM_BUFFERS);
    ngx_http_jpp_scope_mark_chain(walk, u->free_bufs,
                                  JPP_POOLS_UPSTREAM_BUFFERS);
    ngx_http_jpp_scope_mark_chain(walk, u->request_bufs,
                                  JPP_POOLS_UPSTREAM_BUFFERS);
}


static void
ngx_http_jpp_buffers_pipe(ngx_http_jpp_walk_t *walk, const ngx_event_pipe_t *p)
{
    ngx_uint_t          i;
    const ngx_chain_t  *chains[6];

    chains[0] = p->free_raw_bufs;
    chains[1] = p->in;
    chains[2] = p->out;
    chains[3] = p->busy;
    chains[4] = p->free;
    chains[5] = p->preread_bufs;

    for (i = 0; i < 6; i++) {
        ngx_http_jpp_scope_mark_chain(walk, chains[i],
                                      JPP_POOLS_UPSTREAM_BUFFERS);
    }

    ngx_http_jpp_buffers_buf(walk, p->buf_to_file, JPP_POOLS_UPSTREAM_BUFFERS);
}


/* A part of the body that is in a file is copied into a buffer of its own. */

static void
ngx_http_jpp_buffers_to_upstream(ngx_http_jpp_walk_t *walk,
    const ngx_http_upstream_t *u)
{
    ngx_http_jpp_buffers_buf(walk, u->output.buf, JPP_POOLS_BODY);

    ngx_http_jpp_scope_mark_chain(walk, u->output.in, JPP_POOLS_BODY);
    ngx_http_jpp_scope_mark_chain(walk, u->output.busy, JPP_POOLS_BODY);
    ngx_http_jpp_scope_mark_chain(walk, u->output.free, JPP_POOLS_BODY);
    ngx_http_jpp_scope_mark_chain(walk, u->writer.out, JPP_POOLS_BODY);
}


static void
ngx_http_jpp_buffers_buf(ngx_http_jpp_walk_t *walk, const ngx_buf_t *b,
    jpp_pools_class_t class)
{
    if (b != NULL && ngx_http_jpp_scope_has(walk, b, sizeof(ngx_buf_t))) {
        ngx_http_jpp_scope_mark_buf(walk, b, class);
    }
}
