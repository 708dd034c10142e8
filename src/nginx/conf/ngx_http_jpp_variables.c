
/*
 * The variables for the access log, about the worker that handles a request.
 * They cost nothing where no configuration uses them.
 */


#include "ngx_http_jpp_conf.h"
#include "ngx_http_jpp_worker.h"


/* how old a value may be, ms */
#define NGX_HTTP_JPP_AGE  1000


/* what is not known is "-" in a log, and empty elsewhere */

static ngx_int_t
ngx_http_jpp_variable_set(ngx_http_request_t *r, ngx_http_variable_value_t *v,
    uint64_t value)
{
    if (value == JPP_NONE) {
        v->not_found = 1;
        return NGX_OK;
    }

    v->data = ngx_pnalloc(r->pool, NGX_INT64_LEN);
    if (v->data == NULL) {
        return NGX_ERROR;
    }

    v->len = ngx_sprintf(v->data, "%uL", value) - v->data;
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;

    return NGX_OK;
}


static ngx_int_t
ngx_http_jpp_variable_stats(ngx_http_request_t *r, ngx_http_variable_value_t *v,
    uintptr_t data)
{
    const jpp_worker_t  *worker;

    worker = ngx_http_jpp_figures(NGX_HTTP_JPP_AGE);

    return ngx_http_jpp_variable_set(r, v, worker->has_stats
               ? *(const uint64_t *) ((const u_char *) &worker->stats + data)
               : JPP_NONE);
}


static ngx_int_t
ngx_http_jpp_variable_usage(ngx_http_request_t *r, ngx_http_variable_value_t *v,
    uintptr_t data)
{
    const jpp_usage_t  *usage;

    usage = &ngx_http_jpp_figures(NGX_HTTP_JPP_AGE)->activity.usage;

    return ngx_http_jpp_variable_set(r, v,
               *(const uint64_t *) ((const u_char *) usage + data));
}


static ngx_int_t
ngx_http_jpp_variable_worker(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    return ngx_http_jpp_variable_set(r, v, ngx_worker);
}


static ngx_http_variable_t  ngx_http_jpp_vars[] = {

    { ngx_string("jemalloc_allocated"), NULL,
      ngx_http_jpp_variable_stats,
      offsetof(jpp_stats_t, allocated), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("jemalloc_active"), NULL,
      ngx_http_jpp_variable_stats,
      offsetof(jpp_stats_t, active), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("jemalloc_resident"), NULL,
      ngx_http_jpp_variable_stats,
      offsetof(jpp_stats_t, resident), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("jemalloc_rss_anon"), NULL,
      ngx_http_jpp_variable_usage,
      offsetof(jpp_usage_t, rss_anon), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("jemalloc_worker"), NULL,
      ngx_http_jpp_variable_worker, 0, 0, 0 },

      ngx_http_null_variable
};


ngx_int_t
ngx_http_jpp_variables(ngx_conf_t *cf)
{
    ngx_http_variable_t  *var, *v;

    for (v = ngx_http_jpp_vars; v->name.len; v++) {
        var = ngx_http_add_variable(cf, &v->name, v->flags);
        if (var == NULL) {
            return NGX_ERROR;
        }

        var->get_handler = v->get_handler;
        var->data = v->data;
    }

    return NGX_OK;
}
