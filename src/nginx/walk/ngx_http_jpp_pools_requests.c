
/*
 * The requests of a client, with their subrequests and upstreams: whose pools
 * they have.
 */


#include "ngx_http_jpp_pools_walk.h"


/* how deep subrequests are followed: nginx allows fewer */
#define NGX_HTTP_JPP_SUBREQUESTS  64


/*
 * What large allocations are for that no field of nginx's own leads to: the
 * context of a module may.
 */


/* no header has it, every nginx does */
extern ngx_module_t  ngx_http_copy_filter_module;


/* how many words of a context are looked at */
#define NGX_HTTP_JPP_CONTEXT  48


/* A word of a context of a request. */
typedef struct {
    const ngx_http_request_t  *r;
    ngx_uint_t                 module;     /* whose context it is: an index */
    uint32_t                   upstream;
    void *const               *word;
} ngx_http_jpp_word_t;


static void ngx_http_jpp_contexts_word(ngx_http_jpp_walk_t *walk,
    const ngx_http_jpp_word_t *w);
static ngx_uint_t ngx_http_jpp_contexts_in_buf(ngx_http_jpp_walk_t *walk,
    const ngx_http_jpp_word_t *w);
static ngx_uint_t ngx_http_jpp_contexts_buf(ngx_http_jpp_walk_t *walk,
    const ngx_http_jpp_word_t *w, const ngx_buf_t *b);
static void *const *ngx_http_jpp_contexts_end(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r, void *ctx);


/*
 * Mark what the contexts of R refer to.  Nobody knows what they have, nor how
 * large they are: the best guess.  UPSTREAM: the owner of what has come from
 * R's upstream; 0: R.
 */

