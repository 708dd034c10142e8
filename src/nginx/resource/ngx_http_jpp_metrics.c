
/*
 * The resource metrics: telemetry for Prometheus.
 */


#include "ngx_http_jpp_headers.h"
#include "ngx_http_jpp_job.h"
#include "ngx_http_jpp_resources.h"

#include "jpp_metrics.h"


static jpp_code_t ngx_http_jpp_metrics_write(ngx_http_jpp_job_t *job,
    jpp_sink_t *sink);


static const ngx_http_jpp_handler_t  ngx_http_jpp_metrics_open = {
    .answer.type = "application/openmetrics-text; version=1.0.0; "
                   "charset=utf-8",
    .is_brief = 1,
    .has_telemetry = 1,
    .write = ngx_http_jpp_metrics_write
};


static ngx_int_t
ngx_http_jpp_metrics_start(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    return ngx_http_jpp_job(r, question,
               ngx_http_jpp_prefers(r, "application/openmetrics-text",
                                    "text/plain")
               ? &ngx_http_jpp_metrics_open : &ngx_http_jpp_metrics,
               NULL);
}


/* Prometheus 3 refuses an answer whose type it does not know */

const ngx_http_jpp_handler_t  ngx_http_jpp_metrics = {
    .answer.type = "text/plain; version=0.0.4",
    .start = ngx_http_jpp_metrics_start,
    .is_brief = 1,
    .has_telemetry = 1,
    .write = ngx_http_jpp_metrics_write
};


static jpp_code_t
ngx_http_jpp_metrics_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    return jpp_metrics_write(&job->telemetry->all,
                             job->handler == &ngx_http_jpp_metrics_open,
                             &job->arena, sink)
           ? JPP_OK : jpp_err_memory(&job->err);
}
