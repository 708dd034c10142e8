
/*
 * Refusals: every error response of the module.
 *
 * One table has a row for each: status, level of the log, Retry-After and the
 * sentence.  A new refusal is a row.  All functions send the answer and return
 * what a content handler returns; they first discard a body that was not read.
 */


#ifndef _NGX_HTTP_JPP_REFUSE_H_INCLUDED_
#define _NGX_HTTP_JPP_REFUSE_H_INCLUDED_


#include "ngx_http_jpp.h"
#include "ngx_http_jpp_ask.h"

#include "jpp_jemalloc.h"


/* The comment lists the arguments of the sentence. */
typedef enum {
    NGX_HTTP_JPP_INTERNAL = 0,
    NGX_HTTP_JPP_NO_RESOURCE,  /* ngx_str_t *: all names */
    NGX_HTTP_JPP_NO_WORKER,
    NGX_HTTP_JPP_BAD_PATH,     /* char *: why */
    NGX_HTTP_JPP_BAD_VALUE,    /* char *: why */
    NGX_HTTP_JPP_BAD_METHOD,   /* ngx_str_t *: those allowed */
    NGX_HTTP_JPP_BAD_HOST,
    NGX_HTTP_JPP_CONTROL_OFF,
    NGX_HTTP_JPP_CLIENTS_OFF,
    NGX_HTTP_JPP_FOREIGN,
    NGX_HTTP_JPP_CROSS_SITE,
    NGX_HTTP_JPP_TAKEN,        /* char *: why */
    NGX_HTTP_JPP_OVER,         /* char *: the id of a finding */
    NGX_HTTP_JPP_LARGE_BODY,   /* ngx_uint_t: bytes allowed */
    NGX_HTTP_JPP_LARGE_FORM,   /* the same; char *: the keys */
    NGX_HTTP_JPP_BUSY,
    NGX_HTTP_JPP_FULL,         /* ngx_uint_t, size_t: so many */
                                          /*   times so many bytes */
    NGX_HTTP_JPP_CROWDED,      /* char *: why */
    NGX_HTTP_JPP_OFF,          /* char *: what, why, fix */
    NGX_HTTP_JPP_UNABLE,       /* the same */
    NGX_HTTP_JPP_ABSENT,       /* char *: why */
    NGX_HTTP_JPP_BROKEN,       /* char *: why */
    NGX_HTTP_JPP_BAD_DUMP,     /* char *: why */
    NGX_HTTP_JPP_FAILED,       /* char *: why */
    NGX_HTTP_JPP_INCOMPLETE,   /* ngx_uint_t: how many answered, */
                                          /*   were asked; char *: where it */
                                          /*   says more */
    NGX_HTTP_JPP_UNSPLIT,      /* ngx_uint_t: how many of how */
                                          /*   many */
    NGX_HTTP_JPP_GAP,          /* the same */
    NGX_HTTP_JPP_LEFT_OUT,
    NGX_HTTP_JPP_STARTING,
    NGX_HTTP_JPP_LEAVING,
    NGX_HTTP_JPP_LATE,         /* ngx_uint_t: index; ngx_pid_t; */
                                          /*   char *: why */
    NGX_HTTP_JPP_OVERDUE,      /* ngx_msec_t: the time it had */
    NGX_HTTP_JPP_TIMED_OUT,    /* char *: why */
    NGX_HTTP_JPP_REASONS
} ngx_http_jpp_reason_t;


/* Send the row of REASON; the arguments are those of its sentence. */
ngx_int_t ngx_http_jpp_refuse(ngx_http_request_t *r,
    ngx_http_jpp_reason_t reason, ...);

/* Send ERR, an error of the core, with the row of its code. */
ngx_int_t ngx_http_jpp_refuse_error(ngx_http_request_t *r,
    const jpp_err_t *err);

/* The same where what cannot be read is the module's own, and no dump. */
ngx_int_t ngx_http_jpp_refuse_own(ngx_http_request_t *r, const jpp_err_t *err);

/* Send why JEMALLOC, in its present state, makes no profile. */
ngx_int_t ngx_http_jpp_refuse_state(ngx_http_request_t *r,
    const jpp_worker_t *worker);

/* Send why ngx_http_jpp_collect() failed with RC. */
ngx_int_t ngx_http_jpp_refuse_uncollected(ngx_http_request_t *r, ngx_int_t rc);

/*
 * Send that no worker answered, since that of SHARE is late, or because the
 * budget is used up.
 */
ngx_int_t ngx_http_jpp_refuse_unanswered(ngx_http_request_t *r,
    const ngx_http_jpp_part_t *part);

/* Send that the budget is used up. */
ngx_int_t ngx_http_jpp_refuse_full(ngx_http_request_t *r);


#endif /* _NGX_HTTP_JPP_REFUSE_H_INCLUDED_ */
