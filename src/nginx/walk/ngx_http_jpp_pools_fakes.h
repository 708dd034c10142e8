
/*
 * Fake connections: those without a descriptor, which modules make to run code
 * for nobody's request, such as a timer of Lua.  A module may also leave one
 * behind whose pool it has destroyed: lua-nginx-module does with that of
 * init_worker_by_lua.  The connection does not say which it is.
 *
 * So such a pool is not read until a timer of nginx proves it alive.  nginx
 * itself uses a timer that is set, and the log it has.  If that is the log of
 * the connection, carries the number of the connection, which no other has, and
 * was taken from the pool, then the pool is there.  Until then memory is only
 * read with care.
 */


#ifndef _NGX_HTTP_JPP_POOLS_FAKES_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_FAKES_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/* C is in use, and has no descriptor: see it once it is proven. */
void ngx_http_jpp_fakes_postpone(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c);

/* A phase: those that a timer proves. */
ngx_int_t ngx_http_jpp_fakes_walk(ngx_http_jpp_walk_t *walk);


#endif /* _NGX_HTTP_JPP_POOLS_FAKES_H_INCLUDED_ */
