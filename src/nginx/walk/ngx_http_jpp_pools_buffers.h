
/*
 * What the large allocations of a connection and a request are for: the fields
 * that nginx keeps them in.  Marks them in the scope.
 */


#ifndef _NGX_HTTP_JPP_POOLS_BUFFERS_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_BUFFERS_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/* A client's; HC is NULL, or lies in its pool. */
void ngx_http_jpp_buffers_connection(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c, const void *hc);

/* One to an upstream. */
void ngx_http_jpp_buffers_peer(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *pc);

/* UPSTREAM: the owner of those that are there for its upstream; 0: R. */
void ngx_http_jpp_buffers_request(ngx_http_jpp_walk_t *walk,
    ngx_http_request_t *r, uint32_t upstream);


#endif /* _NGX_HTTP_JPP_POOLS_BUFFERS_H_INCLUDED_ */
