
#include "ngx_http_jpp_serving.h"
#include "ngx_http_jpp_serving_http2.h"
#include "ngx_http_jpp_serving_names.h"
#include "ngx_http_jpp_serving_pool.h"

#include "jpp_owners.h"
#include "jpp_serving.h"


/* a connection without a request, and the server that it has */
typedef struct {
    const ngx_connection_t       *c;
    ngx_atomic_uint_t             number;
    const void                   *data;
    const ngx_http_connection_t  *hc;        /* what the data leads to */
    const void                   *conf_ctx;
    uint32_t                      owner;
} ngx_http_jpp_serving_last_t;


static uint32_t ngx_http_jpp_serving_new(const ngx_connection_t *c,
    uintptr_t *waits);
static uint32_t ngx_http_jpp_serving_open(const ngx_connection_t *c);
static ngx_http_log_ctx_t *ngx_http_jpp_serving_log(const ngx_connection_t *c);
static uint32_t ngx_http_jpp_serving_of(const ngx_http_log_ctx_t *ctx,
    uintptr_t *waits);
static const ngx_http_connection_t *ngx_http_jpp_serving_http(
    const ngx_connection_t *c);
static ngx_http_core_srv_conf_t *ngx_http_jpp_serving_default(
    const ngx_connection_t *c);


ngx_int_t  ngx_http_jpp_serving_located;

static ngx_cycle_t  *ngx_http_jpp_serving_cycle;

static ngx_http_jpp_serving_last_t
    ngx_http_jpp_serving_last;

/* nginx's handler of the logs of HTTP; NULL: none was seen yet */
static ngx_log_handler_pt  ngx_http_jpp_serving_handler;


ngx_int_t
ngx_http_jpp_serving_init(ngx_cycle_t *cycle)
{
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_core_module);

    ngx_http_jpp_serving_cycle = cycle;
    ngx_http_jpp_serving_last.c = NULL;
    ngx_http_jpp_serving_located = cmcf->phase_engine.location_rewrite_index;

    return ngx_http_jpp_serving_names(cycle, cmcf);
}


uint64_t
ngx_http_jpp_serving_number(uint32_t index)
{
    ngx_connection_t  *c;

    c = &ngx_http_jpp_serving_cycle->connections[index];

    if (c->read == NULL) {
        return 0;
    }

    if (c->number != 0 || c->fd == (ngx_socket_t) -1) {
        return c->number;
    }

    /* nginx's channel, and connections of modules, have none */

    return c->read->accept || c->read->handler == NULL ? JPP_SERVING_NEW : 0;
}


uint32_t
ngx_http_jpp_serving_served(uint32_t index, const uintptr_t *words, uint32_t n,
    uintptr_t *waits)
{
    uint32_t             owner;
    ngx_connection_t    *c;
    ngx_http_log_ctx_t  *ctx;

    c = &ngx_http_jpp_serving_cycle->connections[index];

    /* Lua frees a fake connection with 0, when its log is gone */

    if (c->fd == (ngx_socket_t) -1 || c->fd == 0) {
        return JPP_OWNER_NONE;
    }

    if (c->number == 0) {
        return ngx_http_jpp_serving_new(c, waits);
    }

    ctx = ngx_http_jpp_serving_log(c);

    if (ctx != NULL && ctx->request != NULL) {
        return ngx_http_jpp_serving_of(ctx, waits);
    }

    /* an upstream's, while its client is unknown */

    if (c->listening == NULL) {
        return JPP_OWNER_NONE;
    }

    if (c->listening->handler != ngx_http_init_connection) {
        return ngx_http_jpp_serving_name_session(c->listening);
    }

    if (!ngx_http_jpp_serving_http2_is(c)) {
        *waits = JPP_SERVING_NEXT;
        return JPP_OWNER_NONE;
    }

    ctx = ngx_http_jpp_serving_http2(c, words, n, waits);

    if (ctx == NULL) {
        return *waits != 0
               ? JPP_OWNER_NONE
               : ngx_http_jpp_serving_meanwhile(index);
    }

    *waits = 0;
    owner = ngx_http_jpp_serving_of(ctx, waits);

    if (*waits != 0) {
        *waits = (uintptr_t) ctx->connection;
    }

    return owner;
}


/* It was just accepted, or it listens. */

static uint32_t
ngx_http_jpp_serving_new(const ngx_connection_t *c, uintptr_t *waits)
{
    if (c->read->accept) {
        *waits = JPP_SERVING_OTHERS;
        return JPP_OWNER_NONE;
    }

    *waits = JPP_SERVING_NEXT;

    return JPP_OWNER_ACCEPT;
}


/* Until it is used again, one that was closed says where it came from. */

