
/*
 * What the large allocations of a connection and a request are for: the fields
 * that nginx keeps them in; and what waits for a client of a request: buffers
 * of its upstream, of filters, and of whoever else answers, on their way to the
 * socket.  Marks them in the scope.
 */


#include "ngx_http_jpp_pools_walk.h"


/* no header has it, every nginx does */
extern ngx_module_t  ngx_http_copy_filter_module;


/* copies of copies of a buffer */
#define NGX_HTTP_JPP_SHADOWS  4


/* What those who put a tag on their buffers have them for. */
typedef struct {
    const char            *module;
    jpp_pools_class_t      class;
} ngx_http_jpp_filler_t;


/* Buffers of others are their module's. */

static const ngx_http_jpp_filler_t  ngx_http_jpp_fillers[] = {
    { "ngx_http_copy_filter_module", JPP_POOLS_OUTPUT },
    { "ngx_http_proxy_module", JPP_POOLS_UPSTREAM_BUFFERS },
    { "ngx_http_fastcgi_module", JPP_POOLS_UPSTREAM_BUFFERS },
    { "ngx_http_uwsgi_module", JPP_POOLS_UPSTREAM_BUFFERS },
    { "ngx_http_scgi_module", JPP_POOLS_UPSTREAM_BUFFERS },
    { "ngx_http_grpc_module", JPP_POOLS_UPSTREAM_BUFFERS },
    { "ngx_http_memcached_module", JPP_POOLS_UPSTREAM_BUFFERS }
};

#define NGX_HTTP_JPP_FILLERS                                       \
    (sizeof(ngx_http_jpp_fillers)                                  \
     / sizeof(ngx_http_jpp_filler_t))


static void
ngx_http_jpp_buffers_buf(ngx_http_jpp_walk_t *walk, const ngx_buf_t *b,
    jpp_pools_class_t class)
{
    if (b != NULL && ngx_http_jpp_scope_has(walk, b, sizeof(ngx_buf_t))) {
        ngx_http_jpp_scope_mark_buf(walk, b, class);
    }
}


static void
ngx_http_jpp_buffers_tls(ngx_http_jpp_walk_t *walk, const ngx_connection_t *c)
{
#if (NGX_SSL)
    if (ngx_http_jpp_scope_has(walk, c->ssl, sizeof(ngx_ssl_connection_t))) {
        ngx_http_jpp_buffers_buf(walk, c->ssl->buf, JPP_POOLS_TLS);
    }
#endif
}


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
ngx_http_jpp_buffers_upstream(ngx_http_jpp_walk_t *walk,
    const ngx_http_upstream_t *u)
{
    ngx_uint_t               i;
    const ngx_event_pipe_t  *p;

    const ngx_chain_t *const  chains[] = {
        u->out_bufs, u->busy_bufs, u->free_bufs, u->request_bufs
    };

    ngx_http_jpp_scope_mark(walk, u->buffer.start, JPP_POOLS_UPSTREAM_HEADER);
    ngx_http_jpp_scope_mark(walk, u->from_client.start,
                            JPP_POOLS_UPSTREAM_BUFFERS);
    p = u->pipe;

    if (ngx_http_jpp_scope_has(walk, p, sizeof(ngx_event_pipe_t))) {

        const ngx_chain_t *const  piped[] = {
            p->free_raw_bufs, p->in, p->out, p->busy, p->free, p->preread_bufs
        };

        for (i = 0; i < sizeof(piped) / sizeof(piped[0]); i++) {
            ngx_http_jpp_scope_mark_chain(walk, piped[i],
                                          JPP_POOLS_UPSTREAM_BUFFERS);
        }

        ngx_http_jpp_buffers_buf(walk, p->buf_to_file,
                                 JPP_POOLS_UPSTREAM_BUFFERS);
    }

    for (i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
        ngx_http_jpp_scope_mark_chain(walk, chains[i],
                                      JPP_POOLS_UPSTREAM_BUFFERS);
    }
}


