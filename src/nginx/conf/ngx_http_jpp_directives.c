
/*
 * The table of directives, and the checks of their values.  The directive
 * jemalloc_pprof is in location, the defaults are in conf.
 */


#include "ngx_http_jpp_conf.h"
#include "ngx_http_jpp_resources.h"


/*
 * The directive jemalloc_pprof: what a location serves, and how.
 */


/* What may follow the name of a resource. */
typedef struct {
    ngx_str_t   text;
    size_t      offset;           /* of an ngx_flag_t of the location */
    ngx_flag_t  value;
} ngx_http_jpp_parameter_t;


#define ngx_http_jpp_parameter(text, flag, value)                             \
    { ngx_string(text), offsetof(ngx_http_jpp_loc_conf_t, flag), value }


static const ngx_http_jpp_parameter_t  ngx_http_jpp_parameters[] = {
    ngx_http_jpp_parameter("worker=all", worker, JPP_WORKER_ALL),
    ngx_http_jpp_parameter("worker=self", worker, JPP_WORKER_SELF),
    ngx_http_jpp_parameter("symbolize=on", symbolize, 1),
    ngx_http_jpp_parameter("symbolize=off", symbolize, 0),
    ngx_http_jpp_parameter("control=on", control, 1),
    ngx_http_jpp_parameter("control=off", control, 0),
    ngx_http_jpp_parameter("clients=on", clients, 1),
    ngx_http_jpp_parameter("clients=off", clients, 0)
};


static ngx_int_t
ngx_http_jpp_location_parameter(ngx_http_jpp_loc_conf_t *jlcf,
    const ngx_str_t *value)
{
    const ngx_http_jpp_parameter_t  *parameter;

    jpp_each_of(parameter, ngx_http_jpp_parameters) {
        if (parameter->text.len == value->len
            && ngx_strncmp(parameter->text.data, value->data, value->len) == 0)
        {
            *(ngx_flag_t *) ((u_char *) jlcf + parameter->offset) =
                                                            parameter->value;
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}


/* VALUE, the argument I: the first one, without "=", should be a resource. */

static char *
ngx_http_jpp_location_unknown(ngx_conf_t *cf, const ngx_str_t *value,
    ngx_uint_t i)
{
    if (i == 1 && value->len != 0 && ngx_strchr(value->data, '=') == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "unknown resource \"%V\": use one of %V", value,
                           ngx_http_jpp_resource_names());

    } else {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid parameter \"%V\": a resource's name "
                           "may come first, then \"worker=all\" or "
                           "\"worker=self\", \"symbolize=on\" or "
                           "\"symbolize=off\", \"control=on\" or "
                           "\"control=off\", \"clients=on\" or "
                           "\"clients=off\"", value);
    }

    return NGX_CONF_ERROR;
}


/* Without a resource's name, the location's name decides what it serves. */

static char *
ngx_http_jpp_location_resource(ngx_conf_t *cf, ngx_http_jpp_loc_conf_t *jlcf)
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

        jlcf->resource = last.len != 0 ? ngx_http_jpp_resource(&last) : NULL;

        if (jlcf->resource != NULL) {
            return NGX_CONF_OK;
        }
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"jemalloc_pprof\" in location \"%V\" names no "
                       "resource: end the location's name in a slash to "
                       "serve all resources, or add one of %V, for "
                       "example \"jemalloc_pprof heap;\"",
                       &clcf->name, ngx_http_jpp_resource_names());

    return NGX_CONF_ERROR;
}


static char *
ngx_http_jpp_location(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_jpp_loc_conf_t *jlcf = conf;

    ngx_str_t                 *value;
    ngx_uint_t                 i;
    ngx_http_core_loc_conf_t  *clcf;
    ngx_http_jpp_main_conf_t  *jmcf;

    if (jlcf->is_on) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_http_jpp_location_parameter(jlcf, &value[i]) == NGX_OK) {
            continue;
        }

        jlcf->resource = i == 1 ? ngx_http_jpp_resource(&value[i]) : NULL;

        if (jlcf->resource == NULL) {
            return ngx_http_jpp_location_unknown(cf, &value[i], i);
        }

        jlcf->is_named = 1;
    }

    jlcf->is_on = 1;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = ngx_http_jpp_handler;

    jmcf = ngx_http_conf_get_module_main_conf(cf,
                                              ngx_http_jemalloc_pprof_module);

    if (jmcf->zone == NULL) {
        jmcf->zone = ngx_http_jpp_zone_add(cf);
        if (jmcf->zone == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    return jlcf->is_named
           ? NGX_CONF_OK : ngx_http_jpp_location_resource(cf, jlcf);
}


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

    if (jmcf->stall != NGX_CONF_UNSET) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        jmcf->stall = 0;
        return NGX_CONF_OK;
    }

    ms = ngx_parse_time(&value[1], 0);

    if (ms >= JPP_CONTROL_MIN_STALL && ms <= JPP_CONTROL_MAX_STALL) {
        jmcf->stall = ms;
        return NGX_CONF_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"jemalloc_pprof_stall\" must be from %dms to %ds, as "
                       "in \"100ms\", or \"off\"",
                       JPP_CONTROL_MIN_STALL,
                       JPP_CONTROL_MAX_STALL / 1000);

    return NGX_CONF_ERROR;
}


/* The parameters of jemalloc_pprof_snapshots: numbers and their bounds. */

