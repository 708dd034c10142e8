
#include "ngx_http_jemalloc_pprof.h"
#include "ngx_http_jemalloc_pprof_loop.h"
#include "ngx_http_jemalloc_pprof_owners.h"
#include "ngx_http_jemalloc_pprof_pools_names.h"

#include "jpp_owner_names.h"
#include "jpp_owners.h"
#include "jpp_sampler.h"

#if (NGX_HTTP_V2)
#include <ngx_http_v2_module.h>
#endif


/* samples that are settled after an iteration */
#define NGX_HTTP_JEMALLOC_PPROF_SETTLED  256

/* logs of requests, by their addresses: one that has the place takes it */
#define NGX_HTTP_JEMALLOC_PPROF_LOGS     1024


/* A request's log, which the connections of its upstreams have, too. */
typedef struct {
    const ngx_log_t  *log;
    uint32_t          owner;
} ngx_http_jemalloc_pprof_log_t;


static ngx_int_t ngx_http_jemalloc_pprof_owners_chosen(ngx_http_request_t *r);
static ngx_int_t ngx_http_jemalloc_pprof_owners_logged(ngx_http_request_t *r);
static ngx_connection_t *ngx_http_jemalloc_pprof_owners_connection(
    ngx_http_request_t *r, ngx_uint_t *n);
static uint32_t ngx_http_jemalloc_pprof_owners_location(
    ngx_http_request_t *r);
static uint32_t ngx_http_jemalloc_pprof_owners_server(
    ngx_http_core_srv_conf_t *cscf);
static uint32_t ngx_http_jemalloc_pprof_owners_name(
    ngx_http_core_srv_conf_t *cscf, const ngx_str_t *location);
static ngx_http_jemalloc_pprof_log_t *ngx_http_jemalloc_pprof_owners_log(
    const ngx_log_t *log);
static void ngx_http_jemalloc_pprof_owners_settle(void);
static uint64_t ngx_http_jemalloc_pprof_owners_number(uint32_t index);
static uint32_t ngx_http_jemalloc_pprof_owners_ask(uint32_t index,
    uint64_t number, void *data);
static ngx_http_core_srv_conf_t *ngx_http_jemalloc_pprof_owners_default(
    const ngx_connection_t *c);


static ngx_str_t  ngx_http_jemalloc_pprof_no_location =
    ngx_string("(no location)");
static ngx_str_t  ngx_http_jemalloc_pprof_several =
    ngx_string("(several locations)");
static ngx_str_t  ngx_http_jemalloc_pprof_whole_server =
    ngx_string("(server)");

static ngx_cycle_t  *ngx_http_jemalloc_pprof_serving;

static ngx_http_jemalloc_pprof_log_t
    ngx_http_jemalloc_pprof_logs[NGX_HTTP_JEMALLOC_PPROF_LOGS];


ngx_int_t
ngx_http_jemalloc_pprof_owners_phases(ngx_conf_t *cf)
{
    ngx_http_handler_pt        *chosen, *logged;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    chosen = ngx_array_push(&cmcf->phases[NGX_HTTP_REWRITE_PHASE].handlers);
    logged = ngx_array_push(&cmcf->phases[NGX_HTTP_LOG_PHASE].handlers);

    if (chosen == NULL || logged == NULL) {
        return NGX_ERROR;
    }

    *chosen = ngx_http_jemalloc_pprof_owners_chosen;
    *logged = ngx_http_jemalloc_pprof_owners_logged;

    return NGX_OK;
}


void
ngx_http_jemalloc_pprof_owners_init(ngx_cycle_t *cycle)
{
    jpp_serving_t                         serving;
    ngx_http_jemalloc_pprof_main_conf_t  *jmcf;

    jmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_jemalloc_pprof_module);

    ngx_http_jemalloc_pprof_serving = cycle;
    ngx_memzero(ngx_http_jemalloc_pprof_logs,
                sizeof(ngx_http_jemalloc_pprof_logs));

    if (!jmcf->owners || cycle->connections == NULL) {
        jpp_owners_stop();
        return;
    }

    ngx_memzero(&serving, sizeof(jpp_serving_t));

    serving.ranges[0].start = (uintptr_t) cycle->connections;
    serving.ranges[0].size = sizeof(ngx_connection_t);
    serving.ranges[1].start = (uintptr_t) cycle->read_events;
    serving.ranges[1].size = sizeof(ngx_event_t);
    serving.ranges[2].start = (uintptr_t) cycle->write_events;
    serving.ranges[2].size = sizeof(ngx_event_t);
    serving.n = cycle->connection_n;
    serving.number = ngx_http_jemalloc_pprof_owners_number;

    jpp_serving_init(&serving);

    ngx_http_jemalloc_pprof_loop_ends(ngx_http_jemalloc_pprof_owners_settle);

    /* without memory samples belong to nobody */

    (void) jpp_owners_start(&serving, ngx_http_jemalloc_pprof_loop_look);
}


