
/*
 * The resource status, the workers' profiling state; and cmdline, nginx's
 * command line.
 */


#include "ngx_http_jpp_resources.h"

#include "jpp_status.h"


static jpp_code_t
ngx_http_jpp_status_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    jpp_status_json(&job->telemetry->fleet, sink);

    return JPP_OK;
}


const ngx_http_jpp_handler_t  ngx_http_jpp_status = {
    .answer.type = "application/json",
    .is_brief = 1,
    .has_telemetry = 1,
    .has_holders = 1,
    .write = ngx_http_jpp_status_write
};


/* With a NUL between them.  A process title is not what nginx started with. */

static jpp_code_t
ngx_http_jpp_cmdline_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    ngx_int_t  i;

    for (i = 0; i < ngx_argc; i++) {
        jpp_sink_write(sink, ngx_argv[i],
                       ngx_strlen(ngx_argv[i]) + (i + 1 < ngx_argc));
    }

    return JPP_OK;
}


const ngx_http_jpp_handler_t  ngx_http_jpp_cmdline = {
    .answer.type = "text/plain",
    .is_brief = 1,
    .ask = ngx_http_jpp_job_run,
    .write = ngx_http_jpp_cmdline_write
};
