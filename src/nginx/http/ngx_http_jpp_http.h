
/*
 * The way of a request to its response: headers, body, job, report, and the
 * response or refusal.
 */


#ifndef _NGX_HTTP_JPP_HTTP_H_INCLUDED_
#define _NGX_HTTP_JPP_HTTP_H_INCLUDED_


#include "ngx_http_jpp_thread.h"
#include "ngx_http_jpp_worker.h"



/* ngx_http_jpp_headers.c */

/*
 * Is R addressed to an IP address, to "localhost" or to a name of its server?
 * One that names no host is: browsers always name one.
 */
ngx_uint_t ngx_http_jpp_host_is_ours(ngx_http_request_t *r);

/* Did R arrive at a loopback address? */
ngx_uint_t ngx_http_jpp_host_is_loopback(ngx_http_request_t *r);

/* Is R from a page of another site, or of another server of this one? */
ngx_uint_t ngx_http_jpp_site_is_other(ngx_http_request_t *r);

/* Is R, by its Origin, from such a page? */
ngx_uint_t ngx_http_jpp_site_is_other_origin(ngx_http_request_t *r);

/* Does R open a page in a tab, where somebody sees it? */
ngx_uint_t ngx_http_jpp_site_is_visit(ngx_http_request_t *r);

/* The first Accept header of R, or NULL. */
const ngx_str_t *ngx_http_jpp_accept(ngx_http_request_t *r);

/* Does R rather take TYPE than OTHER, by that?  No, if there is none. */
ngx_uint_t ngx_http_jpp_prefers(ngx_http_request_t *r, const char *type,
    const char *other);


/* ngx_http_jpp_body.c */

/* The number of bytes in IN, which may be NULL. */
off_t ngx_http_jpp_body_len(const ngx_chain_t *in);

/* Copy them to TO, which has room for all of them. */
ngx_int_t ngx_http_jpp_body_copy(u_char *to, const ngx_chain_t *in);

/*
 * Read R's body, and then answer its QUESTION by ANSWER.  Returns what a
 * content handler returns.
 */
ngx_int_t ngx_http_jpp_body_read(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question, ngx_http_jpp_answer_pt answer);


/* ngx_http_jpp_send.c */

/* The headers of an answer.  Texts live as long as the request. */
typedef struct {
    const char    *type;           /* Content-Type, without a charset */
    const char    *disposition;    /* Content-Disposition, or NULL */
    const char    *policy;         /* Content-Security-Policy, or NULL */
    const char    *workers;        /* "7/8"; NULL: not a profile */
    ngx_uint_t     is_address;     /* its body is where to look: 303 */
} ngx_http_jpp_answer_t;


/* plain text, and nothing else */
extern const ngx_http_jpp_answer_t  ngx_http_jpp_text;


/*
 * STATUS with LEN bytes at DATA, which live as long as the request; for HEAD
 * the length may be -1: unknown.
 */
ngx_int_t ngx_http_jpp_send(ngx_http_request_t *r, ngx_uint_t status,
    const ngx_http_jpp_answer_t *answer, u_char *data, size_t len);

/* Add a header to the answer, unless VALUE is NULL. */
ngx_int_t ngx_http_jpp_add_header(ngx_http_request_t *r, const char *key,
    const char *value);

/* 303 to the LEN bytes at ADDRESS, which may go away. */
ngx_int_t ngx_http_jpp_send_see_other(ngx_http_request_t *r,
    const u_char *address, size_t len);

/*
 * Where QUESTION asks for a profile, fill ANSWER's headers, in R's memory, with
 * those of it; NGX_ERROR: no memory.
 */
ngx_int_t ngx_http_jpp_profile_headers(ngx_http_request_t *r,
    ngx_http_jpp_answer_t *answer, const ngx_http_jpp_question_t *question,
    int64_t time_nanos);


/* ngx_http_jpp_refuse.c */

/*
 * What follows the codes of the core, which take the text of the error.  The
 * comment lists the arguments of the sentence.
 */
