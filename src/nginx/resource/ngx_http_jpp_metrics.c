
/*
 * metrics: what is known about the memory of all workers, for Prometheus.
 */


#include "ngx_http_jpp_accept.h"
#include "ngx_http_jpp_resources.h"
#include "ngx_http_jpp_telemetry.h"

#include "jpp_metrics.h"


static ngx_int_t ngx_http_jpp_metrics_text(const ngx_http_jpp_collection_t *co,
    void *data, jpp_arena_t *arena, jpp_sink_t *sink);
static ngx_int_t ngx_http_jpp_metrics_open(const ngx_http_jpp_collection_t *co,
    void *data, jpp_arena_t *arena, jpp_sink_t *sink);
static ngx_int_t ngx_http_jpp_metrics_write(const ngx_http_jpp_collection_t *co,
    ngx_http_jpp_telemetry_t *telemetry, jpp_arena_t *arena,
    bool is_openmetrics, jpp_sink_t *sink);


/* Prometheus 3 refuses an answer whose type it does not know */

static const ngx_http_jpp_page_t
    ngx_http_jpp_metrics_text_page =
{
    .answer.type = "text/plain; version=0.0.4",
    .gather = ngx_http_jpp_status_gather,
    .write = ngx_http_jpp_metrics_text
};

static const ngx_http_jpp_page_t
    ngx_http_jpp_metrics_open_page =
{
    .answer.type = "application/openmetrics-text; version=1.0.0; "
                   "charset=utf-8",
    .gather = ngx_http_jpp_status_gather,
    .write = ngx_http_jpp_metrics_open
};


ngx_int_t
ngx_http_jpp_metrics(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    return ngx_http_jpp_status_page(r, question, ngx_http_jpp_prefers(r,
                   "application/openmetrics-text", "text/plain")
               ? &ngx_http_jpp_metrics_open_page
               : &ngx_http_jpp_metrics_text_page);
}


static ngx_int_t
ngx_http_jpp_metrics_text(const ngx_http_jpp_collection_t *co, void *data,
    jpp_arena_t *arena, jpp_sink_t *sink)
{
    return ngx_http_jpp_metrics_write(co, data, arena, false, sink);
}


static ngx_int_t
ngx_http_jpp_metrics_open(const ngx_http_jpp_collection_t *co, void *data,
    jpp_arena_t *arena, jpp_sink_t *sink)
{
    return ngx_http_jpp_metrics_write(co, data, arena, true, sink);
}


static ngx_int_t
ngx_http_jpp_metrics_write(const ngx_http_jpp_collection_t *co,
    ngx_http_jpp_telemetry_t *telemetry, jpp_arena_t *arena,
    bool is_openmetrics, jpp_sink_t *sink)
{
    if (ngx_http_jpp_telemetry_collected(telemetry, co, arena) != NGX_OK) {
        return NGX_ERROR;
    }

    return jpp_metrics_write(&telemetry->all, is_openmetrics, arena, sink)
           ? NGX_OK : NGX_ERROR;
}
