
/*
 * The background work of one request.
 *
 * A job is made for a request and outlives it where it must: when the client
 * leaves, the request detaches, and the job is freed as soon as the thread is
 * not in it any more.  A job looks at nginx's exit flags ten times a second:
 * one that is paused ends at once, one that is worked for has a moment left.
 * Its timer is not cancelable, so that a worker which is told to quit does not
 * leave before its answers.
 *
 *     create -> start -> next -> run in the thread -> next -> ... -> sent
 *                             -> wait for workers  ->
 *                             -> wait some seconds ->
 *
 * A job lives in pages of its own: neither in r->pool nor in the heap that is
 * measured.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_JOB_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_JOB_H_INCLUDED_


#include "ngx_http_jemalloc_pprof_collect.h"
#include "ngx_http_jemalloc_pprof_thread.h"


typedef struct ngx_http_jemalloc_pprof_job_s  ngx_http_jemalloc_pprof_job_t;

typedef void (*ngx_http_jemalloc_pprof_job_pt)(
    ngx_http_jemalloc_pprof_job_t *job);
typedef ngx_int_t (*ngx_http_jemalloc_pprof_job_next_pt)(
    ngx_http_jemalloc_pprof_job_t *job, ngx_http_request_t *r);


struct ngx_http_jemalloc_pprof_job_s {
    ngx_http_jemalloc_pprof_task_t        task;

    /* in the thread; it leaves what came out in rc and err */
    ngx_http_jemalloc_pprof_job_pt        work;

    /*
     * In the event loop, for a request that is still there: the next step.  It
     * either runs or waits, and says what comes after that; or it sends the
     * answer, and returns what content handlers do.
     */
    ngx_http_jemalloc_pprof_job_next_pt   next;

    /* gives back what the job holds beside itself; always called, once */
    ngx_http_jemalloc_pprof_job_pt        release;

    jpp_code_t                            rc;
    jpp_err_t                             err;

    ngx_http_request_t                   *request;  /* NULL: detached */
    ngx_http_cleanup_t                   *cleanup;
    ngx_event_t                           timer;
    ngx_msec_t                            deadline;
    ngx_msec_t                            timeout;
    unsigned                              is_in_thread:1;   /* or its queue */
    unsigned                              is_pending:1;   /* next will come */
    unsigned                              is_paused:1;    /* nobody works */
    unsigned                              is_collecting:1;
    unsigned                              is_leaving:1;   /* nginx exits */
};


/*
 * A zeroed job of SIZE bytes, of which a job_t is the first member, that may
 * take TIMEOUT each time it runs.  NULL: no memory.
 */
ngx_http_jemalloc_pprof_job_t *ngx_http_jemalloc_pprof_job_create(size_t size,
    ngx_msec_t timeout);

/*
 * Attach R and take the first step.  NGX_DONE: an answer will come, and R is
 * referenced for that.  Otherwise the job is gone, and what is returned is of
 * the answer that was sent.
 */
ngx_int_t ngx_http_jemalloc_pprof_job_start(
    ngx_http_jemalloc_pprof_job_t *job, ngx_http_request_t *r);

/* Free a job that was not started. */
void ngx_http_jemalloc_pprof_job_destroy(ngx_http_jemalloc_pprof_job_t *job);

/* In a step: have work run in the thread, and NEXT come after it. */
ngx_int_t ngx_http_jemalloc_pprof_job_run(ngx_http_jemalloc_pprof_job_t *job,
    ngx_http_jemalloc_pprof_job_next_pt next);

/*
 * In a step: have READER read what workers answer to INQUIRY, and NEXT come
 * after that; or send why they are not asked.
 */
ngx_int_t ngx_http_jemalloc_pprof_job_collect(
    ngx_http_jemalloc_pprof_job_t *job, ngx_http_request_t *r,
    ngx_http_jemalloc_pprof_reader_t *reader,
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    ngx_http_jemalloc_pprof_job_next_pt next);

/* In a step: wait for DELAY, in which nobody works, and NEXT come after it. */
ngx_int_t ngx_http_jemalloc_pprof_job_pause(ngx_http_jemalloc_pprof_job_t *job,
    ngx_msec_t delay, ngx_http_jemalloc_pprof_job_next_pt next);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_JOB_H_INCLUDED_ */
