
/*
 * The rests of pools that are too large for a slice: a request's with 200,000
 * buffers, a connection's that a module leaks into.  What a connection needs to
 * be understood is in the first of their blocks and of their lists, and is
 * looked at while it is visited.  What is beyond is only counted, in the slices
 * after that.
 *
 * Meanwhile nginx may destroy such a pool.  A cleanup handler, which lies in
 * the walk's arena, says when: as long as a rest has its pool, that is alive,
 * and so are its blocks and the cells of its list, which leave no pool before
 * its end.  It is the only thing that a walk writes into nginx's memory, and it
 * is gone with the rest.
 */


#ifndef _NGX_HTTP_JPP_POOLS_RESTS_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_RESTS_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/*
 * Count later, for OWNER and the open unit, what POOL, which is alive, has from
 * BLOCK and from CELL on; NULL: nothing of that.
 */
void ngx_http_jpp_rests_add(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool,
    uint32_t owner, const ngx_pool_t *block, const ngx_pool_large_t *cell);

/*
 * P, in the list of a pool of which there will be a rest, is of CLASS, if it is
 * a large allocation at all.
 */
void ngx_http_jpp_rests_mark(ngx_http_jpp_walk_t *walk, const void *p,
    jpp_pools_class_t class);

/*
 * The open unit ends, but has rests: fill in what is expensive to find out, and
 * it is ended with the last of them.  NULL: it has none.
 */
jpp_pools_unit_t *ngx_http_jpp_rests_park(ngx_http_jpp_walk_t *walk);

/* NGX_OK: all are counted; NGX_AGAIN: the slice is over. */
ngx_int_t ngx_http_jpp_rests_walk(ngx_http_jpp_walk_t *walk);

/* Count no more: their units end as they are, and their pools forget them. */
void ngx_http_jpp_rests_end(ngx_http_jpp_walk_t *walk);


#endif /* _NGX_HTTP_JPP_POOLS_RESTS_H_INCLUDED_ */
