
/*
 * ngx_http_jemalloc_pprof_module: heap profiles of nginx on jemalloc.
 *
 * The module's hooks.  src/nginx has the rest, and
 * src/nginx/ngx_http_jemalloc_pprof.h the map of it.
 */


#include "ngx_http_jemalloc_pprof_conf.h"
#include "ngx_http_jemalloc_pprof_directives.h"
#include "ngx_http_jemalloc_pprof_history.h"
#include "ngx_http_jemalloc_pprof_notice.h"
#include "ngx_http_jemalloc_pprof_owners.h"
#include "ngx_http_jemalloc_pprof_self.h"
#include "ngx_http_jemalloc_pprof_telemetry.h"
#include "ngx_http_jemalloc_pprof_unwind.h"
#include "ngx_http_jemalloc_pprof_variables.h"
#include "ngx_http_jemalloc_pprof_worker.h"


static ngx_int_t ngx_http_jemalloc_pprof_postconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_http_jemalloc_pprof_init_module(ngx_cycle_t *cycle);
static ngx_int_t ngx_http_jemalloc_pprof_init_process(ngx_cycle_t *cycle);
static void ngx_http_jemalloc_pprof_exit_process(ngx_cycle_t *cycle);


static ngx_http_module_t  ngx_http_jemalloc_pprof_module_ctx = {
    ngx_http_jemalloc_pprof_variables,         /* preconfiguration */
    ngx_http_jemalloc_pprof_postconfiguration, /* postconfiguration */

    ngx_http_jemalloc_pprof_create_main_conf,  /* create main configuration */
    ngx_http_jemalloc_pprof_init_main_conf,    /* init main configuration */

    ngx_http_jemalloc_pprof_create_srv_conf,   /* create server configuration */
    ngx_http_jemalloc_pprof_merge_srv_conf,    /* merge server configuration */

    ngx_http_jemalloc_pprof_create_loc_conf,   /* create location conf */
    ngx_http_jemalloc_pprof_merge_loc_conf     /* merge location conf */
};


ngx_module_t  ngx_http_jemalloc_pprof_module = {
    NGX_MODULE_V1,
    &ngx_http_jemalloc_pprof_module_ctx,       /* module context */
    ngx_http_jemalloc_pprof_directives,        /* module directives */
    NGX_HTTP_MODULE,                           /* module type */
    NULL,                                      /* init master */
    ngx_http_jemalloc_pprof_init_module,       /* init module */
    ngx_http_jemalloc_pprof_init_process,      /* init process */
    NULL,                                      /* init thread */
    NULL,                                      /* exit thread */
    ngx_http_jemalloc_pprof_exit_process,      /* exit process */
    NULL,                                      /* exit master */
    NGX_MODULE_V1_PADDING
};


static ngx_int_t
ngx_http_jemalloc_pprof_postconfiguration(ngx_conf_t *cf)
{
    ngx_http_jemalloc_pprof_main_conf_t  *jmcf;

    jmcf = ngx_http_conf_get_module_main_conf(cf,
                                              ngx_http_jemalloc_pprof_module);

    return jmcf->zone != NULL && jmcf->owners
           ? ngx_http_jemalloc_pprof_owners_phases(cf) : NGX_OK;
}


static ngx_int_t
ngx_http_jemalloc_pprof_init_module(ngx_cycle_t *cycle)
{
    ngx_http_jemalloc_pprof_main_conf_t  *jmcf;

    jmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_jemalloc_pprof_module);

    if (ngx_test_config) {
        return NGX_OK;
    }

    ngx_http_jemalloc_pprof_self.zone = jmcf != NULL ? jmcf->zone : NULL;

    if (ngx_http_jemalloc_pprof_self.zone == NULL) {
        ngx_http_jemalloc_pprof_worker_let_go();
        return NGX_OK;
    }

    ngx_http_jemalloc_pprof_self.directory = (char *) jmcf->temp_path.data;
    ngx_http_jemalloc_pprof_self.generation =
                         ngx_http_jemalloc_pprof_registry_advance(jmcf->zone);

    ngx_http_jemalloc_pprof_telemetry_start();

    ngx_http_jemalloc_pprof_notice(cycle);

    ngx_http_jemalloc_pprof_worker_configured(cycle);
    ngx_http_jemalloc_pprof_history_init(cycle);

    return NGX_OK;
}


static ngx_int_t
ngx_http_jemalloc_pprof_init_process(ngx_cycle_t *cycle)
{
    ngx_http_jemalloc_pprof_main_conf_t  *jmcf;

    jmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_jemalloc_pprof_module);

    if (jmcf == NULL || jmcf->zone == NULL) {
        return NGX_OK;
    }

    /* helpers come here as well: the cache's, and some that run Lua */

    ngx_http_jemalloc_pprof_unwind_init(cycle);

    if (ngx_process == NGX_PROCESS_WORKER
        || ngx_process == NGX_PROCESS_SINGLE)
    {
        ngx_http_jemalloc_pprof_worker_init(cycle);
        ngx_http_jemalloc_pprof_history_init(cycle);
    }

    return NGX_OK;
}


static void
ngx_http_jemalloc_pprof_exit_process(ngx_cycle_t *cycle)
{
    ngx_http_jemalloc_pprof_worker_exit(cycle);
    ngx_http_jemalloc_pprof_unwind_exit();
}
