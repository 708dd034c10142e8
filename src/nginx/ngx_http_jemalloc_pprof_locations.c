
/*
 * What workers answer to three questions, one after the other: with seconds=N
 * for their CPU time, and then for their pools and their heap.  Each becomes a
 * column of the list, in the background thread, or a note that says why not.
 */


#include "ngx_http_jemalloc_pprof_deliver.h"
#include "ngx_http_jemalloc_pprof_job.h"
#include "ngx_http_jemalloc_pprof_locations.h"
#include "ngx_http_jemalloc_pprof_refuse.h"
#include "ngx_http_jemalloc_pprof_report.h"

#include "jpp_locations_pools.h"
#include "jpp_locations_write.h"
#include "jpp_problems.h"


/* names, functions, cells; tables of pools are read in place */
#define NGX_HTTP_JEMALLOC_PPROF_LOCATIONS_CAP(max_size)                       \
    (4 * (max_size) + 256 * 1024 * 1024)

/* what the arena needs beside the body */
#define NGX_HTTP_JEMALLOC_PPROF_LOCATIONS_SPARE  (64 * 1024)


typedef struct {
    ngx_http_jemalloc_pprof_job_t        job;

    jpp_args_t                           args;
    ngx_uint_t                           step;         /* a question */
    ngx_http_jemalloc_pprof_inquiry_t    inquiries[JPP_LOCATIONS_MEASURES];
    ngx_http_jemalloc_pprof_reader_t     readers[JPP_LOCATIONS_MEASURES];
    ngx_http_jemalloc_pprof_report_t     report;

    jpp_locations_t                      locations;    /* while it works */

    jpp_arena_t                          arena;        /* holds the body */
    u_char                              *body;
    size_t                               len;
} ngx_http_jemalloc_pprof_locations_t;


/* what is asked for, in this order */
typedef struct {
    jpp_locations_measure_t              measure;
    jpp_message_kind_t                   kind;
    const jpp_reader_t                  *reader;       /* NULL: of no profile */
} ngx_http_jemalloc_pprof_measure_t;


static ngx_http_jemalloc_pprof_locations_t *
    ngx_http_jemalloc_pprof_locations_create(const jpp_args_t *args,
    const ngx_http_jemalloc_pprof_loc_conf_t *conf);
static void ngx_http_jemalloc_pprof_locations_describe(
    ngx_http_jemalloc_pprof_answer_t *answer, const jpp_args_t *args);
static ngx_int_t ngx_http_jemalloc_pprof_locations_ask(
    ngx_http_jemalloc_pprof_job_t *job, ngx_http_request_t *r);
static ngx_int_t ngx_http_jemalloc_pprof_locations_asked(
    ngx_http_jemalloc_pprof_job_t *job, ngx_http_request_t *r);
static void ngx_http_jemalloc_pprof_locations_work(
    ngx_http_jemalloc_pprof_job_t *job);
static jpp_code_t ngx_http_jemalloc_pprof_locations_fill(
    ngx_http_jemalloc_pprof_locations_t *list, jpp_arena_t *arena,
    jpp_err_t *err);
static void ngx_http_jemalloc_pprof_locations_pools(
    ngx_http_jemalloc_pprof_locations_t *list);
static jpp_code_t ngx_http_jemalloc_pprof_locations_profile(
    ngx_http_jemalloc_pprof_locations_t *list, jpp_err_t *err);
static bool ngx_http_jemalloc_pprof_locations_take(void *taker,
    const jpp_view_t *view);
static void ngx_http_jemalloc_pprof_locations_absent(
    ngx_http_jemalloc_pprof_locations_t *list);
static jpp_code_t ngx_http_jemalloc_pprof_locations_write(
    ngx_http_jemalloc_pprof_locations_t *list, jpp_arena_t *arena,
    jpp_err_t *err);
static ngx_int_t ngx_http_jemalloc_pprof_locations_send(
    ngx_http_jemalloc_pprof_job_t *job, ngx_http_request_t *r);
static void ngx_http_jemalloc_pprof_locations_release(
    ngx_http_jemalloc_pprof_job_t *job);


static const ngx_http_jemalloc_pprof_measure_t
    ngx_http_jemalloc_pprof_measures[JPP_LOCATIONS_MEASURES] =
{
    { JPP_LOCATIONS_CPU, JPP_MESSAGE_TIMES, &jpp_reader_cpu },
    { JPP_LOCATIONS_HELD, JPP_MESSAGE_POOLS, NULL },
    { JPP_LOCATIONS_SAMPLED, JPP_MESSAGE_DUMP, &jpp_reader_heap }
};


