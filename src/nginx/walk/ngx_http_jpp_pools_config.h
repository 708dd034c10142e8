
/*
 * The configuration's own pool, whose memory the connections refer to.  Its
 * blocks and the cells of its large allocations live as long as the
 * configuration, so that it can be read in any number of slices.
 */


#ifndef _NGX_HTTP_JPP_POOLS_CONFIG_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_CONFIG_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/* As this process starts: remember what it has.  Returns its bytes. */
uint64_t ngx_http_jpp_config_init(const ngx_cycle_t *cycle);

/* A phase: count the pool, and learn its memory. */
ngx_int_t ngx_http_jpp_config_walk(ngx_http_jpp_walk_t *walk);

/* Are the LEN bytes at P the configuration's, now? */
ngx_uint_t ngx_http_jpp_config_has(const ngx_http_jpp_walk_t *walk,
    const void *p, size_t len);


#endif /* _NGX_HTTP_JPP_POOLS_CONFIG_H_INCLUDED_ */
