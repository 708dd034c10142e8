
/*
 * Whether a pool has some memory, also between any two instructions of nginx,
 * as serving.h needs it.
 */


#ifndef _NGX_HTTP_JPP_SERVING_POOL_H_INCLUDED_
#define _NGX_HTTP_JPP_SERVING_POOL_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


/*
 * [signal] Do the first blocks of POOL have LEN bytes at P, which may be
 * anything?  And has POOL allocated P, of LEN bytes, wherever that is?
 */
ngx_uint_t ngx_http_jpp_serving_has(const ngx_pool_t *pool, const void *p,
    size_t len);
ngx_uint_t ngx_http_jpp_serving_holds(const ngx_pool_t *pool, const void *p,
    size_t len);


#endif /* _NGX_HTTP_JPP_SERVING_POOL_H_INCLUDED_ */