uint32_t
ngx_http_jpp_serving_meanwhile(uint32_t index)
{
    ngx_connection_t  *c;

    c = &ngx_http_jpp_serving_cycle->connections[index];

    if (c->read != NULL && c->read->accept) {
        return JPP_OWNER_ACCEPT;
    }

    if (c->listening == NULL
        || c->listening->handler != ngx_http_init_connection)
    {
        return JPP_OWNER_NONE;
    }

    return c->fd != (ngx_socket_t) -1
           ? ngx_http_jpp_serving_open(c)
           : ngx_http_jpp_serving_name_server(ngx_http_jpp_serving_default(c));
}


/*
 * A handshake has many samples: what the data of C is stays known as long as C
 * has both.  Whoever interrupts this may come from another connection, so that
 * the owner is read first.
 */

static uint32_t
ngx_http_jpp_serving_open(const ngx_connection_t *c)
{
    uint32_t                      owner;
    ngx_http_core_srv_conf_t     *cscf;
    const ngx_http_connection_t  *hc;
    ngx_http_jpp_serving_last_t  *last;

    last = &ngx_http_jpp_serving_last;

    owner = last->owner;
    hc = last->hc;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);

    if (c == last->c && c->number == last->number && c->data == last->data
        && hc->conf_ctx == last->conf_ctx)
    {
        return owner;
    }

    hc = ngx_http_jpp_serving_http(c);
    cscf = hc != NULL
           ? ngx_http_jpp_serving_name_find(hc->conf_ctx) : NULL;

    if (cscf == NULL) {
        cscf = ngx_http_jpp_serving_default(c);
        hc = NULL;
    }

    owner = ngx_http_jpp_serving_name_server(cscf);

    if (hc != NULL && c->number != 0) {
        last->c = NULL;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);

        last->number = c->number;
        last->data = c->data;
        last->hc = hc;
        last->conf_ctx = hc->conf_ctx;
        last->owner = owner;

        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        last->c = c;
    }

    return owner;
}


uint32_t
ngx_http_jpp_serving_request(ngx_http_request_t *r, uintptr_t *waits)
{
    ngx_http_upstream_t      *u;
    ngx_http_jpp_loc_conf_t  *jlcf;

    jlcf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    if (!ngx_http_jpp_serving_is_located(r, jlcf)) {
        *waits = JPP_SERVING_NEXT;

        return ngx_http_jpp_serving_name_server(
                   ngx_http_get_module_srv_conf(r, ngx_http_core_module));
    }

    /* nginx ends what is to be done for one that has answered */

    u = r->upstream;

    return ngx_http_jpp_serving_name_location(r, jlcf,
               u != NULL && u->cleanup != NULL ? u->upstream : NULL);
}


/* The data of the log of C, if that is HTTP's; an upstream has its client's. */

static ngx_http_log_ctx_t *
ngx_http_jpp_serving_log(const ngx_connection_t *c)
{
    ngx_log_t           *log;
    ngx_http_log_ctx_t  *ctx;

    log = c->log;

    if (ngx_http_jpp_serving_handler != NULL) {
        return log->handler == ngx_http_jpp_serving_handler
               ? log->data : NULL;
    }

    ctx = log->data;

    if (log->handler == NULL || c->listening == NULL
        || c->listening->handler != ngx_http_init_connection
        || !ngx_http_jpp_serving_has(c->pool, ctx, sizeof(ngx_http_log_ctx_t))
        || ctx->connection != c)
    {
        return NULL;
    }

    ngx_http_jpp_serving_handler = log->handler;

    return ctx;
}


/* The owner of CTX's request; JPP_OWNER_NONE: there is none. */

static uint32_t
ngx_http_jpp_serving_of(const ngx_http_log_ctx_t *ctx, uintptr_t *waits)
{
    ngx_http_request_t  *r, *current;

    r = ctx->request;

    if (r == NULL) {
        *waits = JPP_SERVING_NEXT;
        return JPP_OWNER_NONE;
    }

    /* a subrequest, or what is left over from a request before */

    current = ctx->current_request;

    if (current != r
        && (r->pool == NULL
            || !ngx_http_jpp_serving_holds(r->pool, current,
                                           sizeof(ngx_http_request_t))))
    {
        current = r;
    }

    return ngx_http_jpp_serving_request(current, waits);
}


/* What C, which has no request, was accepted with; NULL: something else. */

static const ngx_http_connection_t *
ngx_http_jpp_serving_http(const ngx_connection_t *c)
{
    const void  *data;

    data = c->data;

    if (ngx_http_jpp_serving_http2_is(c)) {
        data = ngx_http_jpp_serving_http2_data(data);
    }

    return ngx_http_jpp_serving_holds(c->pool, data,
                                      sizeof(ngx_http_connection_t))
           ? data : NULL;
}


/* The server that the address of C has for requests without a name; of one that
   was closed only the port is known. */

static ngx_http_core_srv_conf_t *
ngx_http_jpp_serving_default(const ngx_connection_t *c)
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
