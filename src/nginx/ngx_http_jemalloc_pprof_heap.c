
/*
 * heap and allocs: the dumps of the chosen workers, or two of each with some
 * seconds between them, and their report.  What takes time is done in the
 * background thread of one worker or another.
 */


#include "ngx_http_jemalloc_pprof_deliver.h"
#include "ngx_http_jemalloc_pprof_heap.h"
#include "ngx_http_jemalloc_pprof_job.h"
#include "ngx_http_jemalloc_pprof_refuse.h"
#include "ngx_http_jemalloc_pprof_report.h"

#include "jpp_heap.h"


/* of the machine's name, in a file name */
#define NGX_HTTP_JEMALLOC_PPROF_HOST_LEN    64


typedef struct {
    ngx_http_jemalloc_pprof_job_t        job;

    const char                          *name;      /* of the resource */
    ngx_http_jemalloc_pprof_inquiry_t    inquiry;
    ngx_uint_t                           seconds;   /* of a difference, or 0 */

    /* of the last dumps and, for a difference, of those before */
    ngx_http_jemalloc_pprof_reader_t     last;
    ngx_http_jemalloc_pprof_reader_t     base;

    ngx_http_jemalloc_pprof_report_t     report;
} ngx_http_jemalloc_pprof_heap_t;


static ngx_int_t ngx_http_jemalloc_pprof_heap_start(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question, ngx_uint_t is_allocs);
static ngx_http_jemalloc_pprof_heap_t *ngx_http_jemalloc_pprof_heap_create(
    const ngx_http_jemalloc_pprof_question_t *question,
    const jpp_report_options_t *options,
    const ngx_http_jemalloc_pprof_loc_conf_t *conf);
static ngx_int_t ngx_http_jemalloc_pprof_heap_head(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question,
    const jpp_format_t *format);
static ngx_int_t ngx_http_jemalloc_pprof_heap_collect(
    ngx_http_jemalloc_pprof_job_t *job, ngx_http_request_t *r);
static ngx_int_t ngx_http_jemalloc_pprof_heap_collected(
    ngx_http_jemalloc_pprof_job_t *job, ngx_http_request_t *r);
static ngx_int_t ngx_http_jemalloc_pprof_heap_none(
    ngx_http_jemalloc_pprof_heap_t *heap, ngx_http_request_t *r);
static ngx_int_t ngx_http_jemalloc_pprof_heap_send(
    ngx_http_jemalloc_pprof_job_t *job, ngx_http_request_t *r);
static void ngx_http_jemalloc_pprof_heap_work(
    ngx_http_jemalloc_pprof_job_t *job);
static ngx_int_t ngx_http_jemalloc_pprof_heap_describe(ngx_http_request_t *r,
    ngx_http_jemalloc_pprof_answer_t *answer, const char *name,
    const jpp_format_t *format, int64_t time_nanos);
static void ngx_http_jemalloc_pprof_heap_release(
    ngx_http_jemalloc_pprof_job_t *job);


ngx_int_t
ngx_http_jemalloc_pprof_heap(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    return ngx_http_jemalloc_pprof_heap_start(r, question, 0);
}


ngx_int_t
ngx_http_jemalloc_pprof_allocs(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    return ngx_http_jemalloc_pprof_heap_start(r, question, 1);
}


