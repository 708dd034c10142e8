
#include "ngx_http_jpp_site.h"


typedef ngx_uint_t (*ngx_http_jpp_value_pt)(ngx_http_request_t *r,
    const ngx_str_t *value);


static ngx_uint_t ngx_http_jpp_site_has(ngx_http_request_t *r, const char *name,
    ngx_http_jpp_value_pt is_so);
static ngx_uint_t ngx_http_jpp_site_is_foreign(ngx_http_request_t *r,
    const ngx_str_t *value);
static ngx_uint_t ngx_http_jpp_site_differs(ngx_http_request_t *r,
    const ngx_str_t *value);
static ngx_uint_t ngx_http_jpp_site_is_navigation(ngx_http_request_t *r,
    const ngx_str_t *value);
static ngx_uint_t ngx_http_jpp_site_is_document(ngx_http_request_t *r,
    const ngx_str_t *value);
static ngx_uint_t ngx_http_jpp_site_is_there(ngx_http_request_t *r,
    const ngx_str_t *value);


ngx_uint_t
ngx_http_jpp_site_is_other(ngx_http_request_t *r)
{
    return ngx_http_jpp_site_has(r, "Sec-Fetch-Site",
                                 ngx_http_jpp_site_is_foreign);
}


ngx_uint_t
ngx_http_jpp_site_is_other_origin(ngx_http_request_t *r)
{
    return ngx_http_jpp_site_has(r, "Origin", ngx_http_jpp_site_differs);
}


/* a frame has another destination; what is fetched ahead has a purpose */

ngx_uint_t
ngx_http_jpp_site_is_visit(ngx_http_request_t *r)
{
    return r->method == NGX_HTTP_GET
           && ngx_http_jpp_site_has(r, "Sec-Fetch-Mode",
                                    ngx_http_jpp_site_is_navigation)
           && ngx_http_jpp_site_has(r, "Sec-Fetch-Dest",
                                    ngx_http_jpp_site_is_document)
           && !ngx_http_jpp_site_has(r, "Sec-Purpose",
                                     ngx_http_jpp_site_is_there)
           && !ngx_http_jpp_site_has(r, "Purpose", ngx_http_jpp_site_is_there);
}


/* Is there a header NAME with a value that IS_SO?  There may be several. */

static ngx_uint_t
ngx_http_jpp_site_has(ngx_http_request_t *r, const char *name,
    ngx_http_jpp_value_pt is_so)
{
    size_t            len;
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    len = ngx_strlen(name);

    for (part = &r->headers_in.headers.part; part != NULL; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (h[i].key.len == len
                && ngx_strncasecmp(h[i].key.data, (u_char *) name, len) == 0
                && is_so(r, &h[i].value))
            {
                return 1;
            }
        }
    }

    return 0;
}


static ngx_uint_t
ngx_http_jpp_site_is_foreign(ngx_http_request_t *r, const ngx_str_t *value)
{
    return ngx_strcmp(value->data, "same-origin") != 0
           && ngx_strcmp(value->data, "none") != 0;
}


/* "http://host:port" with the host that was asked, or it is foreign */

static ngx_uint_t
ngx_http_jpp_site_differs(ngx_http_request_t *r, const ngx_str_t *value)
{
    u_char     *origin;
    ngx_str_t   host;

    /* HTTP/3 may have an authority in the place of the header */

    if (r->headers_in.host != NULL) {
        host = r->headers_in.host->value;

    } else {
        host.data = r->host_start;
        host.len = r->host_end - r->host_start;
    }

    origin = (u_char *) ngx_strstr(value->data, "://");

    if (origin == NULL) {
        return 1;
    }

    origin += 3;

    return (size_t) (value->data + value->len - origin) != host.len
           || ngx_memcmp(origin, host.data, host.len) != 0;
}


static ngx_uint_t
ngx_http_jpp_site_is_navigation(ngx_http_request_t *r, const ngx_str_t *value)
{
    return ngx_strcmp(value->data, "navigate") == 0;
}


static ngx_uint_t
ngx_http_jpp_site_is_document(ngx_http_request_t *r, const ngx_str_t *value)
{
    return ngx_strcmp(value->data, "document") == 0;
}


static ngx_uint_t
ngx_http_jpp_site_is_there(ngx_http_request_t *r, const ngx_str_t *value)
{
    return 1;
}
