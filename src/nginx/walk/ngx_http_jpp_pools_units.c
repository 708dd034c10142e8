
/*
 * The details of one request or connection, other than its memory.
 */


#include "ngx_http_jpp_pools.h"

#include <linux/sock_diag.h>


#if (NGX_HTTP_SSL)
/* a module may be loaded by an nginx that was built without */
#pragma weak ngx_http_ssl_module
#endif


/* By http_state, which has four bits, in the words of its constants. */

static const char *const  ngx_http_jpp_states[16] = {
    "initing", "reading request", "processing", "connecting upstream",
    "writing upstream", "reading upstream", "writing response",
    "lingering close", "keepalive"
};


/* By the kind of a unit's owner, or HTTP/1; UDP is seen by the socket. */

static const uint8_t  ngx_http_jpp_protocols[JPP_POOLS_KINDS] = {
    [JPP_POOLS_HTTP2] = JPP_POOLS_H2,
    [JPP_POOLS_HTTP2_HEADERS] = JPP_POOLS_H2,
    [JPP_POOLS_HTTP3] = JPP_POOLS_H3,
    [JPP_POOLS_KEEPALIVE] = JPP_POOLS_TCP,
    [JPP_POOLS_STREAM] = JPP_POOLS_TCP,
    [JPP_POOLS_MAIL] = JPP_POOLS_MAILS,
    [JPP_POOLS_MODULE_CONNECTION] = JPP_POOLS_TCP
};


/* Where the kernel does not say, there is none. */

static void
ngx_http_jpp_unit_queues(jpp_pools_unit_t *unit, const ngx_connection_t *c)
{
    uint32_t   info[SK_MEMINFO_VARS];
    socklen_t  len;

    len = sizeof(info);

    if (c->fd != (ngx_socket_t) -1
        && getsockopt(c->fd, SOL_SOCKET, SO_MEMINFO, info, &len) == 0
        && len > SK_MEMINFO_WMEM_QUEUED * sizeof(uint32_t))
    {
        unit->sending += info[SK_MEMINFO_WMEM_QUEUED];
        unit->receiving += info[SK_MEMINFO_RMEM_ALLOC];
    }
}


static void
ngx_http_jpp_unit_bufs(jpp_pools_unit_t *unit, ngx_bufs_t bufs)
{
    unit->bound_number = bufs.num;
    unit->bound_size = bufs.size;
}


/* The directive that bounds what the request has most of, as it is set here. */

static void
ngx_http_jpp_unit_bound(jpp_pools_unit_t *unit, ngx_http_request_t *r)
{
    const ngx_http_upstream_conf_t  *ucf;
    const ngx_http_core_loc_conf_t  *clcf;
    const ngx_http_core_srv_conf_t  *cscf;
#if (NGX_HTTP_SSL)
    const ngx_http_ssl_srv_conf_t   *sscf;
#endif

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);
    cscf = ngx_http_get_module_srv_conf(r, ngx_http_core_module);
    ucf = r->upstream != NULL ? r->upstream->conf : NULL;

    switch ((jpp_pools_class_t) unit->most_class) {

    case JPP_POOLS_BLOCKS:
        unit->bound_size = cscf->request_pool_size;
        break;

    case JPP_POOLS_HEADERS:
        ngx_http_jpp_unit_bufs(unit, cscf->large_client_header_buffers);
        break;

    case JPP_POOLS_BODY:
        unit->bound_size = clcf->client_body_buffer_size;
        break;

    case JPP_POOLS_UPSTREAM_HEADER:
        unit->bound_size = ucf != NULL ? ucf->buffer_size : 0;
        break;

    case JPP_POOLS_UPSTREAM_BUFFERS:
        if (ucf != NULL) {
            ngx_http_jpp_unit_bufs(unit, ucf->bufs);
        }

        break;

    case JPP_POOLS_TLS:
#if (NGX_HTTP_SSL)
        if (&ngx_http_ssl_module != NULL) {
            sscf = ngx_http_get_module_srv_conf(r, ngx_http_ssl_module);
            unit->bound_size = sscf->buffer_size;
        }
#endif
        break;

    default:
        break;
    }
}


/* A string that lives as long as the program; NULL is 0. */

