
/*
 * Every resource that is a profile: what the chosen workers answer to the
 * question of its row, or two answers of each with some seconds between them,
 * and their report.  What takes time is done in the background thread of one
 * worker or another.
 */


#include "ngx_http_jpp_deliver.h"
#include "ngx_http_jpp_job.h"
#include "ngx_http_jpp_profile.h"
#include "ngx_http_jpp_refuse.h"
#include "ngx_http_jpp_report.h"
#include "ngx_http_jpp_self.h"


/* of a profile of time, as in Go */
#define NGX_HTTP_JPP_SECONDS     30

/* of the machine's name, in a file name */
#define NGX_HTTP_JPP_HOST_LEN    64


typedef struct {
    ngx_http_jpp_job_t                   job;

    const ngx_http_jpp_resource_t
                                        *resource;
    ngx_http_jpp_inquiry_t               inquiry;
    ngx_uint_t                           seconds;   /* of a difference, or 0 */

    /* of the last answers and, for a difference, of those before */
    ngx_http_jpp_reader_t                last;
    ngx_http_jpp_reader_t                base;

    ngx_http_jpp_report_t                report;
} ngx_http_jpp_profile_t;


static ngx_http_jpp_profile_t *ngx_http_jpp_profile_create(
    const ngx_http_jpp_question_t *question,
    const jpp_report_options_t *options, const ngx_http_jpp_loc_conf_t *conf);
static void ngx_http_jpp_profile_options(
    const ngx_http_jpp_question_t *question,
    const ngx_http_jpp_loc_conf_t *conf, jpp_report_options_t *options);
static ngx_int_t ngx_http_jpp_profile_head(ngx_http_request_t *r,
    const ngx_http_jpp_resource_t *resource, const jpp_format_t *format);
