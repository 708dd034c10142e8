
/*
 * The scan of this worker's pools, the answer to a question for pools: runs in
 * slices on the event loop, fills a table, and writes it to the reply's file.
 */


#ifndef _NGX_HTTP_JPP_POOLS_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_H_INCLUDED_


#include "ngx_http_jpp_type.h"

#include "jpp_pools_table.h"


/* As this process starts: what it has inherited. */
void ngx_http_jpp_pools_init(const ngx_cycle_t *cycle);

/*
 * A slice of the walk that answers REPLY's question: NGX_OK: its state is the
 * walk, which is done.
 */
ngx_int_t ngx_http_jpp_pools_walk(ngx_http_jpp_reply_t *reply);

/* Rows of the type (ngx_http_jpp_type.h). */
ngx_int_t ngx_http_jpp_pools_slice(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_pools_release(ngx_http_jpp_reply_t *reply);

/*
 * For tests: called with each pool that a walk counts, and the owner that it
 * has in the table.  NULL: nobody looks.
 */
extern void  (*ngx_http_jpp_pool_seen)(const ngx_pool_t *pool,
    const jpp_pools_t *table, uint32_t owner);


#endif /* _NGX_HTTP_JPP_POOLS_H_INCLUDED_ */
