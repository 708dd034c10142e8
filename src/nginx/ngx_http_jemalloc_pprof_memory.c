
#include "ngx_http_jemalloc_pprof_memory.h"
#include "ngx_http_jemalloc_pprof_status.h"
#include "ngx_http_jemalloc_pprof_telemetry.h"

#include "jpp_memory.h"


static ngx_int_t ngx_http_jemalloc_pprof_memory_write(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_sink_t *sink);


static const ngx_http_jemalloc_pprof_answer_t
    ngx_http_jemalloc_pprof_memory_answer =
{
    .type = "application/json"
};


ngx_int_t
ngx_http_jemalloc_pprof_memory(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    return ngx_http_jemalloc_pprof_status_page(r, question,
               &ngx_http_jemalloc_pprof_memory_answer,
               ngx_http_jemalloc_pprof_memory_write);
}


static ngx_int_t
ngx_http_jemalloc_pprof_memory_write(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_sink_t *sink)
{
    jpp_telemetry_t  telemetry;

    if (ngx_http_jemalloc_pprof_telemetry(co, arena, &telemetry) != NGX_OK) {
        return NGX_ERROR;
    }

    jpp_memory_json(&telemetry, ngx_time(), sink);

    return NGX_OK;
}
