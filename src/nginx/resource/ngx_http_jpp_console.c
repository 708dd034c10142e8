
/*
 * The resource console: the HTML page at the root of a tree.  It lists the
 * resources, so it is not in their table.
 */


#include "ngx_http_jpp_headers.h"
#include "ngx_http_jpp_job.h"
#include "ngx_http_jpp_resources.h"


typedef struct {
    jpp_console_t   console;
    jpp_outcome_t   outcome;
} ngx_http_jpp_shown_t;


static ngx_int_t ngx_http_jpp_console_start(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);
static ngx_uint_t ngx_http_jpp_console_is_text(ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_console_asked(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static jpp_code_t ngx_http_jpp_console_write(ngx_http_jpp_job_t *job,
    jpp_sink_t *sink);


static const ngx_http_jpp_handler_t  ngx_http_jpp_console_page = {
    .answer.type = "text/html",
    .answer.policy = jpp_console_policy,
    .start = ngx_http_jpp_console_start,
    .size = sizeof(ngx_http_jpp_shown_t),
    .is_brief = 1,
    .has_telemetry = 1,
    .has_holders = 1,
    .asked = ngx_http_jpp_console_asked,
    .write = ngx_http_jpp_console_write
};

static const ngx_http_jpp_handler_t  ngx_http_jpp_console_forms = {
    .answer.type = "text/html",
    .answer.policy = jpp_console_policy_control,
    .size = sizeof(ngx_http_jpp_shown_t),
    .is_brief = 1,
    .has_telemetry = 1,
    .has_holders = 1,
    .asked = ngx_http_jpp_console_asked,
    .write = ngx_http_jpp_console_write
};

static const ngx_http_jpp_handler_t  ngx_http_jpp_console_text = {
    .answer.type = "text/plain",
    .size = sizeof(ngx_http_jpp_shown_t),
    .is_brief = 1,
    .has_telemetry = 1,
    .has_holders = 1,
    .asked = ngx_http_jpp_console_asked,
    .write = ngx_http_jpp_console_write
};

const ngx_http_jpp_resource_t  ngx_http_jpp_console = {
    ngx_string(""), NGX_HTTP_JPP_READ, .handler = &ngx_http_jpp_console_page
};


static ngx_int_t
ngx_http_jpp_console_start(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    ngx_http_jpp_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    return ngx_http_jpp_job(r, question,
                            ngx_http_jpp_console_is_text(r)
                            ? &ngx_http_jpp_console_text
                            : conf->control ? &ngx_http_jpp_console_forms
                                            : &ngx_http_jpp_console_page,
                            NULL);
}


/* curl accepts anything, and browsers name HTML. */

static ngx_uint_t
ngx_http_jpp_console_is_text(ngx_http_request_t *r)
{
    const ngx_str_t  *accept;

    accept = ngx_http_jpp_accept(r);

    return accept != NULL
           && ngx_strlcasestrn(accept->data, accept->data + accept->len,
                               (u_char *) "text/html", sizeof("text/html") - 2)
              == NULL;
}


static ngx_int_t
ngx_http_jpp_console_asked(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_shown_t *shown = job->state;

    shown->console.links = ngx_http_jpp_links;
    shown->console.telemetry = &job->telemetry->all;
    shown->console.has_control = job->handler == &ngx_http_jpp_console_forms;
    shown->console.now = job->telemetry->now;

    if (jpp_outcome_read(&shown->outcome, (char *) r->args.data, r->args.len)) {
        shown->console.outcome = &shown->outcome;
    }

    return ngx_http_jpp_job_run(job, r);
}


static jpp_code_t
ngx_http_jpp_console_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    ngx_http_jpp_shown_t *shown = job->state;

    uint32_t  cols;

    if (job->handler == &ngx_http_jpp_console_text) {
        cols = job->question.args.values[JPP_ARG_COLS];

        return jpp_front_text(&shown->console, &job->arena, cols, sink)
               ? JPP_OK : jpp_err_memory(&job->err);
    }

    jpp_console_html(&shown->console, sink);

    return JPP_OK;
}