static void
ngx_http_jpp_contexts_mark(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r, uint32_t upstream)
{
    void *const                     *end;
    ngx_uint_t                       i;
    ngx_http_jpp_word_t              w;

    w.r = r;
    w.upstream = upstream;

    for (i = 0; i < ngx_http_max_module; i++) {

        if (walk->scope.n_unnamed == 0
            || ngx_http_jpp_scope_is_spent(walk)
            || !ngx_http_jpp_scope_has(walk, &r->ctx[i], sizeof(void *)))
        {
            return;
        }

        /* what the copy filter has is known (output) */

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
            walk->scope.module = ngx_http_jpp_name_module(walk, w->module);
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


/* Is B a buffer?  What it is in, if it has no class, is this module's. */

static ngx_uint_t
ngx_http_jpp_contexts_buf(ngx_http_jpp_walk_t *walk,
    const ngx_http_jpp_word_t *w, const ngx_buf_t *b)
{
    if (!ngx_http_jpp_scope_has(walk, b, sizeof(ngx_buf_t))
        || b->start == NULL || b->start > b->pos || b->pos > b->last
        || b->last > b->end
        || !ngx_http_jpp_scope_has(walk, b->start, b->end - b->start))
    {
        return 0;
    }

    if (ngx_http_jpp_scope_wants(walk, b)) {
        ngx_http_jpp_output_buf(walk, w->r, b, w->upstream,
                                ngx_http_jpp_name_module(walk, w->module));
    }

    return 1;
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


typedef void (*ngx_http_jpp_see_pt)(ngx_http_jpp_walk_t *walk,
    ngx_http_request_t *r);


static void ngx_http_jpp_request_tree(ngx_http_jpp_walk_t *walk,
    ngx_http_request_t *r, ngx_http_jpp_see_pt see);
static void ngx_http_jpp_request_branch(ngx_http_jpp_walk_t *walk,
    ngx_http_request_t *r, ngx_http_jpp_see_pt see, ngx_uint_t depth);
static void ngx_http_jpp_request_unlisted(ngx_http_jpp_walk_t *walk,
    ngx_http_request_t *r, ngx_http_jpp_see_pt see);
static ngx_uint_t ngx_http_jpp_request_is_listed(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *sr, const ngx_http_request_t *r);
static ngx_uint_t ngx_http_jpp_request_is_sub(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *sr, const ngx_http_request_t *r);
static void ngx_http_jpp_request_peer(ngx_http_jpp_walk_t *walk,
    ngx_http_request_t *r);
static void ngx_http_jpp_request_buffers(ngx_http_jpp_walk_t *walk,
    ngx_http_request_t *r);
static void ngx_http_jpp_request_contexts(ngx_http_jpp_walk_t *walk,
    ngx_http_request_t *r);


ngx_uint_t
ngx_http_jpp_request_is_of(const ngx_http_request_t *r,
    const ngx_connection_t *c)
{
    return r->signature == NGX_HTTP_MODULE && r->main == r
           && r->connection == c && r->pool != NULL
           && ngx_http_jpp_pool_has(r->pool, r, sizeof(ngx_http_request_t));
}


ngx_http_jpp_server_t *
ngx_http_jpp_request_server(ngx_http_jpp_walk_t *walk, const void *hc)
{
    const ngx_http_connection_t  *connection;

    if (!ngx_http_jpp_scope_has(walk, hc, sizeof(ngx_http_connection_t))) {
        return NULL;
    }

    connection = hc;

    return ngx_http_jpp_names_server(walk, connection->conf_ctx);
}


void
ngx_http_jpp_request_count(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    ngx_http_request_t *r)
{
    uint32_t               owner;
    ngx_http_jpp_extent_t  extent;

    extent = ngx_http_jpp_scope_extent(walk);

    owner = ngx_http_jpp_owner_request(walk, r);
    ngx_http_jpp_unit_begin(walk, owner, 1);

    ngx_http_jpp_scope_push(walk, r->pool);
    ngx_http_jpp_count_pool(walk, r->pool, owner);
    walk->scope.passed_size = 0;

    ngx_http_jpp_others_client(walk, c, r->connection->log, r->pool, owner,
                               NULL);

    ngx_http_jpp_request_tree(walk, r, ngx_http_jpp_request_peer);
    ngx_http_jpp_request_tree(walk, r, ngx_http_jpp_request_buffers);
    ngx_http_jpp_request_tree(walk, r, ngx_http_jpp_request_contexts);

    ngx_http_jpp_count_flush(walk);

    /* after a second flush what is in scope would have no order */

    ngx_http_jpp_scope_restore(walk, extent);

    ngx_http_jpp_unit_end(walk, 1, c, r);
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
    ngx_uint_t           depth;
    ngx_http_request_t  *sr;

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

    ngx_http_jpp_request_unlisted(walk, r, see);
}


/* Slices of a large file are very many, and so may the parts of a page be. */

static void
ngx_http_jpp_request_unlisted(ngx_http_jpp_walk_t *walk, ngx_http_request_t *r,
    ngx_http_jpp_see_pt see)
{
    ngx_http_request_t        *sr;
    const ngx_http_cleanup_t  *cln;

    for (cln = r->cleanup;
         !ngx_http_jpp_scope_is_spent(walk)
         && ngx_http_jpp_scope_has(walk, cln,
                                   sizeof(ngx_http_cleanup_t));
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
ngx_http_jpp_request_branch(ngx_http_jpp_walk_t *walk, ngx_http_request_t *r,
    ngx_http_jpp_see_pt see, ngx_uint_t depth)
{
    ngx_http_postponed_request_t  *pr;

    see(walk, r);

    if (depth == NGX_HTTP_JPP_SUBREQUESTS) {
        return;
    }

    for (pr = r->postponed;
         !ngx_http_jpp_scope_is_spent(walk)
         && ngx_http_jpp_scope_has(walk, pr,
                                        sizeof(ngx_http_postponed_request_t));
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
         !ngx_http_jpp_scope_is_spent(walk)
         && ngx_http_jpp_scope_has(walk, pr,
                                        sizeof(ngx_http_postponed_request_t));
         pr = pr->next)
    {
        walk->work++;

        if (pr->request == sr) {
            return 1;
        }
    }

    return 0;
}


static ngx_uint_t
ngx_http_jpp_request_is_sub(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *sr, const ngx_http_request_t *r)
{
    return ngx_http_jpp_scope_has(walk, sr, sizeof(ngx_http_request_t))
           && sr->signature == NGX_HTTP_MODULE && sr->main == r && sr != r;
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
    ngx_http_jpp_buffers_peer(walk, pc);
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


static void
ngx_http_jpp_request_contexts(ngx_http_jpp_walk_t *walk, ngx_http_request_t *r)
{
    uint32_t  owner;

    if (walk->scope.n_unnamed == 0) {
        return;
    }

    owner = ngx_http_jpp_owner_upstream(walk, r);

    ngx_http_jpp_contexts_mark(walk, r, owner);
    ngx_http_jpp_output_passed(walk, r, owner);
}
