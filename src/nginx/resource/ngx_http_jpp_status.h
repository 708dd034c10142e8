
/*
 * status: the state of the profiling of the workers; cmdline: what nginx was
 * started with.
 */


#ifndef _NGX_HTTP_JPP_STATUS_H_INCLUDED_
#define _NGX_HTTP_JPP_STATUS_H_INCLUDED_


#include "ngx_http_jpp_page.h"


ngx_int_t ngx_http_jpp_status(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);
ngx_int_t ngx_http_jpp_cmdline(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);

/* Answer R with the PAGE of the state of the workers. */
ngx_int_t ngx_http_jpp_status_page(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question, const ngx_http_jpp_page_t *page);

/* For such pages: gather telemetry. */
void *ngx_http_jpp_status_gather(ngx_http_request_t *r, jpp_arena_t *arena);


#endif /* _NGX_HTTP_JPP_STATUS_H_INCLUDED_ */
