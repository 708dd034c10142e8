
/*
 * The background work of one request.
 *
 * A job may outlive its request: when the client leaves, the request detaches,
 * and the job is freed as soon as the thread has left it.  A job checks nginx's
 * exit flags ten times a second: a paused job ends at once, one that works has
 * a moment to finish.  Its timer is not cancelable, so a worker that quits
 * sends its answers first.
 *
 *     create -> start -> next -> run in the thread -> next -> ... -> sent
 *                             -> wait for workers  ->
 *                             -> wait some seconds ->
 *
 * A job lives in pages of its own: neither in r->pool nor in the heap that is
 * measured.
 */


#ifndef _NGX_HTTP_JPP_JOB_H_INCLUDED_
#define _NGX_HTTP_JPP_JOB_H_INCLUDED_


#include "ngx_http_jpp_ask.h"
#include "ngx_http_jpp_thread.h"


typedef struct ngx_http_jpp_job_s  ngx_http_jpp_job_t;

typedef void (*ngx_http_jpp_job_pt)(ngx_http_jpp_job_t *job);
typedef ngx_int_t (*ngx_http_jpp_job_next_pt)(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);


struct ngx_http_jpp_job_s {
    ngx_http_jpp_task_t                   task;

    /* in the thread; leaves its result in rc and err */
    ngx_http_jpp_job_pt                   work;

    /*
     * In the event loop, while the request exists: the next step.  It either
     * starts a run or a wait, and names the step after that; or it sends the
     * answer, and returns what a content handler returns.  NGX_OK is a result
     * of both, so what a step calls last is returned, and never asked whether
     * to go on: lint checks that.
     */
    ngx_http_jpp_job_next_pt              next;

    /* frees what the job holds; called exactly once */
    ngx_http_jpp_job_pt                   release;

    jpp_code_t                            rc;
    jpp_err_t                             err;

    /* of the last collections, and how many of them wait */
    ngx_http_jpp_reader_t                *readers;
    ngx_uint_t                            n_readers;
    ngx_uint_t                            n_collecting;

    ngx_http_request_t                   *request;  /* NULL: detached */
    ngx_http_cleanup_t                   *cleanup;
    ngx_event_t                           timer;
    ngx_msec_t                            deadline;
    ngx_msec_t                            timeout;
    unsigned                              is_in_thread:1;   /* or its queue */
    unsigned                              is_pending:1;   /* next will come */
    unsigned                              is_paused:1;    /* nobody works */
    unsigned                              is_patient:1;   /* what it collects */
                                                /*   takes seconds, and less */
                                                /*   when nginx exits */
    unsigned                              is_leaving:1;   /* nginx exits */
};


/*
 * A zeroed job of SIZE bytes whose first member is a job_t; each run may take
 * TIMEOUT.  NULL: no memory.
 */
ngx_http_jpp_job_t *ngx_http_jpp_job_create(size_t size, ngx_msec_t timeout);

/*
 * Attach R and take the first step.  NGX_DONE: an answer will come, and R is
 * referenced until then.  Otherwise the job is freed, and the result is that of
 * the answer it sent.
 */
ngx_int_t ngx_http_jpp_job_start(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);

/* Free a job that was not started. */
void ngx_http_jpp_job_destroy(ngx_http_jpp_job_t *job);

/* In a step: run work in the thread, then NEXT. */
ngx_int_t ngx_http_jpp_job_run(ngx_http_jpp_job_t *job,
    ngx_http_jpp_job_next_pt next);

/*
 * In a step: collect what workers answer to N INQUIRIES in as many READERS, all
 * at once, then NEXT.  If workers cannot be asked, or none answers one of them
 * in time or for want of room, send the reason, and NEXT is not called.
 */
ngx_int_t ngx_http_jpp_job_collect(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r, ngx_http_jpp_reader_t *readers,
    const ngx_http_jpp_inquiry_t *inquiries, ngx_uint_t n,
    ngx_http_jpp_job_next_pt next);

/* In a step: wait for DELAY, then NEXT. */
ngx_int_t ngx_http_jpp_job_pause(ngx_http_jpp_job_t *job, ngx_msec_t delay,
    ngx_http_jpp_job_next_pt next);


#endif /* _NGX_HTTP_JPP_JOB_H_INCLUDED_ */
