
#include "ngx_http_jpp_serving_pool.h"


/* what is looked for lies in the first ones */
#define NGX_HTTP_JPP_BLOCKS  64


ngx_uint_t
ngx_http_jpp_serving_has(const ngx_pool_t *pool, const void *p, size_t len)
{
    ngx_uint_t     n;
    const u_char  *address;

    address = p;

    for (n = 0; pool != NULL && n < NGX_HTTP_JPP_BLOCKS; n++) {

        if (address >= (const u_char *) pool + sizeof(ngx_pool_data_t)
            && address < pool->d.last)
        {
            return (size_t) (pool->d.last - address) >= len;
        }

        pool = pool->d.next;
    }

    return 0;
}


ngx_uint_t
ngx_http_jpp_serving_holds(const ngx_pool_t *pool, const void *p, size_t len)
{
    ngx_uint_t               n;
    const ngx_pool_large_t  *l;

    if (len <= pool->max) {
        return ngx_http_jpp_serving_has(pool, p, len);
    }

    for (l = pool->large, n = 0;
         n < NGX_HTTP_JPP_BLOCKS
         && ngx_http_jpp_serving_has(pool, l,
                                     sizeof(ngx_pool_large_t));
         l = l->next, n++)
    {
        if (l->alloc == p) {
            return p != NULL;
        }
    }

    return 0;
}
