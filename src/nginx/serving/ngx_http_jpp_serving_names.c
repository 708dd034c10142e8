
#include "ngx_http_jpp_pools_walk.h"
#include "ngx_http_jpp_serving_names.h"

#include "jpp_owner_names.h"


/* for an index of the servers, and a number for each listening socket */
#define NGX_HTTP_JPP_SERVING_CAP  (4 * 1024 * 1024)


static uint32_t ngx_http_jpp_serving_name(const ngx_http_core_srv_conf_t *cscf,
    const ngx_str_t *location, const ngx_http_upstream_srv_conf_t *uscf);
static uint32_t ngx_http_jpp_serving_hash(const void *p);


static ngx_str_t  ngx_http_jpp_no_location = ngx_string("(no location)");
static ngx_str_t  ngx_http_jpp_whole_server = ngx_string("(server)");

static jpp_arena_t                  ngx_http_jpp_serving_arena;
static jpp_index_t                  ngx_http_jpp_serving_index;
static ngx_http_core_srv_conf_t   **ngx_http_jpp_serving_servers;
static const ngx_listening_t       *ngx_http_jpp_serving_sockets;
static ngx_uint_t                   ngx_http_jpp_serving_n_sockets;
static uint32_t                    *ngx_http_jpp_serving_sessions;


ngx_int_t
ngx_http_jpp_serving_names(ngx_cycle_t *cycle, ngx_http_core_main_conf_t *cmcf)
{
    ngx_uint_t                  i;
    jpp_arena_t                *arena;
    ngx_http_core_srv_conf_t  **cscf;
    ngx_http_jpp_loc_conf_t    *jlcf;

    arena = &ngx_http_jpp_serving_arena;

    if (arena->cap != 0) {
        jpp_arena_destroy(arena);
    }

    jpp_arena_init(arena, NGX_HTTP_JPP_SERVING_CAP);
    arena->is_plain = true;

    cscf = cmcf->servers.elts;

    ngx_http_jpp_serving_servers = cscf;
    ngx_http_jpp_serving_sockets = cycle->listening.elts;
    ngx_http_jpp_serving_n_sockets = cycle->listening.nelts;
    ngx_http_jpp_serving_sessions =
        jpp_arena_alloc(arena, (cycle->listening.nelts + 1)
                               * sizeof(uint32_t));

    if (ngx_http_jpp_serving_sessions == NULL
        || !jpp_index_init(&ngx_http_jpp_serving_index, arena,
                           cmcf->servers.nelts + 1))
    {
        return NGX_ERROR;
    }

    for (i = 0; i < cmcf->servers.nelts; i++) {
        jlcf = cscf[i]->ctx->loc_conf[
                                     ngx_http_jemalloc_pprof_module.ctx_index];
        jlcf->is_server = 1;

        if (!jpp_index_add(&ngx_http_jpp_serving_index,
                           ngx_http_jpp_serving_hash(cscf[i]->ctx), i + 1))
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_http_core_srv_conf_t *
ngx_http_jpp_serving_name_find(const void *ctx)
{
    uint32_t                   id, pos, hash;
    ngx_http_core_srv_conf_t  *cscf;

    hash = ngx_http_jpp_serving_hash(ctx);
    pos = hash;

    while ((id = jpp_index_next(&ngx_http_jpp_serving_index, hash, &pos)) != 0)
    {
        cscf = ngx_http_jpp_serving_servers[id - 1];

        if (cscf->ctx == ctx) {
            return cscf;
        }
    }

    return NULL;
}


uint32_t
ngx_http_jpp_serving_name_server(const ngx_http_core_srv_conf_t *cscf)
{
    ngx_http_jpp_srv_conf_t  *jscf;

    jscf = cscf->ctx->srv_conf[ngx_http_jemalloc_pprof_module.ctx_index];

    if (jscf->owner == JPP_OWNER_NONE) {
        jscf->owner = ngx_http_jpp_serving_name(cscf, &ngx_http_jpp_no_location,
                                                NULL);
    }

    return jscf->owner;
}


/* One who has interrupted this may do all of it: the owner is set last. */

uint32_t
ngx_http_jpp_serving_name_another(const ngx_http_request_t *r,
    ngx_http_jpp_by_t *by, const ngx_http_upstream_srv_conf_t *uscf)
{
    uint32_t                   owner;
    ngx_str_t                 *name;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);
    name = clcf->name.len != 0 ? &clcf->name
                               : &ngx_http_jpp_whole_server;

    owner = ngx_http_jpp_serving_name(
                ngx_http_get_module_srv_conf(r, ngx_http_core_module), name,
                uscf);

    __atomic_store_n(&by->owner, JPP_OWNER_NONE, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    by->upstream = uscf;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&by->owner, owner, __ATOMIC_RELAXED);

    return owner;
}


uint32_t
ngx_http_jpp_serving_name_session(const ngx_listening_t *ls)
{
    uint32_t   *owner;
    ngx_uint_t  i;

    jpp_owner_raw_t  raw[JPP_OWNER_PARTS] = {
        [JPP_OWNER_SERVER] = { (char *) ls->addr_text.data,
                               ls->addr_text.len },
        [JPP_OWNER_LOCATION] = { "(session)", sizeof("(session)") - 1 }
    };

    i = ls - ngx_http_jpp_serving_sockets;

    if (i >= ngx_http_jpp_serving_n_sockets) {
        return JPP_OWNER_NONE;
    }

    owner = &ngx_http_jpp_serving_sessions[i];

    if (*owner == JPP_OWNER_NONE) {
        *owner = jpp_owner_name(raw);
    }

    return *owner;
}


static uint32_t
ngx_http_jpp_serving_name(const ngx_http_core_srv_conf_t *cscf,
    const ngx_str_t *location, const ngx_http_upstream_srv_conf_t *uscf)
{
    u_char           text[JPP_POOLS_NAME], host[JPP_POOLS_NAME];
    ngx_str_t        server, upstream;
    jpp_owner_raw_t  raw[JPP_OWNER_PARTS];

    server = ngx_http_jpp_server_text(cscf, text);
    ngx_str_null(&upstream);

    if (uscf != NULL) {
        upstream = ngx_http_jpp_upstream_text(uscf, host);
    }

    raw[JPP_OWNER_SERVER].data = (char *) server.data;
    raw[JPP_OWNER_SERVER].len = server.len;
    raw[JPP_OWNER_LOCATION].data = (char *) location->data;
    raw[JPP_OWNER_LOCATION].len = location->len;
    raw[JPP_OWNER_UPSTREAM].data = (char *) upstream.data;
    raw[JPP_OWNER_UPSTREAM].len = upstream.len;

    return jpp_owner_name(raw);
}


static uint32_t
ngx_http_jpp_serving_hash(const void *p)
{
    return (uint32_t) jpp_hash_u64((uintptr_t) p);
}
