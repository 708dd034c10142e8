
/*
 * Connections that nobody accepted: kept alive to an upstream, or a module's.
 * They are looked at last, when it is known whose peers there are.
 */


#ifndef _NGX_HTTP_JPP_POOLS_OTHERS_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_OTHERS_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/*
 * Connections with LOG are on behalf of C, and of OWNER; those that share POOL
 * have no other, but what SHARING counts, if it is not NULL.
 */
void ngx_http_jpp_others_client(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c, const ngx_log_t *log, const ngx_pool_t *pool,
    uint32_t owner, ngx_http_jpp_sharing_pt sharing);

/* PC is counted now, as somebody's peer; 0: it was already. */
ngx_uint_t ngx_http_jpp_others_count(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *pc);

/* C was not accepted: see it later. */
void ngx_http_jpp_others_postpone(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c);

/*
 * PC, whose request's data it has, is an upstream's: those that look like it
 * are, too, even if they were not there when their client was seen.
 */
void ngx_http_jpp_others_upstreams(const ngx_connection_t *pc);

/* C is a module's. */
void ngx_http_jpp_others_foreign(ngx_http_jpp_walk_t *walk,
    ngx_connection_t *c);

/* A phase: those that were postponed. */
ngx_int_t ngx_http_jpp_others_walk(ngx_http_jpp_walk_t *walk);


#endif /* _NGX_HTTP_JPP_POOLS_OTHERS_H_INCLUDED_ */
