
#include "ngx_http_jemalloc_pprof_deliver.h"
#include "ngx_http_jemalloc_pprof_job.h"
#include "ngx_http_jemalloc_pprof_page.h"
#include "ngx_http_jemalloc_pprof_refuse.h"


/* a page of the largest table of workers fits */
#define NGX_HTTP_JEMALLOC_PPROF_PAGE_CAP     (32 * 1024 * 1024)

#define NGX_HTTP_JEMALLOC_PPROF_PAGE_BUFFER  4096


typedef struct {
    ngx_http_jemalloc_pprof_job_t               job;

    ngx_http_jemalloc_pprof_inquiry_t           inquiry;
    ngx_http_jemalloc_pprof_reader_t            reader;

    const ngx_http_jemalloc_pprof_answer_t     *answer;
    ngx_http_jemalloc_pprof_page_pt             write;
    ngx_uint_t                                  is_strict;
} ngx_http_jemalloc_pprof_page_t;


static ngx_int_t ngx_http_jemalloc_pprof_page_collect(
    ngx_http_jemalloc_pprof_job_t *job, ngx_http_request_t *r);
static ngx_int_t ngx_http_jemalloc_pprof_page_collected(
    ngx_http_jemalloc_pprof_job_t *job, ngx_http_request_t *r);
static ngx_int_t ngx_http_jemalloc_pprof_page_send(
    ngx_http_jemalloc_pprof_page_t *page, ngx_http_request_t *r);
static void ngx_http_jemalloc_pprof_page_release(
    ngx_http_jemalloc_pprof_job_t *job);


ngx_int_t
ngx_http_jemalloc_pprof_page(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question,
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    const ngx_http_jemalloc_pprof_answer_t *answer,
    ngx_http_jemalloc_pprof_page_pt write)
{
    ngx_http_jemalloc_pprof_page_t      *page;
    ngx_http_jemalloc_pprof_loc_conf_t  *conf;

    if (r->method == NGX_HTTP_HEAD) {
        return ngx_http_jemalloc_pprof_send_head(r, answer);
    }

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    page = (ngx_http_jemalloc_pprof_page_t *)
               ngx_http_jemalloc_pprof_job_create(
                   sizeof(ngx_http_jemalloc_pprof_page_t), conf->timeout);

    if (page == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    page->job.next = ngx_http_jemalloc_pprof_page_collect;
    page->job.release = ngx_http_jemalloc_pprof_page_release;

    page->inquiry = *inquiry;
    page->answer = answer;
    page->write = write;
    page->is_strict = question->args.values[JPP_ARG_STRICT] != 0;

    return ngx_http_jemalloc_pprof_job_start(&page->job, r);
}


static ngx_int_t
ngx_http_jemalloc_pprof_page_collect(ngx_http_jemalloc_pprof_job_t *job,
    ngx_http_request_t *r)
{
    ngx_http_jemalloc_pprof_page_t *page = (void *) job;

    return ngx_http_jemalloc_pprof_job_collect(job, r, &page->reader,
               &page->inquiry, ngx_http_jemalloc_pprof_page_collected);
}


/*
 * If nobody answered and the first was not late, the page still shows what was
 * wrong with each worker.
 */

static ngx_int_t
ngx_http_jemalloc_pprof_page_collected(ngx_http_jemalloc_pprof_job_t *job,
    ngx_http_request_t *r)
{
    ngx_http_jemalloc_pprof_page_t *page = (void *) job;

    const char                            *where;
    ngx_http_jemalloc_pprof_share_t       *share;
    ngx_http_jemalloc_pprof_collection_t  *co;

    co = page->reader.collection;
    share = &co->shares[0];

    if (co->n_answered == 0 && share->peer.reply.err.code == JPP_ERR_LATE) {
        return ngx_http_jemalloc_pprof_refuse(r, NGX_HTTP_JEMALLOC_PPROF_LATE,
                                              share->peer.row.index,
                                              share->peer.row.pid,
                                              share->peer.reply.err.text);
    }

    if (page->is_strict && co->n_answered < co->n) {
        where = co->kind->is_change
                ? "the change was made in those; the error log and the answer "
                  "without strict=1 say which are missing and why"
                : "the error log and the answer without strict=1 say which "
                  "are missing and why";

        return ngx_http_jemalloc_pprof_refuse(r,
                   NGX_HTTP_JEMALLOC_PPROF_INCOMPLETE, co->n_answered, co->n,
                   where);
    }

    return ngx_http_jemalloc_pprof_page_send(page, r);
}


static ngx_int_t
ngx_http_jemalloc_pprof_page_send(ngx_http_jemalloc_pprof_page_t *page,
    ngx_http_request_t *r)
{
    uint8_t      *buffer;
    ngx_int_t     rc;
    jpp_vec_t    *out;
    jpp_sink_t    sink;
    jpp_arena_t   arena;

    jpp_arena_init(&arena, NGX_HTTP_JEMALLOC_PPROF_PAGE_CAP);

    buffer = jpp_arena_alloc(&arena, NGX_HTTP_JEMALLOC_PPROF_PAGE_BUFFER);
    out = jpp_vec_create(&arena);

    if (buffer == NULL || out == NULL) {
        goto failed;
    }

    jpp_sink_init(&sink, buffer, NGX_HTTP_JEMALLOC_PPROF_PAGE_BUFFER,
                  jpp_sink_to_vec, out);

    if (page->write(r, page->reader.collection, &arena, &sink) != NGX_OK
        || jpp_sink_flush(&sink) != 0)
    {
        goto failed;
    }

    if (page->answer->is_address) {
        rc = ngx_http_jemalloc_pprof_send_see_other(r, out->data, out->len);
        jpp_arena_destroy(&arena);

        return rc;
    }

    return ngx_http_jemalloc_pprof_deliver(r, page->answer, &arena,
                                             out->data, out->len);

failed:

    jpp_arena_destroy(&arena);

    return NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static void
ngx_http_jemalloc_pprof_page_release(ngx_http_jemalloc_pprof_job_t *job)
{
    ngx_http_jemalloc_pprof_page_t *page = (void *) job;

    ngx_http_jemalloc_pprof_collect_leave(&page->reader);
}
