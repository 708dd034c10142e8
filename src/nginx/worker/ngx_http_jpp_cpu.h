
/*
 * The question for samples of time: a window on the sampler of this worker
 * (jpp_cpu.h), as long as the question says, and what was seen in it.
 *
 * Functions for the row of the kind, in ngx_http_jpp_kinds.h.
 */


#ifndef _NGX_HTTP_JPP_CPU_H_INCLUDED_
#define _NGX_HTTP_JPP_CPU_H_INCLUDED_


#include "ngx_http_jpp_reply.h"


jpp_code_t ngx_http_jpp_cpu_check(const jpp_worker_t *worker, jpp_err_t *err);

/* Open the window. */
void ngx_http_jpp_cpu_begin(ngx_http_jpp_reply_t *reply);

/* How long it is open, in ms. */
ngx_msec_t ngx_http_jpp_cpu_wait(const jpp_message_question_t *question);

/* In the thread: end it, and write what was seen. */
void ngx_http_jpp_cpu_work(ngx_http_jpp_reply_t *reply);

/* Nobody waits for it any longer, or it is answered. */
void ngx_http_jpp_cpu_release(ngx_http_jpp_reply_t *reply);


#endif /* _NGX_HTTP_JPP_CPU_H_INCLUDED_ */
