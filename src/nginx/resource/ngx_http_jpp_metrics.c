
/*
 * The resource metrics: telemetry for Prometheus.
 */


#include "ngx_http_jpp_resources.h"

#include "jpp_metrics.h"


static const char  ngx_http_jpp_openmetrics[] =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";


/* Prometheus 3 refuses an answer whose type it does not know */

static void
ngx_http_jpp_metrics_describe(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question, ngx_http_jpp_answer_t *answer)
{
    if (ngx_http_jpp_prefers(r, "application/openmetrics-text", "text/plain")) {
        answer->type = ngx_http_jpp_openmetrics;
    }
}


static jpp_code_t
ngx_http_jpp_metrics_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    return jpp_metrics_write(&job->telemetry->all,
                             job->answer.type == ngx_http_jpp_openmetrics,
                             &job->arena, sink)
           ? JPP_OK : jpp_err_memory(&job->err);
}


const ngx_http_jpp_handler_t  ngx_http_jpp_metrics = {
    .answer.type = "text/plain; version=0.0.4",
    .describe = ngx_http_jpp_metrics_describe,
    .is_brief = 1,
    .has_telemetry = 1,
    .write = ngx_http_jpp_metrics_write
};
