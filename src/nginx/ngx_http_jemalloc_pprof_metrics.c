
#include "ngx_http_jemalloc_pprof_accept.h"
#include "ngx_http_jemalloc_pprof_metrics.h"
#include "ngx_http_jemalloc_pprof_status.h"
#include "ngx_http_jemalloc_pprof_telemetry.h"

#include "jpp_metrics.h"


static ngx_int_t ngx_http_jemalloc_pprof_metrics_text(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_sink_t *sink);
static ngx_int_t ngx_http_jemalloc_pprof_metrics_open(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_sink_t *sink);
static ngx_int_t ngx_http_jemalloc_pprof_metrics_write(
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    bool is_openmetrics, jpp_sink_t *sink);


/* Prometheus 3 refuses an answer whose type it does not know */

static const ngx_http_jemalloc_pprof_answer_t
    ngx_http_jemalloc_pprof_metrics_text_answer =
{
    .type = "text/plain; version=0.0.4"
};

static const ngx_http_jemalloc_pprof_answer_t
    ngx_http_jemalloc_pprof_metrics_open_answer =
{
    .type = "application/openmetrics-text; version=1.0.0; charset=utf-8"
};


ngx_int_t
ngx_http_jemalloc_pprof_metrics(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    if (ngx_http_jemalloc_pprof_prefers(r, "application/openmetrics-text",
                                        "text/plain"))
    {
        return ngx_http_jemalloc_pprof_status_page(r, question,
                   &ngx_http_jemalloc_pprof_metrics_open_answer,
                   ngx_http_jemalloc_pprof_metrics_open);
    }

    return ngx_http_jemalloc_pprof_status_page(r, question,
               &ngx_http_jemalloc_pprof_metrics_text_answer,
               ngx_http_jemalloc_pprof_metrics_text);
}


static ngx_int_t
ngx_http_jemalloc_pprof_metrics_text(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_sink_t *sink)
{
    return ngx_http_jemalloc_pprof_metrics_write(co, arena, false, sink);
}


static ngx_int_t
ngx_http_jemalloc_pprof_metrics_open(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_sink_t *sink)
{
    return ngx_http_jemalloc_pprof_metrics_write(co, arena, true, sink);
}


static ngx_int_t
ngx_http_jemalloc_pprof_metrics_write(
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    bool is_openmetrics, jpp_sink_t *sink)
{
    jpp_telemetry_t  telemetry;

    if (ngx_http_jemalloc_pprof_telemetry(co, arena, &telemetry) != NGX_OK) {
        return NGX_ERROR;
    }

    jpp_metrics_write(&telemetry, is_openmetrics, sink);

    return NGX_OK;
}