/* [signal] Of whom somebody is at the other end. */

static uint64_t
ngx_http_jemalloc_pprof_owners_number(uint32_t index)
{
    ngx_connection_t  *c;

    c = &ngx_http_jemalloc_pprof_serving->connections[index];

    if (c->fd == (ngx_socket_t) -1 || c->read == NULL || c->read->accept) {
        return 0;
    }

    return c->number != 0 ? c->number : JPP_SERVING_NEW;
}


static ngx_int_t
ngx_http_jemalloc_pprof_owners_chosen(ngx_http_request_t *r)
{
    uint32_t                        owner, was;
    ngx_uint_t                      i, n;
    ngx_connection_t               *c;
    ngx_http_jemalloc_pprof_log_t  *log;

    if (!jpp_sampler_is_on()) {
        return NGX_DECLINED;
    }

    owner = ngx_http_jemalloc_pprof_owners_location(r);

    log = ngx_http_jemalloc_pprof_owners_log(r->connection->log);
    log->log = r->connection->log;
    log->owner = owner;

    c = ngx_http_jemalloc_pprof_owners_connection(r, &n);
    i = c - ngx_http_jemalloc_pprof_serving->connections;

    if (i >= ngx_http_jemalloc_pprof_serving->connection_n) {
        return NGX_DECLINED;
    }

    was = n > 1 ? jpp_owners_get(i, c->number) : owner;

    if (was != JPP_OWNER_NONE && was != owner) {
        owner = ngx_http_jemalloc_pprof_owners_name(
                    ngx_http_get_module_srv_conf(r, ngx_http_core_module),
                    &ngx_http_jemalloc_pprof_several);
    }

    jpp_owners_set(i, c->number, owner);

    return NGX_DECLINED;
}


static ngx_int_t
ngx_http_jemalloc_pprof_owners_logged(ngx_http_request_t *r)
{
    ngx_uint_t                      i, n;
    ngx_connection_t               *c;
    ngx_http_jemalloc_pprof_log_t  *log;

    if (!jpp_sampler_is_on()) {
        return NGX_OK;
    }

    if (jpp_owners_is_due()) {
        ngx_http_jemalloc_pprof_owners_settle();
    }

    log = ngx_http_jemalloc_pprof_owners_log(r->connection->log);

    if (log->log == r->connection->log) {
        log->log = NULL;
    }

    c = ngx_http_jemalloc_pprof_owners_connection(r, &n);
    i = c - ngx_http_jemalloc_pprof_serving->connections;

    if (i >= ngx_http_jemalloc_pprof_serving->connection_n || n > 1) {
        return NGX_OK;
    }

    /* it ended before it had a location, or while none was noted */

    if (jpp_owners_clear(i, c->number) == JPP_OWNER_NONE) {
        jpp_owners_set(i, c->number, ngx_http_jemalloc_pprof_owners_server(
                       ngx_http_get_module_srv_conf(r, ngx_http_core_module)));

        (void) jpp_owners_clear(i, c->number);
    }

    return NGX_OK;
}


/* The connection whose handlers R is served by, with N requests at once. */

static ngx_connection_t *
ngx_http_jemalloc_pprof_owners_connection(ngx_http_request_t *r, ngx_uint_t *n)
{
    *n = 1;

#if (NGX_HTTP_V2)
    if (r->stream != NULL) {
        *n = r->stream->connection->processing;

        return r->stream->connection->connection;
    }
#endif

    return r->connection;
}


static uint32_t
ngx_http_jemalloc_pprof_owners_location(ngx_http_request_t *r)
{
    ngx_http_core_loc_conf_t            *clcf;
    ngx_http_jemalloc_pprof_loc_conf_t  *jlcf;

    jlcf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    if (jlcf->owner == JPP_OWNER_NONE) {
        clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

        jlcf->owner = ngx_http_jemalloc_pprof_owners_name(
                          ngx_http_get_module_srv_conf(r, ngx_http_core_module),
                          clcf->name.len != 0
                          ? &clcf->name
                          : &ngx_http_jemalloc_pprof_whole_server);
    }

    return jlcf->owner;
}


