
/*
 * Scans the configuration's pool in slices, like the remainder of a large pool,
 * and records its blocks, because connections point into them.
 */


#include "ngx_http_jpp_pools.h"


/* what this process started with */
static ngx_http_jpp_blocks_t  ngx_http_jpp_first_blocks;
static ngx_http_jpp_blocks_t  ngx_http_jpp_first_larges;


uint64_t
ngx_http_jpp_config_init(const ngx_cycle_t *cycle)
{
    ngx_pool_large_t       *l;
    ngx_http_jpp_blocks_t  *larges;

    larges = &ngx_http_jpp_first_larges;

    (void) ngx_http_jpp_count_blocks(cycle->pool, &ngx_http_jpp_first_blocks,
                                     (ngx_uint_t) -1);

    ngx_memzero(larges, sizeof(ngx_http_jpp_blocks_t));

    for (l = cycle->pool->large; l != NULL; l = l->next) {
        if (l->alloc != NULL) {
            larges->n++;
            larges->bytes += ngx_http_jpp_size(l->alloc);
        }
    }

    return ngx_http_jpp_first_blocks.bytes + larges->bytes;
}


/* Without memory, what lies there is not believed to be the configuration's. */

void
ngx_http_jpp_config_learn(ngx_http_jpp_walk_t *walk, const u_char *start,
    size_t size, void *const *cell)
{
    ngx_http_jpp_large_t  *large;

    large = jpp_vec_push(walk->known, sizeof(ngx_http_jpp_large_t));

    if (large != NULL) {
        large->start = start;
        large->size = size;
        large->cell = cell;
    }
}


ngx_int_t
ngx_http_jpp_config_walk(ngx_http_jpp_walk_t *walk)
{
    uint32_t     owner;
    ngx_pool_t  *pool;

    pool = walk->cycle->pool;
    owner = jpp_pools_owner(&walk->table, JPP_POOLS_CONFIGURATION, 0, 0, 0);

    ngx_http_jpp_count_see(walk, pool, owner);
    ngx_http_jpp_rests_add(walk, pool, owner, pool, pool->large);

    return NGX_OK;
}


/* A single process has no parent that has the same. */

ngx_int_t
ngx_http_jpp_config_known(ngx_http_jpp_walk_t *walk)
{
    uint32_t                      owner;
    const ngx_http_jpp_blocks_t  *blocks, *larges;

    ngx_http_jpp_larges_sort(jpp_vec_items(walk->known, ngx_http_jpp_large_t),
                             jpp_vec_count(walk->known, ngx_http_jpp_large_t));

    if (ngx_process == NGX_PROCESS_WORKER) {
        blocks = &ngx_http_jpp_first_blocks;
        larges = &ngx_http_jpp_first_larges;
        owner = jpp_pools_owner(&walk->table, JPP_POOLS_CONFIGURATION, 0, 0, 0);

        (void) jpp_pools_add_inherited(&walk->table, owner, JPP_POOLS_BLOCKS,
                                       blocks->n, blocks->bytes,
                                       blocks->unused);
        (void) jpp_pools_add_inherited(&walk->table, owner, JPP_POOLS_OTHER,
                                       larges->n, larges->bytes, 0);
    }

    return NGX_OK;
}


/* Of large allocations only those that are still there. */

ngx_uint_t
ngx_http_jpp_config_has(const ngx_http_jpp_walk_t *walk, const void *p,
    size_t len)
{
    const ngx_http_jpp_large_t  *large;

    large = ngx_http_jpp_larges_find(jpp_vec_items(walk->known,
                                                   ngx_http_jpp_large_t),
                                     jpp_vec_count(walk->known,
                                                   ngx_http_jpp_large_t), p);

    return large != NULL
           && (size_t) (large->start + large->size - (const u_char *) p) >= len
           && (large->cell == NULL
               || (*large->cell == large->start
                   && ngx_http_jpp_size(large->start) == large->size));
}
