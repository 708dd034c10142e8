
/*
 * Connections of HTTP/2, whose streams are in no table of nginx's, and of
 * HTTP/3, whose streams are connections.  A build of nginx without them has
 * none.
 */


#ifndef _NGX_HTTP_JPP_POOLS_HTTP2_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_HTTP2_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/*
 * The data of C, whose pool is in scope, if it is an HTTP/2 connection's, and
 * its server; or NULL.
 */
void *ngx_http_jpp_http2_of(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    ngx_http_core_srv_conf_t **cscf);

/*
 * Count the pools and the streams of HTTP2, the data of C, whose own pool was
 * counted for OWNER.
 */
void ngx_http_jpp_http2_connection(ngx_http_jpp_walk_t *walk,
    ngx_connection_t *c, void *http2, uint32_t owner,
    ngx_http_core_srv_conf_t *cscf);

/* Is C a connection of HTTP/3, or a stream of one? */
ngx_uint_t ngx_http_jpp_http3_is(const ngx_connection_t *c);

/* The server of C, a stream of HTTP/3 which has no request; NULL: unknown. */
ngx_http_jpp_server_t *ngx_http_jpp_http3_server(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c);


#endif /* _NGX_HTTP_JPP_POOLS_HTTP2_H_INCLUDED_ */
