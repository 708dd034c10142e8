
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


#include "ngx_http_jpp_pools_walk.h"


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


void
ngx_http_jpp_contexts_mark(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r, uint32_t upstream)
{
    void *const          *end;
    ngx_uint_t            i;
    ngx_http_jpp_word_t   w;

    w.r = r;
    w.upstream = upstream;

    for (i = 0; i < ngx_http_max_module; i++) {

        if (walk->scope.n_unnamed == 0
            || ngx_http_jpp_scope_is_spent(walk)
            || !ngx_http_jpp_scope_has(walk, &r->ctx[i], sizeof(void *)))
        {
            return;
        }

        /* what the copy filter has is known (buffers) */

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
