
/*
 * ngx_http_jemalloc_pprof_module: heap profiles of nginx on jemalloc.
 *
 * Directives and hooks.  src/nginx has the rest, and
 * src/nginx/ngx_http_jemalloc_pprof.h the map of it.
 */


#include "ngx_http_jemalloc_pprof_history.h"
#include "ngx_http_jemalloc_pprof_host.h"
#include "ngx_http_jemalloc_pprof_owners.h"
#include "ngx_http_jemalloc_pprof_registry.h"
#include "ngx_http_jemalloc_pprof_request.h"
#include "ngx_http_jemalloc_pprof_resources.h"
#include "ngx_http_jemalloc_pprof_self.h"
#include "ngx_http_jemalloc_pprof_stall.h"
#include "ngx_http_jemalloc_pprof_telemetry.h"
#include "ngx_http_jemalloc_pprof_unwind.h"
#include "ngx_http_jemalloc_pprof_variables.h"
#include "ngx_http_jemalloc_pprof_worker.h"

#include "jpp_limits.h"
#include "jpp_report.h"


#define NGX_HTTP_JEMALLOC_PPROF_NOTICE  1024

/* of a stall, ms: the clock that it is measured by advances every 4 ms */
#define NGX_HTTP_JEMALLOC_PPROF_MIN_STALL  10
#define NGX_HTTP_JEMALLOC_PPROF_MAX_STALL  60000


static ngx_int_t ngx_http_jemalloc_pprof_postconfiguration(ngx_conf_t *cf);
static void *ngx_http_jemalloc_pprof_create_main_conf(ngx_conf_t *cf);
static char *ngx_http_jemalloc_pprof_init_main_conf(ngx_conf_t *cf,
    void *conf);
static char *ngx_http_jemalloc_pprof_init_stall(ngx_conf_t *cf,
    ngx_http_jemalloc_pprof_main_conf_t *jmcf);
static void *ngx_http_jemalloc_pprof_create_srv_conf(ngx_conf_t *cf);
static char *ngx_http_jemalloc_pprof_merge_srv_conf(ngx_conf_t *cf,
    void *parent, void *child);
static void *ngx_http_jemalloc_pprof_create_loc_conf(ngx_conf_t *cf);
static char *ngx_http_jemalloc_pprof_merge_loc_conf(ngx_conf_t *cf,
    void *parent, void *child);
