
/*
 * The resource control: changes the profiling of the chosen workers.  A change
 * to all workers is kept in the registry, for workers that start later.
 */


#include "ngx_http_jpp_resources.h"


/* a form with every key is below 100 bytes */
#define NGX_HTTP_JPP_MAX_FORM  4096

/* what is answered with the id of a finding and two times */
#define NGX_HTTP_JPP_MAX_ACKNOWLEDGED  256


/* A form leads back to the console, at the root of the form's own tree. */

static void
ngx_http_jpp_control_describe(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question, ngx_http_jpp_answer_t *answer)
{
    const ngx_http_jpp_loc_conf_t  *conf;

    conf = question->conf;

    answer->is_address =
        conf->resource == NULL
        && r->uri.len == conf->name.len + sizeof("control") - 1
        && ngx_http_jpp_prefers(r, "text/html", "application/json");
}


/* No worker is asked: findings lie in the registry. */

static ngx_int_t
ngx_http_jpp_control_acknowledge(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question, jpp_finding_id_t id)
{
    char                   since[JPP_UNITS_DATE], time[JPP_UNITS_DATE];
    u_char                *text, *last;
    ngx_uint_t             holds;
    jpp_finding_t          finding;
    ngx_http_jpp_answer_t  answer;
    ngx_http_jpp_zone_t   *zone;

    zone = ngx_http_jpp_self.zone;

    if (zone == NULL) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_LEFT_OUT);
    }

    ngx_http_jpp_zone_lock(zone);
    holds = jpp_active_acknowledge(&zone->notes, id, ngx_time(), &finding);

    if (holds) {
        jpp_events_add(&zone->notes.events, JPP_EVENT_CONTROL, ngx_time(),
                       NULL, "acknowledge=%s", jpp_finding_ids[id]);
    }

    ngx_http_jpp_zone_unlock(zone);

    if (!holds) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_OVER, jpp_finding_ids[id]);
    }

    ngx_log_error(NGX_LOG_NOTICE, r->connection->log, 0,
                  "jemalloc_pprof: finding %s is acknowledged", finding.id);

    text = ngx_pnalloc(r->pool, NGX_HTTP_JPP_MAX_ACKNOWLEDGED);
    if (text == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    answer = ngx_http_jpp_control.answer;
    ngx_http_jpp_control_describe(r, question, &answer);

    if (answer.is_address) {
        last = ngx_slprintf(text, text + NGX_HTTP_JPP_MAX_ACKNOWLEDGED,
                            "./?ok=0&of=0&bytes=0&acknowledge=%s#%s",
                            finding.id, finding.id);

        return ngx_http_jpp_send_see_other(r, text, last - text);
    }

    last = ngx_slprintf(text, text + NGX_HTTP_JPP_MAX_ACKNOWLEDGED,
                        "{\n  \"id\": \"%s\",\n  \"since\": \"%s\",\n"
                        "  \"acknowledged\": \"%s\"\n}\n", finding.id,
                        jpp_units_date(finding.since, since),
                        jpp_units_date(finding.acknowledged, time));

    return ngx_http_jpp_send(r, NGX_HTTP_OK, &answer, text, last - text);
}


/* The worker that looks next takes it, of all workers. */

