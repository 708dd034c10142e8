
/*
 * The body of a request, in memory or in a temporary file.
 */


#ifndef _NGX_HTTP_JPP_BODY_H_INCLUDED_
#define _NGX_HTTP_JPP_BODY_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* The number of bytes in IN, which may be NULL. */
off_t ngx_http_jpp_body_len(const ngx_chain_t *in);

/* Copy them to TO, which has room for all of them. */
ngx_int_t ngx_http_jpp_body_copy(u_char *to, const ngx_chain_t *in);


#endif /* _NGX_HTTP_JPP_BODY_H_INCLUDED_ */
