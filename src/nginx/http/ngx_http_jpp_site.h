
/*
 * Which site's page a request comes from, as browsers say (Fetch Metadata, and
 * Origin): no page can change that.  Clients that are no browsers say nothing,
 * and neither do browsers to addresses other than https and loopback ones.
 */


#ifndef _NGX_HTTP_JPP_SITE_H_INCLUDED_
#define _NGX_HTTP_JPP_SITE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* Is R from a page of another site, or of another server of this one? */
ngx_uint_t ngx_http_jpp_site_is_other(ngx_http_request_t *r);

/* Is R, by its Origin, from such a page? */
ngx_uint_t ngx_http_jpp_site_is_other_origin(ngx_http_request_t *r);

/* Does R open a page in a tab, where somebody sees it? */
ngx_uint_t ngx_http_jpp_site_is_visit(ngx_http_request_t *r);


#endif /* _NGX_HTTP_JPP_SITE_H_INCLUDED_ */
