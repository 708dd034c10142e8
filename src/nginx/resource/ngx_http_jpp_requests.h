
/*
 * The resource requests: what holds most memory at this moment, one by one.
 */


#ifndef _NGX_HTTP_JPP_REQUESTS_H_INCLUDED_
#define _NGX_HTTP_JPP_REQUESTS_H_INCLUDED_


#include "ngx_http_jpp.h"


ngx_int_t ngx_http_jpp_requests(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);


#endif /* _NGX_HTTP_JPP_REQUESTS_H_INCLUDED_ */
