
/*
 * The requests of a client, with their subrequests and upstreams: whose pools
 * they have.
 */


#ifndef _NGX_HTTP_JPP_POOLS_REQUESTS_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_REQUESTS_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/*
 * R is alive, and its client's pools are in scope.  C is the connection that
 * nginx accepted: for HTTP/2, R has another one.
 */
void ngx_http_jpp_request_count(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    ngx_http_request_t *r);

/* Is R, which may be any pointer that is not free, the request of C? */
ngx_uint_t ngx_http_jpp_request_is_of(const ngx_http_request_t *r,
    const ngx_connection_t *c);

/* That of HC, if it is a ngx_http_connection_t in scope, or NULL. */
ngx_http_jpp_server_t *ngx_http_jpp_request_server(ngx_http_jpp_walk_t *walk,
    const void *hc);

/* Fill in what is shown of C and of R, or NULL. */
void ngx_http_jpp_request_unit(ngx_http_jpp_walk_t *walk,
    jpp_pools_unit_t *unit, const ngx_connection_t *c, ngx_http_request_t *r);


#endif /* _NGX_HTTP_JPP_POOLS_REQUESTS_H_INCLUDED_ */
