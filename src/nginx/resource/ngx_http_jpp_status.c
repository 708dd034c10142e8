
/*
 * The resource status, the workers' profiling state; and cmdline, nginx's
 * command line.
 */


#include "ngx_http_jpp_resources.h"


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


/* A process title is not what nginx was started with. */

static ngx_int_t
ngx_http_jpp_cmdline_send(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    size_t      len;
    u_char     *p, *data;
    ngx_int_t   i;

    for (len = 0, i = 0; i < ngx_argc; i++) {
        len += ngx_strlen(ngx_argv[i]) + 1;
    }

    data = ngx_pnalloc(r->pool, len);
    if (data == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    for (p = data, i = 0; i < ngx_argc; i++) {
        p = ngx_cpymem(p, ngx_argv[i], ngx_strlen(ngx_argv[i]) + 1);
    }

    /* a NUL between them, and not behind the last */

    return ngx_http_jpp_send(r, NGX_HTTP_OK, &ngx_http_jpp_text, data, len - 1);
}


const ngx_http_jpp_handler_t  ngx_http_jpp_cmdline = {
    .start = ngx_http_jpp_cmdline_send
};
