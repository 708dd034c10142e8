
#include "ngx_http_jpp_location.h"
#include "ngx_http_jpp_registry.h"
#include "ngx_http_jpp_request.h"
#include "ngx_http_jpp_resources.h"


/* What may follow the name of a resource. */
typedef struct {
    ngx_str_t    text;
    size_t       offset;           /* of an ngx_flag_t of the location */
    ngx_flag_t   value;
} ngx_http_jpp_parameter_t;


static ngx_int_t ngx_http_jpp_location_name(ngx_conf_t *cf,
    ngx_http_jpp_loc_conf_t *jlcf, const ngx_str_t *value);
static ngx_int_t ngx_http_jpp_location_parameter(ngx_http_jpp_loc_conf_t *jlcf,
    const ngx_str_t *value);
static char *ngx_http_jpp_location_resource(ngx_conf_t *cf,
    ngx_http_jpp_loc_conf_t *jlcf);


static const ngx_http_jpp_parameter_t
    ngx_http_jpp_parameters[] =
{

    { ngx_string("worker=all"),
      offsetof(ngx_http_jpp_loc_conf_t, worker), JPP_WORKER_ALL },

    { ngx_string("worker=self"),
      offsetof(ngx_http_jpp_loc_conf_t, worker), JPP_WORKER_SELF },

    { ngx_string("symbolize=on"),
      offsetof(ngx_http_jpp_loc_conf_t, symbolize), 1 },

    { ngx_string("symbolize=off"),
      offsetof(ngx_http_jpp_loc_conf_t, symbolize), 0 },

    { ngx_string("control=on"),
      offsetof(ngx_http_jpp_loc_conf_t, control), 1 },

    { ngx_string("control=off"),
      offsetof(ngx_http_jpp_loc_conf_t, control), 0 },

    { ngx_string("clients=on"),
      offsetof(ngx_http_jpp_loc_conf_t, clients), 1 },

    { ngx_string("clients=off"),
      offsetof(ngx_http_jpp_loc_conf_t, clients), 0 },

    { ngx_null_string, 0, 0 }
};


char *
ngx_http_jpp_location(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_jpp_loc_conf_t *jlcf = conf;

    ngx_int_t                  rc;
    ngx_str_t                 *value;
    ngx_uint_t                 i;
    ngx_http_core_loc_conf_t  *clcf;
    ngx_http_jpp_main_conf_t  *jmcf;

    if (jlcf->is_on) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        rc = ngx_http_jpp_location_parameter(jlcf, &value[i]);

        if (rc == NGX_DECLINED && i == 1) {
            rc = ngx_http_jpp_location_name(cf, jlcf, &value[i]);
        }

        if (rc == NGX_OK) {
            continue;
        }

        if (rc == NGX_DECLINED) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid parameter \"%V\": a resource's name "
                               "may come first, then \"worker=all\" or "
                               "\"worker=self\", \"symbolize=on\" or "
                               "\"symbolize=off\", \"control=on\" or "
                               "\"control=off\", \"clients=on\" or "
                               "\"clients=off\"",
                               &value[i]);
        }

        return NGX_CONF_ERROR;
    }

    jlcf->is_on = 1;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = ngx_http_jpp_handler;

    jmcf = ngx_http_conf_get_module_main_conf(cf,
                                              ngx_http_jemalloc_pprof_module);

    if (jmcf->zone == NULL) {
        jmcf->zone = ngx_http_jpp_registry_add(cf);
        if (jmcf->zone == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    return jlcf->is_named
           ? NGX_CONF_OK : ngx_http_jpp_location_resource(cf, jlcf);
}


/* NGX_DECLINED: VALUE does not look like one. */

static ngx_int_t
ngx_http_jpp_location_name(ngx_conf_t *cf, ngx_http_jpp_loc_conf_t *jlcf,
    const ngx_str_t *value)
{
    if (value->len == 0
        || ngx_strlchr(value->data, value->data + value->len, '=') != NULL)
    {
        return NGX_DECLINED;
    }

    jlcf->resource = ngx_http_jpp_resource(value);
    jlcf->is_named = 1;

    if (jlcf->resource != NULL) {
        return NGX_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "unknown resource \"%V\": use one of %V", value,
                       ngx_http_jpp_resource_names());

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_jpp_location_parameter(ngx_http_jpp_loc_conf_t *jlcf,
    const ngx_str_t *value)
{
    const ngx_http_jpp_parameter_t  *parameter;

    for (parameter = ngx_http_jpp_parameters;
         parameter->text.len != 0;
         parameter++)
    {
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

        jlcf->resource = last.len != 0
                         ? ngx_http_jpp_resource(&last) : NULL;

        if (jlcf->resource != NULL) {
            return NGX_CONF_OK;
        }
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"jemalloc_pprof\" cannot tell what location \"%V\" "
                       "serves: end its name in a slash for all resources, "
                       "or name one of %V, as in \"jemalloc_pprof heap;\"",
                       &clcf->name, ngx_http_jpp_resource_names());

    return NGX_CONF_ERROR;
}
