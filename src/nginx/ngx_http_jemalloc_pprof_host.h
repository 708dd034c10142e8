
/*
 * The name that a request is addressed to: is it ours?
 *
 * A page of any site can have its own name resolve to 127.0.0.1, and then read
 * what this nginx answers there: to the browser both are one site.  The Host
 * that it sends is what gives it away.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_HOST_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_HOST_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* At configuration: fill NAMES with copies of what server_name says. */
ngx_int_t ngx_http_jemalloc_pprof_host_names(ngx_conf_t *cf,
    ngx_array_t *names);

/*
 * Is R addressed to an IP address, to "localhost" or to a name of its server?
 * A request that names no host is: browsers send none like that.
 */
ngx_uint_t ngx_http_jemalloc_pprof_host_is_ours(ngx_http_request_t *r);

/* Did R arrive at a loopback address? */
ngx_uint_t ngx_http_jemalloc_pprof_host_is_loopback(ngx_http_request_t *r);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_HOST_H_INCLUDED_ */