static uint32_t
ngx_http_jpp_unit_word(ngx_http_jpp_walk_t *walk, const char *word)
{
    return word != NULL
           ? jpp_pools_name(&walk->table, JPP_POOLS_WORD, word, word,
                            ngx_strlen(word))
           : 0;
}


static void
ngx_http_jpp_unit_request(ngx_http_jpp_walk_t *walk, jpp_pools_unit_t *unit,
    ngx_http_request_t *r)
{
    int64_t               age;
    ngx_time_t           *now;
    ngx_http_upstream_t  *u;

    now = ngx_timeofday();
    age = (int64_t) (now->sec - r->start_sec) * 1000
          + (int64_t) now->msec - (int64_t) r->start_msec;

    unit->age_msec = age > 0 ? age : 0;

    unit->state = ngx_http_jpp_unit_word(walk,
                                         ngx_http_jpp_states[r->http_state]);

    /* a stream of HTTP/2 has a log of its own */

    unit->action = ngx_http_jpp_unit_word(walk, r->connection->log->action);

    if (r->stream != NULL) {
        unit->protocol = JPP_POOLS_H2;

    } else if (r->http_version >= 3000) {
        unit->protocol = JPP_POOLS_H3;
    }

    u = r->upstream;

    if (u != NULL && u->peer.connection != NULL
        && ngx_http_jpp_walk_slot(walk, u->peer.connection) != NGX_ERROR)
    {
        ngx_http_jpp_unit_queues(unit, u->peer.connection);
    }

    /* in the buffer that it was read into, or decoded */

    if (walk->has_clients
        && (ngx_http_jpp_scope_has(walk, r->uri.data, r->uri.len)
            || ngx_http_jpp_pool_has(r->pool, r->uri.data, r->uri.len)))
    {
        unit->uri_len = ngx_min(r->uri.len, JPP_POOLS_URI);
        ngx_memcpy(unit->uri, r->uri.data, unit->uri_len);
    }

    ngx_http_jpp_unit_bound(unit, r);

    if ((unit->most_class == JPP_POOLS_UPSTREAM_HEADER
         || unit->most_class == JPP_POOLS_UPSTREAM_BUFFERS)
        && u != NULL && u->conf != NULL && u->conf->module.len != 0)
    {
        unit->bound_module = jpp_pools_name(&walk->table,
                                            JPP_POOLS_MODULE_NAME,
                                            u->conf->module.data,
                                            (char *) u->conf->module.data,
                                            u->conf->module.len);
    }
}


void
ngx_http_jpp_unit_end(ngx_http_jpp_walk_t *walk, uint32_t owner,
    const ngx_connection_t *c, ngx_http_request_t *r)
{
    jpp_pools_unit_t  *unit;

    if (!jpp_pools_is_wanted(&walk->table, owner)) {
        return;
    }

    unit = ngx_http_jpp_rests_park(walk);

    if (unit == NULL) {
        unit = jpp_pools_end(&walk->table);
    }

    if (unit == NULL) {
        return;
    }

    walk->work++;

    unit->protocol = ngx_http_jpp_protocols[
                         jpp_pools_owner_at(&walk->table, unit->owner)->kind];

    if (unit->protocol == JPP_POOLS_TCP && c->type == SOCK_DGRAM) {
        unit->protocol = JPP_POOLS_UDP;
    }

#if (NGX_SSL)
    unit->is_tls = c->ssl != NULL;
#endif

    unit->n_requests = c->requests;
    unit->age_msec = c->start_time != 0 ? ngx_current_msec - c->start_time : 0;

    if (ngx_http_jpp_in_scope(walk, c->log)) {
        unit->action = ngx_http_jpp_unit_word(walk, c->log->action);
    }

    ngx_http_jpp_unit_queues(unit, c);

    if (walk->has_clients
        && ngx_http_jpp_scope_has(walk, c->addr_text.data, c->addr_text.len))
    {
        unit->client_len = ngx_min(c->addr_text.len, JPP_POOLS_CLIENT);
        ngx_memcpy(unit->client, c->addr_text.data, unit->client_len);
    }

    if (r != NULL) {
        ngx_http_jpp_unit_request(walk, unit, r);
    }
}
