
/*
 * symbol: pprof's protocol for names.  GET asks whether names are available,
 * POST sends addresses, and so does a GET with a query.
 */


#include "ngx_http_jpp_body.h"
#include "ngx_http_jpp_deliver.h"
#include "ngx_http_jpp_job.h"
#include "ngx_http_jpp_refuse.h"
#include "ngx_http_jpp_resources.h"
#include "ngx_http_jpp_self.h"

#include "jpp_lookup.h"
#include "jpp_proc.h"


/* the mappings, the names, and the answer to a body of the largest size */
#define NGX_HTTP_JPP_LOOKUP_CAP  (512 * 1024 * 1024)


typedef struct {
    ngx_http_jpp_job_t              job;

    const char                     *text;     /* addresses, in job.memory */
    size_t                          len;

    jpp_arena_t                     arena;    /* the body is in it */
    jpp_vec_t                      *out;
} ngx_http_jpp_lookup_t;


static void ngx_http_jpp_symbol_body(ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_symbol_start(ngx_http_request_t *r,
    const ngx_chain_t *in);
static ngx_int_t ngx_http_jpp_symbol_refuse(ngx_http_request_t *r);
static void ngx_http_jpp_symbol_work(ngx_http_jpp_job_t *job);
static ngx_int_t ngx_http_jpp_symbol_run(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_symbol_send(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static void ngx_http_jpp_symbol_release(ngx_http_jpp_job_t *job);


static const ngx_http_jpp_answer_t
    ngx_http_jpp_symbol_answer =
{
    .type = "text/plain"
};


ngx_int_t
ngx_http_jpp_symbol(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    ngx_int_t    rc;
    ngx_buf_t    b;
    ngx_chain_t  in;

    if (r->method == NGX_HTTP_HEAD) {
        return ngx_http_jpp_send_head(r, &ngx_http_jpp_symbol_answer);
    }

    if (r->method == NGX_HTTP_GET) {
        if (r->args.len == 0) {
            return ngx_http_jpp_symbol_start(r, NULL);
        }

        ngx_memzero(&b, sizeof(ngx_buf_t));

        b.pos = r->args.data;
        b.last = r->args.data + r->args.len;
        b.memory = 1;

        in.buf = &b;
        in.next = NULL;

        return ngx_http_jpp_symbol_start(r, &in);
    }

    if (r->headers_in.content_length_n > NGX_HTTP_JPP_MAX_BODY) {
        return ngx_http_jpp_symbol_refuse(r);
    }

    rc = ngx_http_read_client_request_body(r, ngx_http_jpp_symbol_body);

    return rc >= NGX_HTTP_SPECIAL_RESPONSE ? rc : NGX_DONE;
}


static void
ngx_http_jpp_symbol_body(ngx_http_request_t *r)
{
    ngx_http_finalize_request(r,
        ngx_http_jpp_symbol_start(r, r->request_body->bufs));
}


/* IN: the addresses, or NULL. */

static ngx_int_t
ngx_http_jpp_symbol_start(ngx_http_request_t *r, const ngx_chain_t *in)
{
    u_char                   *text;
    off_t                     len;
    jpp_err_t                 err;
    ngx_http_jpp_lookup_t    *lookup;
    ngx_http_jpp_loc_conf_t  *conf;

    len = ngx_http_jpp_body_len(in);

    if (len > NGX_HTTP_JPP_MAX_BODY) {
        return ngx_http_jpp_symbol_refuse(r);
    }

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    lookup = (ngx_http_jpp_lookup_t *)
                 ngx_http_jpp_job_create(sizeof(ngx_http_jpp_lookup_t) + len,
                                         conf->timeout);

    if (lookup == NULL) {
        (void) jpp_err_memory(&err);
        return ngx_http_jpp_refuse_error(r, &err);
    }

    lookup->job.work = ngx_http_jpp_symbol_work;
    lookup->job.next = ngx_http_jpp_symbol_run;
    lookup->job.release = ngx_http_jpp_symbol_release;

    jpp_arena_init(&lookup->arena, NGX_HTTP_JPP_LOOKUP_CAP);

    text = (u_char *) lookup + sizeof(ngx_http_jpp_lookup_t);

    if (ngx_http_jpp_body_copy(text, in) != NGX_OK) {
        ngx_http_jpp_job_destroy(&lookup->job);
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    lookup->text = (char *) text;
    lookup->len = len;

    return ngx_http_jpp_job_start(&lookup->job, r);
}


static ngx_int_t
ngx_http_jpp_symbol_refuse(ngx_http_request_t *r)
{
    return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_LARGE_BODY,
                               (ngx_uint_t) NGX_HTTP_JPP_MAX_BODY);
}


static void
ngx_http_jpp_symbol_work(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_lookup_t *lookup = (void *) job;

    uint8_t     *buffer;
    jpp_vec_t   *maps;
    jpp_sink_t   sink;

    maps = jpp_vec_create(&lookup->arena);
    lookup->out = jpp_vec_create(&lookup->arena);
    buffer = jpp_arena_alloc(&lookup->arena, JPP_SINK_BUFFER);

    if (maps == NULL || lookup->out == NULL || buffer == NULL) {
        job->rc = jpp_err_memory(&job->err);
        return;
    }

    jpp_sink_init(&sink, buffer, JPP_SINK_BUFFER, jpp_sink_to_vec,
                  lookup->out);

    job->rc = jpp_proc_maps(maps, &job->err);

    if (job->rc == JPP_OK) {
        job->rc = jpp_lookup(&lookup->arena, &ngx_http_jpp_self.symbols,
                             (char *) maps->data, maps->len, lookup->text,
                             lookup->len, &sink, &job->err);
    }
}


static ngx_int_t
ngx_http_jpp_symbol_run(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    return ngx_http_jpp_job_run(job, ngx_http_jpp_symbol_send);
}


static ngx_int_t
ngx_http_jpp_symbol_send(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_lookup_t *lookup = (void *) job;

    if (job->rc != JPP_OK) {
        return ngx_http_jpp_refuse_error(r, &job->err);
    }

    return ngx_http_jpp_deliver(r, &ngx_http_jpp_symbol_answer, &lookup->arena,
                                lookup->out->data, lookup->out->len);
}


static void
ngx_http_jpp_symbol_release(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_lookup_t *lookup = (void *) job;

    jpp_arena_destroy(&lookup->arena);
}
