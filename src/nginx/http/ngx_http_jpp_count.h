
/*
 * How often each resource was requested, and with what result, in all workers.
 */


#ifndef _NGX_HTTP_JPP_COUNT_H_INCLUDED_
#define _NGX_HTTP_JPP_COUNT_H_INCLUDED_


#include "ngx_http_jpp.h"


/* Count R for RESOURCE, which may be NULL, as it ends. */
ngx_int_t ngx_http_jpp_count(ngx_http_request_t *r,
    const ngx_http_jpp_resource_t *resource);


#endif /* _NGX_HTTP_JPP_COUNT_H_INCLUDED_ */