static ngx_int_t
ngx_http_jemalloc_pprof_heap_start(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question, ngx_uint_t is_allocs)
{
    jpp_err_t                            err;
    jpp_jemalloc_t                       jemalloc;
    jpp_report_options_t                 options;
    ngx_http_jemalloc_pprof_heap_t      *heap;
    ngx_http_jemalloc_pprof_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    jpp_jemalloc_read(&jemalloc);

    jpp_report_options_init(&options);

    options.args = question->args;
    options.level = conf->gzip_level;

    if (is_allocs && jemalloc.accum && !options.args.is_set[JPP_ARG_TYPE]) {
        options.args.values[JPP_ARG_TYPE] = JPP_HEAP_ALLOC_SPACE;
    }

    /* a difference is of two dumps at least; how many workers comes later */

    if (jpp_report_check(&options,
                         options.args.values[JPP_ARG_SECONDS] != 0 ? 2 : 1,
                         &err)
        != JPP_OK)
    {
        return ngx_http_jemalloc_pprof_refuse_error(r, &err);
    }

    if (r->method == NGX_HTTP_HEAD) {

        if (jemalloc.state != JPP_JEMALLOC_READY) {
            return ngx_http_jemalloc_pprof_refuse_state(r, &jemalloc);
        }

        return ngx_http_jemalloc_pprof_heap_head(r, question,
                                            jpp_format_of(&options.args));
    }

    heap = ngx_http_jemalloc_pprof_heap_create(question, &options, conf);

    return heap != NULL ? ngx_http_jemalloc_pprof_job_start(&heap->job, r)
                        : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_http_jemalloc_pprof_heap_t *
ngx_http_jemalloc_pprof_heap_create(
    const ngx_http_jemalloc_pprof_question_t *question,
    const jpp_report_options_t *options,
    const ngx_http_jemalloc_pprof_loc_conf_t *conf)
{
    ngx_http_jemalloc_pprof_heap_t  *heap;

    heap = (ngx_http_jemalloc_pprof_heap_t *)
               ngx_http_jemalloc_pprof_job_create(
                   sizeof(ngx_http_jemalloc_pprof_heap_t), conf->timeout);

    if (heap == NULL) {
        return NULL;
    }

    heap->job.work = ngx_http_jemalloc_pprof_heap_work;
    heap->job.next = ngx_http_jemalloc_pprof_heap_collect;
    heap->job.release = ngx_http_jemalloc_pprof_heap_release;

    heap->name = (char *) question->resource->name.data;
    heap->seconds = options->args.values[JPP_ARG_SECONDS];

    ngx_http_jemalloc_pprof_inquire(&heap->inquiry, JPP_MESSAGE_DUMP,
                                    &options->args, conf);

    heap->report.options = *options;
    heap->report.max_size = conf->max_size;

    jpp_arena_init(&heap->report.arena, 0);

    return heap;
}


static ngx_int_t
ngx_http_jemalloc_pprof_heap_head(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question,
    const jpp_format_t *format)
{
    ngx_http_jemalloc_pprof_answer_t  answer;

    if (ngx_http_jemalloc_pprof_heap_describe(r, &answer,
            (char *) question->resource->name.data, format,
            (int64_t) ngx_time() * 1000000000)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_jemalloc_pprof_send_head(r, &answer);
}


static ngx_int_t
ngx_http_jemalloc_pprof_heap_collect(ngx_http_jemalloc_pprof_job_t *job,
    ngx_http_request_t *r)
{
    ngx_http_jemalloc_pprof_heap_t *heap = (void *) job;

    return ngx_http_jemalloc_pprof_job_collect(job, r, &heap->last,
               &heap->inquiry, ngx_http_jemalloc_pprof_heap_collected);
}


static ngx_int_t
ngx_http_jemalloc_pprof_heap_collected(ngx_http_jemalloc_pprof_job_t *job,
    ngx_http_request_t *r)
{
    ngx_http_jemalloc_pprof_heap_t *heap = (void *) job;

    jpp_err_t                              err;
    ngx_http_jemalloc_pprof_collection_t  *co;

    co = heap->last.collection;

    if (jpp_report_check(&heap->report.options, co->n, &err) != JPP_OK) {
        return ngx_http_jemalloc_pprof_refuse_error(r, &err);
    }

    if (co->n_answered == 0) {
        return ngx_http_jemalloc_pprof_heap_none(heap, r);
    }

    if (heap->seconds != 0 && heap->base.collection == NULL) {

        heap->base.collection = heap->last.collection;
        heap->last.collection = NULL;

        heap->inquiry.is_second = 1;

        return ngx_http_jemalloc_pprof_job_pause(job,
                   (ngx_msec_t) heap->seconds * 1000,
                   ngx_http_jemalloc_pprof_heap_collect);
    }

    heap->report.last = heap->last.collection;
    heap->report.base = heap->base.collection;

    return ngx_http_jemalloc_pprof_job_run(job,
                                           ngx_http_jemalloc_pprof_heap_send);
}


/* Nobody answered: the reason of the first is mostly that of all. */

static ngx_int_t
ngx_http_jemalloc_pprof_heap_none(ngx_http_jemalloc_pprof_heap_t *heap,
    ngx_http_request_t *r)
{
    jpp_err_t                              err, *why;
    jpp_worker_t                          *worker;
    ngx_http_jemalloc_pprof_share_t       *share;
    ngx_http_jemalloc_pprof_collection_t  *co;

    co = heap->last.collection;
    share = &co->shares[0];
    why = &share->peer.reply.err;
    worker = &share->peer.reply.worker;

    if (why->code == JPP_ERR_LATE) {
        return ngx_http_jemalloc_pprof_refuse(r, NGX_HTTP_JEMALLOC_PPROF_LATE,
                                              share->peer.row.index,
                                              share->peer.row.pid, why->text);
    }

    if (why->code == JPP_ERR_FULL) {
        return ngx_http_jemalloc_pprof_refuse_full(r);
    }

    if (why->code == JPP_ERR_STATE
        && worker->jemalloc.state != JPP_JEMALLOC_READY)
    {
        return ngx_http_jemalloc_pprof_refuse_state(r, &worker->jemalloc);
    }

    if (co->n == 1) {
        return ngx_http_jemalloc_pprof_refuse_error(r, why);
    }

    (void) jpp_err_set(&err, why->code, "no worker answered: worker %d (pid "
                       "%d), %s", (int) share->peer.row.index,
                       (int) share->peer.row.pid, why->text);

    return ngx_http_jemalloc_pprof_refuse_error(r, &err);
}


static ngx_int_t
ngx_http_jemalloc_pprof_heap_send(ngx_http_jemalloc_pprof_job_t *job,
    ngx_http_request_t *r)
{
    ngx_http_jemalloc_pprof_heap_t *heap = (void *) job;

    u_char                            *workers;
    ngx_uint_t                         n_asked, n_answered;
    ngx_http_jemalloc_pprof_answer_t   answer;
    ngx_http_jemalloc_pprof_report_t  *report;

    if (heap->job.rc != JPP_OK) {
        return ngx_http_jemalloc_pprof_refuse_error(r, &heap->job.err);
    }

    report = &heap->report;
    n_asked = report->n_asked;
    n_answered = report->n_answered;

    /* the answer needs room that the dumps have taken */

    ngx_http_jemalloc_pprof_collect_leave(&heap->last);
    ngx_http_jemalloc_pprof_collect_leave(&heap->base);

    if (report->options.args.values[JPP_ARG_STRICT] != 0
        && n_answered < n_asked)
    {
        return ngx_http_jemalloc_pprof_refuse(r,
                   NGX_HTTP_JEMALLOC_PPROF_INCOMPLETE, n_answered, n_asked,
                   "the error log and the comments of the profile without "
                   "strict=1 say why");
    }

    if (report->options.args.values[JPP_ARG_STRICT] != 0
        && report->n_unsplit != 0)
    {
        return ngx_http_jemalloc_pprof_refuse(r,
                   NGX_HTTP_JEMALLOC_PPROF_UNSPLIT, report->n_unsplit,
                   n_answered);
    }

    workers = ngx_pnalloc(r->pool, 2 * NGX_INT_T_LEN + 2);

    if (workers == NULL
        || ngx_http_jemalloc_pprof_heap_describe(r, &answer, heap->name,
               jpp_format_of(&report->options.args),
               report->options.time_nanos)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    (void) ngx_sprintf(workers, "%ui/%ui%Z", n_answered, n_asked);

    answer.workers = (char *) workers;
    answer.is_begun = heap->seconds != 0;

    return ngx_http_jemalloc_pprof_deliver(r, &answer, &report->arena,
                                             report->body, report->len);
}


static void
ngx_http_jemalloc_pprof_heap_work(ngx_http_jemalloc_pprof_job_t *job)
{
    ngx_http_jemalloc_pprof_heap_t *heap = (void *) job;

    job->rc = ngx_http_jemalloc_pprof_report(&heap->report, &job->err);
}


static ngx_int_t
ngx_http_jemalloc_pprof_heap_describe(ngx_http_request_t *r,
    ngx_http_jemalloc_pprof_answer_t *answer, const char *name,
    const jpp_format_t *format, int64_t time_nanos)
{
    u_char       c, *p, *filename;
    ngx_tm_t     tm;
    ngx_uint_t   i, n;

    ngx_memzero(answer, sizeof(ngx_http_jemalloc_pprof_answer_t));

    answer->type = format->type;

    if (format->suffix == NULL) {
        return NGX_OK;
    }

    filename = ngx_pnalloc(r->pool, 128 + NGX_HTTP_JEMALLOC_PPROF_HOST_LEN);
    if (filename == NULL) {
        return NGX_ERROR;
    }

    p = ngx_sprintf(filename, "nginx-%s-", name);

    /* the name of a machine is not ours: it must not end the header's string */

    n = ngx_min(ngx_cycle->hostname.len, NGX_HTTP_JEMALLOC_PPROF_HOST_LEN);

    for (i = 0; i < n; i++) {
        c = ngx_cycle->hostname.data[i];
        *p++ = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')
               || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ? c : '_';
    }

    ngx_gmtime((time_t) (time_nanos / 1000000000), &tm);

    (void) ngx_sprintf(p, "-%4d%02d%02dT%02d%02d%02dZ.%s%Z",
                       tm.ngx_tm_year, tm.ngx_tm_mon, tm.ngx_tm_mday,
                       tm.ngx_tm_hour, tm.ngx_tm_min, tm.ngx_tm_sec,
                       format->suffix);

    answer->filename = (char *) filename;

    return NGX_OK;
}


static void
ngx_http_jemalloc_pprof_heap_release(ngx_http_jemalloc_pprof_job_t *job)
{
    ngx_http_jemalloc_pprof_heap_t *heap = (void *) job;

    ngx_http_jemalloc_pprof_collect_leave(&heap->last);
    ngx_http_jemalloc_pprof_collect_leave(&heap->base);

    jpp_arena_destroy(&heap->report.arena);
}
