
/*
 * The walk through the pools of this worker, which answers a question for them:
 * in slices on the event loop, into a table that is written to the file of the
 * reply.
 */


#ifndef _NGX_HTTP_JPP_POOLS_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_H_INCLUDED_


#include "ngx_http_jpp_kind.h"


/* As this process starts: what it has inherited. */
void ngx_http_jpp_pools_init(const ngx_cycle_t *cycle);

/*
 * A slice of the walk that answers REPLY's question: NGX_OK: its state is the
 * walk, which is done.
 */
ngx_int_t ngx_http_jpp_pools_walk(ngx_http_jpp_reply_t *reply);

/*
 * Rows of the kinds (ngx_http_jpp_kind.h): the pools; a ledger, which walks
 * through them as well; smaps_rollup, and the allocator's arenas.
 */
ngx_int_t ngx_http_jpp_pools_slice(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_pools_release(ngx_http_jpp_reply_t *reply);
ngx_int_t ngx_http_jpp_ledger_slice(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_ledger_work(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_ledger_smaps(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_ledger_arenas(ngx_http_jpp_reply_t *reply);


#endif /* _NGX_HTTP_JPP_POOLS_H_INCLUDED_ */
