
/*
 * heap and allocs: a dump, or two with some seconds between them, and their
 * report.  Everything that takes time is in the job's thread.
 */


#include "ngx_http_jemalloc_pprof_job.h"
#include "ngx_http_jemalloc_pprof_send.h"

#include "jpp_memfd.h"
#include "jpp_report.h"


/*
 * Memory for a report: the model, its indices and the body are smaller than
 * the dump, but for dumps that were made up; and the names have to fit.
 */
#define NGX_HTTP_JEMALLOC_PPROF_REPORT_CAP(max_size)                          \
    (4 * (max_size) + 64 * 1024 * 1024)

/* what the arena of a body needs beside it */
#define NGX_HTTP_JEMALLOC_PPROF_BODY_SPARE  (64 * 1024)

#define NGX_HTTP_JEMALLOC_PPROF_HOST_LEN    64


typedef struct {
    const char   *type;
    const char   *suffix;          /* of the name it is saved under, or NULL: */
                                   /*   it is shown */
} ngx_http_jemalloc_pprof_format_t;


typedef struct {
    jpp_memfd_t   memfd;
    int64_t       time_nanos;
} ngx_http_jemalloc_pprof_dump_t;


typedef struct {
    ngx_http_jemalloc_pprof_job_t      job;

    const char                        *name;          /* of the resource */
    jpp_report_options_t               options;
    const char                        *directory;     /* or NULL */
    size_t                             max_size;

    jpp_worker_t                       worker;
    jpp_fleet_t                        fleet;

    ngx_http_jemalloc_pprof_dump_t     dumps[2];
    ngx_uint_t                         n_dumps;
    ngx_uint_t                         n_wanted;

    jpp_arena_t                        arena;         /* the body is in it */
    u_char                            *body;
    size_t                             len;
} ngx_http_jemalloc_pprof_heap_t;


static ngx_int_t ngx_http_jemalloc_pprof_heap_start(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question,
    jpp_worker_t *worker, ngx_uint_t type);
static ngx_int_t ngx_http_jemalloc_pprof_heap_refuse(ngx_http_request_t *r,
    const jpp_jemalloc_t *jemalloc);
static void ngx_http_jemalloc_pprof_heap_work(
    ngx_http_jemalloc_pprof_job_t *job);
static jpp_code_t ngx_http_jemalloc_pprof_heap_dump(
    ngx_http_jemalloc_pprof_heap_t *heap, jpp_err_t *err);
static jpp_code_t ngx_http_jemalloc_pprof_heap_report(
    ngx_http_jemalloc_pprof_heap_t *heap, jpp_arena_t *arena, jpp_err_t *err);
static jpp_code_t ngx_http_jemalloc_pprof_heap_keep(
    ngx_http_jemalloc_pprof_heap_t *heap, const jpp_vec_t *out,
    jpp_err_t *err);
static ngx_int_t ngx_http_jemalloc_pprof_heap_next(
    ngx_http_jemalloc_pprof_job_t *job, ngx_http_request_t *r);
static ngx_int_t ngx_http_jemalloc_pprof_heap_describe(ngx_http_request_t *r,
    ngx_http_jemalloc_pprof_answer_t *answer, const char *name,
    jpp_format_t format, int64_t time_nanos);
static void ngx_http_jemalloc_pprof_heap_release(
    ngx_http_jemalloc_pprof_job_t *job);


static const ngx_http_jemalloc_pprof_format_t
    ngx_http_jemalloc_pprof_formats[] =
{
    [JPP_FORMAT_PPROF] = { "application/octet-stream", "pb.gz" },
    [JPP_FORMAT_TEXT] = { "text/plain", NULL },
    [JPP_FORMAT_FOLDED] = { "text/plain", NULL },
    [JPP_FORMAT_TOP] = { "text/plain", NULL },
    [JPP_FORMAT_JEMALLOC] = { "text/plain", "heap" }
};


/* Why there is no profile, as a status. */