typedef enum {
    NGX_HTTP_JPP_FAILED = JPP_CODES,   /* char *: why */
    NGX_HTTP_JPP_INTERNAL,
    NGX_HTTP_JPP_NO_RESOURCE,  /* ngx_str_t *: all names */
    NGX_HTTP_JPP_NO_WORKER,
    NGX_HTTP_JPP_BAD_PATH,     /* char *: why */
    NGX_HTTP_JPP_BAD_METHOD,   /* ngx_str_t *: those allowed */
    NGX_HTTP_JPP_BAD_HOST,
    NGX_HTTP_JPP_CONTROL_OFF,
    NGX_HTTP_JPP_CLIENTS_OFF,
    NGX_HTTP_JPP_FOREIGN,
    NGX_HTTP_JPP_CROSS_SITE,
    NGX_HTTP_JPP_OVER,         /* char *: the id of a finding */
    NGX_HTTP_JPP_LARGE_BODY,   /* ngx_uint_t: bytes allowed */
    NGX_HTTP_JPP_LARGE_FORM,   /* the same; char *: the keys */
    NGX_HTTP_JPP_BUSY,
    NGX_HTTP_JPP_FULL,         /* ngx_uint_t, size_t: so many */
                                          /*   times so many bytes */
    NGX_HTTP_JPP_OFF,          /* char *: what, why, fix */
    NGX_HTTP_JPP_UNABLE,       /* the same */
    NGX_HTTP_JPP_INCOMPLETE,   /* ngx_uint_t: how many answered, */
                                          /*   were asked; char *: where it */
                                          /*   says more */
    NGX_HTTP_JPP_UNSPLIT,      /* ngx_uint_t: how many of how */
                                          /*   many */
    NGX_HTTP_JPP_GAP,          /* the same */
    NGX_HTTP_JPP_LEFT_OUT,
    NGX_HTTP_JPP_STARTING,
    NGX_HTTP_JPP_LEAVING,
    NGX_HTTP_JPP_LATE,         /* uint32_t: index; int64_t: pid; */
                                          /*   char *: why */
    NGX_HTTP_JPP_OVERDUE,      /* char *: the time it had */
    NGX_HTTP_JPP_REASONS
} ngx_http_jpp_reason_t;


/* Send the row of REASON; the arguments are those of its sentence. */
ngx_int_t ngx_http_jpp_refuse(ngx_http_request_t *r, ngx_uint_t reason, ...);

/* Send ERR, an error of the core, with the row of its code. */
ngx_int_t ngx_http_jpp_refuse_error(ngx_http_request_t *r,
    const jpp_err_t *err);

/*
 * The same about an answer of TYPE: what cannot be read is the module's own,
 * but for dumps of jemalloc.
 */
ngx_int_t ngx_http_jpp_refuse_answer(ngx_http_request_t *r,
    const ngx_http_jpp_type_t *type, const jpp_err_t *err);

/* Send that the budget is used up. */
ngx_int_t ngx_http_jpp_refuse_full(ngx_http_request_t *r);


/* ngx_http_jpp_job.c */

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
                                               /*   second, or none is */

    /* Set what R's headers change in those of its ANSWER.  NULL: nothing. */
    void                    (*describe)(ngx_http_request_t *r,
                                  const ngx_http_jpp_question_t *question,
                                  ngx_http_jpp_answer_t *answer);

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
    ngx_http_jpp_answer_t           answer;    /* its headers so far */
    ngx_http_jpp_step_pt            next;

    /* what is collected, all at once */
    ngx_http_jpp_inquiry_t          inquiries[NGX_HTTP_JPP_QUESTIONS];
    ngx_http_jpp_subscriber_t       subscribers[NGX_HTTP_JPP_QUESTIONS];
    ngx_uint_t                      n;
    ngx_uint_t                      n_collecting;

    /* of the first question that a worker is missing in, or the last */
    ngx_uint_t                      n_asked;
    ngx_uint_t                      n_answered;
    ngx_uint_t                      n_gaps;    /* their samples lack some */
    ngx_uint_t                      n_unsplit; /* what they inherited counts */
                                               /*   as their own */

    ngx_http_jpp_telemetry_t       *telemetry;

    jpp_code_t                      rc;        /* of the work */
    jpp_err_t                       err;
    jpp_arena_t                     arena;     /* for what is gathered, and */
                                               /*   for the work */
    u_char                         *body;      /* an object, with LEN bytes */
    size_t                          len;
    int64_t                         time_nanos;    /* of a profile */

    ngx_http_request_t             *request;   /* NULL: detached */
    ngx_http_cleanup_t             *cleanup;
    ngx_event_t                     timer;
    ngx_msec_t                      deadline;
    unsigned                        may_lack:1;     /* a question that */
                                               /*   nobody answers is none */
    unsigned                        is_in_thread:1; /* or its queue */
    unsigned                        is_pending:1;   /* next will come */
    unsigned                        is_begun:1;     /* a difference: the */
                                               /*   budget keeps room */
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


/* ngx_http_jpp_report.c */

typedef struct {
    const ngx_http_jpp_collection_t   *last;
    const ngx_http_jpp_collection_t   *base;       /* NULL: none */
    jpp_report_options_t               options;

    /* that stand, with room for those about the profile itself */
    jpp_finding_t                      findings[JPP_FINDINGS];
    ngx_uint_t                         n_findings;

    /* the result */
    ngx_uint_t                         n_asked;    /* at all */
    ngx_uint_t                         n_answered;
    ngx_uint_t                         n_unsplit;  /* of these: what they */
                                                   /*   inherited counts as */
                                                   /*   their own */
} ngx_http_jpp_report_t;


/* In the background thread: fill VIEW; all that it has is in ARENA. */
jpp_code_t ngx_http_jpp_report(ngx_http_jpp_report_t *report,
    jpp_arena_t *arena, jpp_view_t *view, jpp_err_t *err);


#endif /* _NGX_HTTP_JPP_HTTP_H_INCLUDED_ */
