
/*
 * What this worker does for those that ask it: one thing at a time, in its
 * background thread.  Whoever asks the same before that has begun gets the same
 * answer, so that many askers cost a worker little more than one.
 *
 * Knows nothing of sockets.  All functions are for the event loop.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_SERVICE_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_SERVICE_H_INCLUDED_


#include "ngx_http_jemalloc_pprof_kinds.h"


typedef struct ngx_http_jemalloc_pprof_work_s  ngx_http_jemalloc_pprof_work_t;
typedef struct ngx_http_jemalloc_pprof_caller_s
    ngx_http_jemalloc_pprof_caller_t;


/* One who waits for an answer, in memory of its own. */
struct ngx_http_jemalloc_pprof_caller_s {
    ngx_queue_t                       queue;
    ngx_http_jemalloc_pprof_work_t   *work;    /* NULL: waits for nothing */

    /* REPLY is good during the call; a file of it is not the caller's */
    void                            (*answer)(
        ngx_http_jemalloc_pprof_caller_t *caller,
        const ngx_http_jemalloc_pprof_reply_t *reply);
};


/*
 * Have CALLER, whose answer function is set, answered, perhaps before this
 * returns.  NGX_ERROR: there is no memory, and there will be no answer.
 */
ngx_int_t ngx_http_jemalloc_pprof_serve(
    ngx_http_jemalloc_pprof_caller_t *caller,
    const jpp_message_question_t *question);

/* CALLER waits no more.  Allowed at any time, after the answer too. */
void ngx_http_jemalloc_pprof_serve_leave(
    ngx_http_jemalloc_pprof_caller_t *caller);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_SERVICE_H_INCLUDED_ */
