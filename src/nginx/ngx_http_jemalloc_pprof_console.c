
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


static ngx_int_t
ngx_http_jemalloc_pprof_console_answer(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    return ngx_http_jemalloc_pprof_status_page(r, question,
               &ngx_http_jemalloc_pprof_console_page,
               ngx_http_jemalloc_pprof_console_write);
}


static ngx_int_t
ngx_http_jemalloc_pprof_console_write(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_sink_t *sink)
{
    jpp_telemetry_t            telemetry;
    const jpp_console_link_t  *links;

    links = ngx_http_jemalloc_pprof_resource_links(arena);

    if (links == NULL
        || ngx_http_jemalloc_pprof_telemetry(co, arena, &telemetry) != NGX_OK)
    {
        return NGX_ERROR;
    }

    jpp_console_html(&telemetry, links, sink);

    return NGX_OK;
}
