
/*
 * status: the state of the profiling of the workers; cmdline: what nginx was
 * started with.
 */


#include "ngx_http_jpp_deliver.h"
#include "ngx_http_jpp_resources.h"
#include "ngx_http_jpp_telemetry.h"

#include "jpp_status.h"


static ngx_int_t ngx_http_jpp_status_write(const ngx_http_jpp_collection_t *co,
    void *data, jpp_arena_t *arena, jpp_sink_t *sink);


static const ngx_http_jpp_page_t
    ngx_http_jpp_status_json =
{
    .answer.type = "application/json",
    .gather = ngx_http_jpp_status_gather,
    .write = ngx_http_jpp_status_write
};

static const ngx_http_jpp_answer_t
    ngx_http_jpp_cmdline_answer =
{
    .type = "text/plain"
};


ngx_int_t
ngx_http_jpp_status(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    return ngx_http_jpp_status_page(r, question, &ngx_http_jpp_status_json);
}


ngx_int_t
ngx_http_jpp_status_page(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question, const ngx_http_jpp_page_t *page)
{
    ngx_http_jpp_inquiry_t    inquiry;
    ngx_http_jpp_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    ngx_http_jpp_inquiry_init(&inquiry, JPP_MESSAGE_STATUS, &question->args,
                              conf);

    return ngx_http_jpp_page(r, question, &inquiry, page);
}


void *
ngx_http_jpp_status_gather(ngx_http_request_t *r, jpp_arena_t *arena)
{
    return ngx_http_jpp_telemetry(arena);
}


static ngx_int_t
ngx_http_jpp_status_write(const ngx_http_jpp_collection_t *co, void *data,
    jpp_arena_t *arena, jpp_sink_t *sink)
{
    ngx_http_jpp_telemetry_t *telemetry = data;

    if (ngx_http_jpp_telemetry_collected(telemetry, co, arena) != NGX_OK) {
        return NGX_ERROR;
    }

    jpp_status_json(&telemetry->fleet, sink);

    return NGX_OK;
}


ngx_int_t
ngx_http_jpp_cmdline(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    size_t        len;
    u_char       *p, *data;
    ngx_int_t     i;
    jpp_arena_t   arena;

    if (r->method == NGX_HTTP_HEAD) {
        return ngx_http_jpp_send_head(r, &ngx_http_jpp_cmdline_answer);
    }

    /* a process title is not what nginx was started with */

    for (len = 0, i = 0; i < ngx_argc; i++) {
        len += ngx_strlen(ngx_argv[i]) + 1;
    }

    jpp_arena_init(&arena, len + ngx_pagesize);

    data = jpp_arena_alloc(&arena, len);

    if (data == NULL) {
        jpp_arena_destroy(&arena);
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    for (p = data, i = 0; i < ngx_argc; i++) {
        p = ngx_cpymem(p, ngx_argv[i], ngx_strlen(ngx_argv[i]) + 1);
    }

    /* between them, and not behind the last */

    return ngx_http_jpp_deliver(r, &ngx_http_jpp_cmdline_answer, &arena, data,
                                len - 1);
}