typedef struct {
    ngx_str_t    name;
    size_t       offset;          /* of a size_t, or an ngx_uint_t */
    ngx_uint_t   is_percent;      /* "85%"; else a number, or "4m" */
    size_t       min;
    size_t       max;
    const char  *allowed;
} ngx_http_jpp_snapshots_row_t;


static const ngx_http_jpp_snapshots_row_t  ngx_http_jpp_snapshots_rows[] = {

    { ngx_string("zone="), offsetof(ngx_http_jpp_snapshots_conf_t, zone),
      0, 64 * 1024, (size_t) JPP_SNAPSHOT_PAGES * JPP_SNAPSHOT_PAGE,
      "from 64k to 256m" },

    { ngx_string("limit="), offsetof(ngx_http_jpp_snapshots_conf_t, limit),
      1, 50, 99, "from 50% to 99%" },

    { ngx_string("growth="), offsetof(ngx_http_jpp_snapshots_conf_t, growth),
      1, 5, 1000, "from 5% to 1000%" },

    { ngx_string("keep="), offsetof(ngx_http_jpp_snapshots_conf_t, keep),
      0, 2, JPP_SNAPSHOTS, "from 2 to 64" },

    { ngx_string("size="), offsetof(ngx_http_jpp_snapshots_conf_t, size),
      0, 1024 * 1024, (size_t) 1 << 40, "1m or more" }
};

#define NGX_HTTP_JPP_SNAPSHOTS_ROWS                                           \
    (sizeof(ngx_http_jpp_snapshots_rows)                                      \
     / sizeof(ngx_http_jpp_snapshots_rows[0]))


/* NGX_DECLINED: it is none of these; NGX_ERROR: it has no such value. */

static ngx_int_t
ngx_http_jpp_snapshots_number(ngx_conf_t *cf,
    ngx_http_jpp_snapshots_conf_t *conf, const ngx_str_t *value)
{
    ssize_t                              number;
    ngx_str_t                            rest;
    const ngx_http_jpp_snapshots_row_t  *row;

    jpp_each(row, ngx_http_jpp_snapshots_rows, NGX_HTTP_JPP_SNAPSHOTS_ROWS) {
        if (value->len > row->name.len
            && ngx_strncmp(value->data, row->name.data, row->name.len) == 0)
        {
            break;
        }
    }

    if (row == ngx_http_jpp_snapshots_rows + NGX_HTTP_JPP_SNAPSHOTS_ROWS) {
        return NGX_DECLINED;
    }

    rest.data = value->data + row->name.len;
    rest.len = value->len - row->name.len;

    number = !row->is_percent ? ngx_parse_size(&rest)
             : rest.data[rest.len - 1] == '%'
             ? ngx_atoi(rest.data, rest.len - 1) : NGX_ERROR;

    if (number == NGX_ERROR || (size_t) number < row->min
        || (size_t) number > row->max)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" of \"jemalloc_pprof_snapshots\" must be "
                           "%s", &row->name, row->allowed);
        return NGX_ERROR;
    }

    *(size_t *) ((u_char *) conf + row->offset) = number;

    return NGX_OK;
}


static char *
ngx_http_jpp_set_snapshots(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_jpp_main_conf_t *jmcf = conf;

    ngx_int_t                       rc;
    ngx_str_t                      *value;
    ngx_uint_t                      i;
    ngx_http_jpp_snapshots_conf_t  *snapshots;

    snapshots = &jmcf->snapshots;

    if (snapshots->is_on != NGX_CONF_UNSET) {
        return "is duplicate";
    }

    value = cf->args->elts;
    snapshots->is_on = cf->args->nelts != 2
                       || ngx_strcmp(value[1].data, "off") != 0;

    for (i = 1; snapshots->is_on && i < cf->args->nelts; i++) {

        rc = ngx_http_jpp_snapshots_number(cf, snapshots, &value[i]);

        if (rc == NGX_OK) {
            continue;
        }

        if (rc == NGX_ERROR) {
            return NGX_CONF_ERROR;
        }

        if (value[i].len <= 5 || ngx_strncmp(value[i].data, "path=", 5) != 0) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid parameter \"%V\" of "
                               "\"jemalloc_pprof_snapshots\": it takes off, or "
                               "zone=, path=, limit=, growth=, keep= and size=",
                               &value[i]);
            return NGX_CONF_ERROR;
        }

        snapshots->path.data = value[i].data + 5;
        snapshots->path.len = value[i].len - 5;

        if (ngx_conf_full_name(cf->cycle, &snapshots->path, 0) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_jpp_check_temp_path(ngx_conf_t *cf, void *post, void *data)
{
    ngx_str_t *path = data;

    return path->len == 0
           ? "needs the name of a directory"
           : ngx_conf_full_name(cf->cycle, path, 0) == NGX_OK
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


static ngx_conf_num_bounds_t  ngx_http_jpp_levels = {
    ngx_conf_check_num_bounds, 1, 9
};

static ngx_conf_post_t  ngx_http_jpp_temp_path_post = {
    ngx_http_jpp_check_temp_path
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

    { ngx_string("jemalloc_pprof_snapshots"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_1MORE,
      ngx_http_jpp_set_snapshots,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("jemalloc_pprof_temp_path"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_jpp_main_conf_t, temp_path),
      &ngx_http_jpp_temp_path_post },

      ngx_null_command
};
