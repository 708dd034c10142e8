
#include "ngx_http_jpp_deliver.h"
#include "ngx_http_jpp_job.h"
#include "ngx_http_jpp_page.h"
#include "ngx_http_jpp_refuse.h"


/* a page of the largest table of workers fits */
#define NGX_HTTP_JPP_PAGE_CAP     (32 * 1024 * 1024)

#define NGX_HTTP_JPP_PAGE_BUFFER  4096


typedef struct {
    ngx_http_jpp_job_t                          job;

    ngx_http_jpp_inquiry_t                      inquiry;
    ngx_http_jpp_reader_t                       reader;

    const ngx_http_jpp_page_t                  *page;
    ngx_uint_t                                  is_strict;

    jpp_arena_t                                 arena;  /* all that follows */
    void                                       *data;   /* gathered */
    u_char                                     *body;
    size_t                                      len;
} ngx_http_jpp_paging_t;


static ngx_int_t ngx_http_jpp_page_collect(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_page_collected(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static void ngx_http_jpp_page_work(ngx_http_jpp_job_t *job);
static ngx_int_t ngx_http_jpp_page_write(ngx_http_jpp_paging_t *paging);
static ngx_int_t ngx_http_jpp_page_send(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static void ngx_http_jpp_page_release(ngx_http_jpp_job_t *job);


ngx_int_t
ngx_http_jpp_page(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question,
    const ngx_http_jpp_inquiry_t *inquiry, const ngx_http_jpp_page_t *page)
{
    ngx_http_jpp_paging_t    *paging;
    ngx_http_jpp_loc_conf_t  *conf;

    if (r->method == NGX_HTTP_HEAD) {
        return ngx_http_jpp_send_head(r, &page->answer);
    }

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    paging = (ngx_http_jpp_paging_t *)
                 ngx_http_jpp_job_create(sizeof(ngx_http_jpp_paging_t),
                                         conf->timeout);

    if (paging == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    paging->job.task.is_brief = 1;
    paging->job.work = ngx_http_jpp_page_work;
    paging->job.next = ngx_http_jpp_page_collect;
    paging->job.release = ngx_http_jpp_page_release;

    paging->inquiry = *inquiry;
    paging->page = page;
    paging->is_strict = question->args.values[JPP_ARG_STRICT] != 0;

    jpp_arena_init(&paging->arena, NGX_HTTP_JPP_PAGE_CAP);

    return ngx_http_jpp_job_start(&paging->job, r);
}


static ngx_int_t
ngx_http_jpp_page_collect(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_paging_t *paging = (void *) job;

    return ngx_http_jpp_job_collect(job, r, &paging->reader, &paging->inquiry,
                                    1, ngx_http_jpp_page_collected);
}


/* If nobody answered, the page shows what was wrong with each worker. */

static ngx_int_t
ngx_http_jpp_page_collected(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_paging_t *paging = (void *) job;

    const ngx_http_jpp_collection_t  *co;

    co = paging->reader.collection;

    if (paging->is_strict && co->n_answered < co->n) {
        return ngx_http_jpp_refuse_incomplete(r, co->n_answered, co->n,
                                              co->kind->is_change);
    }

    if (paging->page->gather != NULL) {
        paging->data = paging->page->gather(r, &paging->arena);

        if (paging->data == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    return ngx_http_jpp_job_run(job, ngx_http_jpp_page_send);
}


static void
ngx_http_jpp_page_work(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_paging_t *paging = (void *) job;

    job->rc = ngx_http_jpp_page_write(paging) == NGX_OK
              ? JPP_OK : jpp_err_memory(&job->err);
}


static ngx_int_t
ngx_http_jpp_page_write(ngx_http_jpp_paging_t *paging)
{
    uint8_t      *buffer;
    jpp_vec_t    *out;
    jpp_sink_t    sink;
    jpp_arena_t  *arena;

    arena = &paging->arena;

    buffer = jpp_arena_alloc(arena, NGX_HTTP_JPP_PAGE_BUFFER);
    out = jpp_vec_create(arena);

    if (buffer == NULL || out == NULL) {
        return NGX_ERROR;
    }

    jpp_sink_init(&sink, buffer, NGX_HTTP_JPP_PAGE_BUFFER, jpp_sink_to_vec,
                  out);

    if (paging->page->write(paging->reader.collection, paging->data, arena,
                            &sink)
        != NGX_OK
        || jpp_sink_flush(&sink) != 0)
    {
        return NGX_ERROR;
    }

    paging->body = out->data;
    paging->len = out->len;

    return NGX_OK;
}


static ngx_int_t
ngx_http_jpp_page_send(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_paging_t *paging = (void *) job;

    const ngx_http_jpp_answer_t  *answer;

    if (job->rc != JPP_OK) {
        return ngx_http_jpp_refuse_own(r, &job->err);
    }

    answer = &paging->page->answer;

    return answer->is_address
           ? ngx_http_jpp_send_see_other(r, paging->body, paging->len)
           : ngx_http_jpp_deliver(r, answer, &paging->arena, paging->body,
                                  paging->len);
}


static void
ngx_http_jpp_page_release(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_paging_t *paging = (void *) job;

    ngx_http_jpp_collect_leave(&paging->reader);

    jpp_arena_destroy(&paging->arena);
}