static const ngx_uint_t  ngx_http_jemalloc_pprof_states[] = {
    [JPP_JEMALLOC_ABSENT] = NGX_HTTP_NOT_IMPLEMENTED,
    [JPP_JEMALLOC_NO_PROF] = NGX_HTTP_NOT_IMPLEMENTED,
    [JPP_JEMALLOC_OFF] = NGX_HTTP_FORBIDDEN,
    [JPP_JEMALLOC_REFUSED] = NGX_HTTP_NOT_IMPLEMENTED,
    [JPP_JEMALLOC_INACTIVE] = NGX_HTTP_FORBIDDEN,
    [JPP_JEMALLOC_READY] = NGX_HTTP_OK
};


ngx_int_t
ngx_http_jemalloc_pprof_heap(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    jpp_worker_t  worker;

    ngx_http_jemalloc_pprof_describe(&worker);

    return ngx_http_jemalloc_pprof_heap_start(r, question, &worker,
                                              JPP_HEAP_INUSE_SPACE);
}


ngx_int_t
ngx_http_jemalloc_pprof_allocs(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    jpp_worker_t  worker;

    ngx_http_jemalloc_pprof_describe(&worker);

    return ngx_http_jemalloc_pprof_heap_start(r, question, &worker,
               worker.jemalloc.accum ? JPP_HEAP_ALLOC_SPACE
                                     : JPP_HEAP_INUSE_SPACE);
}


static ngx_int_t
ngx_http_jemalloc_pprof_heap_start(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question,
    jpp_worker_t *worker, ngx_uint_t type)
{
    jpp_err_t                             err;
    ngx_uint_t                            n;
    jpp_format_t                          format;
    jpp_report_options_t                  options;
    ngx_http_jemalloc_pprof_heap_t       *heap;
    ngx_http_jemalloc_pprof_answer_t      answer;
    ngx_http_jemalloc_pprof_loc_conf_t   *conf;
    ngx_http_jemalloc_pprof_main_conf_t  *mcf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);
    mcf = ngx_http_get_module_main_conf(r, ngx_http_jemalloc_pprof_module);

    jpp_report_options_init(&options);

    options.args = question->args;
    options.level = conf->gzip_level;

    if (!options.args.is_set[JPP_ARG_TYPE]) {
        options.args.values[JPP_ARG_TYPE] = type;
    }

    format = jpp_args_format(&options.args);
    n = options.args.values[JPP_ARG_SECONDS] != 0 ? 2 : 1;

    if (jpp_report_check(&options, n, &err) != JPP_OK) {
        return ngx_http_jemalloc_pprof_send_failure(r, &err);
    }

    if (worker->jemalloc.state != JPP_JEMALLOC_READY) {
        return ngx_http_jemalloc_pprof_heap_refuse(r, &worker->jemalloc);
    }

    if (r->method == NGX_HTTP_HEAD) {
        if (ngx_http_jemalloc_pprof_heap_describe(r, &answer,
                (char *) question->resource->name.data, format,
                (int64_t) ngx_time() * 1000000000)
            != NGX_OK)
        {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        return ngx_http_jemalloc_pprof_send_head(r, &answer);
    }

    heap = (ngx_http_jemalloc_pprof_heap_t *)
               ngx_http_jemalloc_pprof_job_create(
                   sizeof(ngx_http_jemalloc_pprof_heap_t), conf->timeout);

    if (heap == NULL) {
        (void) jpp_err_memory(&err);
        return ngx_http_jemalloc_pprof_send_failure(r, &err);
    }

    heap->job.work = ngx_http_jemalloc_pprof_heap_work;
    heap->job.next = ngx_http_jemalloc_pprof_heap_next;
    heap->job.release = ngx_http_jemalloc_pprof_heap_release;

    heap->name = (char *) question->resource->name.data;
    heap->options = options;
    heap->directory = mcf->temp_path.len != 0 ? (char *) mcf->temp_path.data
                                              : NULL;
    heap->max_size = conf->max_size;

    heap->worker = *worker;
    ngx_http_jemalloc_pprof_fleet(&heap->fleet, &heap->worker, 1, 1);

    jpp_memfd_init(&heap->dumps[0].memfd);
    jpp_memfd_init(&heap->dumps[1].memfd);
    heap->n_wanted = n;

    jpp_arena_init(&heap->arena, 0);

    return ngx_http_jemalloc_pprof_job_start(&heap->job, r);
}


