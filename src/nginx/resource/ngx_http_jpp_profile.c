
/*
 * Every resource that is a profile: asks the chosen workers once, or twice for
 * a difference, and reports their replies.  The slow parts run in background
 * threads.
 */


#include "ngx_http_jpp_resources.h"


/* of a profile of time, as in Go */
#define NGX_HTTP_JPP_SECONDS     30


typedef struct {
    ngx_http_jpp_report_t  report;
    char                   unnamed[JPP_UNNAMED_TEXT];
} ngx_http_jpp_profile_t;


/*
 * What the state of jemalloc explains has a fix.
 */

static ngx_int_t
ngx_http_jpp_profile_refuse(ngx_http_request_t *r,
    const ngx_http_jpp_type_t *type, const jpp_worker_t *worker,
    const jpp_err_t *err)
{
    jpp_problem_t         problems[JPP_MAX_PROBLEMS];
    jpp_jemalloc_state_t  state;

    state = worker->jemalloc.state;

    if (type->is_sampled && err->code == JPP_ERR_STATE
        && !worker->sampler.is_on && state != JPP_JEMALLOC_READY)
    {
        /* each of these states has a fatal problem, which comes first */

        (void) jpp_problems(worker, problems);

        /* 403: it can be switched on; 501: this process has no profiler */

        return ngx_http_jpp_refuse(r,
                                   state == JPP_JEMALLOC_OFF
                                   || state == JPP_JEMALLOC_INACTIVE
                                   ? NGX_HTTP_JPP_OFF : NGX_HTTP_JPP_UNABLE,
                                   problems[0].what, problems[0].why,
                                   problems[0].fix);
    }

    return ngx_http_jpp_refuse_answer(r, type, err);
}


