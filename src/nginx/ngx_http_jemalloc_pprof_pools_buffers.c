
#include "ngx_http_jemalloc_pprof_pools_buffers.h"
#include "ngx_http_jemalloc_pprof_pools_names.h"
#include "ngx_http_jemalloc_pprof_pools_scope.h"


/* how many words of a context are looked at */
#define NGX_HTTP_JEMALLOC_PPROF_CONTEXT  48


static void ngx_http_jemalloc_pprof_buffers_tls(
    ngx_http_jemalloc_pprof_walk_t *walk, const ngx_connection_t *c);
static void ngx_http_jemalloc_pprof_buffers_body(
    ngx_http_jemalloc_pprof_walk_t *walk,
    const ngx_http_request_body_t *body);
static void ngx_http_jemalloc_pprof_buffers_upstream(
    ngx_http_jemalloc_pprof_walk_t *walk, const ngx_http_upstream_t *u);
static void ngx_http_jemalloc_pprof_buffers_pipe(
    ngx_http_jemalloc_pprof_walk_t *walk, const ngx_event_pipe_t *p);
static void ngx_http_jemalloc_pprof_buffers_buf(
    ngx_http_jemalloc_pprof_walk_t *walk, const ngx_buf_t *b,
    jpp_pools_class_t class);
static void ngx_http_jemalloc_pprof_buffers_module(
    ngx_http_jemalloc_pprof_walk_t *walk, ngx_uint_t index,
    void *const *word);
static void *const *ngx_http_jemalloc_pprof_buffers_context_end(
    ngx_http_jemalloc_pprof_walk_t *walk, const ngx_http_request_t *r,
    void *ctx);


void
ngx_http_jemalloc_pprof_buffers_connection(
    ngx_http_jemalloc_pprof_walk_t *walk, const ngx_connection_t *c,
    const void *hc)
{
    const ngx_http_connection_t  *connection;

    if (walk->scope.n_unnamed == 0) {
        return;
    }

    ngx_http_jemalloc_pprof_buffers_buf(walk, c->buffer, JPP_POOLS_HEADERS);
    ngx_http_jemalloc_pprof_buffers_tls(walk, c);

    if (!ngx_http_jemalloc_pprof_scope_has(walk, hc,
                                           sizeof(ngx_http_connection_t)))
    {
        return;
    }

    connection = hc;

    ngx_http_jemalloc_pprof_scope_mark_chain(walk, connection->busy,
                                             JPP_POOLS_HEADERS);
    ngx_http_jemalloc_pprof_scope_mark_chain(walk, connection->free,
                                             JPP_POOLS_HEADERS);
}


void
ngx_http_jemalloc_pprof_buffers_peer(ngx_http_jemalloc_pprof_walk_t *walk,
    const ngx_connection_t *pc)
{
    if (walk->scope.n_unnamed != 0) {
        ngx_http_jemalloc_pprof_buffers_tls(walk, pc);
    }
}


static void
ngx_http_jemalloc_pprof_buffers_tls(ngx_http_jemalloc_pprof_walk_t *walk,
    const ngx_connection_t *c)
{
#if (NGX_SSL)
    if (ngx_http_jemalloc_pprof_scope_has(walk, c->ssl,
                                          sizeof(ngx_ssl_connection_t)))
    {
        ngx_http_jemalloc_pprof_buffers_buf(walk, c->ssl->buf, JPP_POOLS_TLS);
    }
#else
    (void) walk;
    (void) c;
#endif
}


void
ngx_http_jemalloc_pprof_buffers_request(ngx_http_jemalloc_pprof_walk_t *walk,
    ngx_http_request_t *r, uint32_t upstream)
{
    if (walk->scope.n_unnamed == 0) {
        return;
    }

    ngx_http_jemalloc_pprof_buffers_buf(walk, r->header_in,
                                        JPP_POOLS_HEADERS);

    if (ngx_http_jemalloc_pprof_scope_has(walk, r->request_body,
                                          sizeof(ngx_http_request_body_t)))
    {
        ngx_http_jemalloc_pprof_buffers_body(walk, r->request_body);
    }

    if (ngx_http_jemalloc_pprof_scope_has(walk, r->upstream,
                                          sizeof(ngx_http_upstream_t)))
    {
        walk->scope.owner = upstream;
        ngx_http_jemalloc_pprof_buffers_upstream(walk, r->upstream);
        walk->scope.owner = 0;
    }

    ngx_http_jemalloc_pprof_scope_mark_chain(walk, r->out, JPP_POOLS_OUTPUT);
}


static void
ngx_http_jemalloc_pprof_buffers_body(ngx_http_jemalloc_pprof_walk_t *walk,
    const ngx_http_request_body_t *body)
{
    ngx_http_jemalloc_pprof_buffers_buf(walk, body->buf, JPP_POOLS_BODY);

    ngx_http_jemalloc_pprof_scope_mark_chain(walk, body->bufs,
                                             JPP_POOLS_BODY);
    ngx_http_jemalloc_pprof_scope_mark_chain(walk, body->busy,
                                             JPP_POOLS_BODY);
    ngx_http_jemalloc_pprof_scope_mark_chain(walk, body->free,
                                             JPP_POOLS_BODY);
}


