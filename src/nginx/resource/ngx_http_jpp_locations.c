
/*
 * The resource locations: the costs of each location.
 */


#include "ngx_http_jpp_resources.h"


/*
 * Two questions to the chosen workers, for their pools and their heap; and with
 * seconds=N one for their CPU time, at the end of which the others are sent, so
 * that all have one deadline.  What they have answered becomes a list: a column
 * each, or a note that says why not.
 */


/* What is asked for one column. */
typedef struct {
    jpp_message_type_t   type;
    const jpp_parser_t  *parser;     /* NULL: of no profile */
} ngx_http_jpp_measure_t;


/* A list that is being made. */
typedef struct {
    ngx_http_jpp_job_t               *job;
    jpp_locations_t                   locations;
    jpp_locations_measure_t           measure;    /* at hand */
    const ngx_http_jpp_collection_t  *answers;    /* to that */
    ngx_http_jpp_report_t             report;     /* of those */
} ngx_http_jpp_listing_t;


/* In the order of the questions, the last of which is not always asked. */

static const ngx_http_jpp_measure_t
    ngx_http_jpp_measures[JPP_LOCATIONS_MEASURES] =
{
    [JPP_LOCATIONS_HELD] = { JPP_MESSAGE_POOLS, NULL },
    [JPP_LOCATIONS_SAMPLED] = { JPP_MESSAGE_DUMP, &jpp_parser_heap },
    [JPP_LOCATIONS_CPU] = { JPP_MESSAGE_TIMES, &jpp_parser_cpu }
};


static ngx_int_t
ngx_http_jpp_locations_init(ngx_http_jpp_job_t *job, void *data)
{
    uint32_t                *values;
    ngx_msec_t               delay;
    ngx_uint_t               i;
    jpp_message_times_t     *times;
    ngx_http_jpp_inquiry_t  *inquiry;

    values = job->question.args.values;

    if (!job->question.args.is_set[JPP_ARG_BY]) {
        values[JPP_ARG_BY] = JPP_BY_LOCATION;
    }

    delay = (ngx_msec_t) values[JPP_ARG_SECONDS] * 1000;

    for (i = 0; i < JPP_LOCATIONS_CPU; i++) {
        ngx_http_jpp_job_question(job, ngx_http_jpp_measures[i].type)->delay =
            delay;
    }

    inquiry = ngx_http_jpp_job_question(job, ngx_http_jpp_measures[i].type);
    inquiry->wait = delay;

    times = &inquiry->question.times;

    times->seconds = values[JPP_ARG_SECONDS];
    times->frequency = values[JPP_ARG_FREQUENCY];
    times->mode = JPP_MODE_CPU;

    job->is_patient = 1;
    job->is_begun = delay != 0;
    job->may_lack = 1;

    if (delay == 0) {
        job->n--;
    }

    return NGX_OK;
}


/* As the resource of that profile would be, up to its format. */

static jpp_code_t
ngx_http_jpp_locations_profile(ngx_http_jpp_listing_t *listing, jpp_err_t *err)
{
    jpp_code_t              rc;
    jpp_view_t              view;
    uint32_t               *values;
    jpp_arena_t             arena;
    jpp_report_options_t   *options;
    ngx_http_jpp_report_t  *report;

    report = &listing->report;
    options = &report->options;

    jpp_report_options_init(options);

    options->parser = ngx_http_jpp_measures[listing->measure].parser;
    options->args = listing->job->question.args;
    options->args.is_set[JPP_ARG_BY] = true;

    values = options->args.values;

    values[JPP_ARG_FORMAT] = jpp_format_find("top") - jpp_formats;
    values[JPP_ARG_DEBUG] = 0;
    values[JPP_ARG_TYPE] = options->parser->types->value;
    values[JPP_ARG_ORIGIN] = JPP_ORIGIN_ALL;

    report->last = listing->answers;
    report->n_findings = 0;

    jpp_arena_init(&arena, listing->job->arena.cap);

    rc = ngx_http_jpp_report(report, &arena, &view, err);

    if (rc == JPP_OK) {
        jpp_locations_take(&listing->locations, listing->measure, &view);

        if (listing->locations.failed) {
            rc = jpp_err_memory(err);
        }

    } else if (rc != JPP_ERR_MEMORY) {
        jpp_locations_absent(&listing->locations, listing->measure, err->text,
                             "");
        rc = JPP_OK;
    }

    jpp_arena_destroy(&arena);

    return rc;
}


/* Nobody answered: all workers mostly have the reason of the first. */

static void
ngx_http_jpp_locations_absent(ngx_http_jpp_listing_t *listing)
{
    jpp_err_t                   err;
    const char                 *why, *fix;
    jpp_problem_t               problems[JPP_MAX_PROBLEMS];
    const jpp_message_reply_t  *reply;

    why = "it was not measured";
    fix = "locations?seconds=5 does, for 5 seconds";

    if (listing->answers != NULL) {
        reply = &listing->answers->parts[0].reply;
        why = reply->err.text;
        fix = "";

        if (listing->answers->type->is_sampled
            && reply->err.code == JPP_ERR_STATE
            && jpp_problems(&reply->worker, problems) != 0
            && problems[0].is_fatal)
        {
            (void) jpp_err_set(&err, JPP_ERR_STATE, "%s: %s",
                               problems[0].what, problems[0].why);
            why = err.text;
            fix = problems[0].fix;
        }
    }

    jpp_locations_absent(&listing->locations, listing->measure, why, fix);
}


static jpp_code_t
ngx_http_jpp_locations_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    jpp_code_t                  rc;
    ngx_uint_t                  i;
    ngx_http_jpp_listing_t     *listing;
    const ngx_http_jpp_part_t  *part;

    listing = jpp_arena_alloc(&job->arena, sizeof(ngx_http_jpp_listing_t));
    if (listing == NULL) {
        return jpp_err_memory(&job->err);
    }

    listing->job = job;

    jpp_locations_init(&listing->locations, &job->arena, &job->question.args);

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {

        listing->measure = (jpp_locations_measure_t) i;
        listing->answers = job->subscribers[i].collection;

        if (listing->answers == NULL || listing->answers->n_answered == 0) {
            ngx_http_jpp_locations_absent(listing);
            continue;
        }

        if (ngx_http_jpp_measures[i].parser != NULL) {
            rc = ngx_http_jpp_locations_profile(listing, &job->err);

            if (rc != JPP_OK) {
                return rc;
            }

            continue;
        }

        jpp_each(part, listing->answers->parts, listing->answers->n) {

            jpp_locations_pools(&listing->locations, &part->row.who,
                                part->dump.data, part->dump.len,
                                part->reply.err.text);
        }
    }

    return jpp_locations_close(&listing->locations)
           && jpp_locations_write(&listing->locations, sink)
           ? JPP_OK : jpp_err_memory(&job->err);
}


const ngx_http_jpp_handler_t  ngx_http_jpp_locations = {
    .formats = &jpp_words_top,
    .check = jpp_locations_check,
    .init = ngx_http_jpp_locations_init,
    .write = ngx_http_jpp_locations_write
};
