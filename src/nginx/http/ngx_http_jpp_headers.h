
/*
 * Checks a request's headers: the host it is addressed to, the site of the page
 * that sent it, and the formats it accepts.
 *
 * The host is the guard against DNS rebinding: any site can let its own name
 * resolve to 127.0.0.1, and its pages then read what this nginx answers there:
 * to the browser both are one site.  Only the Host that it sends gives it away.
 *
 * The site is what browsers say (Fetch Metadata, and Origin): no page can
 * change that.  Clients that are no browsers say nothing, and neither do
 * browsers to addresses other than https and loopback ones.
 */


#ifndef _NGX_HTTP_JPP_HEADERS_H_INCLUDED_
#define _NGX_HTTP_JPP_HEADERS_H_INCLUDED_


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

/* Is R from a page of another site, or of another server of this one? */
ngx_uint_t ngx_http_jpp_site_is_other(ngx_http_request_t *r);

/* Is R, by its Origin, from such a page? */
ngx_uint_t ngx_http_jpp_site_is_other_origin(ngx_http_request_t *r);

/* Does R open a page in a tab, where somebody sees it? */
ngx_uint_t ngx_http_jpp_site_is_visit(ngx_http_request_t *r);

/* The first Accept header of R, or NULL. */
const ngx_str_t *ngx_http_jpp_accept(ngx_http_request_t *r);

/* Does R rather take TYPE than OTHER, by that?  No, if there is none. */
ngx_uint_t ngx_http_jpp_prefers(ngx_http_request_t *r, const char *type,
    const char *other);


#endif /* _NGX_HTTP_JPP_HEADERS_H_INCLUDED_ */
