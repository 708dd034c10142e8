
/*
 * A page: what the chosen workers answer, for people and programs, but no
 * profile.  It is written in the background thread, without waiting for a dump
 * or a report that runs there.
 */


#ifndef _NGX_HTTP_JPP_PAGE_H_INCLUDED_
#define _NGX_HTTP_JPP_PAGE_H_INCLUDED_


#include "ngx_http_jpp_ask.h"
#include "ngx_http_jpp_send.h"


/* How a page is made. */
typedef struct {
    ngx_http_jpp_answer_t              answer;

    /*
     * On the event loop, when workers have answered R: what WRITE needs of
     * nginx, in ARENA.  NULL: no memory.  It must not take long.
     */
    void     *(*gather)(ngx_http_request_t *r, jpp_arena_t *arena);

    /*
     * In the thread, without nginx: write what CO collected to SINK.  DATA is
     * what GATHER returned.  NGX_ERROR: no memory in ARENA.
     */
    ngx_int_t  (*write)(const ngx_http_jpp_collection_t *co, void *data,
                        jpp_arena_t *arena, jpp_sink_t *sink);
} ngx_http_jpp_page_t;


/*
 * Answer R with the PAGE of the answers to INQUIRY.  It is an error if the
 * first worker is late and none answers, or if QUESTION is strict and one is
 * missing.
 */
ngx_int_t ngx_http_jpp_page(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question,
    const ngx_http_jpp_inquiry_t *inquiry, const ngx_http_jpp_page_t *page);


#endif /* _NGX_HTTP_JPP_PAGE_H_INCLUDED_ */
