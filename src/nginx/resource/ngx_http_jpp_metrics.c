
/*
 * metrics: what is known about the memory of all workers, for Prometheus.
 */


#include "ngx_http_jpp_job.h"
#include "ngx_http_jpp_resources.h"

#include "jpp_metrics.h"


static jpp_code_t
ngx_http_jpp_metrics_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    return jpp_metrics_write(&job->telemetry->all, &job->arena, sink)
           ? JPP_OK : jpp_err_memory(&job->err);
}


/* Prometheus 3 refuses an answer whose type it does not know */

const ngx_http_jpp_handler_t  ngx_http_jpp_metrics = {
    .answer.type = "text/plain; version=0.0.4",
    .is_brief = 1,
    .has_telemetry = 1,
    .write = ngx_http_jpp_metrics_write
};
