
#include "ngx_http_jpp_pools_count.h"
#include "ngx_http_jpp_pools_buffers.h"
#include "ngx_http_jpp_pools_http.h"
#include "ngx_http_jpp_pools_http2.h"
#include "ngx_http_jpp_pools_names.h"
#include "ngx_http_jpp_pools_others.h"
#include "ngx_http_jpp_pools_requests.h"
#include "ngx_http_jpp_pools_scope.h"
#include "ngx_http_jpp_pools_units.h"


/* What a client's connection is, as its data says. */
typedef struct {
    jpp_pools_kind_t             kind;
    ngx_http_request_t          *request;      /* NULL: none */
    ngx_http_core_srv_conf_t    *cscf;         /* NULL: unknown */
    void                        *http2;        /* of JPP_POOLS_HTTP2 */
} ngx_http_jpp_found_t;


static ngx_int_t ngx_http_jpp_http_log(ngx_http_jpp_walk_t *walk,
    ngx_connection_t *c, ngx_http_jpp_found_t *found);
static void ngx_http_jpp_http_data(ngx_http_jpp_walk_t *walk,
    ngx_connection_t *c, ngx_http_jpp_found_t *found);
static ngx_http_jpp_server_t *ngx_http_jpp_http_closing(
    ngx_http_jpp_walk_t *walk, const ngx_connection_t *c);
static uint32_t ngx_http_jpp_http_owner(ngx_http_jpp_walk_t *walk,
    const ngx_http_jpp_found_t *found);


void
ngx_http_jpp_http_connection(ngx_http_jpp_walk_t *walk, ngx_connection_t *c)
{
    uint32_t               owner;
    jpp_pools_unit_t      *unit;
    ngx_http_jpp_found_t   found;

    ngx_http_jpp_scope_open(walk);
    ngx_http_jpp_scope_push(walk, c->pool);
    ngx_http_jpp_count_larges(walk, c->pool);

    ngx_memzero(&found, sizeof(ngx_http_jpp_found_t));

    if (ngx_http_jpp_http_log(walk, c, &found) != NGX_OK) {

        /* a timer of Lua, for example, that borrows a client's listening */

        ngx_http_jpp_scope_open(walk);
        ngx_http_jpp_scope_push(walk, c->pool);
        ngx_http_jpp_others_foreign(walk, c);
        return;
    }

    owner = ngx_http_jpp_http_owner(walk, &found);

    ngx_http_jpp_unit_begin(walk, owner, 0);

    ngx_http_jpp_count_claim(walk, c->pool, owner);
    ngx_http_jpp_buffers_connection(walk, c,
        found.request != NULL ? found.request->http_connection
        : found.kind == JPP_POOLS_CLIENT_CONNECTION ? c->data : NULL);

    if (found.http2 != NULL) {
        ngx_http_jpp_http2_connection(walk, c, found.http2, owner, found.cscf);

    } else {
        ngx_http_jpp_count_flush(walk);

        if (found.request != NULL) {
            ngx_http_jpp_request_count(walk, c, found.request);
        }
    }

    unit = ngx_http_jpp_unit_end(walk, 0);

    if (unit != NULL) {
        ngx_http_jpp_request_unit(walk, unit, c, found.request);
    }
}


/*
 * nginx keeps the request of a client's log exact: it is set when a request is
 * created, and cleared before its pool is destroyed.
 */

