
/*
 * The resource stalls: what kept the event loops of the fleet, as a profile.
 */


#ifndef _NGX_HTTP_JPP_STALLS_H_INCLUDED_
#define _NGX_HTTP_JPP_STALLS_H_INCLUDED_


#include "ngx_http_jpp.h"


ngx_int_t ngx_http_jpp_stalls(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);


#endif /* _NGX_HTTP_JPP_STALLS_H_INCLUDED_ */