static ngx_int_t
ngx_http_jemalloc_pprof_heap_refuse(ngx_http_request_t *r,
    const jpp_jemalloc_t *jemalloc)
{
    jpp_problem_t  problems[JPP_MAX_PROBLEMS];

    (void) jpp_problems(jemalloc, problems);

    return ngx_http_jemalloc_pprof_send_error(r,
               ngx_http_jemalloc_pprof_states[jemalloc->state],
               "%s: %s.\n%s", problems[0].what, problems[0].why,
               problems[0].cure);
}


static void
ngx_http_jemalloc_pprof_heap_work(ngx_http_jemalloc_pprof_job_t *job)
{
    ngx_http_jemalloc_pprof_heap_t *heap = (void *) job;

    jpp_arena_t  arena;

    job->rc = ngx_http_jemalloc_pprof_heap_dump(heap, &job->err);

    if (job->rc != JPP_OK || heap->n_dumps < heap->n_wanted) {
        return;
    }

    jpp_arena_init(&arena,
                   NGX_HTTP_JEMALLOC_PPROF_REPORT_CAP(heap->max_size));

    job->rc = ngx_http_jemalloc_pprof_heap_report(heap, &arena, &job->err);

    jpp_arena_destroy(&arena);

    /* only the body may have to wait for a slow client */

    jpp_memfd_close(&heap->dumps[0].memfd);
    jpp_memfd_close(&heap->dumps[1].memfd);
}


