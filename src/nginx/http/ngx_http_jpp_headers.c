
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


#include "ngx_http_jpp_http.h"


/* Is a header of R with VALUE looked for?  DATA is the caller's. */
typedef ngx_uint_t (*ngx_http_jpp_header_pt)(ngx_http_request_t *r,
    const ngx_str_t *value, const char *data);


static ngx_uint_t
ngx_http_jpp_host_is_address(const ngx_str_t *host)
{
    u_char  addr[16];

    if (host->len > 2
        && host->data[0] == '['
        && host->data[host->len - 1] == ']')
    {
        return ngx_inet6_addr(host->data + 1, host->len - 2, addr) == NGX_OK;
    }

    return ngx_inet_addr(host->data, host->len) != INADDR_NONE;
}


/* "*.example.com", ".example.com", which is that name as well, "example.*" */

static ngx_uint_t
ngx_http_jpp_host_is_wildcard(const ngx_str_t *name, const ngx_str_t *host)
{
    u_char  *tail;
    size_t   len;

    tail = name->data;
    len = name->len;

    if (len > 2 && tail[len - 1] == '*' && tail[len - 2] == '.') {
        return host->len >= len && ngx_strncmp(host->data, tail, len - 1) == 0;
    }

    if (len > 2 && tail[0] == '*' && tail[1] == '.') {
        tail++;
        len--;

    } else if (len > 1 && tail[0] == '.') {

        if (host->len == len - 1
            && ngx_strncmp(host->data, tail + 1, len - 1) == 0)
        {
            return 1;
        }

    } else {
        return 0;
    }

    return host->len > len
           && ngx_strncmp(host->data + host->len - len, tail, len) == 0;
}


static ngx_uint_t
ngx_http_jpp_host_is_name(const ngx_http_server_name_t *name, ngx_str_t *host)
{
#if (NGX_PCRE)

    /* not ngx_http_regex_exec(), which would set the request's variables */

    if (name->regex != NULL) {
        return ngx_regex_exec(name->regex->regex, host, NULL, 0) >= 0;
    }

#endif

    if (name->name.len == host->len
        && ngx_strncmp(name->name.data, host->data, host->len) == 0)
    {
        return 1;
    }

    return ngx_http_jpp_host_is_wildcard(&name->name, host);
}


/*
 * nginx has lowercased the host and cut off its port and a trailing dot.  It
 * took it from the request line, the header or :authority, by which it also
 * chose the server.
 *
 * That a server was chosen proves nothing: an unknown host goes to the default
 * server.
 */

ngx_uint_t
ngx_http_jpp_host_is_ours(ngx_http_request_t *r)
{
    ngx_str_t                *host;
    ngx_http_server_name_t   *name;
    ngx_http_jpp_srv_conf_t  *conf;

    host = &r->headers_in.server;

    if (host->len == 0
        || ngx_http_jpp_host_is_address(host)
        || (host->len == sizeof("localhost") - 1
            && ngx_strncmp(host->data, "localhost", host->len) == 0))
    {
        return 1;
    }

    conf = ngx_http_get_module_srv_conf(r, ngx_http_jemalloc_pprof_module);

    ngx_http_jpp_each(name, &conf->names) {
        if (ngx_http_jpp_host_is_name(name, host)) {
            return 1;
        }
    }

    return 0;
}


ngx_uint_t
ngx_http_jpp_host_is_loopback(ngx_http_request_t *r)
{
    struct sockaddr_in   *sin;
    struct sockaddr_in6  *sin6;

    /* an unreadable address is not trusted */

    if (ngx_connection_local_sockaddr(r->connection, NULL, 0) != NGX_OK) {
        return 1;
    }

    switch (r->connection->local_sockaddr->sa_family) {

    case AF_INET6:
        sin6 = (struct sockaddr_in6 *) r->connection->local_sockaddr;

        return IN6_IS_ADDR_LOOPBACK(&sin6->sin6_addr)
               || (IN6_IS_ADDR_V4MAPPED(&sin6->sin6_addr)
                   && sin6->sin6_addr.s6_addr[12] == 127);

    case AF_INET:
        sin = (struct sockaddr_in *) r->connection->local_sockaddr;

        return ntohl(sin->sin_addr.s_addr) >> 24 == 127;

    default: /* AF_UNIX */
        return 0;
    }
}


/* The first header NAME of several that TEST, if any, is for; or NULL. */

static const ngx_str_t *
ngx_http_jpp_header(ngx_http_request_t *r, const char *name,
    ngx_http_jpp_header_pt test, const char *data)
{
    size_t            len;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    len = ngx_strlen(name);

    for (part = &r->headers_in.headers.part; part != NULL; part = part->next) {
        ngx_http_jpp_each(h, part) {
            if (h->key.len == len
                && ngx_strncasecmp(h->key.data, (u_char *) name, len) == 0
                && (test == NULL || test(r, &h->value, data)))
            {
                return &h->value;
            }
        }
    }

    return NULL;
}


static ngx_uint_t
ngx_http_jpp_header_equals(ngx_http_request_t *r, const ngx_str_t *value,
    const char *data)
{
    return ngx_strcmp(value->data, data) == 0;
}


static ngx_uint_t
ngx_http_jpp_site_is_foreign(ngx_http_request_t *r, const ngx_str_t *value,
    const char *data)
{
    return ngx_strcmp(value->data, "same-origin") != 0
           && ngx_strcmp(value->data, "none") != 0;
}


ngx_uint_t
ngx_http_jpp_site_is_other(ngx_http_request_t *r)
{
    return ngx_http_jpp_header(r, "Sec-Fetch-Site",
                               ngx_http_jpp_site_is_foreign, NULL)
           != NULL;
}


/* "http://host:port" with the host that was asked, or it is foreign */

static ngx_uint_t
ngx_http_jpp_site_differs(ngx_http_request_t *r, const ngx_str_t *value,
    const char *data)
{
    u_char    *origin;
    ngx_str_t  host;

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


ngx_uint_t
ngx_http_jpp_site_is_other_origin(ngx_http_request_t *r)
{
    return ngx_http_jpp_header(r, "Origin", ngx_http_jpp_site_differs, NULL)
           != NULL;
}


/* a frame has another destination; what is fetched ahead has a purpose */

ngx_uint_t
ngx_http_jpp_site_is_visit(ngx_http_request_t *r)
{
    return r->method == NGX_HTTP_GET
           && ngx_http_jpp_header(r, "Sec-Fetch-Mode",
                                  ngx_http_jpp_header_equals, "navigate")
           && ngx_http_jpp_header(r, "Sec-Fetch-Dest",
                                  ngx_http_jpp_header_equals, "document")
           && !ngx_http_jpp_header(r, "Sec-Purpose", NULL, NULL)
           && !ngx_http_jpp_header(r, "Purpose", NULL, NULL);
}


/* builds without headers do not keep it */

const ngx_str_t *
ngx_http_jpp_accept(ngx_http_request_t *r)
{
    return ngx_http_jpp_header(r, "Accept", NULL, NULL);
}


ngx_uint_t
ngx_http_jpp_prefers(ngx_http_request_t *r, const char *type, const char *other)
{
    const char       *accept;
    const ngx_str_t  *value;

    value = ngx_http_jpp_accept(r);
    if (value == NULL) {
        return 0;
    }

    accept = (const char *) value->data;

    return jpp_accept(accept, value->len, type)
           > jpp_accept(accept, value->len, other);
}
