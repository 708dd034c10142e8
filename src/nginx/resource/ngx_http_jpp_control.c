
/*
 * control: changes to the profiling of the chosen workers.  A change to all of
 * them is kept in the registry, for workers that start later.
 */


#include "ngx_http_jpp_accept.h"
#include "ngx_http_jpp_body.h"
#include "ngx_http_jpp_page.h"
#include "ngx_http_jpp_refuse.h"
#include "ngx_http_jpp_resources.h"
#include "ngx_http_jpp_self.h"
#include "ngx_http_jpp_site.h"
#include "ngx_http_jpp_worker.h"

#include "jpp_control.h"
#include "jpp_source.h"


/* a form with every key is below 100 bytes */
#define NGX_HTTP_JPP_MAX_FORM  4096


static void ngx_http_jpp_control_body(ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_control_start(ngx_http_request_t *r,
    ngx_http_jpp_question_t *question);
static ngx_int_t ngx_http_jpp_control_apply(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question, const jpp_control_t *control);
static const ngx_http_jpp_page_t *ngx_http_jpp_control_page(
    ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_control_write_json(
    const ngx_http_jpp_collection_t *co, void *data, jpp_arena_t *arena,
    jpp_sink_t *sink);
static ngx_int_t ngx_http_jpp_control_write_address(
    const ngx_http_jpp_collection_t *co, void *data, jpp_arena_t *arena,
    jpp_sink_t *sink);
static jpp_controlled_t *ngx_http_jpp_control_workers(
    const ngx_http_jpp_collection_t *co, jpp_arena_t *arena);


static const ngx_http_jpp_page_t
    ngx_http_jpp_control_json =
{
    .answer.type = "application/json",
    .write = ngx_http_jpp_control_write_json
};

/* for a form of the console: back to it */

static const ngx_http_jpp_page_t
    ngx_http_jpp_control_back =
{
    .answer.is_address = 1,
    .write = ngx_http_jpp_control_write_address
};


ngx_int_t
ngx_http_jpp_control(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    ngx_int_t                 rc;
    ngx_http_jpp_question_t  *kept;
    ngx_http_jpp_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    if (!conf->control) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_CONTROL_OFF);
    }

    if (ngx_http_jpp_site_is_other(r) || ngx_http_jpp_site_is_other_origin(r)) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_FOREIGN);
    }

    kept = ngx_palloc(r->pool, sizeof(ngx_http_jpp_question_t));
    if (kept == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    *kept = *question;

    ngx_http_set_ctx(r, kept, ngx_http_jemalloc_pprof_module);

    rc = ngx_http_read_client_request_body(r, ngx_http_jpp_control_body);

    return rc >= NGX_HTTP_SPECIAL_RESPONSE ? rc : NGX_DONE;
}


static void
ngx_http_jpp_control_body(ngx_http_request_t *r)
{
    ngx_http_finalize_request(r, ngx_http_jpp_control_start(r,
               ngx_http_get_module_ctx(r, ngx_http_jemalloc_pprof_module)));
}