ngx_int_t
ngx_http_jpp_profile_start(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    uint32_t                       *values;
    jpp_err_t                       err;
    jpp_worker_t                    worker;
    jpp_report_options_t            options;
    const ngx_http_jpp_type_t      *type;
    const ngx_http_jpp_evidence_t  *evidence;

    evidence = &question->resource->evidence;
    type = &ngx_http_jpp_types[evidence->type];

    jpp_report_options_init(&options);

    options.parser = evidence->parser;
    options.prefers = evidence->prefers;
    options.title = (const char *) question->resource->name.data;
    options.args = question->args;
    options.level = question->conf->gzip_level;

    if (evidence->wall != NULL) {
        values = options.args.values;

        if (values[JPP_ARG_MODE] == JPP_MODE_WALL) {
            options.parser = evidence->wall;
        }

        if (values[JPP_ARG_SECONDS] == 0) {
            values[JPP_ARG_SECONDS] = ngx_min(NGX_HTTP_JPP_SECONDS,
                                              options.args.max_seconds);
        }
    }

    /* a difference has two captures at least; workers are counted later */

    if (jpp_report_check(&options,
                         (options.args.values[JPP_ARG_SECONDS] != 0
                          && evidence->wall == NULL) || question->base != 0
                         ? 2 : 1,
                         &err)
        != JPP_OK)
    {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    if (r->method == NGX_HTTP_HEAD && evidence->type != JPP_MESSAGE_TYPES
        && type->check != NULL)
    {
        ngx_memzero(&worker, sizeof(jpp_worker_t));
        ngx_http_jpp_describe(&worker);

        if (type->check(&worker, &err) != JPP_OK) {
            return ngx_http_jpp_profile_refuse(r, type, &worker, &err);
        }
    }

    return ngx_http_jpp_job(r, question, question->resource->handler, &options);
}


/* DATA: the options of the report. */

static ngx_int_t
ngx_http_jpp_profile_init(ngx_http_jpp_job_t *job, void *data)
{
    ngx_http_jpp_profile_t *profile = job->state;

    const uint32_t                 *values;
    ngx_http_jpp_inquiry_t         *inquiry;
    const ngx_http_jpp_evidence_t  *evidence;

    profile->report.options = *(jpp_report_options_t *) data;

    evidence = &job->question.resource->evidence;
    values = profile->report.options.args.values;

    inquiry = ngx_http_jpp_job_question(job, evidence->type);
    inquiry->question.lua.max_stop = values[JPP_ARG_MAX_STOP];

    inquiry->question.ages.least = values[JPP_ARG_AGE];
    inquiry->question.ages.are_told =
                          jpp_args_has_ages(&profile->report.options.args);

    if (evidence->wall != NULL) {
        inquiry->wait = (ngx_msec_t) values[JPP_ARG_SECONDS] * 1000;
        inquiry->question.times.seconds = values[JPP_ARG_SECONDS];
        inquiry->question.times.frequency = values[JPP_ARG_FREQUENCY];
        inquiry->question.times.mode = (jpp_mode_t) values[JPP_ARG_MODE];
        job->is_patient = 1;
    }

    job->is_begun = values[JPP_ARG_SECONDS] != 0;

    if (job->question.base != 0) {
        inquiry = ngx_http_jpp_job_question(job, evidence->type);
        inquiry->snapshot = job->question.base;
    }

    return NGX_OK;
}


/* Nobody answered: all workers mostly have the reason of the first. */

static ngx_int_t
ngx_http_jpp_profile_none(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    jpp_err_t                   err, *why;
    jpp_worker_t               *worker;
    ngx_http_jpp_part_t        *part;
    ngx_http_jpp_collection_t  *co;

    co = job->subscribers[0].collection;
    part = &co->parts[0];
    why = &part->reply.err;
    worker = &part->reply.worker;

    if (co->n != 1) {
        (void) jpp_err_set(&err, why->code, "no worker answered: worker %d "
                           "(pid %d), %s", (int) part->row.who.index,
                           (int) part->row.who.pid, why->text);
        why = &err;
    }

    return ngx_http_jpp_profile_refuse(r, co->type, worker, why);
}


static ngx_int_t
ngx_http_jpp_profile_asked(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_profile_t *profile = job->state;

    uint32_t                     seconds;
    jpp_err_t                    err;
    ngx_http_jpp_zone_t         *zone;
    ngx_http_jpp_report_t       *report;
    ngx_http_jpp_collection_t  **last, **base;

    report = &profile->report;
    seconds = report->options.args.values[JPP_ARG_SECONDS];

    /* the last answers and, for a difference, those before */

    last = &job->subscribers[0].collection;
    base = &job->subscribers[1].collection;

    if (jpp_report_check(&report->options, (*last)->n, &err) != JPP_OK) {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    if ((*last)->n_answered == 0) {
        return ngx_http_jpp_profile_none(job, r);
    }

    if (seconds != 0 && !job->is_patient && *base == NULL) {
        *base = *last;
        *last = NULL;

        job->inquiries[0].is_second = 1;

        return ngx_http_jpp_job_pause(job, (ngx_msec_t) seconds * 1000,
                                      ngx_http_jpp_job_collect);
    }

    report->last = *last;
    report->base = *base;

    /* a single process may have lost it by a reload; findings are of now */

    zone = ngx_http_jpp_self.zone;

    if (zone != NULL && job->question.at == 0) {
        ngx_http_jpp_zone_lock(zone);
        report->n_findings = jpp_active_findings(&zone->notes,
                                                 report->findings);
        ngx_http_jpp_zone_unlock(zone);
    }

    return ngx_http_jpp_job_run(job, r);
}


static jpp_code_t
ngx_http_jpp_profile_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    ngx_http_jpp_profile_t *profile = job->state;

    jpp_code_t              rc;
    jpp_view_t              view;
    ngx_http_jpp_report_t  *report;

    report = &profile->report;

    rc = ngx_http_jpp_report(report, &job->arena, &view, &job->err);

    if (rc == JPP_OK) {
        rc = jpp_report_write(&view, sink, &job->err);
    }

    /* another report may run by the time that this one is answered */

    ngx_memcpy(profile->unnamed, ngx_http_jpp_self.symbols.unnamed,
               JPP_UNNAMED_TEXT);

    job->n_asked = report->n_asked;
    job->n_answered = report->n_answered;
    job->n_unsplit = report->n_unsplit;
    job->time_nanos = report->options.time_nanos;

    return rc;
}


static ngx_int_t
ngx_http_jpp_profile_written(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_profile_t *profile = job->state;

    ngx_memcpy(ngx_http_jpp_self.unnamed, profile->unnamed, JPP_UNNAMED_TEXT);

    return ngx_http_jpp_job_send(job, r);
}


const ngx_http_jpp_handler_t  ngx_http_jpp_profile = {
    .start = ngx_http_jpp_profile_start,
    .size = sizeof(ngx_http_jpp_profile_t),
    .has_workers = 1,
    .init = ngx_http_jpp_profile_init,
    .asked = ngx_http_jpp_profile_asked,
    .write = ngx_http_jpp_profile_write,
    .written = ngx_http_jpp_profile_written
};