static uint32_t
ngx_http_jemalloc_pprof_owners_server(ngx_http_core_srv_conf_t *cscf)
{
    ngx_http_jemalloc_pprof_srv_conf_t  *jscf;

    jscf = cscf->ctx->srv_conf[ngx_http_jemalloc_pprof_module.ctx_index];

    if (jscf->owner == JPP_OWNER_NONE) {
        jscf->owner = ngx_http_jemalloc_pprof_owners_name(cscf,
                          &ngx_http_jemalloc_pprof_no_location);
    }

    return jscf->owner;
}


static uint32_t
ngx_http_jemalloc_pprof_owners_name(ngx_http_core_srv_conf_t *cscf,
    const ngx_str_t *location)
{
    u_char     text[JPP_POOLS_NAME];
    ngx_str_t  server;

    server = ngx_http_jemalloc_pprof_server_text(cscf, text);

    return jpp_owner_name((char *) server.data, server.len,
                          (char *) location->data, location->len);
}


static ngx_http_jemalloc_pprof_log_t *
ngx_http_jemalloc_pprof_owners_log(const ngx_log_t *log)
{
    return &ngx_http_jemalloc_pprof_logs[((uintptr_t) log >> 9
                                          ^ (uintptr_t) log >> 4)
                                         % NGX_HTTP_JEMALLOC_PPROF_LOGS];
}


/* What is more than that comes after the next iteration. */

static void
ngx_http_jemalloc_pprof_owners_settle(void)
{
    if (jpp_owners_is_due()) {
        jpp_owners_settle(NGX_HTTP_JEMALLOC_PPROF_SETTLED,
                          ngx_http_jemalloc_pprof_owners_ask, NULL);
    }

    if (jpp_owners_is_due()) {
        ngx_http_jemalloc_pprof_loop_look();
    }
}


/* Of a connection that nobody is served by yet, or one to an upstream. */

static uint32_t
ngx_http_jemalloc_pprof_owners_ask(uint32_t index, uint64_t number,
    void *data)
{
    const ngx_str_t                *address;
    ngx_connection_t               *c;
    ngx_http_core_srv_conf_t       *cscf;
    ngx_http_jemalloc_pprof_log_t  *log;

    c = &ngx_http_jemalloc_pprof_serving->connections[index];

    if (number == JPP_SERVING_NEW) {
        return JPP_OWNER_LOOP;
    }

    /* until it is used again, one that was closed says where it came from */

    if (c->number != number) {
        return JPP_OWNER_NONE;
    }

    if (c->listening == NULL) {
        log = ngx_http_jemalloc_pprof_owners_log(c->log);

        return log->log == c->log ? log->owner : JPP_OWNER_NONE;
    }

    if (c->listening->handler == ngx_http_init_connection) {
        cscf = ngx_http_jemalloc_pprof_owners_default(c);

        return ngx_http_jemalloc_pprof_owners_server(cscf);
    }

    /* a session of stream or mail */

    address = &c->listening->addr_text;

    return jpp_owner_name((char *) address->data, address->len, "(session)",
                          sizeof("(session)") - 1);
}


/* The server that the address of C has for requests without a name; of one that
   was closed only the port is known. */

static ngx_http_core_srv_conf_t *
ngx_http_jemalloc_pprof_owners_default(const ngx_connection_t *c)
{
    ngx_uint_t             i, n;
    ngx_http_port_t       *port;
    ngx_http_in_addr_t    *addr;
#if (NGX_HAVE_INET6)
    ngx_http_in6_addr_t   *addr6;
    struct sockaddr_in6   *sin6;
#endif
    struct sockaddr       *local;
    struct sockaddr_in    *sin;

    port = c->listening->servers;
    n = port->naddrs - 1;
    local = c->fd != (ngx_socket_t) -1 ? c->local_sockaddr : NULL;

#if (NGX_HAVE_INET6)
    if (c->listening->sockaddr->sa_family == AF_INET6) {
        addr6 = port->addrs;
        sin6 = (struct sockaddr_in6 *) local;

        for (i = 0; i < n && sin6 != NULL; i++) {
            if (ngx_memcmp(&addr6[i].addr6, &sin6->sin6_addr, 16) == 0) {
                break;
            }
        }

        return addr6[sin6 != NULL ? i : n].conf.default_server;
    }
#endif

    addr = port->addrs;
    sin = (struct sockaddr_in *) local;

    for (i = 0; i < n && sin != NULL; i++) {
        if (addr[i].addr == sin->sin_addr.s_addr) {
            break;
        }
    }

    return addr[sin != NULL ? i : n].conf.default_server;
}
