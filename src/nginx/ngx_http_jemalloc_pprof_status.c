
#include "ngx_http_jemalloc_pprof_deliver.h"
#include "ngx_http_jemalloc_pprof_self.h"
#include "ngx_http_jemalloc_pprof_status.h"
#include "ngx_http_jemalloc_pprof_worker.h"


static ngx_int_t ngx_http_jemalloc_pprof_status_write(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_sink_t *sink);


static const ngx_http_jemalloc_pprof_answer_t
    ngx_http_jemalloc_pprof_status_answer =
{
    .type = "application/json"
};

static const ngx_http_jemalloc_pprof_answer_t
    ngx_http_jemalloc_pprof_cmdline_answer =
{
    .type = "text/plain"
};


ngx_int_t
ngx_http_jemalloc_pprof_status(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    return ngx_http_jemalloc_pprof_status_page(r, question,
               &ngx_http_jemalloc_pprof_status_answer,
               ngx_http_jemalloc_pprof_status_write);
}


ngx_int_t
ngx_http_jemalloc_pprof_status_page(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question,
    const ngx_http_jemalloc_pprof_answer_t *answer,
    ngx_http_jemalloc_pprof_page_pt write)
{
    ngx_http_jemalloc_pprof_inquiry_t    inquiry;
    ngx_http_jemalloc_pprof_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    ngx_http_jemalloc_pprof_inquiry_init(&inquiry, JPP_MESSAGE_STATUS,
                                         &question->args, conf);

    return ngx_http_jemalloc_pprof_page(r, question, &inquiry, answer, write);
}


static ngx_int_t
ngx_http_jemalloc_pprof_status_write(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_sink_t *sink)
{
    jpp_fleet_t     fleet;
    jpp_finding_t  *findings;

    findings = jpp_arena_alloc(arena, JPP_FINDINGS * sizeof(jpp_finding_t));

    if (findings == NULL
        || ngx_http_jemalloc_pprof_status_fleet(co, arena, &fleet) != NGX_OK)
    {
        return NGX_ERROR;
    }

    fleet.findings = findings;
    fleet.n_findings = ngx_http_jemalloc_pprof_findings(findings);

    jpp_status_json(&fleet, sink);

    return NGX_OK;
}


ngx_int_t
ngx_http_jemalloc_pprof_status_fleet(
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_fleet_t *fleet)
{
    ngx_uint_t                              i;
    jpp_worker_t                           *workers;
    jpp_control_t                          *control;
    jpp_missing_t                          *missing;
    const ngx_http_jemalloc_pprof_share_t  *share;

    workers = jpp_arena_alloc(arena, co->n * sizeof(jpp_worker_t));
    missing = jpp_arena_alloc(arena, co->n * sizeof(jpp_missing_t));
    control = jpp_arena_alloc(arena, sizeof(jpp_control_t));

    if (workers == NULL || missing == NULL || control == NULL) {
        return NGX_ERROR;
    }

    ngx_http_jemalloc_pprof_worker_wanted((ngx_cycle_t *) ngx_cycle, control);

    ngx_http_jemalloc_pprof_fleet(fleet, workers, 0, co->n);

    fleet->missing = missing;
    fleet->wanted = control;

    if (ngx_http_jemalloc_pprof_self.unnamed[0] != '\0') {
        fleet->unnamed = ngx_http_jemalloc_pprof_self.unnamed;
    }

    for (i = 0; i < co->n; i++) {
        share = &co->shares[i];

        if (share->state == NGX_HTTP_JEMALLOC_PPROF_SHARE_ANSWERED) {
            workers[fleet->n] = share->peer.reply.worker;
            workers[fleet->n++].history = NULL;

        } else {
            ngx_http_jemalloc_pprof_share_missing(share,
                                                  share->peer.reply.err.text,
                                                  &missing[fleet->n_missing++]);
        }
    }

    jpp_status_former(workers, fleet->n);

    return NGX_OK;
}


ngx_int_t
ngx_http_jemalloc_pprof_cmdline(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    size_t        len;
    u_char       *p, *data;
    ngx_int_t     i;
    jpp_arena_t   arena;

    if (r->method == NGX_HTTP_HEAD) {
        return ngx_http_jemalloc_pprof_send_head(r,
                                     &ngx_http_jemalloc_pprof_cmdline_answer);
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

    return ngx_http_jemalloc_pprof_deliver(r,
               &ngx_http_jemalloc_pprof_cmdline_answer, &arena, data, len - 1);
}
