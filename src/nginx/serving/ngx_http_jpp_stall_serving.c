
#include "ngx_http_jpp.h"
#include "ngx_http_jpp_stall_serving.h"


/* of a request, as far as it is looked at */
#define NGX_HTTP_JPP_PREFIX  offsetof(ngx_http_request_t, header_in)

/* no process has anything below, or at more than 47 bits */
#define NGX_HTTP_JPP_LOW     0x10000u
#define NGX_HTTP_JPP_BITS    47


static ngx_uint_t ngx_http_jpp_stall_is_server(uintptr_t cscf);
static void ngx_http_jpp_stall_name(const jpp_peek_t *peek,
    const ngx_str_t *name, char to[JPP_STALL_NAME]);


static const ngx_http_core_main_conf_t  *ngx_http_jpp_stall_cmcf;


void
ngx_http_jpp_stall_serving(ngx_cycle_t *cycle)
{
    ngx_http_jpp_stall_cmcf =
        ngx_http_cycle_get_module_main_conf(cycle, ngx_http_core_module);
}


/*
 * All memory is read with care, because the word may be anything.  That it is a
 * request is certain once its configuration is a server's.
 */

bool
ngx_http_jpp_stall_serves(const jpp_peek_t *peek, uintptr_t word,
    jpp_stall_t *stall)
{
    uintptr_t            cscf, clcf;
    ngx_str_t            name;
    ngx_http_request_t   r;

    if (word % sizeof(void *) != 0
        || word < NGX_HTTP_JPP_LOW
        || word >> (NGX_HTTP_JPP_BITS - 1) > 1)
    {
        return false;
    }

    if (!jpp_peek(peek, word, &r, NGX_HTTP_JPP_PREFIX)) {
        return false;
    }

    if (r.signature != NGX_HTTP_MODULE || r.pool == NULL
        || !jpp_peek(peek,
                     (uintptr_t) &r.srv_conf[ngx_http_core_module.ctx_index],
                     &cscf, sizeof(uintptr_t))
        || !ngx_http_jpp_stall_is_server(cscf))
    {
        return false;
    }

    ngx_http_jpp_stall_name(peek,
                            &((ngx_http_core_srv_conf_t *) cscf)->server_name,
                            stall->server);

    if (jpp_peek(peek,
                 (uintptr_t) &r.loc_conf[ngx_http_core_module.ctx_index],
                 &clcf, sizeof(uintptr_t))
        && jpp_peek(peek,
                    clcf + offsetof(ngx_http_core_loc_conf_t, name), &name,
                    sizeof(ngx_str_t)))
    {
        ngx_http_jpp_stall_name(peek, &name, stall->location);
    }

    if (!jpp_peek(peek, (uintptr_t) r.connection
                        + offsetof(ngx_connection_t, number),
                  &stall->connection, sizeof(ngx_atomic_uint_t)))
    {
        stall->connection = 0;
    }

    return true;
}


static ngx_uint_t
ngx_http_jpp_stall_is_server(uintptr_t cscf)
{
    ngx_uint_t                        i;
    ngx_http_core_srv_conf_t        **servers;
    const ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_jpp_stall_cmcf;
    servers = cmcf->servers.elts;

    for (i = 0; i < cmcf->servers.nelts; i++) {
        if ((uintptr_t) servers[i] == cscf) {
            return 1;
        }
    }

    return 0;
}


static void
ngx_http_jpp_stall_name(const jpp_peek_t *peek, const ngx_str_t *name,
    char to[JPP_STALL_NAME])
{
    size_t  len;

    len = ngx_min(name->len, JPP_STALL_NAME - 1);

    if (!jpp_peek(peek, (uintptr_t) name->data, to, len)) {
        len = 0;
    }

    to[len] = '\0';
}