static ngx_int_t
ngx_http_jpp_control_snapshot(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    jpp_err_t              err;
    ngx_http_jpp_answer_t  answer;

    static u_char  text[] = "{\n  \"snapshot\": \"is being taken; snapshots "
                            "lists it within seconds\"\n}\n";
    static u_char  page[] = "./?ok=0&of=0&bytes=0&snapshot=1#acts";

    if (ngx_http_jpp_snapshot_want(&err) != JPP_OK) {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    answer = ngx_http_jpp_control.answer;
    ngx_http_jpp_control_describe(r, question, &answer);

    if (answer.is_address) {
        return ngx_http_jpp_send_see_other(r, page, sizeof(page) - 1);
    }

    return ngx_http_jpp_send(r, NGX_HTTP_OK, &answer, text, sizeof(text) - 1);
}


/* It is an event when it is asked for: a worker may not survive the change. */

static void
ngx_http_jpp_control_event(const jpp_control_t *control,
    const ngx_http_jpp_question_t *question)
{
    char                  text[JPP_CONTROL_TEXT];
    ngx_http_jpp_zone_t  *zone;

    zone = ngx_http_jpp_self.zone;

    if (zone == NULL) {
        return;
    }

    ngx_http_jpp_zone_lock(zone);

    jpp_events_add(&zone->notes.events, JPP_EVENT_CONTROL, ngx_time(), NULL,
                   "%s, %s", jpp_control_text(control, text),
                   question->args.values[JPP_ARG_WORKER] == JPP_WORKER_ALL
                   ? "in all workers" : "in some workers");

    ngx_http_jpp_zone_unlock(zone);
}


/*
 * A change to all workers also applies to those that start meanwhile: it is in
 * the registry before any worker is asked, and is taken back if none can be.
 */

static ngx_int_t
ngx_http_jpp_control_apply(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question, const jpp_control_t *control)
{
    ngx_int_t               rc;
    jpp_control_t           now, wanted, asked;
    jpp_settings_t         *settings;
    jpp_settings_change_t   change;

    if (control->acknowledge != -1) {
        return ngx_http_jpp_control_acknowledge(r, question,
                                                control->acknowledge);
    }

    ngx_http_jpp_control_event(control, question);

    if (control->snapshot != 0) {
        return ngx_http_jpp_control_snapshot(r, question);
    }

    asked = *control;

    ngx_http_jpp_worker_wanted((ngx_cycle_t *) ngx_cycle, &now);

    /* switched on without a rate, it has the one that was set last */

    if (control->sampler == 1 && control->lg_sample == -1) {
        asked.lg_sample = now.sampler_lg;
    }

    if (question->args.values[JPP_ARG_WORKER] != JPP_WORKER_ALL
        || ngx_http_jpp_self.zone == NULL)
    {
        return ngx_http_jpp_job(r, question, &ngx_http_jpp_control, &asked);
    }

    wanted = *control;
    jpp_source_rates(&wanted, now.sampler == 1);

    settings = &ngx_http_jpp_self.zone->settings;
    jpp_settings_set(settings, &wanted, &change);

    rc = ngx_http_jpp_job(r, question, &ngx_http_jpp_control, &asked);

    if (rc != NGX_DONE) {
        jpp_settings_take_back(settings, &change);
    }

    return rc;
}


static ngx_int_t
ngx_http_jpp_control_start(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    off_t                     len;
    u_char                    form[NGX_HTTP_JPP_MAX_FORM];
    jpp_err_t                 err;
    jpp_control_t             control;
    const ngx_chain_t        *in;
    ngx_http_jpp_question_t   whom;

    whom = *question;
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

    if (jpp_control_query(&control, &whom.args, (char *) r->args.data,
                          r->args.len, &err)
        != JPP_OK
        || jpp_control_query(&control, &whom.args, (char *) form, len, &err)
           != JPP_OK
        || jpp_control_check(&control, &err) != JPP_OK)
    {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    return ngx_http_jpp_control_apply(r, &whom, &control);
}


static ngx_int_t
ngx_http_jpp_control_read(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    if (!question->conf->control) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_CONTROL_OFF);
    }

    if (ngx_http_jpp_site_is_other(r) || ngx_http_jpp_site_is_other_origin(r)) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_FOREIGN);
    }

    return ngx_http_jpp_body_read(r, question, ngx_http_jpp_control_start);
}


/* DATA: what is to be changed. */

static ngx_int_t
ngx_http_jpp_control_init(ngx_http_jpp_job_t *job, void *data)
{
    ngx_http_jpp_job_question(job, JPP_MESSAGE_CONTROL)->question.control =
        *(jpp_control_t *) data;

    return NGX_OK;
}


static jpp_code_t
ngx_http_jpp_control_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    ngx_uint_t                        i;
    jpp_outcome_t                     outcome;
    jpp_controlled_t                 *workers;
    const ngx_http_jpp_part_t        *part;
    const ngx_http_jpp_collection_t  *co;

    co = job->subscribers[0].collection;

    workers = jpp_arena_alloc(&job->arena, co->n * sizeof(jpp_controlled_t));
    if (workers == NULL) {
        return jpp_err_memory(&job->err);
    }

    for (i = 0; i < co->n; i++) {
        part = &co->parts[i];

        workers[i].who = part->row.who;
        workers[i].result = part->reply.control;
        workers[i].stall = part->reply.worker.stalling.threshold;
        workers[i].has_owners = part->reply.worker.has_owners;
        workers[i].error = part->reply.err.code != JPP_OK
                           ? part->reply.err.text : NULL;
    }

    if (!job->answer.is_address) {
        jpp_control_json(workers, co->n, sink);
        return JPP_OK;
    }

    jpp_outcome_fill(&outcome, &co->inquiry.question.control, workers, co->n);

    jpp_sink_str(sink, "./?");
    jpp_outcome_query(&outcome, sink);
    jpp_sink_str(sink, "#acts");

    return JPP_OK;
}


const ngx_http_jpp_handler_t  ngx_http_jpp_control = {
    .answer.type = "application/json",
    .describe = ngx_http_jpp_control_describe,
    .is_change = 1,
    .start = ngx_http_jpp_control_read,
    .is_brief = 1,
    .init = ngx_http_jpp_control_init,
    .write = ngx_http_jpp_control_write
};
