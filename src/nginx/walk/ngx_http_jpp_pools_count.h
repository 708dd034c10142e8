
/*
 * The pools at hand, counted: blocks and large allocations, with their owner
 * and their class, into the walk's table.
 */


#ifndef _NGX_HTTP_JPP_POOLS_COUNT_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_COUNT_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/*
 * Count POOL, in scope or not, for OWNER: its blocks at once, its large
 * allocations at the next flush.  Those of a pool that has too many for a slice
 * are a rest (rests.h).
 */
void ngx_http_jpp_count_pool(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool,
    uint32_t owner);

/*
 * The same in two steps, where the owner depends on what is in POOL: its large
 * allocations come into scope, and are OWNER's as soon as that is known.
 */
void ngx_http_jpp_count_larges(ngx_http_jpp_walk_t *walk,
    const ngx_pool_t *pool);
void ngx_http_jpp_count_claim(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool,
    uint32_t owner);

/*
 * Add all large allocations that were counted, under the class that they were
 * marked with.  They stay in scope, under what comes.
 */
void ngx_http_jpp_count_flush(ngx_http_jpp_walk_t *walk);

/*
 * Fill BLOCKS with those of POOL, from its first, LIMIT at most; the next, or
 * NULL: that is all.
 */
const ngx_pool_t *ngx_http_jpp_count_blocks(const ngx_pool_t *pool,
    ngx_http_jpp_blocks_t *blocks, ngx_uint_t limit);


/*
 * For tests: called with each pool that a walk counts, and the owner that it
 * has in the table.  NULL: nobody looks.
 */
extern void  (*ngx_http_jpp_pool_seen)(const ngx_pool_t *pool,
    const jpp_pools_t *table, uint32_t owner);

/* Show it POOL. */
void ngx_http_jpp_count_see(ngx_http_jpp_walk_t *walk, const ngx_pool_t *pool,
    uint32_t owner);


#endif /* _NGX_HTTP_JPP_POOLS_COUNT_H_INCLUDED_ */
