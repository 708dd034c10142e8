
/*
 * Sessions of stream and mail, whether these are part of nginx, loaded, or not
 * there at all.
 */


#ifndef _NGX_HTTP_JPP_POOLS_SESSIONS_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_SESSIONS_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/* As this process starts: find their functions. */
void ngx_http_jpp_sessions_init(void);

/* Count C, in use, with a pool, if one of them accepted it; 0: none did. */
ngx_uint_t ngx_http_jpp_sessions_connection(ngx_http_jpp_walk_t *walk,
    ngx_connection_t *c);


#endif /* _NGX_HTTP_JPP_POOLS_SESSIONS_H_INCLUDED_ */
