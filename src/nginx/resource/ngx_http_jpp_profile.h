
/*
 * Every resource that is a profile: its row in the table of resources says what
 * workers are asked for, and who reads it.
 */


#ifndef _NGX_HTTP_JPP_PROFILE_H_INCLUDED_
#define _NGX_HTTP_JPP_PROFILE_H_INCLUDED_


#include "ngx_http_jpp_send.h"

#include "jpp_formats.h"


ngx_int_t ngx_http_jpp_profile(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);

/*
 * Fill ANSWER, in R's memory, with the headers of a profile of RESOURCE in
 * FORMAT; NGX_ERROR: no memory.
 */
ngx_int_t ngx_http_jpp_profile_describe(ngx_http_request_t *r,
    ngx_http_jpp_answer_t *answer, const ngx_http_jpp_resource_t *resource,
    const jpp_format_t *format, int64_t time_nanos);


#endif /* _NGX_HTTP_JPP_PROFILE_H_INCLUDED_ */