void
ngx_http_jpp_buffers_request(ngx_http_jpp_walk_t *walk, ngx_http_request_t *r,
    uint32_t upstream)
{
    const ngx_http_request_body_t  *body;

    if (walk->scope.n_unnamed == 0) {
        return;
    }

    ngx_http_jpp_buffers_buf(walk, r->header_in, JPP_POOLS_HEADERS);

    if (ngx_http_jpp_scope_has(walk, r->request_body,
                               sizeof(ngx_http_request_body_t)))
    {
        body = r->request_body;

        ngx_http_jpp_buffers_buf(walk, body->buf, JPP_POOLS_BODY);

        ngx_http_jpp_scope_mark_chain(walk, body->bufs, JPP_POOLS_BODY);
        ngx_http_jpp_scope_mark_chain(walk, body->busy, JPP_POOLS_BODY);
        ngx_http_jpp_scope_mark_chain(walk, body->free, JPP_POOLS_BODY);
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

        /*
         * A part of the body that is in a file is copied into a buffer of its
         * own.
         */

        ngx_http_jpp_buffers_buf(walk, r->upstream->output.buf, JPP_POOLS_BODY);

        ngx_http_jpp_scope_mark_chain(walk, r->upstream->output.in,
                                      JPP_POOLS_BODY);
        ngx_http_jpp_scope_mark_chain(walk, r->upstream->output.busy,
                                      JPP_POOLS_BODY);
        ngx_http_jpp_scope_mark_chain(walk, r->upstream->output.free,
                                      JPP_POOLS_BODY);
        ngx_http_jpp_scope_mark_chain(walk, r->upstream->writer.out,
                                      JPP_POOLS_BODY);
    }

    walk->scope.owner = 0;
}


/* A chain to the client, which has buffers of everybody. */

static void
ngx_http_jpp_output_chain(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r, const ngx_chain_t *cl, uint32_t upstream)
{
    ngx_uint_t  n;

    n = 0;

    for (cl = ngx_http_jpp_scope_link(walk, cl, &n);
         cl != NULL;
         cl = ngx_http_jpp_scope_link(walk, cl->next, &n))
    {
        if (ngx_http_jpp_scope_wants(walk, cl->buf)) {
            ngx_http_jpp_output_buf(walk, r, cl->buf, upstream, 0);
        }
    }
}


/*
 * What waits for a client: in the last filter, in the one that has other
 * requests to wait for, and in the one that copies.
 */

void
ngx_http_jpp_output_request(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r, uint32_t upstream)
{
    ngx_uint_t                           index;
    const ngx_output_chain_ctx_t        *ctx;
    const ngx_http_postponed_request_t  *pr;

    ngx_http_jpp_output_chain(walk, r, r->out, upstream);

    for (pr = r->postponed;
         walk->scope.n_unnamed != 0
         && ngx_http_jpp_scope_has(walk, pr,
                                        sizeof(ngx_http_postponed_request_t));
         pr = pr->next)
    {
        walk->work++;

        ngx_http_jpp_output_chain(walk, r, pr->out, upstream);
    }

    index = ngx_http_copy_filter_module.ctx_index;

    if (!ngx_http_jpp_scope_has(walk, &r->ctx[index], sizeof(void *))
        || !ngx_http_jpp_scope_has(walk, r->ctx[index],
                                   sizeof(ngx_output_chain_ctx_t)))
    {
        return;
    }

    ctx = r->ctx[index];

    ngx_http_jpp_buffers_buf(walk, ctx->buf, JPP_POOLS_OUTPUT);

    ngx_http_jpp_output_chain(walk, r, ctx->in, upstream);
    ngx_http_jpp_output_chain(walk, r, ctx->busy, upstream);
    ngx_http_jpp_output_chain(walk, r, ctx->free, upstream);
}


static jpp_pools_class_t
ngx_http_jpp_output_class(const ngx_http_jpp_walk_t *walk, uint32_t module)
{
    jpp_str_t                     name;
    ngx_uint_t                    i;
    const ngx_http_jpp_filler_t  *filler;

    name = jpp_pools_str(&walk->table, module);

    for (i = 0; i < NGX_HTTP_JPP_FILLERS; i++) {
        filler = &ngx_http_jpp_fillers[i];

        if (name.len == ngx_strlen(filler->module)
            && ngx_memcmp(name.data, filler->module, name.len) == 0)
        {
            return filler->class;
        }
    }

    return JPP_POOLS_MODULE;
}


