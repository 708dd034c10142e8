
#include "ngx_http_jemalloc_pprof_metrics.h"
#include "ngx_http_jemalloc_pprof_status.h"
#include "ngx_http_jemalloc_pprof_telemetry.h"

#include "jpp_accept.h"
#include "jpp_metrics.h"


static ngx_uint_t ngx_http_jemalloc_pprof_metrics_prefers_open(
    ngx_http_request_t *r);
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
    if (ngx_http_jemalloc_pprof_metrics_prefers_open(r)) {
        return ngx_http_jemalloc_pprof_status_page(r, question,
                   &ngx_http_jemalloc_pprof_metrics_open_answer,
                   ngx_http_jemalloc_pprof_metrics_open);
    }

    return ngx_http_jemalloc_pprof_status_page(r, question,
               &ngx_http_jemalloc_pprof_metrics_text_answer,
               ngx_http_jemalloc_pprof_metrics_text);
}


/* by the first Accept header: builds without headers do not keep it */

static ngx_uint_t
ngx_http_jemalloc_pprof_metrics_prefers_open(ngx_http_request_t *r)
{
    ngx_uint_t        i;
    const char       *accept;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *header;

    for (part = &r->headers_in.headers.part; part != NULL; part = part->next) {
        header = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (header[i].key.len == sizeof("Accept") - 1
                && ngx_strncasecmp(header[i].key.data, (u_char *) "accept",
                                   sizeof("accept") - 1)
                   == 0)
            {
                accept = (const char *) header[i].value.data;

                return jpp_accept(accept, header[i].value.len,
                                  "application/openmetrics-text")
                       > jpp_accept(accept, header[i].value.len,
                                    "text/plain");
            }
        }
    }

    return 0;
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