static jpp_code_t
ngx_http_jemalloc_pprof_heap_dump(ngx_http_jemalloc_pprof_heap_t *heap,
    jpp_err_t *err)
{
    jpp_code_t                       rc;
    struct timespec                  now;
    ngx_http_jemalloc_pprof_dump_t  *dump;

    dump = &heap->dumps[heap->n_dumps];

    rc = jpp_memfd_open(&dump->memfd, heap->directory, err);
    if (rc != JPP_OK) {
        return rc;
    }

    (void) clock_gettime(CLOCK_REALTIME, &now);
    dump->time_nanos = (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;

    rc = jpp_jemalloc_dump(dump->memfd.fd, err);
    if (rc != JPP_OK) {
        return rc;
    }

    heap->worker.has_stats = jpp_jemalloc_stats(&heap->worker.stats);

    rc = jpp_memfd_map(&dump->memfd, heap->max_size, err);
    if (rc != JPP_OK) {
        return rc;
    }

    heap->n_dumps++;

    return JPP_OK;
}


static jpp_code_t
ngx_http_jemalloc_pprof_heap_report(ngx_http_jemalloc_pprof_heap_t *heap,
    jpp_arena_t *arena, jpp_err_t *err)
{
    char                              index[NGX_INT_T_LEN + 1];
    uint8_t                          *buffer;
    jpp_vec_t                        *out;
    jpp_sink_t                        sink;
    ngx_uint_t                        i, last;
    jpp_code_t                        rc;
    jpp_label_t                       labels[3];
    jpp_capture_t                     captures[2];
    jpp_report_options_t             *options;
    ngx_http_jemalloc_pprof_dump_t   *dump;

    buffer = jpp_arena_alloc(arena, JPP_SINK_BUFFER);
    out = jpp_vec_create(arena);

    if (buffer == NULL || out == NULL) {
        return jpp_err_memory(err);
    }

    jpp_sink_init(&sink, buffer, JPP_SINK_BUFFER, jpp_sink_to_vec, out);

    (void) ngx_sprintf((u_char *) index, "%uD%Z", heap->worker.index);

    ngx_memzero(labels, sizeof(labels));

    labels[0].key = "worker";
    labels[0].str = index;
    labels[1].key = "pid";
    labels[1].num = heap->worker.pid;
    labels[2].key = "generation";
    labels[2].num = heap->worker.generation;

    last = heap->n_dumps - 1;

    ngx_memzero(captures, sizeof(captures));

    for (i = 0; i < heap->n_dumps; i++) {
        dump = &heap->dumps[last - i];

        captures[i].data = dump->memfd.data;
        captures[i].len = dump->memfd.len;
        captures[i].is_base = i != 0;
        captures[i].labels = labels;
        captures[i].n_labels = 3;
        captures[i].tail = ngx_http_jemalloc_pprof_worker.tail;
    }

    options = &heap->options;

    options->time_nanos = heap->dumps[last].time_nanos;
    options->duration_nanos = options->time_nanos - heap->dumps[0].time_nanos;
    options->comments = jpp_status_comments(&heap->fleet, arena);

    if (options->comments == NULL) {
        return jpp_err_memory(err);
    }

    rc = jpp_report(arena, &ngx_http_jemalloc_pprof_worker.symbols, captures,
                    heap->n_dumps, options, &sink, err);

    return rc == JPP_OK ? ngx_http_jemalloc_pprof_heap_keep(heap, out, err)
                        : rc;
}


/* Copied to pages that hold nothing else: a response may live long. */

static jpp_code_t
ngx_http_jemalloc_pprof_heap_keep(ngx_http_jemalloc_pprof_heap_t *heap,
    const jpp_vec_t *out, jpp_err_t *err)
{
    jpp_arena_init(&heap->arena,
                   out->len + NGX_HTTP_JEMALLOC_PPROF_BODY_SPARE);

    heap->body = jpp_arena_alloc(&heap->arena, out->len);

    if (heap->body == NULL) {
        return jpp_err_memory(err);
    }

    ngx_memcpy(heap->body, out->data, out->len);
    heap->len = out->len;

    return JPP_OK;
}


static ngx_int_t
ngx_http_jemalloc_pprof_heap_next(ngx_http_jemalloc_pprof_job_t *job,
    ngx_http_request_t *r)
{
    ngx_http_jemalloc_pprof_heap_t *heap = (void *) job;

    ngx_http_jemalloc_pprof_answer_t  answer;

    if (job->rc != JPP_OK) {
        return ngx_http_jemalloc_pprof_send_failure(r, &job->err);
    }

    if (heap->n_dumps < heap->n_wanted) {
        ngx_http_jemalloc_pprof_job_pause(job,
            (ngx_msec_t) heap->options.args.values[JPP_ARG_SECONDS] * 1000);

        return NGX_OK;
    }

    if (ngx_http_jemalloc_pprof_heap_describe(r, &answer, heap->name,
            jpp_args_format(&heap->options.args),
            heap->dumps[heap->n_dumps - 1].time_nanos)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_jemalloc_pprof_send_body(r, &answer, &heap->arena,
                                             heap->body, heap->len);
}


static ngx_int_t
ngx_http_jemalloc_pprof_heap_describe(ngx_http_request_t *r,
    ngx_http_jemalloc_pprof_answer_t *answer, const char *name,
    jpp_format_t format, int64_t time_nanos)
{
    u_char                                   c, *p, *filename;
    ngx_tm_t                                 tm;
    ngx_uint_t                               i, n;
    const ngx_http_jemalloc_pprof_format_t  *row;

    row = &ngx_http_jemalloc_pprof_formats[format];

    ngx_memzero(answer, sizeof(ngx_http_jemalloc_pprof_answer_t));

    answer->type = row->type;
    answer->workers = "1/1";

    if (row->suffix == NULL) {
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
                       row->suffix);

    answer->filename = (char *) filename;

    return NGX_OK;
}


static void
ngx_http_jemalloc_pprof_heap_release(ngx_http_jemalloc_pprof_job_t *job)
{
    ngx_http_jemalloc_pprof_heap_t *heap = (void *) job;

    jpp_memfd_close(&heap->dumps[0].memfd);
    jpp_memfd_close(&heap->dumps[1].memfd);

    jpp_arena_destroy(&heap->arena);
}