ngx_int_t
ngx_http_jemalloc_pprof_locations(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question)
{
    jpp_err_t                             err;
    ngx_http_jemalloc_pprof_answer_t      answer;
    ngx_http_jemalloc_pprof_loc_conf_t   *conf;
    ngx_http_jemalloc_pprof_locations_t  *list;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    if (jpp_locations_check(&question->args, &err) != JPP_OK) {
        return ngx_http_jemalloc_pprof_refuse_error(r, &err);
    }

    if (r->method == NGX_HTTP_HEAD) {
        ngx_http_jemalloc_pprof_locations_describe(&answer, &question->args);

        return ngx_http_jemalloc_pprof_send_head(r, &answer);
    }

    list = ngx_http_jemalloc_pprof_locations_create(&question->args, conf);

    return list != NULL ? ngx_http_jemalloc_pprof_job_start(&list->job, r)
                        : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_http_jemalloc_pprof_locations_t *
ngx_http_jemalloc_pprof_locations_create(const jpp_args_t *args,
    const ngx_http_jemalloc_pprof_loc_conf_t *conf)
{
    ngx_uint_t                            i;
    jpp_message_times_t                  *times;
    ngx_http_jemalloc_pprof_locations_t  *list;

    list = (ngx_http_jemalloc_pprof_locations_t *)
               ngx_http_jemalloc_pprof_job_create(
                   sizeof(ngx_http_jemalloc_pprof_locations_t), conf->timeout);

    if (list == NULL) {
        return NULL;
    }

    list->job.work = ngx_http_jemalloc_pprof_locations_work;
    list->job.next = ngx_http_jemalloc_pprof_locations_ask;
    list->job.release = ngx_http_jemalloc_pprof_locations_release;
    list->job.is_patient = 1;

    list->args = *args;

    if (!args->is_set[JPP_ARG_BY]) {
        list->args.values[JPP_ARG_BY] = JPP_BY_LOCATION;
    }

    list->report.max_size = conf->max_size;
    list->step = args->values[JPP_ARG_SECONDS] != 0 ? 0 : 1;

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {
        ngx_http_jemalloc_pprof_inquiry_init(&list->inquiries[i],
                                     ngx_http_jemalloc_pprof_measures[i].kind,
                                     args, conf);
    }

    times = &list->inquiries[0].question.times;

    times->seconds = args->values[JPP_ARG_SECONDS];
    times->frequency = args->values[JPP_ARG_FREQUENCY];
    times->mode = JPP_MODE_CPU;

    list->inquiries[0].wait = (ngx_msec_t) times->seconds * 1000;

    jpp_arena_init(&list->arena, 0);
    jpp_arena_init(&list->report.arena, 0);

    return list;
}


static void
ngx_http_jemalloc_pprof_locations_describe(
    ngx_http_jemalloc_pprof_answer_t *answer, const jpp_args_t *args)
{
    ngx_memzero(answer, sizeof(ngx_http_jemalloc_pprof_answer_t));

    answer->type = jpp_locations_type(args);
    answer->is_begun = args->values[JPP_ARG_SECONDS] != 0;
}


static ngx_int_t
ngx_http_jemalloc_pprof_locations_ask(ngx_http_jemalloc_pprof_job_t *job,
    ngx_http_request_t *r)
{
    ngx_http_jemalloc_pprof_locations_t *list = (void *) job;

    return ngx_http_jemalloc_pprof_job_collect(job, r,
               &list->readers[list->step], &list->inquiries[list->step],
               ngx_http_jemalloc_pprof_locations_asked);
}


/* Whom strict=1 misses is missed in every question that workers can answer. */

static ngx_int_t
ngx_http_jemalloc_pprof_locations_asked(ngx_http_jemalloc_pprof_job_t *job,
    ngx_http_request_t *r)
{
    ngx_http_jemalloc_pprof_locations_t *list = (void *) job;

    ngx_http_jemalloc_pprof_share_t       *share;
    ngx_http_jemalloc_pprof_collection_t  *co;

    co = list->readers[list->step].collection;
    share = &co->shares[0];

    if (co->n_answered == 0 && share->peer.reply.err.code == JPP_ERR_LATE) {
        return ngx_http_jemalloc_pprof_refuse(r, NGX_HTTP_JEMALLOC_PPROF_LATE,
                                              share->peer.row.index,
                                              share->peer.row.pid,
                                              share->peer.reply.err.text);
    }

    if (co->n_answered == 0 && share->peer.reply.err.code == JPP_ERR_FULL) {
        return ngx_http_jemalloc_pprof_refuse_full(r);
    }

    if (list->args.values[JPP_ARG_STRICT] != 0 && co->n_answered != 0
        && co->n_answered < co->n)
    {
        return ngx_http_jemalloc_pprof_refuse(r,
                   NGX_HTTP_JEMALLOC_PPROF_INCOMPLETE, co->n_answered, co->n,
                   "the error log and the answer without strict=1 say which "
                   "are missing and why");
    }

    if (++list->step < JPP_LOCATIONS_MEASURES) {
        return ngx_http_jemalloc_pprof_locations_ask(job, r);
    }

    return ngx_http_jemalloc_pprof_job_run(job,
               ngx_http_jemalloc_pprof_locations_send);
}


static void
ngx_http_jemalloc_pprof_locations_work(ngx_http_jemalloc_pprof_job_t *job)
{
    ngx_http_jemalloc_pprof_locations_t *list = (void *) job;

    jpp_arena_t  arena;

    jpp_arena_init(&arena, NGX_HTTP_JEMALLOC_PPROF_LOCATIONS_CAP(
                               list->report.max_size));

    job->rc = ngx_http_jemalloc_pprof_locations_fill(list, &arena, &job->err);

    if (job->rc == JPP_OK) {
        job->rc = ngx_http_jemalloc_pprof_locations_write(list, &arena,
                                                          &job->err);
    }

    jpp_arena_destroy(&arena);
}


static jpp_code_t
ngx_http_jemalloc_pprof_locations_fill(
    ngx_http_jemalloc_pprof_locations_t *list, jpp_arena_t *arena,
    jpp_err_t *err)
{
    jpp_code_t                                    rc;
    const ngx_http_jemalloc_pprof_collection_t   *co;

    jpp_locations_init(&list->locations, arena, &list->args);

    for (list->step = 0; list->step < JPP_LOCATIONS_MEASURES; list->step++) {

        co = list->readers[list->step].collection;

        if (co == NULL || co->n_answered == 0) {
            ngx_http_jemalloc_pprof_locations_absent(list);
            continue;
        }

        if (ngx_http_jemalloc_pprof_measures[list->step].reader == NULL) {
            ngx_http_jemalloc_pprof_locations_pools(list);
            continue;
        }

        rc = ngx_http_jemalloc_pprof_locations_profile(list, err);

        if (rc != JPP_OK) {
            return rc;
        }
    }

    return jpp_locations_close(&list->locations) ? JPP_OK
                                                 : jpp_err_memory(err);
}


static void
ngx_http_jemalloc_pprof_locations_pools(
    ngx_http_jemalloc_pprof_locations_t *list)
{
    ngx_uint_t                                    i;
    jpp_missing_t                                 missing;
    const ngx_http_jemalloc_pprof_share_t        *share;
    const ngx_http_jemalloc_pprof_collection_t   *co;

    co = list->readers[list->step].collection;

    for (i = 0; i < co->n; i++) {
        share = &co->shares[i];

        ngx_http_jemalloc_pprof_share_missing(share,
                                              share->peer.reply.err.text,
                                              &missing);

        jpp_locations_pools(&list->locations, &missing.who,
            share->state == NGX_HTTP_JEMALLOC_PPROF_SHARE_ANSWERED
            ? share->dump.data : NULL, share->dump.len, missing.why);
    }
}


/* As the resource of that profile would be, up to its format. */

static jpp_code_t
ngx_http_jemalloc_pprof_locations_profile(
    ngx_http_jemalloc_pprof_locations_t *list, jpp_err_t *err)
{
    jpp_code_t                                rc;
    uint32_t                                 *values;
    jpp_report_options_t                     *options;
    ngx_http_jemalloc_pprof_report_t         *report;
    const ngx_http_jemalloc_pprof_measure_t  *measure;

    measure = &ngx_http_jemalloc_pprof_measures[list->step];
    report = &list->report;
    options = &report->options;

    jpp_report_options_init(options);

    options->reader = measure->reader;
    options->args = list->args;
    options->args.is_set[JPP_ARG_BY] = true;
    options->take = ngx_http_jemalloc_pprof_locations_take;
    options->taker = list;

    values = options->args.values;

    values[JPP_ARG_FORMAT] = jpp_format_find("top") - jpp_formats;
    values[JPP_ARG_DEBUG] = 0;
    values[JPP_ARG_TYPE] = measure->reader->types->value;
    values[JPP_ARG_ORIGIN] = JPP_ORIGIN_ALL;

    report->last = list->readers[list->step].collection;
    report->n_findings = 0;

    rc = ngx_http_jemalloc_pprof_report(report, err);

    jpp_arena_destroy(&report->arena);

    if (rc == JPP_OK || rc == JPP_ERR_MEMORY) {
        return rc;
    }

    jpp_locations_absent(&list->locations, measure->measure, err->text, "");

    return JPP_OK;
}


static bool
ngx_http_jemalloc_pprof_locations_take(void *taker, const jpp_view_t *view)
{
    ngx_http_jemalloc_pprof_locations_t *list = taker;

    jpp_locations_take(&list->locations,
                       ngx_http_jemalloc_pprof_measures[list->step].measure,
                       view);

    return !list->locations.failed;
}


/* Nobody answered: all workers mostly have the reason of the first. */

static void
ngx_http_jemalloc_pprof_locations_absent(
    ngx_http_jemalloc_pprof_locations_t *list)
{
    const char                                   *why, *cure;
    jpp_err_t                                     err;
    jpp_problem_t                                 problems[JPP_MAX_PROBLEMS];
    const ngx_http_jemalloc_pprof_share_t        *share;
    const ngx_http_jemalloc_pprof_collection_t   *co;

    co = list->readers[list->step].collection;
    why = "nobody has looked at it";
    cure = "locations?seconds=5 does, for 5 seconds";

    if (co != NULL) {
        share = &co->shares[0];
        why = share->peer.reply.err.text;
        cure = "";

        if (co->kind->is_sampled
            && share->peer.reply.err.code == JPP_ERR_STATE
            && jpp_problems(&share->peer.reply.worker, problems) != 0
            && problems[0].is_fatal)
        {
            (void) jpp_err_set(&err, JPP_ERR_STATE, "%s: %s",
                               problems[0].what, problems[0].why);
            why = err.text;
            cure = problems[0].cure;
        }
    }

    jpp_locations_absent(&list->locations,
                         ngx_http_jemalloc_pprof_measures[list->step].measure,
                         why, cure);
}


/* To pages of its own: a response may live long. */

static jpp_code_t
ngx_http_jemalloc_pprof_locations_write(
    ngx_http_jemalloc_pprof_locations_t *list, jpp_arena_t *arena,
    jpp_err_t *err)
{
    uint8_t     *buffer;
    jpp_vec_t   *out;
    jpp_sink_t   sink;

    buffer = jpp_arena_alloc(arena, JPP_SINK_BUFFER);
    out = jpp_vec_create(arena);

    if (buffer == NULL || out == NULL) {
        return jpp_err_memory(err);
    }

    jpp_sink_init(&sink, buffer, JPP_SINK_BUFFER, jpp_sink_to_vec, out);

    if (!jpp_locations_write(&list->locations, &sink)
        || jpp_sink_flush(&sink) != 0)
    {
        return jpp_err_memory(err);
    }

    jpp_arena_init(&list->arena,
                   out->len + NGX_HTTP_JEMALLOC_PPROF_LOCATIONS_SPARE);

    list->body = jpp_arena_alloc(&list->arena, out->len);

    if (list->body == NULL) {
        return jpp_err_memory(err);
    }

    ngx_memcpy(list->body, out->data, out->len);
    list->len = out->len;

    return JPP_OK;
}


static ngx_int_t
ngx_http_jemalloc_pprof_locations_send(ngx_http_jemalloc_pprof_job_t *job,
    ngx_http_request_t *r)
{
    ngx_http_jemalloc_pprof_locations_t *list = (void *) job;

    ngx_uint_t                         i;
    ngx_http_jemalloc_pprof_answer_t   answer;

    if (job->rc != JPP_OK) {
        return ngx_http_jemalloc_pprof_refuse_own(r, &job->err);
    }

    /* the answer needs room that the captures have taken */

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {
        ngx_http_jemalloc_pprof_collect_leave(&list->readers[i]);
    }

    ngx_http_jemalloc_pprof_locations_describe(&answer, &list->args);

    return ngx_http_jemalloc_pprof_deliver(r, &answer, &list->arena,
                                           list->body, list->len);
}


static void
ngx_http_jemalloc_pprof_locations_release(ngx_http_jemalloc_pprof_job_t *job)
{
    ngx_http_jemalloc_pprof_locations_t *list = (void *) job;

    ngx_uint_t  i;

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {
        ngx_http_jemalloc_pprof_collect_leave(&list->readers[i]);
    }

    jpp_arena_destroy(&list->arena);
}