static ngx_int_t
ngx_http_jpp_http_log(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    ngx_http_jpp_found_t *found)
{
    ngx_http_request_t     *r;
    ngx_http_log_ctx_t     *ctx;
    ngx_http_jpp_server_t  *server;

    ctx = ngx_http_jpp_scope_has(walk, c->log, sizeof(ngx_log_t))
          ? c->log->data : NULL;

    if (!ngx_http_jpp_scope_has(walk, ctx, sizeof(ngx_http_log_ctx_t))
        || ctx->connection != c)
    {
        /* a stream of HTTP/3 that nginx itself has opened has its parent's */

        if (!ngx_http_jpp_http3_is(c)) {
            return NGX_DECLINED;
        }

        server = ngx_http_jpp_http3_server(walk, c);

        found->kind = JPP_POOLS_HTTP3;
        found->cscf = server != NULL ? server->cscf : NULL;

        return NGX_OK;
    }

    r = ctx->request;

    if (r != NULL && ngx_http_jpp_request_is_of(r, c)) {
        found->kind = ngx_http_jpp_http3_is(c)
                      ? JPP_POOLS_HTTP3 : JPP_POOLS_CLIENT_CONNECTION;
        found->request = r;
        found->cscf = ngx_http_get_module_srv_conf(r, ngx_http_core_module);

        return NGX_OK;
    }

    ngx_http_jpp_http_data(walk, c, found);

    return NGX_OK;
}


/*
 * Without a request: data may be that of one which is no more, while the end of
 * TLS is waited for.
 */

static void
ngx_http_jpp_http_data(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    ngx_http_jpp_found_t *found)
{
    void                   *first;
    ngx_http_jpp_server_t  *server;

    server = ngx_http_jpp_request_server(walk, c->data);

    if (server != NULL) {
        found->kind = ngx_http_jpp_http3_is(c)
                      ? JPP_POOLS_HTTP3 : JPP_POOLS_CLIENT_CONNECTION;
        found->cscf = server->cscf;
        return;
    }

    first = ngx_http_jpp_scope_has(walk, c->data, sizeof(void *))
            ? *(void **) c->data : NULL;

    if (ngx_http_jpp_http3_is(c)) {
        found->kind = JPP_POOLS_HTTP3;

        server = ngx_http_jpp_request_server(walk, first);
        if (server == NULL) {
            server = ngx_http_jpp_http3_server(walk, c);
        }

        if (server != NULL) {
            found->cscf = server->cscf;
            return;
        }

    } else if (first == c) {
        found->http2 = ngx_http_jpp_http2_of(walk, c, &found->cscf);
        if (found->http2 != NULL) {
            found->kind = JPP_POOLS_HTTP2;
            return;
        }

        found->kind = JPP_POOLS_CLOSING;

    } else {
        found->kind = JPP_POOLS_CLOSING;
    }

    server = ngx_http_jpp_http_closing(walk, c);
    found->cscf = server != NULL ? server->cscf : NULL;
}


/*
 * Nothing refers to what a connection was accepted with, but it is still there:
 * nginx allocates it a little before what the log refers to.
 */

static ngx_http_jpp_server_t *
ngx_http_jpp_http_closing(ngx_http_jpp_walk_t *walk, const ngx_connection_t *c)
{
    const u_char           *p, *first;
    ngx_http_jpp_server_t  *server;

    p = c->log->data;
    first = (const u_char *) c->pool + sizeof(ngx_pool_t);

    if (p < first || p >= c->pool->d.last) {
        return NULL;
    }

    while (p >= first + NGX_ALIGNMENT) {
        p -= NGX_ALIGNMENT;
        server = ngx_http_jpp_request_server(walk, p);

        if (server != NULL) {
            return server;
        }
    }

    return NULL;
}


static uint32_t
ngx_http_jpp_http_owner(ngx_http_jpp_walk_t *walk,
    const ngx_http_jpp_found_t *found)
{
    uint32_t                owner, *idle;
    ngx_http_jpp_server_t  *server;

    /* most connections are idle, and ask for the same */

    server = walk->server;
    idle = found->kind == JPP_POOLS_CLIENT_CONNECTION && server != NULL
           && server->cscf == found->cscf ? &server->idle : NULL;

    if (idle != NULL && *idle != 0) {
        return *idle;
    }

    owner = jpp_pools_owner(&walk->table, found->kind, found->cscf != NULL
                            ? ngx_http_jpp_name_server(walk, found->cscf)
                            : 0, 0, 0);
    if (idle != NULL) {
        *idle = owner;
    }

    return owner;
}
