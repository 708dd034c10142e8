
/*
 * The guard against DNS rebinding: is a request addressed to this server?
 *
 * Any site can let its own name resolve to 127.0.0.1, and its pages then read
 * what this nginx answers there: to the browser both are one site.  Only the
 * Host that it sends gives it away.
 */


#ifndef _NGX_HTTP_JPP_HOST_H_INCLUDED_
#define _NGX_HTTP_JPP_HOST_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* At configuration: fill NAMES with copies of the names of server_name. */
ngx_int_t ngx_http_jpp_host_names(ngx_conf_t *cf, ngx_array_t *names);

/*
 * Is R addressed to an IP address, to "localhost" or to a name of its server?
 * One that names no host is: browsers always name one.
 */
ngx_uint_t ngx_http_jpp_host_is_ours(ngx_http_request_t *r);

/* Did R arrive at a loopback address? */
ngx_uint_t ngx_http_jpp_host_is_loopback(ngx_http_request_t *r);


#endif /* _NGX_HTTP_JPP_HOST_H_INCLUDED_ */
