
/*
 * Every resource that is a profile: its row in the table of resources says what
 * workers are asked for, and who reads it.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_PROFILE_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_PROFILE_H_INCLUDED_


#include "ngx_http_jemalloc_pprof.h"


ngx_int_t ngx_http_jemalloc_pprof_profile(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_PROFILE_H_INCLUDED_ */
