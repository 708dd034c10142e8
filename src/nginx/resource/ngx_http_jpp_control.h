
/*
 * control: changes to the profiling of the chosen workers.  A change to all of
 * them is kept in the registry, for workers that start later.
 */


#ifndef _NGX_HTTP_JPP_CONTROL_H_INCLUDED_
#define _NGX_HTTP_JPP_CONTROL_H_INCLUDED_


#include "ngx_http_jpp.h"


ngx_int_t ngx_http_jpp_control(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);


#endif /* _NGX_HTTP_JPP_CONTROL_H_INCLUDED_ */