static ngx_int_t ngx_http_jpp_profile_collect(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_profile_collected(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_profile_none(ngx_http_jpp_profile_t *profile,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_profile_refuse(ngx_http_request_t *r,
    const ngx_http_jpp_kind_t *kind, const jpp_worker_t *worker,
    const jpp_err_t *err);
static ngx_int_t ngx_http_jpp_profile_send(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_profile_incomplete(ngx_http_request_t *r,
    const ngx_http_jpp_report_t *report, ngx_uint_t n_gaps);
static void ngx_http_jpp_profile_work(ngx_http_jpp_job_t *job);
static void ngx_http_jpp_profile_release(ngx_http_jpp_job_t *job);


ngx_int_t
ngx_http_jpp_profile(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    jpp_err_t                 err;
    jpp_report_options_t      options;
    ngx_http_jpp_profile_t   *profile;
    ngx_http_jpp_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    ngx_http_jpp_profile_options(question, conf, &options);

    /* a difference has two captures at least; workers are counted later */

    if (jpp_report_check(&options,
                         options.args.values[JPP_ARG_SECONDS] != 0
                         && question->resource->evidence->wall == NULL ? 2 : 1,
                         &err)
        != JPP_OK)
    {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    if (r->method == NGX_HTTP_HEAD) {
        return ngx_http_jpp_profile_head(r, question->resource,
                                         jpp_format_of(&options.args));
    }

    profile = ngx_http_jpp_profile_create(question, &options, conf);

    return profile != NULL
           ? ngx_http_jpp_job_start(&profile->job, r)
           : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static void
ngx_http_jpp_profile_options(const ngx_http_jpp_question_t *question,
    const ngx_http_jpp_loc_conf_t *conf, jpp_report_options_t *options)
{
    uint32_t                       *values;
    const ngx_http_jpp_evidence_t  *evidence;

    evidence = question->resource->evidence;

    jpp_report_options_init(options);

    options->reader = evidence->reader;
    options->prefers = evidence->prefers;
    options->title = (const char *) question->resource->name.data;
    options->args = question->args;
    options->level = conf->gzip_level;

    if (evidence->wall == NULL) {
        return;
    }

    values = options->args.values;

    if (values[JPP_ARG_MODE] == JPP_MODE_WALL) {
        options->reader = evidence->wall;
    }

    if (values[JPP_ARG_SECONDS] == 0) {
        values[JPP_ARG_SECONDS] = ngx_min(NGX_HTTP_JPP_SECONDS,
                                          options->args.max_seconds);
    }
}


static ngx_http_jpp_profile_t *
ngx_http_jpp_profile_create(const ngx_http_jpp_question_t *question,
    const jpp_report_options_t *options, const ngx_http_jpp_loc_conf_t *conf)
{
    const uint32_t          *values;
    ngx_http_jpp_profile_t  *profile;

    profile = (ngx_http_jpp_profile_t *)
                  ngx_http_jpp_job_create(sizeof(ngx_http_jpp_profile_t),
                                          conf->timeout);

    if (profile == NULL) {
        return NULL;
    }

    profile->job.work = ngx_http_jpp_profile_work;
    profile->job.next = ngx_http_jpp_profile_collect;
    profile->job.release = ngx_http_jpp_profile_release;

    profile->resource = question->resource;
    values = options->args.values;

    ngx_http_jpp_inquiry_init(&profile->inquiry,
                              question->resource->evidence->kind,
                              &options->args, conf);

    if (question->resource->evidence->wall != NULL) {
        profile->job.is_patient = 1;
        profile->inquiry.wait = (ngx_msec_t) values[JPP_ARG_SECONDS] * 1000;
        profile->inquiry.question.times.seconds = values[JPP_ARG_SECONDS];
        profile->inquiry.question.times.frequency = values[JPP_ARG_FREQUENCY];
        profile->inquiry.question.times.mode =
                                          (jpp_mode_t) values[JPP_ARG_MODE];

    } else {
        profile->seconds = values[JPP_ARG_SECONDS];
    }

    profile->report.options = *options;
    profile->report.max_size = conf->max_size;

    jpp_arena_init(&profile->report.arena, 0);

    return profile;
}


static ngx_int_t
ngx_http_jpp_profile_head(ngx_http_request_t *r,
    const ngx_http_jpp_resource_t *resource, const jpp_format_t *format)
{
    jpp_err_t                   err;
    jpp_worker_t                worker;
    ngx_http_jpp_answer_t       answer;
    const ngx_http_jpp_kind_t  *kind;

    kind = &ngx_http_jpp_kinds[resource->evidence->kind];

    ngx_memzero(&worker, sizeof(jpp_worker_t));
    ngx_http_jpp_describe(&worker);

    if (kind->check != NULL && kind->check(&worker, &err) != JPP_OK) {
        return ngx_http_jpp_profile_refuse(r, kind, &worker, &err);
    }

    if (ngx_http_jpp_profile_describe(r, &answer, resource, format,
                                      (int64_t) ngx_time() * 1000000000)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_jpp_send_head(r, &answer);
}


static ngx_int_t
ngx_http_jpp_profile_collect(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_profile_t *profile = (void *) job;

    return ngx_http_jpp_job_collect(job, r, &profile->last, &profile->inquiry,
                                    1, ngx_http_jpp_profile_collected);
}


static ngx_int_t
ngx_http_jpp_profile_collected(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_profile_t *profile = (void *) job;

    jpp_err_t                   err;
    ngx_http_jpp_collection_t  *co;

    co = profile->last.collection;

    if (jpp_report_check(&profile->report.options, co->n, &err) != JPP_OK) {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    if (co->n_answered == 0) {
        return ngx_http_jpp_profile_none(profile, r);
    }

    if (profile->seconds != 0 && profile->base.collection == NULL) {

        profile->base.collection = profile->last.collection;
        profile->last.collection = NULL;

        profile->inquiry.is_second = 1;

        return ngx_http_jpp_job_pause(job, (ngx_msec_t) profile->seconds * 1000,
                                      ngx_http_jpp_profile_collect);
    }

    profile->report.last = profile->last.collection;
    profile->report.base = profile->base.collection;

    profile->report.n_findings = ngx_http_jpp_findings(
                                     profile->report.findings);

    return ngx_http_jpp_job_run(job, ngx_http_jpp_profile_send);
}


/* Nobody answered: all workers mostly have the reason of the first. */

static ngx_int_t
ngx_http_jpp_profile_none(ngx_http_jpp_profile_t *profile,
    ngx_http_request_t *r)
{
    jpp_err_t                   err, *why;
    jpp_worker_t               *worker;
    ngx_http_jpp_part_t       *part;
    ngx_http_jpp_collection_t  *co;

    co = profile->last.collection;
    part = &co->parts[0];
    why = &part->reply.err;
    worker = &part->reply.worker;

    if (co->n != 1) {
        (void) jpp_err_set(&err, why->code, "no worker answered: worker %d "
                           "(pid %d), %s", (int) part->row.index,
                           (int) part->row.pid, why->text);
        why = &err;
    }

    return ngx_http_jpp_profile_refuse(r, co->kind, worker, why);
}


/*
 * What the state of jemalloc explains has a cure, and so has a dump that is not
 * whole.  Other kinds are the module's own work.
 */

static ngx_int_t
ngx_http_jpp_profile_refuse(ngx_http_request_t *r,
    const ngx_http_jpp_kind_t *kind, const jpp_worker_t *worker,
    const jpp_err_t *err)
{
    if (kind->is_sampled && err->code == JPP_ERR_STATE && worker != NULL
        && !worker->sampler.is_on
        && worker->jemalloc.state != JPP_JEMALLOC_READY)
    {
        return ngx_http_jpp_refuse_state(r, worker);
    }

    return kind->is_sampled
           ? ngx_http_jpp_refuse_error(r, err)
           : ngx_http_jpp_refuse_own(r, err);
}


static ngx_int_t
ngx_http_jpp_profile_send(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_profile_t *profile = (void *) job;

    u_char                 *workers;
    ngx_uint_t              n_asked, n_answered, n_gaps;
    ngx_http_jpp_answer_t   answer;
    ngx_http_jpp_report_t  *report;

    if (profile->job.rc != JPP_OK) {
        return ngx_http_jpp_profile_refuse(r,
                   &ngx_http_jpp_kinds[profile->inquiry.question
                                                  .kind],
                   NULL, &profile->job.err);
    }

    report = &profile->report;

    ngx_memcpy(ngx_http_jpp_self.unnamed, report->unnamed, JPP_UNNAMED_TEXT);

    n_asked = report->n_asked;
    n_answered = report->n_answered;
    n_gaps = ngx_http_jpp_collect_gaps(profile->last.collection);

    /* the answer needs room that the captures have taken */

    ngx_http_jpp_collect_leave(&profile->last);
    ngx_http_jpp_collect_leave(&profile->base);

    if (report->options.args.values[JPP_ARG_STRICT] != 0
        && (n_answered < n_asked || report->n_unsplit != 0 || n_gaps != 0))
    {
        return ngx_http_jpp_profile_incomplete(r, report, n_gaps);
    }

    workers = ngx_pnalloc(r->pool, 2 * NGX_INT_T_LEN + 2);

    if (workers == NULL
        || ngx_http_jpp_profile_describe(r, &answer, profile->resource,
                                         jpp_format_of(&report->options.args),
                                         report->options.time_nanos)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    (void) ngx_sprintf(workers, "%ui/%ui%Z", n_answered, n_asked);

    answer.workers = (char *) workers;
    answer.is_begun = profile->seconds != 0 || profile->inquiry.wait != 0;

    return ngx_http_jpp_deliver(r, &answer, &report->arena, report->body,
                                report->len);
}


static ngx_int_t
ngx_http_jpp_profile_incomplete(ngx_http_request_t *r,
    const ngx_http_jpp_report_t *report, ngx_uint_t n_gaps)
{
    if (report->n_answered < report->n_asked) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_INCOMPLETE,
                                   report->n_answered, report->n_asked,
                   "the error log and the comments of the profile without "
                   "strict=1 say why");
    }

    return n_gaps != 0
           ? ngx_http_jpp_refuse(r, NGX_HTTP_JPP_GAP, n_gaps,
                                 report->n_answered)
           : ngx_http_jpp_refuse(r, NGX_HTTP_JPP_UNSPLIT, report->n_unsplit,
                                 report->n_answered);
}


static void
ngx_http_jpp_profile_work(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_profile_t *profile = (void *) job;

    job->rc = ngx_http_jpp_report(&profile->report, &job->err);
}


ngx_int_t
ngx_http_jpp_profile_describe(ngx_http_request_t *r,
    ngx_http_jpp_answer_t *answer, const ngx_http_jpp_resource_t *resource,
    const jpp_format_t *format, int64_t time_nanos)
{
    u_char       c, *p, *filename;
    ngx_tm_t     tm;
    ngx_uint_t   i, n;

    ngx_memzero(answer, sizeof(ngx_http_jpp_answer_t));

    answer->type = format->type;
    answer->policy = format->policy;

    if (format->suffix == NULL) {
        return NGX_OK;
    }

    filename = ngx_pnalloc(r->pool, 128 + NGX_HTTP_JPP_HOST_LEN);
    if (filename == NULL) {
        return NGX_ERROR;
    }

    p = ngx_sprintf(filename, "nginx-%V-", &resource->name);

    /* the machine's name may hold anything, and must not end the string */

    n = ngx_min(ngx_cycle->hostname.len, NGX_HTTP_JPP_HOST_LEN);

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
ngx_http_jpp_profile_release(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_profile_t *profile = (void *) job;

    ngx_http_jpp_collect_leave(&profile->last);
    ngx_http_jpp_collect_leave(&profile->base);

    jpp_arena_destroy(&profile->report.arena);
}
