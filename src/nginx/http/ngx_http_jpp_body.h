
/*
 * Reads the body of a request, from memory or from a temporary file.
 */


#ifndef _NGX_HTTP_JPP_BODY_H_INCLUDED_
#define _NGX_HTTP_JPP_BODY_H_INCLUDED_


#include "ngx_http_jpp.h"


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


#endif /* _NGX_HTTP_JPP_BODY_H_INCLUDED_ */