static char *ngx_http_jemalloc_pprof_serve(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
static ngx_int_t ngx_http_jemalloc_pprof_name(ngx_conf_t *cf,
    ngx_http_jemalloc_pprof_loc_conf_t *jlcf, const ngx_str_t *value);
static ngx_int_t ngx_http_jemalloc_pprof_parameter(ngx_conf_t *cf,
    ngx_http_jemalloc_pprof_loc_conf_t *jlcf, const ngx_str_t *value);
static char *ngx_http_jemalloc_pprof_locate(ngx_conf_t *cf,
    ngx_http_jemalloc_pprof_loc_conf_t *jlcf);
static char *ngx_http_jemalloc_pprof_sample(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
static char *ngx_http_jemalloc_pprof_stall(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
static char *ngx_http_jemalloc_pprof_temp_path(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
static char *ngx_http_jemalloc_pprof_check_timeout(ngx_conf_t *cf, void *post,
    void *data);
static char *ngx_http_jemalloc_pprof_check_seconds(ngx_conf_t *cf, void *post,
    void *data);
static char *ngx_http_jemalloc_pprof_check_size(ngx_conf_t *cf, void *post,
    void *data);
static ngx_int_t ngx_http_jemalloc_pprof_init_module(ngx_cycle_t *cycle);
static void ngx_http_jemalloc_pprof_notice(ngx_cycle_t *cycle);
static ngx_uint_t ngx_http_jemalloc_pprof_is_missed(
    const jpp_jemalloc_t *jemalloc, const jpp_control_t *control);
static ngx_int_t ngx_http_jemalloc_pprof_init_process(ngx_cycle_t *cycle);
static void ngx_http_jemalloc_pprof_exit_process(ngx_cycle_t *cycle);


static ngx_conf_num_bounds_t  ngx_http_jemalloc_pprof_levels = {
    ngx_conf_check_num_bounds, 1, 9
};

static ngx_conf_post_t  ngx_http_jemalloc_pprof_timeout_post = {
    ngx_http_jemalloc_pprof_check_timeout
};

static ngx_conf_post_t  ngx_http_jemalloc_pprof_seconds_post = {
    ngx_http_jemalloc_pprof_check_seconds
};

static ngx_conf_post_t  ngx_http_jemalloc_pprof_size_post = {
    ngx_http_jemalloc_pprof_check_size
};


static ngx_conf_enum_t  ngx_http_jemalloc_pprof_sources[] = {
    { ngx_string("jemalloc"), JPP_SOURCE_JEMALLOC },
    { ngx_string("sampler"), JPP_SOURCE_SAMPLER },
    { ngx_null_string, 0 }
};


static ngx_command_t  ngx_http_jemalloc_pprof_commands[] = {

    { ngx_string("jemalloc_pprof"),
      NGX_HTTP_LOC_CONF|NGX_CONF_ANY,
      ngx_http_jemalloc_pprof_serve,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("jemalloc_pprof_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_jemalloc_pprof_loc_conf_t, timeout),
      &ngx_http_jemalloc_pprof_timeout_post },

    { ngx_string("jemalloc_pprof_max_seconds"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_sec_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_jemalloc_pprof_loc_conf_t, max_seconds),
      &ngx_http_jemalloc_pprof_seconds_post },

    { ngx_string("jemalloc_pprof_max_size"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_size_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_jemalloc_pprof_loc_conf_t, max_size),
      &ngx_http_jemalloc_pprof_size_post },

    { ngx_string("jemalloc_pprof_gzip_level"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_num_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_jemalloc_pprof_loc_conf_t, gzip_level),
      &ngx_http_jemalloc_pprof_levels },

    { ngx_string("jemalloc_pprof_active"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_jemalloc_pprof_main_conf_t, active),
      NULL },

    { ngx_string("jemalloc_pprof_sample"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_jemalloc_pprof_sample,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("jemalloc_pprof_source"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_enum_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_jemalloc_pprof_main_conf_t, source),
      ngx_http_jemalloc_pprof_sources },

    { ngx_string("jemalloc_pprof_unwind"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_jemalloc_pprof_main_conf_t, unwind),
      NULL },

    { ngx_string("jemalloc_pprof_stall"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_jemalloc_pprof_stall,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("jemalloc_pprof_owners"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_jemalloc_pprof_main_conf_t, owners),
      NULL },

    { ngx_string("jemalloc_pprof_temp_path"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_jemalloc_pprof_temp_path,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

      ngx_null_command
};


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
    ngx_http_jemalloc_pprof_commands,          /* module directives */
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


static void *
ngx_http_jemalloc_pprof_create_main_conf(ngx_conf_t *cf)
{
    ngx_http_jemalloc_pprof_main_conf_t  *conf;

    conf = ngx_pcalloc(cf->pool, sizeof(ngx_http_jemalloc_pprof_main_conf_t));
    if (conf == NULL) {
        return NULL;
    }

    /*
     * set by ngx_pcalloc():
     *
     *     conf->zone = NULL;
     *     conf->stalls = NULL;
     *     conf->temp_path = { 0, NULL };
     */

    conf->active = NGX_CONF_UNSET;
    conf->lg_sample = NGX_CONF_UNSET;
    conf->unwind = NGX_CONF_UNSET;
    conf->owners = NGX_CONF_UNSET;
    conf->source = NGX_CONF_UNSET_UINT;
    conf->sampler = NGX_CONF_UNSET;
    conf->sampler_lg = NGX_CONF_UNSET;
    conf->stall = NGX_CONF_UNSET_MSEC;

    return conf;
}


static char *
ngx_http_jemalloc_pprof_init_main_conf(ngx_conf_t *cf, void *conf)
{
    ngx_http_jemalloc_pprof_main_conf_t *jmcf = conf;

    ngx_conf_init_value(jmcf->unwind, 1);
    ngx_conf_init_value(jmcf->owners, 0);
    ngx_conf_init_uint_value(jmcf->source, JPP_SOURCE_JEMALLOC);
    ngx_conf_init_msec_value(jmcf->stall, 0);

    /* the rate is that of the source */

    if (jmcf->source == JPP_SOURCE_SAMPLER) {
        jmcf->sampler = 1;
        jmcf->sampler_lg = jmcf->lg_sample != NGX_CONF_UNSET
                           ? jmcf->lg_sample : JPP_SAMPLER_LG_DEFAULT;
        jmcf->lg_sample = NGX_CONF_UNSET;
    }

    return jmcf->stall == 0
           ? NGX_CONF_OK : ngx_http_jemalloc_pprof_init_stall(cf, jmcf);
}


static char *
ngx_http_jemalloc_pprof_init_stall(ngx_conf_t *cf,
    ngx_http_jemalloc_pprof_main_conf_t *jmcf)
{
    if (jmcf->zone == NULL) {
        ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                      "\"jemalloc_pprof_stall\" has no effect, because no "
                      "location has \"jemalloc_pprof\"");
        return NGX_CONF_OK;
    }

    jmcf->stalls = ngx_http_jemalloc_pprof_stall_add(cf);

    return jmcf->stalls != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}


static void *
ngx_http_jemalloc_pprof_create_srv_conf(ngx_conf_t *cf)
{
    return ngx_pcalloc(cf->pool, sizeof(ngx_http_jemalloc_pprof_srv_conf_t));
}


static char *
ngx_http_jemalloc_pprof_merge_srv_conf(ngx_conf_t *cf, void *parent,
    void *child)
{
    ngx_http_jemalloc_pprof_srv_conf_t  *conf = child;

    return ngx_http_jemalloc_pprof_host_names(cf, &conf->names) == NGX_OK
           ? NGX_CONF_OK : NGX_CONF_ERROR;
}


static void *
ngx_http_jemalloc_pprof_create_loc_conf(ngx_conf_t *cf)
{
    ngx_http_jemalloc_pprof_loc_conf_t  *conf;

    conf = ngx_pcalloc(cf->pool, sizeof(ngx_http_jemalloc_pprof_loc_conf_t));
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

    return conf;
}


static char *
ngx_http_jemalloc_pprof_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child)
{
    ngx_http_core_loc_conf_t            *clcf;
    ngx_http_jemalloc_pprof_loc_conf_t  *prev = parent;
    ngx_http_jemalloc_pprof_loc_conf_t  *conf = child;

    ngx_conf_merge_msec_value(conf->timeout, prev->timeout, 5000);
    ngx_conf_merge_sec_value(conf->max_seconds, prev->max_seconds, 300);
    ngx_conf_merge_size_value(conf->max_size, prev->max_size,
                              64 * 1024 * 1024);
    ngx_conf_merge_value(conf->gzip_level, prev->gzip_level, JPP_REPORT_LEVEL);

    /* "if" and "limit_except" are locations, too, with the same content */

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->noname && clcf->handler == NULL && prev->is_on) {
        conf->is_on = 1;
        conf->resource = prev->resource;
        conf->name = prev->name;
        conf->is_named = prev->is_named;
        conf->worker = prev->worker;
        conf->symbolize = prev->symbolize;
        conf->control = prev->control;
        conf->clients = prev->clients;

        clcf->handler = ngx_http_jemalloc_pprof_handler;
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_jemalloc_pprof_serve(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_jemalloc_pprof_loc_conf_t *jlcf = conf;

    ngx_str_t                            *value;
    ngx_uint_t                            i;
    ngx_http_core_loc_conf_t             *clcf;
    ngx_http_jemalloc_pprof_main_conf_t  *jmcf;

    if (jlcf->is_on) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_http_jemalloc_pprof_parameter(cf, jlcf, &value[i]) == NGX_OK) {
            continue;
        }

        if (i == 1 && value[i].len != 0
            && ngx_strlchr(value[i].data, value[i].data + value[i].len, '=')
               == NULL)
        {
            if (ngx_http_jemalloc_pprof_name(cf, jlcf, &value[i]) == NGX_OK) {
                continue;
            }

            return NGX_CONF_ERROR;
        }

        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid parameter \"%V\": a resource's name may "
                           "come first, then \"worker=all\" or "
                           "\"worker=self\", \"symbolize=on\" or "
                           "\"symbolize=off\", \"control=on\" or "
                           "\"control=off\", \"clients=on\" or "
                           "\"clients=off\"",
                           &value[i]);
        return NGX_CONF_ERROR;
    }

    jlcf->is_on = 1;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = ngx_http_jemalloc_pprof_handler;

    jmcf = ngx_http_conf_get_module_main_conf(cf,
                                              ngx_http_jemalloc_pprof_module);

    if (jmcf->zone == NULL) {
        jmcf->zone = ngx_http_jemalloc_pprof_registry_add(cf);
        if (jmcf->zone == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    return jlcf->is_named ? NGX_CONF_OK
                          : ngx_http_jemalloc_pprof_locate(cf, jlcf);
}


static ngx_int_t
ngx_http_jemalloc_pprof_name(ngx_conf_t *cf,
    ngx_http_jemalloc_pprof_loc_conf_t *jlcf, const ngx_str_t *value)
{
    jlcf->resource = ngx_http_jemalloc_pprof_resource(value);
    jlcf->is_named = 1;

    if (jlcf->resource != NULL) {
        return NGX_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "unknown resource \"%V\": use one of %V", value,
                       ngx_http_jemalloc_pprof_resource_names());

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_jemalloc_pprof_parameter(ngx_conf_t *cf,
    ngx_http_jemalloc_pprof_loc_conf_t *jlcf, const ngx_str_t *value)
{
    if (ngx_strcmp(value->data, "worker=self") == 0) {
        jlcf->worker = JPP_WORKER_SELF;
        return NGX_OK;
    }

    if (ngx_strcmp(value->data, "worker=all") == 0) {
        jlcf->worker = JPP_WORKER_ALL;
        return NGX_OK;
    }

    if (ngx_strcmp(value->data, "symbolize=on") == 0) {
        jlcf->symbolize = 1;
        return NGX_OK;
    }

    if (ngx_strcmp(value->data, "symbolize=off") == 0) {
        jlcf->symbolize = 0;
        return NGX_OK;
    }

    if (ngx_strcmp(value->data, "control=on") == 0) {
        jlcf->control = 1;
        return NGX_OK;
    }

    if (ngx_strcmp(value->data, "control=off") == 0) {
        jlcf->control = 0;
        return NGX_OK;
    }

    if (ngx_strcmp(value->data, "clients=on") == 0) {
        jlcf->clients = 1;
        return NGX_OK;
    }

    if (ngx_strcmp(value->data, "clients=off") == 0) {
        jlcf->clients = 0;
        return NGX_OK;
    }

    return NGX_DECLINED;
}


/* Without a resource's name, the location's name decides what it serves. */

static char *
ngx_http_jemalloc_pprof_locate(ngx_conf_t *cf,
    ngx_http_jemalloc_pprof_loc_conf_t *jlcf)
{
    ngx_str_t                  last;
    ngx_uint_t                 is_plain;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    is_plain = !clcf->named;

#if (NGX_PCRE)
    if (clcf->regex) {
        is_plain = 0;
    }
#endif

    jlcf->name = clcf->name;

    if (is_plain && clcf->name.len != 0
        && clcf->name.data[clcf->name.len - 1] == '/')
    {
        /* the address without the slash redirects to the one with it */

        clcf->auto_redirect = 1;

        return NGX_CONF_OK;
    }

    if (is_plain) {
        last.data = clcf->name.data + clcf->name.len;
        last.len = 0;

        while (last.data > clcf->name.data && last.data[-1] != '/') {
            last.data--;
            last.len++;
        }

        jlcf->resource = last.len != 0
                         ? ngx_http_jemalloc_pprof_resource(&last) : NULL;

        if (jlcf->resource != NULL) {
            return NGX_CONF_OK;
        }
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"jemalloc_pprof\" cannot tell what location \"%V\" "
                       "serves: end its name in a slash for all resources, "
                       "or name one of %V, as in \"jemalloc_pprof heap;\"",
                       &clcf->name, ngx_http_jemalloc_pprof_resource_names());

    return NGX_CONF_ERROR;
}


/* jemalloc knows powers of two only. */

static char *
ngx_http_jemalloc_pprof_sample(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_jemalloc_pprof_main_conf_t *jmcf = conf;

    ssize_t     size;
    ngx_int_t   lg;
    ngx_str_t  *value;

    if (jmcf->lg_sample != NGX_CONF_UNSET) {
        return "is duplicate";
    }

    value = cf->args->elts;
    size = ngx_parse_size(&value[1]);

    for (lg = JPP_JEMALLOC_LG_MIN; lg <= JPP_JEMALLOC_LG_MAX; lg++) {
        if (size == (ssize_t) 1 << lg) {
            jmcf->lg_sample = lg;
            return NGX_CONF_OK;
        }
    }

    return "must be a power of two from 1k to 16m";
}


static char *
ngx_http_jemalloc_pprof_stall(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_jemalloc_pprof_main_conf_t *jmcf = conf;

    ngx_int_t   ms;
    ngx_str_t  *value;

    if (jmcf->stall != NGX_CONF_UNSET_MSEC) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        jmcf->stall = 0;
        return NGX_CONF_OK;
    }

    ms = ngx_parse_time(&value[1], 0);

    if (ms >= NGX_HTTP_JEMALLOC_PPROF_MIN_STALL
        && ms <= NGX_HTTP_JEMALLOC_PPROF_MAX_STALL)
    {
        jmcf->stall = ms;
        return NGX_CONF_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"jemalloc_pprof_stall\" must be from %dms to %ds, as "
                       "in \"100ms\", or \"off\"",
                       NGX_HTTP_JEMALLOC_PPROF_MIN_STALL,
                       NGX_HTTP_JEMALLOC_PPROF_MAX_STALL / 1000);

    return NGX_CONF_ERROR;
}


static char *
ngx_http_jemalloc_pprof_temp_path(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_jemalloc_pprof_main_conf_t *jmcf = conf;

    ngx_str_t  *value;

    if (jmcf->temp_path.data != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (value[1].len == 0) {
        return "needs the name of a directory";
    }

    jmcf->temp_path = value[1];

    return ngx_conf_full_name(cf->cycle, &jmcf->temp_path, 0) == NGX_OK
           ? NGX_CONF_OK : NGX_CONF_ERROR;
}


static char *
ngx_http_jemalloc_pprof_check_timeout(ngx_conf_t *cf, void *post, void *data)
{
    ngx_msec_t *timeout = data;

    return *timeout != 0 ? NGX_CONF_OK : "must be above 0";
}


static char *
ngx_http_jemalloc_pprof_check_seconds(ngx_conf_t *cf, void *post, void *data)
{
    time_t *seconds = data;

    if (*seconds >= 1 && *seconds <= JPP_MAX_SECONDS) {
        return NGX_CONF_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"jemalloc_pprof_max_seconds\" must be from 1s to %ds",
                       JPP_MAX_SECONDS);

    return NGX_CONF_ERROR;
}


static char *
ngx_http_jemalloc_pprof_check_size(ngx_conf_t *cf, void *post, void *data)
{
    size_t *size = data;

    if (*size >= 1 && *size <= JPP_MAX_DUMP) {
        return NGX_CONF_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"jemalloc_pprof_max_size\" must be from 1 to %uz "
                       "bytes", JPP_MAX_DUMP);

    return NGX_CONF_ERROR;
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
        jpp_memfd_close(&ngx_http_jemalloc_pprof_self.baseline);
        ngx_http_jemalloc_pprof_stall_stop();
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


/* One line, at each start and each reload. */

static void
ngx_http_jemalloc_pprof_notice(ngx_cycle_t *cycle)
{
    char                                  text[NGX_HTTP_JEMALLOC_PPROF_NOTICE];
    ngx_uint_t                            level;
    jpp_control_t                         control;
    jpp_problem_t                         problems[JPP_MAX_PROBLEMS];
    jpp_worker_t                          worker;
    ngx_http_jemalloc_pprof_main_conf_t  *jmcf;

    /* workers start as the master is, and apply the settings for all */

    ngx_http_jemalloc_pprof_describe(&worker);

    jmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_jemalloc_pprof_module);

    if (jmcf->unwind && worker.jemalloc.hook == JPP_HOOK_OFF) {
        worker.jemalloc.hook = JPP_HOOK_ON;
    }

    ngx_http_jemalloc_pprof_worker_wanted(cycle, &control);
    jpp_control_preview(&control, &worker);

    jpp_status_notice(&worker, text, sizeof(text));

    /*
     * Distributions set error_log without a level, which drops everything below
     * an error: who wants profiles and does not get them must see it, and who
     * loses workers for them, too.  An inactive profiler is a choice, and can
     * be switched on.
     */

    level = jpp_problems(&worker, problems) == 0 ? NGX_LOG_NOTICE
                                                 : NGX_LOG_WARN;

    if ((worker.jemalloc.active && jpp_jemalloc_will_abort(&worker.jemalloc))
        || (!worker.sampler.is_on
            && ngx_http_jemalloc_pprof_is_missed(&worker.jemalloc, &control)))
    {
        level = NGX_LOG_ERR;
    }

    ngx_log_error(level, cycle->log, 0, "jemalloc_pprof: %s", text);
}


/* Are profiles wanted, by anybody, that JEMALLOC will not give? */

static ngx_uint_t
ngx_http_jemalloc_pprof_is_missed(const jpp_jemalloc_t *jemalloc,
    const jpp_control_t *control)
{
    return jemalloc->state == JPP_JEMALLOC_REFUSED
           || (jemalloc->state == JPP_JEMALLOC_READY && jemalloc->unsampled)
           || (jemalloc->state < JPP_JEMALLOC_REFUSED
               && (control->active == 1 || jpp_jemalloc_is_requested()));
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
