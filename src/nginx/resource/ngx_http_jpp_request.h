
/*
 * From a request to a question:
 *
 *     tree := location [ "worker/" selector "/" ] [ "pprof/" ] resource
 *
 * The segment pprof/ is for jeprof, which accepts no other URLs and reads only
 * text; worker/ is for clients that drop the query.
 */


#ifndef _NGX_HTTP_JPP_REQUEST_H_INCLUDED_
#define _NGX_HTTP_JPP_REQUEST_H_INCLUDED_


#include "ngx_http_jpp.h"


/* The content handler of every location that serves profiles. */
ngx_int_t ngx_http_jpp_handler(ngx_http_request_t *r);


#endif /* _NGX_HTTP_JPP_REQUEST_H_INCLUDED_ */