static void
ngx_http_jemalloc_pprof_buffers_upstream(ngx_http_jemalloc_pprof_walk_t *walk,
    const ngx_http_upstream_t *u)
{
    ngx_http_jemalloc_pprof_scope_mark(walk, u->buffer.start,
                                       JPP_POOLS_UPSTREAM_HEADER);
    ngx_http_jemalloc_pprof_scope_mark(walk, u->from_client.start,
                                       JPP_POOLS_UPSTREAM_BUFFERS);

    if (ngx_http_jemalloc_pprof_scope_has(walk, u->pipe,
                                          sizeof(ngx_event_pipe_t)))
    {
        ngx_http_jemalloc_pprof_buffers_pipe(walk, u->pipe);
    }

    ngx_http_jemalloc_pprof_scope_mark_chain(walk, u->out_bufs,
                                             JPP_POOLS_UPSTREAM_BUFFERS);
    ngx_http_jemalloc_pprof_scope_mark_chain(walk, u->busy_bufs,
                                             JPP_POOLS_UPSTREAM_BUFFERS);
    ngx_http_jemalloc_pprof_scope_mark_chain(walk, u->free_bufs,
                                             JPP_POOLS_UPSTREAM_BUFFERS);
    ngx_http_jemalloc_pprof_scope_mark_chain(walk, u->request_bufs,
                                             JPP_POOLS_UPSTREAM_BUFFERS);
}


static void
ngx_http_jemalloc_pprof_buffers_pipe(ngx_http_jemalloc_pprof_walk_t *walk,
    const ngx_event_pipe_t *p)
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
        ngx_http_jemalloc_pprof_scope_mark_chain(walk, chains[i],
                                                 JPP_POOLS_UPSTREAM_BUFFERS);
    }

    ngx_http_jemalloc_pprof_buffers_buf(walk, p->buf_to_file,
                                        JPP_POOLS_UPSTREAM_BUFFERS);
}


static void
ngx_http_jemalloc_pprof_buffers_buf(ngx_http_jemalloc_pprof_walk_t *walk,
    const ngx_buf_t *b, jpp_pools_class_t class)
{
    if (b != NULL
        && ngx_http_jemalloc_pprof_scope_has(walk, b, sizeof(ngx_buf_t)))
    {
        ngx_http_jemalloc_pprof_scope_mark(walk, b->start, class);
    }
}


void
ngx_http_jemalloc_pprof_buffers_contexts(ngx_http_jemalloc_pprof_walk_t *walk,
    ngx_http_request_t *r)
{
    void *const  *word, *const *end;
    ngx_uint_t    i;

    for (i = 0; i < ngx_http_max_module; i++) {

        if (walk->scope.n_unnamed == 0
            || !ngx_http_jemalloc_pprof_scope_has(walk, &r->ctx[i],
                                                  sizeof(void *)))
        {
            return;
        }

        if (r->ctx[i] == NULL) {
            continue;
        }

        walk->work++;

        ngx_http_jemalloc_pprof_buffers_module(walk, i, &r->ctx[i]);

        end = ngx_http_jemalloc_pprof_buffers_context_end(walk, r, r->ctx[i]);

        for (word = r->ctx[i]; word < end; word++) {
            ngx_http_jemalloc_pprof_buffers_module(walk, i, word);
        }
    }
}


/* The pool's own lists lie between contexts, and name all of its memory. */

static void
ngx_http_jemalloc_pprof_buffers_module(ngx_http_jemalloc_pprof_walk_t *walk,
    ngx_uint_t index, void *const *word)
{
    ngx_http_jemalloc_pprof_large_t  *large;

    large = ngx_http_jemalloc_pprof_scope_unnamed(walk, *word);

    if (large != NULL && large->cell != word) {
        large->module = ngx_http_jemalloc_pprof_name_module(walk, index);

        ngx_http_jemalloc_pprof_scope_mark(walk, *word,
                                           JPP_POOLS_MODULE);
    }
}


/* At the end of its memory at the latest, or where the next context begins. */

static void *const *
ngx_http_jemalloc_pprof_buffers_context_end(
    ngx_http_jemalloc_pprof_walk_t *walk, const ngx_http_request_t *r,
    void *ctx)
{
    u_char        *start, *other;
    ngx_uint_t     i;
    const u_char  *end;

    start = ctx;
    end = ngx_http_jemalloc_pprof_scope_end(walk, ctx);

    if (end == NULL || (uintptr_t) start % sizeof(void *) != 0) {
        return ctx;
    }

    end = ngx_min(end, start + NGX_HTTP_JEMALLOC_PPROF_CONTEXT
                               * sizeof(void *));

    for (i = 0; i < ngx_http_max_module; i++) {
        other = r->ctx[i];

        if (other > start && other < end) {
            end = other;
        }
    }

    return (void *const *) (start + (end - start) / sizeof(void *)
                                    * sizeof(void *));
}
