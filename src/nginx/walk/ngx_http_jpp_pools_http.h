
/*
 * Connections that HTTP accepted: what they are, and whose.
 */


#ifndef _NGX_HTTP_JPP_POOLS_HTTP_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_HTTP_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/* C, in use, with a pool, is a client's. */
void ngx_http_jpp_http_connection(ngx_http_jpp_walk_t *walk,
    ngx_connection_t *c);


#endif /* _NGX_HTTP_JPP_POOLS_HTTP_H_INCLUDED_ */
