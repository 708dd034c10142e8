
/*
 * status and console: what state the workers are in; cmdline: what nginx was
 * started with.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_STATUS_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_STATUS_H_INCLUDED_


#include "ngx_http_jemalloc_pprof_resources.h"


ngx_int_t ngx_http_jemalloc_pprof_status(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question);
ngx_int_t ngx_http_jemalloc_pprof_console(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question);
ngx_int_t ngx_http_jemalloc_pprof_cmdline(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_STATUS_H_INCLUDED_ */