static ngx_int_t
ngx_http_jpp_control_start(ngx_http_request_t *r,
    ngx_http_jpp_question_t *question)
{
    off_t                               len;
    u_char                              form[NGX_HTTP_JPP_MAX_FORM];
    jpp_err_t                           err;
    jpp_control_t                       control;
    const ngx_chain_t                  *in;

    in = r->request_body->bufs;
    len = ngx_http_jpp_body_len(in);

    if (len > NGX_HTTP_JPP_MAX_FORM) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_LARGE_FORM,
                                   (ngx_uint_t) NGX_HTTP_JPP_MAX_FORM,
                                   jpp_control_keys);
    }

    if (ngx_http_jpp_body_copy(form, in) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    jpp_control_init(&control);

    if (jpp_control_query(&control, &question->args, (char *) r->args.data,
                          r->args.len, &err)
        != JPP_OK
        || jpp_control_query(&control, &question->args, (char *) form, len,
                             &err)
           != JPP_OK
        || jpp_control_check(&control, &err) != JPP_OK)
    {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    return ngx_http_jpp_control_apply(r, question, &control);
}


/*
 * A change to all workers also applies to those that start meanwhile: it is in
 * the registry before any worker is asked, and is taken back if none can be.
 */

static ngx_int_t
ngx_http_jpp_control_apply(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question, const jpp_control_t *control)
{
    ngx_int_t                 rc;
    jpp_control_t             now, wanted;
    ngx_shm_zone_t           *zone;
    jpp_settings_t           *settings;
    jpp_settings_change_t     change;
    ngx_http_jpp_inquiry_t    inquiry;
    ngx_http_jpp_loc_conf_t  *conf;
    const ngx_http_jpp_page_t
                                        *page;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);
    page = ngx_http_jpp_control_page(r);
    zone = ngx_http_jpp_self.zone;

    ngx_http_jpp_inquiry_init(&inquiry, JPP_MESSAGE_CONTROL, &question->args,
                              conf);

    inquiry.question.control = *control;

    ngx_http_jpp_worker_wanted((ngx_cycle_t *) ngx_cycle, &now);

    /* switched on without a rate, it has the one that was set last */

    if (control->sampler == 1 && control->lg_sample == -1) {
        inquiry.question.control.lg_sample = now.sampler_lg;
    }

    if (inquiry.selector.kind != JPP_WORKER_ALL || zone == NULL) {
        return ngx_http_jpp_page(r, question, &inquiry, page);
    }

    wanted = *control;
    jpp_source_rates(&wanted, now.sampler == 1);

    settings = ngx_http_jpp_registry_settings(zone);
    jpp_settings_set(settings, &wanted, &change);

    rc = ngx_http_jpp_page(r, question, &inquiry, page);

    if (rc != NGX_DONE) {
        jpp_settings_take_back(settings, &change);
    }

    return rc;
}


/* The console is at the root of a tree: of the form's own one. */

static const ngx_http_jpp_page_t *
ngx_http_jpp_control_page(ngx_http_request_t *r)
{
    ngx_uint_t                is_below;
    ngx_http_jpp_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    is_below = conf->resource == NULL
               && r->uri.len == conf->name.len + sizeof("control") - 1;

    return is_below && ngx_http_jpp_prefers(r, "text/html", "application/json")
           ? &ngx_http_jpp_control_back
           : &ngx_http_jpp_control_json;
}


static ngx_int_t
ngx_http_jpp_control_write_json(const ngx_http_jpp_collection_t *co, void *data,
    jpp_arena_t *arena, jpp_sink_t *sink)
{
    jpp_controlled_t  *workers;

    workers = ngx_http_jpp_control_workers(co, arena);
    if (workers == NULL) {
        return NGX_ERROR;
    }

    jpp_control_json(workers, co->n, sink);

    return NGX_OK;
}


static ngx_int_t
ngx_http_jpp_control_write_address(const ngx_http_jpp_collection_t *co,
    void *data, jpp_arena_t *arena, jpp_sink_t *sink)
{
    jpp_outcome_t      outcome;
    jpp_controlled_t  *workers;

    workers = ngx_http_jpp_control_workers(co, arena);
    if (workers == NULL) {
        return NGX_ERROR;
    }

    jpp_outcome_fill(&outcome, &co->inquiry.question.control, workers, co->n);

    jpp_sink_str(sink, "./?");
    jpp_outcome_query(&outcome, sink);
    jpp_sink_str(sink, "#acts");

    return NGX_OK;
}


static jpp_controlled_t *
ngx_http_jpp_control_workers(const ngx_http_jpp_collection_t *co,
    jpp_arena_t *arena)
{
    ngx_uint_t                   i;
    jpp_controlled_t            *workers;
    const ngx_http_jpp_part_t  *part;

    workers = jpp_arena_alloc(arena, co->n * sizeof(jpp_controlled_t));
    if (workers == NULL) {
        return NULL;
    }

    for (i = 0; i < co->n; i++) {
        part = &co->parts[i];

        workers[i].who.index = part->row.index;
        workers[i].who.pid = part->row.pid;
        workers[i].who.generation = part->row.generation;
        workers[i].result = part->reply.control;
        workers[i].error = part->reply.err.code != JPP_OK
                           ? part->reply.err.text : NULL;
    }

    return workers;
}
