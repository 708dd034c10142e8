
/*
 * The resource console: the HTML page at the root of a tree.  It lists the
 * resources, so it is not in their table.
 */


#include "ngx_http_jpp_resources.h"


/* curl accepts anything, and browsers name HTML. */

static void
ngx_http_jpp_console_describe(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question, ngx_http_jpp_answer_t *answer)
{
    const ngx_str_t  *accept;

    accept = ngx_http_jpp_accept(r);

    if (accept != NULL
        && ngx_strlcasestrn(accept->data, accept->data + accept->len,
                            (u_char *) "text/html", sizeof("text/html") - 2)
           == NULL)
    {
        *answer = ngx_http_jpp_text;

    } else if (question->conf->control) {
        answer->policy = jpp_console_policy_control;
    }
}


/* What a form did is in the query of the page that it leads to. */

static ngx_int_t
ngx_http_jpp_console_init(ngx_http_jpp_job_t *job, void *data)
{
    jpp_console_t *console = job->state;

    jpp_outcome_t    *outcome;
    const ngx_str_t  *args;

    outcome = jpp_arena_alloc(&job->arena, sizeof(jpp_outcome_t));
    if (outcome == NULL) {
        return NGX_ERROR;
    }

    args = &job->request->args;

    if (jpp_outcome_read(outcome, (char *) args->data, args->len)) {
        console->outcome = outcome;
    }

    return NGX_OK;
}


static jpp_code_t
ngx_http_jpp_console_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    jpp_console_t *console = job->state;

    uint32_t  cols;

    console->links = ngx_http_jpp_links;
    console->telemetry = &job->telemetry->all;
    console->has_control = job->answer.policy == jpp_console_policy_control;

    if (job->answer.policy != NULL) {
        jpp_console_html(console, sink);
        return JPP_OK;
    }

    cols = job->question.args.values[JPP_ARG_COLS];

    return jpp_front_text(console, &job->arena, cols, sink)
           ? JPP_OK : jpp_err_memory(&job->err);
}


static const ngx_http_jpp_handler_t  ngx_http_jpp_console_page = {
    .answer.type = "text/html",
    .answer.policy = jpp_console_policy,
    .describe = ngx_http_jpp_console_describe,
    .size = sizeof(jpp_console_t),
    .is_brief = 1,
    .has_telemetry = 1,
    .has_holders = 1,
    .init = ngx_http_jpp_console_init,
    .write = ngx_http_jpp_console_write
};

const ngx_http_jpp_resource_t  ngx_http_jpp_console = {
    ngx_string(""), NGX_HTTP_JPP_READ, .handler = &ngx_http_jpp_console_page
};
