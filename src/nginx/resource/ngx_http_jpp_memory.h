
/*
 * memory: what is known about the memory of all workers, and what there is to
 * say about it.
 */


#ifndef _NGX_HTTP_JPP_MEMORY_H_INCLUDED_
#define _NGX_HTTP_JPP_MEMORY_H_INCLUDED_


#include "ngx_http_jpp.h"


ngx_int_t ngx_http_jpp_memory(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);


#endif /* _NGX_HTTP_JPP_MEMORY_H_INCLUDED_ */
