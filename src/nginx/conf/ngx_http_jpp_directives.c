
#include "ngx_http_jpp_directives.h"
#include "ngx_http_jpp_location.h"

#include "jpp_jemalloc.h"
#include "jpp_limits.h"
#include "jpp_source.h"


/* of a stall, ms: the clock that it is measured by advances every 4 ms */
#define NGX_HTTP_JPP_MIN_STALL  10
#define NGX_HTTP_JPP_MAX_STALL  60000


static char *ngx_http_jpp_set_sample(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static char *ngx_http_jpp_set_stall(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static char *ngx_http_jpp_set_temp_path(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static char *ngx_http_jpp_check_timeout(ngx_conf_t *cf, void *post, void *data);
static char *ngx_http_jpp_check_seconds(ngx_conf_t *cf, void *post, void *data);
static char *ngx_http_jpp_check_size(ngx_conf_t *cf, void *post, void *data);


static ngx_conf_num_bounds_t  ngx_http_jpp_levels = {
    ngx_conf_check_num_bounds, 1, 9
};

static ngx_conf_post_t  ngx_http_jpp_timeout_post = {
    ngx_http_jpp_check_timeout
};

static ngx_conf_post_t  ngx_http_jpp_seconds_post = {
    ngx_http_jpp_check_seconds
};

static ngx_conf_post_t  ngx_http_jpp_size_post = {
    ngx_http_jpp_check_size
};


static ngx_conf_enum_t  ngx_http_jpp_sources[] = {
    { ngx_string("jemalloc"), JPP_SOURCE_JEMALLOC },
    { ngx_string("sampler"), JPP_SOURCE_SAMPLER },
    { ngx_null_string, 0 }
};


ngx_command_t  ngx_http_jpp_directives[] = {

    { ngx_string("jemalloc_pprof"),
      NGX_HTTP_LOC_CONF|NGX_CONF_ANY,
      ngx_http_jpp_location,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("jemalloc_pprof_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_jpp_loc_conf_t, timeout),
      &ngx_http_jpp_timeout_post },

    { ngx_string("jemalloc_pprof_max_seconds"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_sec_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_jpp_loc_conf_t, max_seconds),
      &ngx_http_jpp_seconds_post },

    { ngx_string("jemalloc_pprof_max_size"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_size_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_jpp_loc_conf_t, max_size),
      &ngx_http_jpp_size_post },

    { ngx_string("jemalloc_pprof_gzip_level"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_num_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_jpp_loc_conf_t, gzip_level),
      &ngx_http_jpp_levels },

    { ngx_string("jemalloc_pprof_active"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_jpp_main_conf_t, active),
      NULL },

    { ngx_string("jemalloc_pprof_sample"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_jpp_set_sample,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("jemalloc_pprof_source"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_enum_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_jpp_main_conf_t, source),
      ngx_http_jpp_sources },

    { ngx_string("jemalloc_pprof_unwind"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_jpp_main_conf_t, unwind),
      NULL },

    { ngx_string("jemalloc_pprof_stall"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_jpp_set_stall,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("jemalloc_pprof_owners"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_jpp_main_conf_t, owners),
      NULL },

    { ngx_string("jemalloc_pprof_temp_path"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_jpp_set_temp_path,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

      ngx_null_command
};


/* jemalloc knows powers of two only. */

static char *
ngx_http_jpp_set_sample(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_jpp_main_conf_t *jmcf = conf;

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
ngx_http_jpp_set_stall(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_jpp_main_conf_t *jmcf = conf;

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

    if (ms >= NGX_HTTP_JPP_MIN_STALL && ms <= NGX_HTTP_JPP_MAX_STALL) {
        jmcf->stall = ms;
        return NGX_CONF_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"jemalloc_pprof_stall\" must be from %dms to %ds, as "
                       "in \"100ms\", or \"off\"",
                       NGX_HTTP_JPP_MIN_STALL,
                       NGX_HTTP_JPP_MAX_STALL / 1000);

    return NGX_CONF_ERROR;
}


static char *
ngx_http_jpp_set_temp_path(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_jpp_main_conf_t *jmcf = conf;

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
ngx_http_jpp_check_timeout(ngx_conf_t *cf, void *post, void *data)
{
    ngx_msec_t *timeout = data;

    return *timeout != 0 ? NGX_CONF_OK : "must be above 0";
}


static char *
ngx_http_jpp_check_seconds(ngx_conf_t *cf, void *post, void *data)
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
ngx_http_jpp_check_size(ngx_conf_t *cf, void *post, void *data)
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
