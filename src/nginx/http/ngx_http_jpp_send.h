
/*
 * Sends responses: headers and bodies.
 *
 * Every answer of the module leaves through here, so that all of them carry
 * the same headers, and none is compressed again or cut into ranges.  All
 * functions that send return what a content handler returns.  Bodies that
 * count as memory are sent by job, and refusals by refuse.
 */


#ifndef _NGX_HTTP_JPP_SEND_H_INCLUDED_
#define _NGX_HTTP_JPP_SEND_H_INCLUDED_


#include "ngx_http_jpp.h"


/* The headers of an answer.  Texts live as long as the request. */
typedef struct {
    const char    *type;           /* Content-Type, without a charset */
    const char    *filename;       /* of a download, or NULL */
    const char    *policy;         /* Content-Security-Policy, or NULL */
    const char    *workers;        /* "7/8"; NULL: not a profile */
    ngx_uint_t     is_address;     /* its body is where to look: 303 */
    ngx_uint_t     is_begun;       /* a difference: the budget keeps room */
} ngx_http_jpp_answer_t;


/* plain text, and nothing else */
extern const ngx_http_jpp_answer_t  ngx_http_jpp_text;


/* STATUS with LEN bytes at DATA, which live as long as the request. */
ngx_int_t ngx_http_jpp_send(ngx_http_request_t *r, ngx_uint_t status,
    const ngx_http_jpp_answer_t *answer, u_char *data, size_t len);

/* Add a header to the answer, unless VALUE is NULL. */
ngx_int_t ngx_http_jpp_add_header(ngx_http_request_t *r, const char *key,
    const char *value);

/* 303 to the LEN bytes at ADDRESS, which may go away. */
ngx_int_t ngx_http_jpp_send_see_other(ngx_http_request_t *r,
    const u_char *address, size_t len);

/*
 * Fill ANSWER's headers, in R's memory, with those of the profile that QUESTION
 * asks for; NGX_ERROR: no memory.
 */
ngx_int_t ngx_http_jpp_profile_headers(ngx_http_request_t *r,
    ngx_http_jpp_answer_t *answer, const ngx_http_jpp_question_t *question,
    int64_t time_nanos);

/* 200 without a body, for HEAD. */
ngx_int_t ngx_http_jpp_send_head(ngx_http_request_t *r,
    const ngx_http_jpp_answer_t *answer);


#endif /* _NGX_HTTP_JPP_SEND_H_INCLUDED_ */
