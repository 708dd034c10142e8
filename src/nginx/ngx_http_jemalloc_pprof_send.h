
/*
 * Answers: headers, errors, bodies.
 *
 * Every answer of the module leaves through here, so that all of them carry
 * the same headers, none is compressed again or cut into ranges, and an error
 * is a sentence that pprof shows.  All functions return what a content handler
 * does, after the answer was sent.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_SEND_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_SEND_H_INCLUDED_


#include "ngx_http_jemalloc_pprof.h"


/* What an answer is.  Texts live as long as the request. */
typedef struct {
    const char    *type;           /* Content-Type, without a charset */
    const char    *filename;       /* to be saved under, or NULL */
    const char    *policy;         /* Content-Security-Policy, or NULL */
    const char    *workers;        /* "7/8", or NULL: it is no profile */
    ngx_uint_t     is_begun;       /* a difference, for which room is kept */
} ngx_http_jemalloc_pprof_answer_t;


/* STATUS with one or two sentences, formatted as by ngx_sprintf(). */
ngx_int_t ngx_http_jemalloc_pprof_send_error(ngx_http_request_t *r,
    ngx_uint_t status, const char *fmt, ...);

/* 405, with the methods that are allowed. */
ngx_int_t ngx_http_jemalloc_pprof_send_not_allowed(ngx_http_request_t *r,
    const ngx_str_t *allow);

/* 429: too many requests are in work. */
ngx_int_t ngx_http_jemalloc_pprof_send_busy(ngx_http_request_t *r);

/* 429: too much is in memory. */
ngx_int_t ngx_http_jemalloc_pprof_send_full(ngx_http_request_t *r);

/* What the core said no to. */
ngx_int_t ngx_http_jemalloc_pprof_send_failure(ngx_http_request_t *r,
    const jpp_err_t *err);

/* The workers cannot be asked: RC is of ngx_http_jemalloc_pprof_collect(). */
ngx_int_t ngx_http_jemalloc_pprof_send_uncollected(ngx_http_request_t *r,
    ngx_int_t rc);

/* 504: nobody answered in time, of whom the first is INDEX, PID, with WHY. */
ngx_int_t ngx_http_jemalloc_pprof_send_late(ngx_http_request_t *r,
    ngx_uint_t index, ngx_pid_t pid, const char *why);

/* 503 to a strict question; WHERE says where there is more about it. */
ngx_int_t ngx_http_jemalloc_pprof_send_incomplete(ngx_http_request_t *r,
    ngx_uint_t n_answered, ngx_uint_t n_asked, const char *where);

/* 200 without a body, to HEAD. */
ngx_int_t ngx_http_jemalloc_pprof_send_head(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_answer_t *answer);

/*
 * 200 with LEN bytes at DATA, which lie in ARENA; or 429, where they do not fit
 * into memory beside others.  The arena is the request's from here on: the
 * caller's is left empty.
 */
ngx_int_t ngx_http_jemalloc_pprof_send_body(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_answer_t *answer, jpp_arena_t *arena,
    u_char *data, size_t len);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_SEND_H_INCLUDED_ */
