
/*
 * The work that answers questions, one at a time: in the background thread, or
 * in slices on the event loop; for some kinds after a wait.  Whoever asks the
 * same before the work has begun gets the same answer, so many askers cost a
 * worker little more than one.
 *
 * Knows nothing about sockets.  All functions are for the event loop.
 */


#ifndef _NGX_HTTP_JPP_SERVICE_H_INCLUDED_
#define _NGX_HTTP_JPP_SERVICE_H_INCLUDED_


#include "ngx_http_jpp_kinds.h"


typedef struct ngx_http_jpp_work_s  ngx_http_jpp_work_t;
typedef struct ngx_http_jpp_caller_s
    ngx_http_jpp_caller_t;


/* A caller that waits for an answer, in memory of its own. */
struct ngx_http_jpp_caller_s {
    ngx_queue_t                       queue;
    ngx_http_jpp_work_t   *work;    /* NULL: waits for nothing */

    /* REPLY is valid during the call, and keeps its file */
    void                            (*answer)(
        ngx_http_jpp_caller_t *caller,
        const ngx_http_jpp_reply_t *reply);
};


/*
 * Answer QUESTION by CALLER's answer function, perhaps before this returns.
 * NGX_AGAIN: not before some seconds.  NGX_ERROR: no memory, and no answer will
 * come.
 */
ngx_int_t ngx_http_jpp_serve(ngx_http_jpp_caller_t *caller,
    const jpp_message_question_t *question);

/*
 * CALLER, who waits for a time to pass, wants the answer now, because it exits.
 */
void ngx_http_jpp_serve_hurry(ngx_http_jpp_caller_t *caller);

/* CALLER no longer waits.  Allowed at any time, after the answer too. */
void ngx_http_jpp_serve_leave(ngx_http_jpp_caller_t *caller);


#endif /* _NGX_HTTP_JPP_SERVICE_H_INCLUDED_ */