/* The module that B's tag says, or that of what B is a copy of; 0: none. */

static uint32_t
ngx_http_jpp_output_filler(ngx_http_jpp_walk_t *walk, const ngx_buf_t *b)
{
    uint32_t    module;
    ngx_uint_t  n;

    for (n = 0; n < NGX_HTTP_JPP_SHADOWS; n++) {
        module = ngx_http_jpp_name_tag(walk, b->tag);

        if (module != 0
            || !ngx_http_jpp_scope_has(walk, b->shadow, sizeof(ngx_buf_t)))
        {
            return module;
        }

        b = b->shadow;
    }

    return 0;
}


void
ngx_http_jpp_output_buf(ngx_http_jpp_walk_t *walk, const ngx_http_request_t *r,
    const ngx_buf_t *b, uint32_t upstream, uint32_t module)
{
    uint32_t           filler;
    jpp_pools_class_t  class;

    filler = ngx_http_jpp_output_filler(walk, b);

    if (filler == 0) {
        class = module != 0 ? JPP_POOLS_MODULE : JPP_POOLS_OUTPUT;

    } else {
        module = filler;
        class = ngx_http_jpp_output_class(walk, filler);
    }

    /* a module that others have written */

    if (ngx_http_jpp_scope_has(walk, r->upstream, sizeof(ngx_http_upstream_t))
        && b->tag != NULL && b->tag == r->upstream->output.tag)
    {
        class = JPP_POOLS_UPSTREAM_BUFFERS;
    }

    walk->scope.module = class == JPP_POOLS_MODULE ? module : 0;
    walk->scope.owner = class == JPP_POOLS_UPSTREAM_BUFFERS ? upstream : 0;

    ngx_http_jpp_scope_mark_buf(walk, b, class);

    walk->scope.module = 0;
    walk->scope.owner = 0;
}


/* An allocator adds less than a quarter to what it is asked for. */

static ngx_uint_t
ngx_http_jpp_output_is_of(const ngx_http_jpp_large_t *large,
    const ngx_event_pipe_t *p)
{
    return large->size >= p->bufs.size
           && large->size - p->bufs.size <= p->bufs.size / 4;
}


/*
 * A pipe that has come to the end of the answer passes on all it has, and
 * forgets it.  Frames of HTTP/2, for example, are in no list of the request
 * then.  But it knows how many buffers it has made, and of which size.
 *
 * Subrequests share a pool: of their pipes, those that were seen already have
 * their part of what has a name.
 */

void
ngx_http_jpp_output_passed(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r, uint32_t upstream)
{
    size_t                   i, n;
    ngx_int_t                left;
    const ngx_event_pipe_t  *p;
    ngx_http_jpp_large_t    *larges;

    if (!ngx_http_jpp_scope_has(walk, r->upstream, sizeof(ngx_http_upstream_t))
        || !ngx_http_jpp_scope_has(walk, r->upstream->pipe,
                                   sizeof(ngx_event_pipe_t)))
    {
        return;
    }

    p = r->upstream->pipe;

    if (walk->scope.passed_size != (size_t) p->bufs.size) {
        walk->scope.passed_size = p->bufs.size;
        walk->scope.n_passed = 0;
    }

    walk->scope.n_passed += p->allocated;
    left = walk->scope.n_passed;

    larges = jpp_vec_items(walk->scope.larges, ngx_http_jpp_large_t);
    n = jpp_vec_count(walk->scope.larges, ngx_http_jpp_large_t);

    for (i = walk->scope.base.n_larges; i < n; i++) {
        left -= larges[i].class == JPP_POOLS_UPSTREAM_BUFFERS
                && ngx_http_jpp_output_is_of(&larges[i], p);
    }

    walk->scope.owner = upstream;

    for (i = walk->scope.base.n_larges; i < n && left > 0; i++) {
        if (larges[i].class == JPP_POOLS_OTHER
            && ngx_http_jpp_output_is_of(&larges[i], p))
        {
            ngx_http_jpp_scope_name(walk, &larges[i],
                                    JPP_POOLS_UPSTREAM_BUFFERS);
            left--;
        }
    }

    walk->scope.owner = 0;
}
