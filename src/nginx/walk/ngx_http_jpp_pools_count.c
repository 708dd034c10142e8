
#include "ngx_http_jpp_pools_count.h"
#include "ngx_http_jpp_pools_rests.h"
#include "ngx_http_jpp_pools_scope.h"


/*
 * Of each pool there are some in any case, however much a visit has counted, so
 * that its buffers have a name.
 */
#define NGX_HTTP_JPP_ANYWAY  32


static ngx_uint_t ngx_http_jpp_count_limit(const ngx_http_jpp_scope_t *scope);
static void ngx_http_jpp_count_spend(ngx_http_jpp_scope_t *scope, ngx_uint_t n);
static void ngx_http_jpp_count_hold(ngx_http_jpp_walk_t *walk,
    const ngx_pool_t *pool, uint32_t owner,
    const ngx_http_jpp_blocks_t *blocks);


void  (*ngx_http_jpp_pool_seen)(const ngx_pool_t *pool,
    const jpp_pools_t *table, uint32_t owner);


void
ngx_http_jpp_count_pool(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool,
    uint32_t owner)
{
    ngx_http_jpp_count_larges(walk, pool);
    ngx_http_jpp_count_claim(walk, pool, owner);
}


void
ngx_http_jpp_count_larges(ngx_http_jpp_walk_t *walk, const ngx_pool_t *pool)
{
    ngx_uint_t                         n, limit;
    ngx_pool_large_t                  *l;
    ngx_http_jpp_large_t              *large;
    ngx_http_jpp_scope_t              *scope;

    scope = &walk->scope;
    limit = ngx_http_jpp_count_limit(scope);

    for (l = pool->large, n = 0; l != NULL && n < limit; l = l->next, n++) {

        if (l->alloc == NULL) {
            continue;
        }

        large = jpp_vec_push(scope->larges, sizeof(ngx_http_jpp_large_t));

        if (large == NULL) {
            walk->table.facts.reason = JPP_POOLS_NO_MEMORY;
            return;
        }

        large->start = l->alloc;
        large->cell = &l->alloc;
        large->size = ngx_http_jpp_size(l->alloc);
        large->owner = 0;
        large->module = 0;
        large->class = JPP_POOLS_OTHER;

        scope->n_unnamed++;
        scope->is_sorted = 0;
    }

    ngx_http_jpp_count_spend(scope, n);
    walk->work += n;

    scope->rest = l != NULL ? pool : NULL;
    scope->cell = l;

    if (l != NULL) {
        scope->has_rest = 1;
        scope->n_unnamed++;
    }
}


static ngx_uint_t
ngx_http_jpp_count_limit(const ngx_http_jpp_scope_t *scope)
{
    return ngx_max(scope->n_left, NGX_HTTP_JPP_ANYWAY);
}


static void
ngx_http_jpp_count_spend(ngx_http_jpp_scope_t *scope, ngx_uint_t n)
{
    scope->n_left -= ngx_min(scope->n_left, n);
}


void
ngx_http_jpp_count_claim(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool,
    uint32_t owner)
{
    size_t                   i, n;
    const ngx_pool_t        *block;
    const ngx_pool_large_t  *cell;
    ngx_http_jpp_large_t    *larges;
    ngx_http_jpp_scope_t    *scope;
    ngx_http_jpp_blocks_t    blocks;

    ngx_http_jpp_count_see(walk, pool, owner);

    scope = &walk->scope;

    block = ngx_http_jpp_count_blocks(pool, &blocks,
                                      ngx_http_jpp_count_limit(scope));

    ngx_http_jpp_walk_add(walk, owner, JPP_POOLS_BLOCKS, 0, blocks.n,
                          blocks.bytes, blocks.unused);

    ngx_http_jpp_count_spend(scope, blocks.n);
    ngx_http_jpp_count_hold(walk, pool, owner, &blocks);
    walk->work += blocks.n;

    cell = scope->rest == pool ? scope->cell : NULL;

    if (block != NULL || cell != NULL) {
        ngx_http_jpp_rests_add(walk, pool, owner, block, cell);
    }

    larges = jpp_vec_items(walk->scope.larges, ngx_http_jpp_large_t);
    n = jpp_vec_count(walk->scope.larges, ngx_http_jpp_large_t);

    for (i = walk->scope.base.n_larges; i < n; i++) {
        if (larges[i].owner == 0) {
            larges[i].owner = owner;
        }
    }
}


static void
ngx_http_jpp_count_hold(ngx_http_jpp_walk_t *walk, const ngx_pool_t *pool,
    uint32_t owner, const ngx_http_jpp_blocks_t *blocks)
{
    ngx_uint_t         n;
    const ngx_pool_t  *p;

    if (walk->held == NULL) {
        return;
    }

    for (p = pool, n = 0; n < blocks->n; p = p->d.next, n++) {
        ngx_http_jpp_walk_hold(walk, owner, p, blocks->bytes / blocks->n);
    }
}


void
ngx_http_jpp_count_see(ngx_http_jpp_walk_t *walk, const ngx_pool_t *pool,
    uint32_t owner)
{
    if (ngx_http_jpp_pool_seen != NULL) {
        ngx_http_jpp_pool_seen(pool, &walk->table, owner);
    }
}


/*
 * All blocks of a pool have one size; only d is valid in those after the first.
 */

const ngx_pool_t *
ngx_http_jpp_count_blocks(const ngx_pool_t *pool, ngx_http_jpp_blocks_t *blocks,
    ngx_uint_t limit)
{
    const ngx_pool_t  *p;

    ngx_memzero(blocks, sizeof(ngx_http_jpp_blocks_t));

    for (p = pool; p != NULL && blocks->n < limit; p = p->d.next) {
        blocks->n++;
        blocks->unused += p->d.end - p->d.last;
    }

    blocks->bytes = blocks->n * ngx_http_jpp_size(pool);

    return p;
}


void
ngx_http_jpp_count_flush(ngx_http_jpp_walk_t *walk)
{
    size_t                 i, n;
    ngx_http_jpp_large_t  *larges;
    ngx_http_jpp_scope_t  *scope;

    scope = &walk->scope;

    ngx_http_jpp_scope_sort(walk);

    larges = jpp_vec_items(scope->larges, ngx_http_jpp_large_t);
    n = jpp_vec_count(scope->larges, ngx_http_jpp_large_t);

    for (i = scope->base.n_larges; i < n; i++) {
        ngx_http_jpp_walk_add(walk, larges[i].owner, larges[i].class,
                              larges[i].module, 1, larges[i].size, 0);
        ngx_http_jpp_walk_hold(walk, larges[i].owner, larges[i].start,
                               larges[i].size);
    }

    ngx_http_jpp_scope_restore(walk, ngx_http_jpp_scope_extent(walk));
}
