
/*
 * console: the page for people, at the root of a tree.  It lists the resources,
 * so it is not one of their table.
 */


#include "ngx_http_jpp_resources.h"
#include "ngx_http_jpp_telemetry.h"


typedef struct {
    jpp_console_t              console;
    jpp_outcome_t              outcome;
    ngx_http_jpp_telemetry_t  *telemetry;
} ngx_http_jpp_shown_t;


static ngx_int_t ngx_http_jpp_console_answer(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);
static void *ngx_http_jpp_console_gather(ngx_http_request_t *r,
    jpp_arena_t *arena);
static ngx_int_t ngx_http_jpp_console_write(const ngx_http_jpp_collection_t *co,
    void *data, jpp_arena_t *arena, jpp_sink_t *sink);


const ngx_http_jpp_resource_t  ngx_http_jpp_console = {
    ngx_string(""), NGX_HTTP_JPP_READ,
    ngx_string("GET, HEAD"), ngx_http_jpp_console_answer, 0, NULL,
    NULL, NULL
};

static const ngx_http_jpp_page_t
    ngx_http_jpp_console_page =
{
    .answer.type = "text/html",
    .answer.policy = jpp_console_policy,
    .gather = ngx_http_jpp_console_gather,
    .write = ngx_http_jpp_console_write
};

static const ngx_http_jpp_page_t
    ngx_http_jpp_console_forms =
{
    .answer.type = "text/html",
    .answer.policy = jpp_console_policy_control,
    .gather = ngx_http_jpp_console_gather,
    .write = ngx_http_jpp_console_write
};


static ngx_int_t
ngx_http_jpp_console_answer(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    ngx_http_jpp_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    return ngx_http_jpp_status_page(r, question,
                                    conf->control ? &ngx_http_jpp_console_forms
                             : &ngx_http_jpp_console_page);
}


static void *
ngx_http_jpp_console_gather(ngx_http_request_t *r, jpp_arena_t *arena)
{
    ngx_http_jpp_shown_t     *shown;
    ngx_http_jpp_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    shown = jpp_arena_alloc(arena, sizeof(ngx_http_jpp_shown_t));
    if (shown == NULL) {
        return NULL;
    }

    shown->telemetry = ngx_http_jpp_telemetry(arena);
    shown->console.links = ngx_http_jpp_resource_links(arena);

    if (shown->telemetry == NULL || shown->console.links == NULL) {
        return NULL;
    }

    shown->console.telemetry = &shown->telemetry->all;
    shown->console.has_control = conf->control;
    shown->console.now = shown->telemetry->now;

    if (jpp_outcome_read(&shown->outcome, (char *) r->args.data, r->args.len)) {
        shown->console.outcome = &shown->outcome;
    }

    return shown;
}


static ngx_int_t
ngx_http_jpp_console_write(const ngx_http_jpp_collection_t *co, void *data,
    jpp_arena_t *arena, jpp_sink_t *sink)
{
    ngx_http_jpp_shown_t *shown = data;

    if (ngx_http_jpp_telemetry_collected(shown->telemetry, co, arena) != NGX_OK)
    {
        return NGX_ERROR;
    }

    jpp_console_html(&shown->console, sink);

    return NGX_OK;
}
