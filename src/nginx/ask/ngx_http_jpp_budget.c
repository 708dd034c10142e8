
#include "ngx_http_jpp_budget.h"


/* bytes that are always allowed, so that pages are served */
#define NGX_HTTP_JPP_LEAST  (1024 * 1024)


static size_t  ngx_http_jpp_held;


size_t
ngx_http_jpp_budget_cap(size_t max_size)
{
    return ngx_max(NGX_HTTP_JPP_TOTAL * max_size, NGX_HTTP_JPP_LEAST);
}


ngx_int_t
ngx_http_jpp_budget_hold(size_t len, size_t max)
{
    if (len > max || ngx_http_jpp_held > max - len) {
        return NGX_BUSY;
    }

    ngx_http_jpp_held += len;

    return NGX_OK;
}


void
ngx_http_jpp_budget_release(size_t len)
{
    ngx_http_jpp_held -= len;
}
