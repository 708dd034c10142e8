
/*
 * The names of a pool scan: from the configuration, or nginx's own words.  Each
 * function returns the id of a name in the scan's table, and 0 without memory.
 */


#include "ngx_http_jpp_pools.h"


ngx_int_t
ngx_http_jpp_servers_init(ngx_http_jpp_keyed_t *servers,
    const ngx_cycle_t *cycle, jpp_arena_t *arena)
{
    ngx_uint_t                  i, n;
    ngx_http_core_srv_conf_t  **cscf;
    ngx_http_core_main_conf_t  *cmcf;
    ngx_http_jpp_server_t      *server;

    cmcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_core_module);
    n = cmcf != NULL ? cmcf->servers.nelts : 0;
    cscf = cmcf != NULL ? cmcf->servers.elts : NULL;

    if (ngx_http_jpp_keyed_init(servers, arena, sizeof(ngx_http_jpp_server_t),
                                n)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {
        server = ngx_http_jpp_keyed_add(servers, cscf[i]->ctx);

        if (server == NULL) {
            return NGX_ERROR;
        }

        server->cscf = cscf[i];
    }

    return NGX_OK;
}


ngx_http_core_srv_conf_t *
ngx_http_jpp_servers_find(const ngx_http_jpp_keyed_t *servers, const void *ctx)
{
    uint32_t                      pos;
    const ngx_http_jpp_server_t  *server;

    pos = 0;
    server = ngx_http_jpp_keyed_next(servers, ctx, &pos);

    return server != NULL ? server->cscf : NULL;
}


/* The name of KEY, which is of SORT. */

static uint32_t
ngx_http_jpp_name(ngx_http_jpp_walk_t *walk, jpp_pools_sort_t sort,
    const void *key, const ngx_str_t *name)
{
    return jpp_pools_name(&walk->table, sort, key, (char *) name->data,
                          name->len);
}


ngx_str_t
ngx_http_jpp_server_text(const ngx_http_core_srv_conf_t *cscf,
    u_char text[JPP_POOLS_NAME])
{
    u_char    *last;
    ngx_str_t  name;

    if (cscf->server_name.len != 0) {
        return cscf->server_name;
    }

    last = ngx_slprintf(text, text + JPP_POOLS_NAME, "_ %s:%ui",
                        cscf->file_name != NULL ? cscf->file_name
                                                : (u_char *) "",
                        cscf->line);

    name.data = text;
    name.len = last - text;

    return name;
}


uint32_t
ngx_http_jpp_name_upstream(ngx_http_jpp_walk_t *walk,
    const ngx_http_upstream_srv_conf_t *uscf)
{
    u_char     text[JPP_POOLS_NAME];
    ngx_str_t  name;

    static const ngx_str_t  resolved = ngx_string("(found at run time)");

    if (uscf == NULL) {
        return ngx_http_jpp_name(walk, JPP_POOLS_UPSTREAM_NAME, &resolved,
                                 &resolved);
    }

    name = ngx_http_jpp_upstream_text(uscf, text);

    return ngx_http_jpp_name(walk, JPP_POOLS_UPSTREAM_NAME, uscf, &name);
}


/* The place is that of LOC_CONF; a cycle may be without ours.  No CLCF: 0. */

static uint32_t
ngx_http_jpp_owner(ngx_http_jpp_walk_t *walk, jpp_pools_kind_t kind,
    const ngx_http_core_srv_conf_t *cscf, void **loc_conf,
    const ngx_http_core_loc_conf_t *clcf, uint32_t third)
{
    u_char                    text[JPP_POOLS_NAME];
    uint32_t                  location;
    ngx_str_t                 server;
    ngx_http_jpp_last_t      *last;
    ngx_http_jpp_loc_conf_t  *jlcf;

    static const ngx_str_t  none = ngx_string("(server)");

    last = &walk->last[kind];

    if (last->cscf == cscf && last->loc_conf == loc_conf
        && last->third == third)
    {
        return last->owner;
    }

    server = ngx_http_jpp_server_text(cscf, text);
    location = 0;

    if (clcf != NULL) {
        location = ngx_http_jpp_name(walk, JPP_POOLS_LOCATION, clcf,
                                     clcf->name.len != 0 ? &clcf->name : &none);
    }

    last->cscf = cscf;
    last->loc_conf = loc_conf;
    last->third = third;
    last->owner = jpp_pools_owner(&walk->table, kind,
                                  ngx_http_jpp_name(walk, JPP_POOLS_SERVER,
                                                    cscf, &server),
                                  location, third);

    if (ngx_http_jpp_servers_find(&walk->servers, cscf->ctx) == cscf) {
        jlcf = loc_conf[ngx_http_jemalloc_pprof_module.ctx_index];

        jpp_pools_place(&walk->table, last->owner,
                        ngx_http_jpp_name(walk, JPP_POOLS_FILE, jlcf->file.data,
                                          &jlcf->file),
                        jlcf->line);
    }

    return last->owner;
}


uint32_t
ngx_http_jpp_owner_server(ngx_http_jpp_walk_t *walk, jpp_pools_kind_t kind,
    const ngx_http_core_srv_conf_t *cscf)
{
    return cscf != NULL
           ? ngx_http_jpp_owner(walk, kind, cscf, cscf->ctx->loc_conf, NULL, 0)
           : jpp_pools_owner(&walk->table, kind, 0, 0, 0);
}


/* A request has its server's own configuration until it has found another. */

uint32_t
ngx_http_jpp_owner_of(ngx_http_jpp_walk_t *walk, jpp_pools_kind_t kind,
    const ngx_http_request_t *r, uint32_t third)
{
    return ngx_http_jpp_owner(walk, kind,
               ngx_http_get_module_srv_conf(r, ngx_http_core_module),
               r->loc_conf,
               ngx_http_get_module_loc_conf(r, ngx_http_core_module), third);
}


uint32_t
ngx_http_jpp_owner_upstream(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r)
{
    const ngx_http_upstream_t  *u;

    u = r->upstream;

    if (u == NULL || (u->peer.connection == NULL && u->buffer.start == NULL)) {
        return 0;
    }

    return ngx_http_jpp_owner_of(walk, JPP_POOLS_UPSTREAM, r,
                                 ngx_http_jpp_name_upstream(walk, u->upstream));
}


ngx_str_t
ngx_http_jpp_upstream_text(const ngx_http_upstream_srv_conf_t *uscf,
    u_char text[JPP_POOLS_NAME])
{
    ngx_str_t  name;

    name.data = text;
    name.len = (uscf->port != 0 && !uscf->no_port
                ? ngx_slprintf(text, text + JPP_POOLS_NAME, "%V:%d",
                               &uscf->host, (int) uscf->port)
                : ngx_slprintf(text, text + JPP_POOLS_NAME, "%V", &uscf->host))
               - text;

    return name;
}


uint32_t
ngx_http_jpp_name_module(ngx_http_jpp_walk_t *walk, const void *tag,
    ngx_uint_t index)
{
    ngx_module_t  **m;

    for (m = walk->cycle->modules; *m != NULL; m++) {
        if ((*m)->type == NGX_HTTP_MODULE
            && (*m == tag || (*m)->ctx_index == index))
        {
            return jpp_pools_name(&walk->table, JPP_POOLS_MODULE_NAME, *m,
                                  (*m)->name, ngx_strlen((*m)->name));
        }
    }

    return 0;
}
