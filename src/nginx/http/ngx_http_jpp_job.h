
/*
 * A job: the work behind a resource, which asks workers, runs in the background
 * thread, or does both.  All resources take this one way, and set their own
 * functions in a handler:
 *
 *     init -> ask -> collect -> asked -> run: write -> written -> send
 *                 -> pause   ->
 *
 * A job may outlive its request: when the client leaves, the request detaches,
 * and the job is freed as soon as the thread has left it.  A job checks nginx's
 * exit flags ten times a second: a paused job ends at once, one that works has
 * a moment to finish.  Its timer is not cancelable, so a worker that quits
 * sends its answers first.
 *
 * A job lives in pages of its own: neither in r->pool nor in the heap that is
 * measured.
 */


#ifndef _NGX_HTTP_JPP_JOB_H_INCLUDED_
#define _NGX_HTTP_JPP_JOB_H_INCLUDED_


#include "ngx_http_jpp_ask.h"
#include "ngx_http_jpp_send.h"
#include "ngx_http_jpp_telemetry.h"
#include "ngx_http_jpp_thread.h"


/* questions of a job: locations has as many */
#define NGX_HTTP_JPP_QUESTIONS  3


typedef struct ngx_http_jpp_job_s  ngx_http_jpp_job_t;


/*
 * In the event loop, while the request exists.  A step either starts a wait,
 * and so the step after that; or it sends the answer, and returns what a
 * content handler returns.  NGX_OK is a result of both, so what a step calls
 * last is returned, and never asked whether to go on: lint checks that.
 */
typedef ngx_int_t (*ngx_http_jpp_step_pt)(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);


struct ngx_http_jpp_handler_s {
    ngx_http_jpp_answer_t     answer;
    const jpp_words_t        *formats;         /* top and json; NULL: a */
                                               /*   profile's */
    size_t                    size;            /* of the job's state */
    unsigned                  is_change:1;     /* it does not only read */
    unsigned                  is_brief:1;      /* see ngx_http_jpp_task_t */
    unsigned                  has_workers:1;   /* it says how many answered */
    unsigned                  has_telemetry:1; /* the workers' status is the */
                                               /*   first question, */
    unsigned                  has_holders:1;   /*   and their pools are the */
                                               /*   second */

    /* Do ARGS make sense here?  ERR says why not.  NULL: they do. */
    jpp_code_t              (*check)(const jpp_args_t *args, jpp_err_t *err);

    /* Answer the request, by a job or without; NULL: by a job of this. */
    ngx_http_jpp_answer_pt    start;

    /*
     * In the event loop: fill JOB's state and questions.  DATA is the caller's.
     * NGX_ERROR: it cannot.
     */
    ngx_int_t               (*init)(ngx_http_jpp_job_t *job, void *data);

    ngx_http_jpp_step_pt      ask;             /* NULL: collect */
    ngx_http_jpp_step_pt      asked;           /* answered or not; NULL: run */

    /*
     * In the thread, without nginx: write the body to SINK.  All memory is in
     * JOB's arena, which goes away afterwards.
     */
    jpp_code_t              (*write)(ngx_http_jpp_job_t *job, jpp_sink_t *sink);

    ngx_http_jpp_step_pt      written;         /* without error; NULL: send */
};


struct ngx_http_jpp_job_s {
    ngx_http_jpp_task_t             task;
    const ngx_http_jpp_handler_t   *handler;
    void                           *state;     /* of the handler's size */

    ngx_http_jpp_question_t         question;
    size_t                          max_size;  /* of a dump */
    ngx_http_jpp_step_pt            next;

    /* what is collected, all at once: N questions from the first that counts */
    ngx_http_jpp_inquiry_t          inquiries[NGX_HTTP_JPP_QUESTIONS];
    ngx_http_jpp_subscriber_t       subscribers[NGX_HTTP_JPP_QUESTIONS];
    ngx_uint_t                      first;
    ngx_uint_t                      n;
    ngx_uint_t                      n_collecting;

    /* of the first question that a worker is missing in, or the last */
    ngx_uint_t                      n_asked;
    ngx_uint_t                      n_answered;
    ngx_uint_t                      n_gaps;    /* see collect_gaps() */
    ngx_uint_t                      n_unsplit; /* what they inherited counts */
                                               /*   as their own */

    ngx_http_jpp_telemetry_t       *telemetry;

    jpp_code_t                      rc;        /* of the work */
    jpp_err_t                       err;
    jpp_arena_t                     arena;     /* for what is gathered, and */
                                               /*   for the work */
    jpp_arena_t                     kept;      /* the body is in it */
    u_char                         *body;
    size_t                          len;
    int64_t                         time_nanos;    /* of a profile */

    ngx_http_request_t             *request;   /* NULL: detached */
    ngx_http_cleanup_t             *cleanup;
    ngx_event_t                     timer;
    ngx_msec_t                      deadline;
    ngx_msec_t                      timeout;
    unsigned                        may_lack:1;     /* a question that */
                                               /*   nobody answers is none */
    unsigned                        is_begun:1;     /* see send */
    unsigned                        is_in_thread:1; /* or its queue */
    unsigned                        is_pending:1;   /* next will come */
    unsigned                        is_paused:1;    /* nobody works */
    unsigned                        is_patient:1;   /* what it collects */
                                               /*   takes seconds, and less */
                                               /*   when nginx exits */
    unsigned                        is_leaving:1;   /* nginx exits */
};


/*
 * Answer R's QUESTION by HANDLER, whose init gets DATA.  Returns what a content
 * handler returns; NGX_DONE: an answer will come, and R is referenced until
 * then.
 */
ngx_int_t ngx_http_jpp_job(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question,
    const ngx_http_jpp_handler_t *handler, void *data);

/* In init: the next question of JOB, of KIND. */
ngx_http_jpp_inquiry_t *ngx_http_jpp_job_question(ngx_http_jpp_job_t *job,
    jpp_message_type_t type);


/*
 * Steps: collect what workers answer to the questions, then asked.  If workers
 * cannot be asked, or none answers one of them in time or for
 * lack of room, the reason is sent instead.
 */
ngx_int_t ngx_http_jpp_job_collect(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);

/* Write in the thread, then written. */
ngx_int_t ngx_http_jpp_job_run(ngx_http_jpp_job_t *job, ngx_http_request_t *r);

/* Send what was written, or what strict=1 misses. */
ngx_int_t ngx_http_jpp_job_send(ngx_http_jpp_job_t *job, ngx_http_request_t *r);

/* Wait for DELAY, then NEXT. */
ngx_int_t ngx_http_jpp_job_pause(ngx_http_jpp_job_t *job, ngx_msec_t delay,
    ngx_http_jpp_step_pt next);


/*
 * 200 with LEN bytes at DATA, which lie in ARENA, or 429 where the budget does
 * not allow them.  The request takes over the memory, which counts in the
 * budget until it is sent: the caller's ARENA is empty afterwards.  Returns
 * what a content handler returns.
 */
ngx_int_t ngx_http_jpp_deliver(ngx_http_request_t *r,
    const ngx_http_jpp_answer_t *answer, jpp_arena_t *arena, u_char *data,
    size_t len);


#endif /* _NGX_HTTP_JPP_JOB_H_INCLUDED_ */
