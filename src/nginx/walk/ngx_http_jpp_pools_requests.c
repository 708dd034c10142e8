
/*
 * Scans a client's requests, subrequests and upstreams: their pools, and the
 * purpose of the large allocations.
 */


#include "ngx_http_jpp_pools.h"


/*
 * What the large allocations of a connection and a request are for: the fields
 * that nginx keeps them in; and what waits for a client of a request: buffers
 * of its upstream, of filters, and of whoever else answers, on their way to the
 * socket.  Marks them in the scope.
 */


/* no header has it, every nginx does */
extern ngx_module_t  ngx_http_copy_filter_module;


/* copies of copies of a buffer */
#define NGX_HTTP_JPP_SHADOWS  4


/* What those who put a tag on their buffers have them for. */
typedef struct {
    const char        *module;
    jpp_pools_class_t  class;
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


static void
ngx_http_jpp_buffers_buf(ngx_http_jpp_walk_t *walk, const ngx_buf_t *b,
    jpp_pools_class_t class)
{
    if (ngx_http_jpp_in_scope(walk, b)) {
        ngx_http_jpp_scope_mark_buf(walk, b, class);
    }
}


void
ngx_http_jpp_buffers_tls(ngx_http_jpp_walk_t *walk, const ngx_connection_t *c)
{
#if (NGX_SSL)
    if (ngx_http_jpp_in_scope(walk, c->ssl)) {
        ngx_http_jpp_buffers_buf(walk, c->ssl->buf, JPP_POOLS_TLS);
    }
#endif
}


void
ngx_http_jpp_buffers_connection(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c, const ngx_http_connection_t *hc)
{
    if (walk->scope.n_unnamed == 0) {
        return;
    }

    ngx_http_jpp_buffers_buf(walk, c->buffer, JPP_POOLS_HEADERS);
    ngx_http_jpp_buffers_tls(walk, c);

    if (ngx_http_jpp_in_scope(walk, hc)) {
        ngx_http_jpp_scope_mark_chain(walk, hc->busy, JPP_POOLS_HEADERS);
        ngx_http_jpp_scope_mark_chain(walk, hc->free, JPP_POOLS_HEADERS);
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

    if (ngx_http_jpp_in_scope(walk, p)) {

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


/* UPSTREAM: the owner of those that are there for its upstream; 0: R. */

static void
ngx_http_jpp_buffers_request(ngx_http_jpp_walk_t *walk, ngx_http_request_t *r,
    uint32_t upstream)
{
    const ngx_http_request_body_t  *body;

    if (walk->scope.n_unnamed == 0) {
        return;
    }

    ngx_http_jpp_buffers_buf(walk, r->header_in, JPP_POOLS_HEADERS);

    if (ngx_http_jpp_in_scope(walk, r->request_body)) {
        body = r->request_body;

        ngx_http_jpp_buffers_buf(walk, body->buf, JPP_POOLS_BODY);

        ngx_http_jpp_scope_mark_chain(walk, body->bufs, JPP_POOLS_BODY);
        ngx_http_jpp_scope_mark_chain(walk, body->busy, JPP_POOLS_BODY);
        ngx_http_jpp_scope_mark_chain(walk, body->free, JPP_POOLS_BODY);
    }

#if (NGX_HTTP_V2)
    if (ngx_http_jpp_in_scope(walk, r->stream)) {
        ngx_http_jpp_buffers_buf(walk, r->stream->preread, JPP_POOLS_BODY);
    }
#endif

    walk->scope.owner = upstream;

#if (NGX_HTTP_CACHE)
    if (ngx_http_jpp_in_scope(walk, r->cache)) {
        ngx_http_jpp_buffers_buf(walk, r->cache->buf,
                                 JPP_POOLS_UPSTREAM_HEADER);
    }
#endif

    if (ngx_http_jpp_in_scope(walk, r->upstream)) {
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


static jpp_pools_class_t
ngx_http_jpp_output_class(const ngx_http_jpp_walk_t *walk, uint32_t module)
{
    jpp_str_t                     name;
    const ngx_http_jpp_filler_t  *filler;

    name = jpp_pools_str(&walk->table, module);

    jpp_each_of(filler, ngx_http_jpp_fillers) {

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
        module = ngx_http_jpp_name_module(walk, b->tag, NGX_MODULE_UNSET_INDEX);

        if (module != 0 || !ngx_http_jpp_in_scope(walk, b->shadow)) {
            return module;
        }

        b = b->shadow;
    }

    return 0;
}


/*
 * The same for B, which is in scope: it is what its tag says, and without one
 * that of MODULE, a name; 0: it is only known to be output.
 */

static void
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

    if (ngx_http_jpp_in_scope(walk, r->upstream)
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
 * requests to wait for, and in the one that copies.  UPSTREAM: the owner of
 * what has come from R's upstream; 0: R.
 */

static void
ngx_http_jpp_output_request(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r, uint32_t upstream)
{
    ngx_uint_t                           index;
    const ngx_output_chain_ctx_t        *ctx;
    const ngx_http_postponed_request_t  *pr;

    ngx_http_jpp_output_chain(walk, r, r->out, upstream);

    for (pr = r->postponed;
         walk->scope.n_unnamed != 0 && ngx_http_jpp_in_scope(walk, pr);
         pr = pr->next)
    {
        walk->work++;

        ngx_http_jpp_output_chain(walk, r, pr->out, upstream);
    }

    index = ngx_http_copy_filter_module.ctx_index;

    if (!ngx_http_jpp_in_scope(walk, &r->ctx[index])
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


/* An allocator adds less than a quarter to what it is asked for. */

static ngx_uint_t
ngx_http_jpp_output_is_of(const ngx_http_jpp_large_t *large,
    const ngx_event_pipe_t *p)
{
    return large->size >= p->bufs.size
           && large->size - p->bufs.size <= p->bufs.size / 4;
}


/*
 * What is unnamed after everything else, and is of the size of the buffers for
 * R's upstream, is one of them: as many as R has.
 *
 * A pipe that has come to the end of the answer passes on all it has, and
 * forgets it.  Frames of HTTP/2, for example, are in no list of the request
 * then.  But it knows how many buffers it has made, and of which size.
 *
 * Subrequests share a pool: of their pipes, those that were seen already have
 * their part of what has a name.
 */

static void
ngx_http_jpp_output_passed(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r, uint32_t upstream)
{
    size_t                   i, n;
    ngx_int_t                left;
    const ngx_event_pipe_t  *p;
    ngx_http_jpp_large_t    *larges;

    if (!ngx_http_jpp_in_scope(walk, r->upstream)
        || !ngx_http_jpp_in_scope(walk, r->upstream->pipe))
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


/*
 * What large allocations are for that no field of nginx's own leads to.
 *
 * A module keeps what it needs for a request in a context of its own: a
 * structure that nobody else knows, nor how large it is.  A filter's buffers
 * are often known there only: behind sub_filter 87 % of the bytes had no name
 * without this.
 *
 * So a context is read as words, from its start to the end of its memory, to
 * the next context, or to the 48th word.  A word that is the start of a large
 * allocation of the request says that it is the module's.  Others may lead to a
 * buffer, or to a chain of them.  Contexts have neighbours: a word that is the
 * pool's own cell of the allocation names nothing, nor does one that, taken for
 * the pos, last or start of a ngx_buf_t and that subtracted from its address,
 * makes a buffer, whose tag says more.
 *
 * Every word may be garbage.  It is compared with what the pools in scope have
 * handed out before it is followed, and what is there is believed to be a
 * buffer only if start <= pos <= last <= end, all of it in one piece of such
 * memory.  A word that deceives gives an allocation the wrong name; no sum
 * changes, and no memory is read that is not the request's.
 *
 * It ends where everything has a name, or the visit has searched its pools
 * often enough (scope).  In 22 states that requests are really in, nothing was
 * left without a name.
 */


/* how many words of a context are looked at */
#define NGX_HTTP_JPP_CONTEXT  48


/* A word of a context of a request. */
typedef struct {
    const ngx_http_request_t  *r;
    ngx_uint_t                 module;     /* whose context it is: an index */
    uint32_t                   upstream;
    void *const               *word;
} ngx_http_jpp_word_t;


/* Is B a buffer?  What it is in, if it has no class, is this module's. */

static ngx_uint_t
ngx_http_jpp_contexts_buf(ngx_http_jpp_walk_t *walk,
    const ngx_http_jpp_word_t *w, const ngx_buf_t *b)
{
    if (!ngx_http_jpp_in_scope(walk, b) || b->start == NULL
        || b->start > b->pos || b->pos > b->last || b->last > b->end
        || !ngx_http_jpp_scope_has(walk, b->start, b->end - b->start))
    {
        return 0;
    }

    if (ngx_http_jpp_scope_wants(walk, b)) {
        ngx_http_jpp_output_buf(walk, w->r, b, w->upstream,
                                ngx_http_jpp_name_module(walk, NULL,
                                                         w->module));
    }

    return 1;
}


/* Is the word itself a part of a buffer, which may be a neighbour's? */

static ngx_uint_t
ngx_http_jpp_contexts_in_buf(ngx_http_jpp_walk_t *walk,
    const ngx_http_jpp_word_t *w)
{
    const u_char  *p;

    p = (const u_char *) w->word;

    return ngx_http_jpp_contexts_buf(walk, w,
               (const ngx_buf_t *) (p - offsetof(ngx_buf_t, pos)))
           || ngx_http_jpp_contexts_buf(walk, w,
                  (const ngx_buf_t *) (p - offsetof(ngx_buf_t, last)))
           || ngx_http_jpp_contexts_buf(walk, w,
                  (const ngx_buf_t *) (p - offsetof(ngx_buf_t, start)));
}


/*
 * It may refer to an allocation, to a buffer, or to a chain of buffers.  The
 * pool's own lists lie between contexts, and name all of its memory.
 */

static void
ngx_http_jpp_contexts_word(ngx_http_jpp_walk_t *walk,
    const ngx_http_jpp_word_t *w)
{
    ngx_uint_t             n;
    const ngx_chain_t     *cl;
    ngx_http_jpp_large_t  *large;

    large = ngx_http_jpp_scope_unnamed(walk, *w->word);

    if (large != NULL && large->start == *w->word) {

        if (large->cell != w->word && !ngx_http_jpp_contexts_in_buf(walk, w)) {
            walk->scope.module = ngx_http_jpp_name_module(walk, NULL,
                                                          w->module);
            ngx_http_jpp_scope_name(walk, large, JPP_POOLS_MODULE);
            walk->scope.module = 0;
        }

        return;
    }

    if (ngx_http_jpp_contexts_buf(walk, w, *w->word)) {
        return;
    }

    n = 0;

    for (cl = ngx_http_jpp_scope_link(walk, *w->word, &n);
         cl != NULL && ngx_http_jpp_contexts_buf(walk, w, cl->buf);
         cl = ngx_http_jpp_scope_link(walk, cl->next, &n))
    {
        /* void */
    }
}


/* At the end of its memory at the latest, or where the next context begins. */

static void *const *
ngx_http_jpp_contexts_end(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r, void *ctx)
{
    u_char        *start, *other;
    ngx_uint_t     i;
    const u_char  *end;

    start = ctx;
    end = ngx_http_jpp_scope_end(walk, ctx);

    if (end == NULL || (uintptr_t) start % sizeof(void *) != 0) {
        return ctx;
    }

    end = ngx_min(end, start + NGX_HTTP_JPP_CONTEXT * sizeof(void *));

    for (i = 0; i < ngx_http_max_module; i++) {
        other = r->ctx[i];

        if (other > start && other < end) {
            end = other;
        }
    }

    return (void *const *) (start + (end - start) / sizeof(void *)
                                    * sizeof(void *));
}


/* Mark what the contexts of R refer to, the best guess, and what is left. */

static void
ngx_http_jpp_request_contexts(ngx_http_jpp_walk_t *walk, ngx_http_request_t *r)
{
    void *const          *end;
    ngx_uint_t           i;
    ngx_http_jpp_word_t  w;

    if (walk->scope.n_unnamed == 0) {
        return;
    }

    w.r = r;
    w.upstream = ngx_http_jpp_owner_upstream(walk, r);

    for (i = 0; i < ngx_http_max_module; i++) {

        if (walk->scope.n_unnamed == 0 || ngx_http_jpp_scope_is_spent(walk)
            || !ngx_http_jpp_in_scope(walk, &r->ctx[i]))
        {
            break;
        }

        /* what the copy filter has is known */

        if (r->ctx[i] == NULL || i == ngx_http_copy_filter_module.ctx_index) {
            continue;
        }

        walk->work++;

        w.module = i;
        w.word = &r->ctx[i];

        ngx_http_jpp_contexts_word(walk, &w);

        end = ngx_http_jpp_contexts_end(walk, r, r->ctx[i]);

        for (w.word = r->ctx[i]; w.word < end; w.word++) {
            ngx_http_jpp_contexts_word(walk, &w);
        }
    }

    ngx_http_jpp_output_passed(walk, r, w.upstream);
}


/*
 * The requests of a client, with their subrequests and upstreams: whose pools
 * they have.
 */


/* how deep subrequests are followed: nginx allows fewer */
#define NGX_HTTP_JPP_SUBREQUESTS  64


typedef void (*ngx_http_jpp_see_pt)(ngx_http_jpp_walk_t *walk,
    ngx_http_request_t *r);


ngx_uint_t
ngx_http_jpp_request_is_of(const ngx_http_request_t *r,
    const ngx_connection_t *c)
{
    return r->signature == NGX_HTTP_MODULE && r->main == r
           && r->connection == c && r->pool != NULL
           && ngx_http_jpp_pool_has(r->pool, r, sizeof(ngx_http_request_t));
}


ngx_http_core_srv_conf_t *
ngx_http_jpp_request_server(ngx_http_jpp_walk_t *walk,
    const ngx_http_connection_t *hc)
{
    if (!ngx_http_jpp_in_scope(walk, hc)) {
        return NULL;
    }

    if (walk->found_by != hc->conf_ctx) {
        walk->found_by = hc->conf_ctx;
        walk->found = ngx_http_jpp_servers_find(&walk->servers, hc->conf_ctx);
    }

    return walk->found;
}


static ngx_uint_t
ngx_http_jpp_request_is_sub(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *sr, const ngx_http_request_t *r)
{
    return ngx_http_jpp_in_scope(walk, sr)
           && sr->signature == NGX_HTTP_MODULE && sr->main == r && sr != r;
}


static void
ngx_http_jpp_request_branch(ngx_http_jpp_walk_t *walk, ngx_http_request_t *r,
    ngx_http_jpp_see_pt see, ngx_uint_t depth)
{
    ngx_http_postponed_request_t  *pr;

    see(walk, r);

    if (depth == NGX_HTTP_JPP_SUBREQUESTS) {
        return;
    }

    for (pr = r->postponed;
         !ngx_http_jpp_scope_is_spent(walk) && ngx_http_jpp_in_scope(walk, pr);
         pr = pr->next)
    {
        walk->work++;

        if (ngx_http_jpp_request_is_sub(walk, pr->request, r->main)) {
            ngx_http_jpp_request_branch(walk, pr->request, see, depth + 1);
        }
    }
}


/* Is SR, a subrequest of R, in the list of its parent? */

static ngx_uint_t
ngx_http_jpp_request_is_listed(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *sr, const ngx_http_request_t *r)
{
    const ngx_http_postponed_request_t  *pr;

    if (sr->parent != r && !ngx_http_jpp_request_is_sub(walk, sr->parent, r)) {
        return 0;
    }

    for (pr = sr->parent->postponed;
         !ngx_http_jpp_scope_is_spent(walk) && ngx_http_jpp_in_scope(walk, pr);
         pr = pr->next)
    {
        walk->work++;

        if (pr->request == sr) {
            return 1;
        }
    }

    return 0;
}


/*
 * R and its subrequests, which share its pool, each once.  One that is active
 * is in the list of its parent until that has something to send.  Those in the
 * background are in none, nor are those that have ended, whose buffers are
 * still there; but R knows who has asked an upstream.
 */

static void
ngx_http_jpp_request_tree(ngx_http_jpp_walk_t *walk, ngx_http_request_t *r,
    ngx_http_jpp_see_pt see)
{
    ngx_uint_t                 depth;
    ngx_http_request_t        *sr;
    const ngx_http_cleanup_t  *cln;

    ngx_http_jpp_request_branch(walk, r, see, 0);

    sr = r->connection->data;

    for (depth = 0;
         depth < NGX_HTTP_JPP_SUBREQUESTS
         && ngx_http_jpp_request_is_sub(walk, sr, r);
         depth++)
    {
        if (!ngx_http_jpp_request_is_listed(walk, sr, r)) {
            ngx_http_jpp_request_branch(walk, sr, see, 0);
        }

        sr = sr->parent;
    }

    /*
     * Slices of a large file are very many, and so may the parts of a page be.
     */

    for (cln = r->cleanup;
         !ngx_http_jpp_scope_is_spent(walk)
         && ngx_http_jpp_in_scope(walk, cln);
         cln = cln->next)
    {
        walk->work++;

        sr = cln->data;

        if (ngx_http_jpp_request_is_sub(walk, sr, r)
            && (sr->background || cln->handler == NULL)
            && !ngx_http_jpp_request_is_listed(walk, sr, r))
        {
            ngx_http_jpp_request_branch(walk, sr, see, 0);
        }
    }
}


static void
ngx_http_jpp_request_peer(ngx_http_jpp_walk_t *walk, ngx_http_request_t *r)
{
    uint32_t              owner;
    ngx_connection_t     *pc;
    ngx_http_upstream_t  *u;

    u = r->upstream;

    if (u == NULL || u->peer.connection == NULL) {
        return;
    }

    pc = u->peer.connection;

    if (ngx_http_jpp_walk_slot(walk, pc) == NGX_ERROR
        || pc->fd == (ngx_socket_t) -1
        || pc->pool == NULL || pc->pool == r->pool
        || (pc->data != r && pc->log != r->connection->log)
        || !ngx_http_jpp_others_count(walk, pc))
    {
        return;
    }

    if (pc->data == r && pc->read->handler == pc->write->handler) {
        ngx_http_jpp_others_upstreams(pc);
    }

    owner = ngx_http_jpp_owner_upstream(walk, r);

    ngx_http_jpp_scope_push(walk, pc->pool);
    ngx_http_jpp_count_pool(walk, pc->pool, owner);
    ngx_http_jpp_buffers_tls(walk, pc);
}


static void
ngx_http_jpp_request_buffers(ngx_http_jpp_walk_t *walk, ngx_http_request_t *r)
{
    uint32_t  owner;

    owner = ngx_http_jpp_owner_upstream(walk, r);

    /* a subrequest may have ended */

    if (owner != 0 && (r == r->main || r->upstream->cleanup != NULL)) {
        jpp_pools_owner_at(&walk->table, owner)->n_units++;
    }

    ngx_http_jpp_buffers_request(walk, r, owner);
    ngx_http_jpp_output_request(walk, r, owner);
}


void
ngx_http_jpp_request_count(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    ngx_http_request_t *r)
{
    uint32_t               owner;
    ngx_http_jpp_extent_t  extent;

    extent = ngx_http_jpp_scope_extent(walk);

    owner = ngx_http_jpp_owner_of(walk, JPP_POOLS_REQUEST, r, 0);
    jpp_pools_begin(&walk->table, owner);

    ngx_http_jpp_scope_push(walk, r->pool);
    ngx_http_jpp_count_pool(walk, r->pool, owner);
    walk->scope.passed_size = 0;

    ngx_http_jpp_others_client(walk, c, r->connection->log, r->pool, owner, 0);

    ngx_http_jpp_request_tree(walk, r, ngx_http_jpp_request_peer);
    ngx_http_jpp_request_tree(walk, r, ngx_http_jpp_request_buffers);
    ngx_http_jpp_request_tree(walk, r, ngx_http_jpp_request_contexts);

    ngx_http_jpp_count_flush(walk);

    /* after a second flush what is in scope would have no order */

    ngx_http_jpp_scope_restore(walk, extent);

    ngx_http_jpp_unit_end(walk, owner, c, r);
}
