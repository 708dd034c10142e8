
/*
 * The Accept header of a request.
 */


#ifndef _NGX_HTTP_JPP_ACCEPT_H_INCLUDED_
#define _NGX_HTTP_JPP_ACCEPT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* Does R rather take TYPE than OTHER?  No, if it says nothing. */
ngx_uint_t ngx_http_jpp_prefers(ngx_http_request_t *r, const char *type,
    const char *other);


#endif /* _NGX_HTTP_JPP_ACCEPT_H_INCLUDED_ */
