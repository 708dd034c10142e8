
/*
 * The requests of a client, with their subrequests and upstreams: whose pools
 * they have.
 */


#include "ngx_http_jpp_pools_walk.h"


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
ngx_http_jpp_request_server(ngx_http_jpp_walk_t *walk, const void *hc)
{
    const ngx_http_connection_t  *connection;

    if (!ngx_http_jpp_scope_has(walk, hc, sizeof(ngx_http_connection_t))) {
        return NULL;
    }

    connection = hc;

    return ngx_http_jpp_names_server(walk, connection->conf_ctx);
}


static ngx_uint_t
ngx_http_jpp_request_is_sub(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *sr, const ngx_http_request_t *r)
{
    return ngx_http_jpp_scope_has(walk, sr, sizeof(ngx_http_request_t))
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
