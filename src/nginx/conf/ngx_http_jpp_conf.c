
#include "ngx_http_jpp_conf.h"
#include "ngx_http_jpp_resources.h"


void *
ngx_http_jpp_create_main_conf(ngx_conf_t *cf)
{
    ngx_http_jpp_main_conf_t  *conf;

    conf = ngx_pcalloc(cf->pool, sizeof(ngx_http_jpp_main_conf_t));
    if (conf == NULL) {
        return NULL;
    }

    /*
     * set by ngx_pcalloc():
     *
     *     conf->zone = NULL;
     *     conf->temp_path = { 0, NULL };
     *     conf->locations = NULL;
     */

    conf->active = NGX_CONF_UNSET;
    conf->lg_sample = NGX_CONF_UNSET;
    conf->unwind = NGX_CONF_UNSET;
    conf->owners = NGX_CONF_UNSET;
    conf->source = NGX_CONF_UNSET_UINT;
    conf->sampler = NGX_CONF_UNSET;
    conf->sampler_lg = NGX_CONF_UNSET;
    conf->stall = NGX_CONF_UNSET;
    conf->snapshots.is_on = NGX_CONF_UNSET;
    conf->snapshots.zone = 4 * 1024 * 1024;
    conf->snapshots.limit = 85;
    conf->snapshots.growth = 25;
    conf->snapshots.keep = 24;
    conf->snapshots.size = 64 * 1024 * 1024;

    return conf;
}


char *
ngx_http_jpp_init_main_conf(ngx_conf_t *cf, void *conf)
{
    ngx_http_jpp_main_conf_t *jmcf = conf;

    ngx_conf_init_value(jmcf->unwind, 1);
    ngx_conf_init_uint_value(jmcf->source, JPP_SOURCE_JEMALLOC);

    /* the rate is that of the source */

    if (jmcf->source == JPP_SOURCE_SAMPLER) {
        jmcf->sampler = 1;
        jmcf->sampler_lg = jmcf->lg_sample != NGX_CONF_UNSET
                           ? jmcf->lg_sample : JPP_SAMPLER_LG_DEFAULT;
        jmcf->lg_sample = NGX_CONF_UNSET;
    }

    if (jmcf->stall > 0 && jmcf->zone == NULL) {
        ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                      "\"jemalloc_pprof_stall\" has no effect, because no "
                      "location has \"jemalloc_pprof\"");
    }

    ngx_conf_init_value(jmcf->snapshots.is_on, 1);

    if (jmcf->zone != NULL && jmcf->snapshots.is_on) {
        jmcf->snapshots.shm =
            ngx_http_jpp_snapshots_zone_add(cf, jmcf->snapshots.zone);

        if (jmcf->snapshots.shm == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


void *
ngx_http_jpp_create_srv_conf(ngx_conf_t *cf)
{
    return ngx_pcalloc(cf->pool, sizeof(ngx_http_jpp_srv_conf_t));
}


/* Copies the names: nginx's own list is in a pool that goes at once. */

char *
ngx_http_jpp_merge_srv_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_jpp_srv_conf_t *conf = child;

    ngx_uint_t                 n;
    ngx_http_server_name_t    *name;
    ngx_http_core_srv_conf_t  *cscf;

    cscf = ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module);
    n = cscf->server_names.nelts;

    if (ngx_array_init(&conf->names, cf->pool, n + 1,
                       sizeof(ngx_http_server_name_t))
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    /* there is room for them */

    name = ngx_array_push_n(&conf->names, n);

    ngx_memcpy(name, cscf->server_names.elts,
               n * sizeof(ngx_http_server_name_t));

    return NGX_CONF_OK;
}


void *
ngx_http_jpp_create_loc_conf(ngx_conf_t *cf)
{
    ngx_str_t                *prefix;
    ngx_http_jpp_loc_conf_t  *conf;

    conf = ngx_pcalloc(cf->pool, sizeof(ngx_http_jpp_loc_conf_t));
    if (conf == NULL) {
        return NULL;
    }

    /*
     * set by ngx_pcalloc():
     *
     *     conf->resource = NULL;
     *     conf->name = { 0, NULL };
     *     conf->is_on = 0;
     *     conf->is_named = 0;
     *     conf->control = 0;
     *     conf->clients = 0;
     *     conf->owner = 0;
     */

    conf->worker = JPP_WORKER_ALL;
    conf->symbolize = 1;

    conf->timeout = NGX_CONF_UNSET_MSEC;
    conf->max_seconds = NGX_CONF_UNSET;
    conf->max_size = NGX_CONF_UNSET_SIZE;
    conf->gzip_level = NGX_CONF_UNSET;

    /* this is the opening line of its block */

    prefix = &cf->cycle->conf_prefix;

    conf->file = cf->conf_file->file.name;
    conf->line = cf->conf_file->line;

    if (conf->file.len > prefix->len
        && ngx_strncmp(conf->file.data, prefix->data, prefix->len) == 0)
    {
        conf->file.data += prefix->len;
        conf->file.len -= prefix->len;
    }

    return conf;
}


char *
ngx_http_jpp_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_core_loc_conf_t  *clcf;
    ngx_http_jpp_loc_conf_t   *prev = parent;
    ngx_http_jpp_loc_conf_t   *conf = child;
    ngx_http_jpp_main_conf_t  *jmcf;

    ngx_conf_merge_msec_value(conf->timeout, prev->timeout, 5000);
    ngx_conf_merge_sec_value(conf->max_seconds, prev->max_seconds, 300);
    ngx_conf_merge_size_value(conf->max_size, prev->max_size,
                              64 * 1024 * 1024);
    ngx_conf_merge_value(conf->gzip_level, prev->gzip_level, JPP_REPORT_LEVEL);

    jmcf = ngx_http_conf_get_module_main_conf(cf,
                                              ngx_http_jemalloc_pprof_module);
    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    conf->clcf = clcf;
    conf->next = jmcf->locations;
    jmcf->locations = conf;

    /* "if" and "limit_except" are locations, too, with the same content */

    if (clcf->noname) {
        conf->file = prev->file;
        conf->line = prev->line;
    }

    if (clcf->noname && clcf->handler == NULL && prev->is_on) {
        conf->is_on = 1;
        conf->resource = prev->resource;
        conf->name = prev->name;
        conf->is_named = prev->is_named;
        conf->worker = prev->worker;
        conf->symbolize = prev->symbolize;
        conf->control = prev->control;
        conf->clients = prev->clients;

        clcf->handler = ngx_http_jpp_handler;
    }

    return NGX_CONF_OK;
}
