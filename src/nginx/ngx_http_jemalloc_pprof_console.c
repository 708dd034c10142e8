
#include "ngx_http_jemalloc_pprof_console.h"
#include "ngx_http_jemalloc_pprof_resources.h"
#include "ngx_http_jemalloc_pprof_status.h"
#include "ngx_http_jemalloc_pprof_telemetry.h"


static ngx_int_t ngx_http_jemalloc_pprof_console_answer(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question);
static ngx_int_t ngx_http_jemalloc_pprof_console_write(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_sink_t *sink);


const ngx_http_jemalloc_pprof_resource_t  ngx_http_jemalloc_pprof_console = {
    ngx_string(""), NGX_HTTP_JEMALLOC_PPROF_READ,
    ngx_string("GET, HEAD"), ngx_http_jemalloc_pprof_console_answer, 0, NULL,
    NULL, NULL
};

static const ngx_http_jemalloc_pprof_answer_t
    ngx_http_jemalloc_pprof_console_page =
{
    .type = "text/html",
    .policy = jpp_console_policy
};

static const ngx_http_jemalloc_pprof_answer_t
    ngx_http_jemalloc_pprof_console_forms =
{
    .type = "text/html",
    .policy = jpp_console_policy_control
};


static ngx_int_t
ngx_http_jemalloc_pprof_console_answer(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    ngx_http_jemalloc_pprof_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    return ngx_http_jemalloc_pprof_status_page(r, question,
               conf->control ? &ngx_http_jemalloc_pprof_console_forms
                             : &ngx_http_jemalloc_pprof_console_page,
               ngx_http_jemalloc_pprof_console_write);
}


static ngx_int_t
ngx_http_jemalloc_pprof_console_write(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_sink_t *sink)
{
    jpp_console_t                        console;
    jpp_outcome_t                        outcome;
    jpp_telemetry_t                      telemetry;
    ngx_http_jemalloc_pprof_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    ngx_memzero(&console, sizeof(jpp_console_t));

    console.telemetry = &telemetry;
    console.links = ngx_http_jemalloc_pprof_resource_links(arena);
    console.has_control = conf->control;
    console.now = ngx_time();

    if (jpp_outcome_read(&outcome, (char *) r->args.data, r->args.len)) {
        console.outcome = &outcome;
    }

    if (console.links == NULL
        || ngx_http_jemalloc_pprof_telemetry(co, arena, &telemetry) != NGX_OK)
    {
        return NGX_ERROR;
    }

    jpp_console_html(&console, sink);

    return NGX_OK;
}
