
/*
 * What is shown of a single request or connection, besides its memory.
 */


#ifndef _NGX_HTTP_JPP_POOLS_UNITS_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_UNITS_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/*
 * What is added from now on belongs to a unit of OWNER: to one of its own, if
 * units of IS_REQUEST are wanted.  End it: NULL, or the rest is to be filled
 * in.
 */
void ngx_http_jpp_unit_begin(ngx_http_jpp_walk_t *walk, uint32_t owner,
    ngx_uint_t is_request);
jpp_pools_unit_t *ngx_http_jpp_unit_end(ngx_http_jpp_walk_t *walk,
    ngx_uint_t is_request);

/* Fill UNIT with what C, in use, is and does. */
void ngx_http_jpp_unit_connection(ngx_http_jpp_walk_t *walk,
    jpp_pools_unit_t *unit, const ngx_connection_t *c);

/* The same with R, of that connection, which is in scope. */
void ngx_http_jpp_unit_request(ngx_http_jpp_walk_t *walk,
    jpp_pools_unit_t *unit, ngx_http_request_t *r);


#endif /* _NGX_HTTP_JPP_POOLS_UNITS_H_INCLUDED_ */
