
/*
 * A page: what the chosen workers answer, written in the event loop.  For
 * answers of some kilobytes; a profile is written in the background.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_PAGE_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_PAGE_H_INCLUDED_


#include "ngx_http_jemalloc_pprof_collect.h"
#include "ngx_http_jemalloc_pprof_send.h"


/* Write the page of CO for R to SINK; NGX_ERROR: no memory in ARENA. */
typedef ngx_int_t (*ngx_http_jemalloc_pprof_page_pt)(
    ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_sink_t *sink);


/*
 * Answer R with the page that WRITE makes of the answers to INQUIRY.  It is an
 * error if the first worker is late and none answers, or if QUESTION is strict
 * and one is missing.
 */
ngx_int_t ngx_http_jemalloc_pprof_page(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question,
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    const ngx_http_jemalloc_pprof_answer_t *answer,
    ngx_http_jemalloc_pprof_page_pt write);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_PAGE_H_INCLUDED_ */
