
#include "ngx_http_jpp.h"
#include "ngx_http_jpp_host.h"


static ngx_uint_t ngx_http_jpp_host_is_address(const ngx_str_t *host);
static ngx_uint_t ngx_http_jpp_host_is_name(const ngx_http_server_name_t *name,
    ngx_str_t *host);
static ngx_uint_t ngx_http_jpp_host_is_wildcard(const ngx_str_t *name,
    const ngx_str_t *host);


/* nginx's own list is in a pool that goes with the configuration. */

ngx_int_t
ngx_http_jpp_host_names(ngx_conf_t *cf, ngx_array_t *names)
{
    ngx_http_server_name_t    *name;
    ngx_http_core_srv_conf_t  *cscf;

    cscf = ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module);

    if (ngx_array_init(names, cf->pool, cscf->server_names.nelts + 1,
                       sizeof(ngx_http_server_name_t))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    name = ngx_array_push_n(names, cscf->server_names.nelts);
    if (name == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(name, cscf->server_names.elts,
               cscf->server_names.nelts * sizeof(ngx_http_server_name_t));

    return NGX_OK;
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
    ngx_uint_t                i;
    ngx_http_server_name_t   *names;
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

    names = conf->names.elts;

    for (i = 0; i < conf->names.nelts; i++) {
        if (ngx_http_jpp_host_is_name(&names[i], host)) {
            return 1;
        }
    }

    return 0;
}


static ngx_uint_t
ngx_http_jpp_host_is_address(const ngx_str_t *host)
{
#if (NGX_HAVE_INET6)
    u_char  addr[16];

    if (host->len > 2
        && host->data[0] == '['
        && host->data[host->len - 1] == ']')
    {
        return ngx_inet6_addr(host->data + 1, host->len - 2, addr) == NGX_OK;
    }
#endif

    return ngx_inet_addr(host->data, host->len) != INADDR_NONE;
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


/* "*.example.com", ".example.com", which is that name as well, "example.*" */

static ngx_uint_t
ngx_http_jpp_host_is_wildcard(const ngx_str_t *name, const ngx_str_t *host)
{
    u_char  *tail;
    size_t   len;

    tail = name->data;
    len = name->len;

    if (len > 2 && tail[len - 1] == '*' && tail[len - 2] == '.') {
        return host->len >= len
               && ngx_strncmp(host->data, tail, len - 1) == 0;
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


ngx_uint_t
ngx_http_jpp_host_is_loopback(ngx_http_request_t *r)
{
    struct sockaddr_in   *sin;
#if (NGX_HAVE_INET6)
    struct sockaddr_in6  *sin6;
#endif

    /* an unreadable address is not trusted */

    if (ngx_connection_local_sockaddr(r->connection, NULL, 0) != NGX_OK) {
        return 1;
    }

    switch (r->connection->local_sockaddr->sa_family) {

#if (NGX_HAVE_INET6)
    case AF_INET6:
        sin6 = (struct sockaddr_in6 *) r->connection->local_sockaddr;

        return IN6_IS_ADDR_LOOPBACK(&sin6->sin6_addr)
               || (IN6_IS_ADDR_V4MAPPED(&sin6->sin6_addr)
                   && sin6->sin6_addr.s6_addr[12] == 127);
#endif

    case AF_INET:
        sin = (struct sockaddr_in *) r->connection->local_sockaddr;

        return ntohl(sin->sin_addr.s_addr) >> 24 == 127;

    default: /* AF_UNIX */
        return 0;
    }
}
