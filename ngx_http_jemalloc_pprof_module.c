
/*
 * ngx_http_jemalloc_pprof_module: heap profiles of nginx on jemalloc.
 *
 * The module's hooks.  src/nginx has the rest: docs/architecture.md has a map.
 */


#include "ngx_http_jpp_conf.h"
#include "ngx_http_jpp_lua.h"
#include "ngx_http_jpp_worker.h"


static ngx_int_t ngx_http_jpp_postconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_http_jpp_init_module(ngx_cycle_t *cycle);
static ngx_int_t ngx_http_jpp_init_process(ngx_cycle_t *cycle);
static void ngx_http_jpp_exit_process(ngx_cycle_t *cycle);


static ngx_http_module_t  ngx_http_jpp_module_ctx = {
    ngx_http_jpp_variables,         /* preconfiguration */
    ngx_http_jpp_postconfiguration, /* postconfiguration */

    ngx_http_jpp_create_main_conf,  /* create main configuration */
    ngx_http_jpp_init_main_conf,    /* init main configuration */

    ngx_http_jpp_create_srv_conf,   /* create server configuration */
    ngx_http_jpp_merge_srv_conf,    /* merge server configuration */

    ngx_http_jpp_create_loc_conf,   /* create location conf */
    ngx_http_jpp_merge_loc_conf     /* merge location conf */
};


ngx_module_t  ngx_http_jemalloc_pprof_module = {
    NGX_MODULE_V1,
    &ngx_http_jpp_module_ctx,       /* module context */
    ngx_http_jpp_directives,        /* module directives */
    NGX_HTTP_MODULE,                           /* module type */
    NULL,                                      /* init master */
    ngx_http_jpp_init_module,       /* init module */
    ngx_http_jpp_init_process,      /* init process */
    NULL,                                      /* init thread */
    NULL,                                      /* exit thread */
    ngx_http_jpp_exit_process,      /* exit process */
    NULL,                                      /* exit master */
    NGX_MODULE_V1_PADDING
};


static ngx_int_t
ngx_http_jpp_postconfiguration(ngx_conf_t *cf)
{
    ngx_http_jpp_main_conf_t  *jmcf;

    jmcf = ngx_http_conf_get_module_main_conf(cf,
                                              ngx_http_jemalloc_pprof_module);

    return jmcf->zone != NULL ? ngx_http_jpp_owners_phases(cf) : NGX_OK;
}


static ngx_int_t
ngx_http_jpp_init_module(ngx_cycle_t *cycle)
{
    ngx_http_jpp_main_conf_t  *jmcf;

    jmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_jemalloc_pprof_module);

    if (ngx_test_config) {
        return NGX_OK;
    }

    if (jmcf == NULL || jmcf->zone == NULL) {
        ngx_http_jpp_worker_let_go();
        return NGX_OK;
    }

    ngx_http_jpp_self.zone = jmcf->zone->data;
    ngx_http_jpp_snapshot_configured(cycle, jmcf);
    ngx_http_jpp_self.directory = (char *) jmcf->temp_path.data;
    ngx_http_jpp_self.generation =
        ngx_http_jpp_registry_advance(ngx_http_jpp_self.zone);

    ngx_http_jpp_telemetry_start();

    ngx_http_jpp_lua_configured(cycle);
    ngx_http_jpp_notice(cycle);

    ngx_http_jpp_worker_configured(cycle);
    ngx_http_jpp_history_init(cycle);

    return NGX_OK;
}


static ngx_int_t
ngx_http_jpp_init_process(ngx_cycle_t *cycle)
{
    ngx_http_jpp_main_conf_t  *jmcf;

    jmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_jemalloc_pprof_module);

    if (jmcf == NULL || jmcf->zone == NULL) {
        return NGX_OK;
    }

    /* helpers come here as well: the cache's, and some that run Lua */

    ngx_http_jpp_unwind_init(cycle);

    if (ngx_process == NGX_PROCESS_WORKER
        || ngx_process == NGX_PROCESS_SINGLE)
    {
        ngx_http_jpp_worker_init(cycle);
        ngx_http_jpp_history_init(cycle);
        ngx_http_jpp_snapshot_init(cycle);
    }

    return NGX_OK;
}


static void
ngx_http_jpp_exit_process(ngx_cycle_t *cycle)
{
    ngx_http_jpp_worker_exit(cycle);
    jpp_hook_reset();
}
