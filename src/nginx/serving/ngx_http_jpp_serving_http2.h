
/*
 * The streams of HTTP/2 that a connection serves: each has a connection that
 * is in no table, but in the pool of HTTP/2's, with a log of its own.
 *
 * [signal] Rules are those of serving.h.
 */


#ifndef _NGX_HTTP_JPP_SERVING_HTTP2_H_INCLUDED_
#define _NGX_HTTP_JPP_SERVING_HTTP2_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/*
 * What the log of the stream of C, a connection of HTTP/2, refers to that the N
 * WORDS of a stack name first; NULL: they name none.  Then it WAITS for the
 * next while there is no other: which that is would be unknown.
 */
ngx_http_log_ctx_t *ngx_http_jpp_serving_http2(const ngx_connection_t *c,
    const uintptr_t *words, uint32_t n, uintptr_t *waits);

/* Is C a connection of HTTP/2?  And what such DATA was accepted with. */
ngx_uint_t ngx_http_jpp_serving_http2_is(const ngx_connection_t *c);
const void *ngx_http_jpp_serving_http2_data(const void *data);


#endif /* _NGX_HTTP_JPP_SERVING_HTTP2_H_INCLUDED_ */
