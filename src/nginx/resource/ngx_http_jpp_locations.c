
/*
 * The resource locations: what each location costs.
 */


#include "ngx_http_jpp_deliver.h"
#include "ngx_http_jpp_job.h"
#include "ngx_http_jpp_refuse.h"
#include "ngx_http_jpp_report.h"
#include "ngx_http_jpp_resources.h"

#include "jpp_locations.h"
#include "jpp_problems.h"


/*
 * From what workers have answered about their pools, their heap and their CPU
 * time to the list of locations: a column each, or a note that says why not.
 */


/* What is asked for one column. */
typedef struct {
    jpp_locations_measure_t              measure;
    jpp_message_kind_t                   kind;
    const jpp_reader_t                  *reader;       /* NULL: of no profile */
} ngx_http_jpp_measure_t;


typedef struct {
    jpp_args_t                           args;
    size_t                               max_size;     /* of a dump */

    /* in the order of the questions; no collection: it was not asked */
    ngx_http_jpp_reader_t                readers[JPP_LOCATIONS_MEASURES];

    /* the result: the body is in the arena, which becomes the caller's */

    jpp_arena_t                          arena;
    u_char                              *body;
    size_t                               len;
} ngx_http_jpp_locations_list_t;


/* In the order of the questions. */
extern const ngx_http_jpp_measure_t
    ngx_http_jpp_measures[JPP_LOCATIONS_MEASURES];


/* names, functions, cells; tables of pools are read in place */
#define NGX_HTTP_JPP_LOCATIONS_CAP(max_size)                       \
    (4 * (max_size) + 256 * 1024 * 1024)


/* A list that is being made. */
typedef struct {
    ngx_http_jpp_locations_list_t                *list;
    jpp_locations_t                               locations;
    const ngx_http_jpp_measure_t      *measure;  /* at hand */
    const ngx_http_jpp_collection_t   *answers;  /* to that */
    ngx_http_jpp_report_t              report;   /* of those */
} ngx_http_jpp_listing_t;


static jpp_code_t ngx_http_jpp_listing_fill(ngx_http_jpp_listing_t *listing,
    jpp_err_t *err);
static void ngx_http_jpp_listing_pools(ngx_http_jpp_listing_t *listing);
static jpp_code_t ngx_http_jpp_listing_profile(ngx_http_jpp_listing_t *listing,
    jpp_err_t *err);
static bool ngx_http_jpp_listing_take(void *taker, const jpp_view_t *view);
static void ngx_http_jpp_listing_absent(ngx_http_jpp_listing_t *listing);
static jpp_code_t ngx_http_jpp_listing_write(ngx_http_jpp_listing_t *listing,
    jpp_err_t *err);


const ngx_http_jpp_measure_t
    ngx_http_jpp_measures[JPP_LOCATIONS_MEASURES] =
{
    { JPP_LOCATIONS_CPU, JPP_MESSAGE_TIMES, &jpp_reader_cpu },
    { JPP_LOCATIONS_HELD, JPP_MESSAGE_POOLS, NULL },
    { JPP_LOCATIONS_SAMPLED, JPP_MESSAGE_DUMP, &jpp_reader_heap }
};


/* In the thread: make the body of LIST. */

static jpp_code_t
ngx_http_jpp_locations_list(ngx_http_jpp_locations_list_t *list, jpp_err_t *err)
{
    jpp_code_t               rc;
    jpp_arena_t              arena;
    ngx_http_jpp_listing_t  *listing;

    jpp_arena_init(&arena, NGX_HTTP_JPP_LOCATIONS_CAP(list->max_size));

    listing = jpp_arena_alloc(&arena, sizeof(ngx_http_jpp_listing_t));

    if (listing == NULL) {
        jpp_arena_destroy(&arena);
        return jpp_err_memory(err);
    }

    listing->list = list;
    listing->report.max_size = list->max_size;

    jpp_locations_init(&listing->locations, &arena, &list->args);

    rc = ngx_http_jpp_listing_fill(listing, err);

    if (rc == JPP_OK) {
        rc = ngx_http_jpp_listing_write(listing, err);
    }

    jpp_arena_destroy(&arena);

    return rc;
}


static jpp_code_t
ngx_http_jpp_listing_fill(ngx_http_jpp_listing_t *listing, jpp_err_t *err)
{
    jpp_code_t  rc;
    ngx_uint_t  i;

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {

        listing->measure = &ngx_http_jpp_measures[i];
        listing->answers = listing->list->readers[i].collection;

        if (listing->answers == NULL || listing->answers->n_answered == 0) {
            ngx_http_jpp_listing_absent(listing);
            continue;
        }

        if (listing->measure->reader == NULL) {
            ngx_http_jpp_listing_pools(listing);
            continue;
        }

        rc = ngx_http_jpp_listing_profile(listing, err);

        if (rc != JPP_OK) {
            return rc;
        }
    }

    return jpp_locations_close(&listing->locations) ? JPP_OK
                                                    : jpp_err_memory(err);
}


static void
ngx_http_jpp_listing_pools(ngx_http_jpp_listing_t *listing)
{
    ngx_uint_t                               i;
    jpp_missing_t                            missing;
    const ngx_http_jpp_part_t              *part;

    for (i = 0; i < listing->answers->n; i++) {
        part = &listing->answers->parts[i];

        ngx_http_jpp_part_missing(part, part->reply.err.text, &missing);

        jpp_locations_pools(&listing->locations, &missing.who,
                            part->state == NGX_HTTP_JPP_PART_ANSWERED
            ? part->dump.data : NULL, part->dump.len, missing.why);
    }
}


/* As the resource of that profile would be, up to its format. */

static jpp_code_t
ngx_http_jpp_listing_profile(ngx_http_jpp_listing_t *listing, jpp_err_t *err)
{
    jpp_code_t              rc;
    uint32_t               *values;
    jpp_report_options_t   *options;
    ngx_http_jpp_report_t  *report;

    report = &listing->report;
    options = &report->options;

    jpp_report_options_init(options);

    options->reader = listing->measure->reader;
    options->args = listing->list->args;
    options->args.is_set[JPP_ARG_BY] = true;
    options->take = ngx_http_jpp_listing_take;
    options->taker = listing;

    values = options->args.values;

    values[JPP_ARG_FORMAT] = jpp_format_find("top") - jpp_formats;
    values[JPP_ARG_DEBUG] = 0;
    values[JPP_ARG_TYPE] = options->reader->types->value;
    values[JPP_ARG_ORIGIN] = JPP_ORIGIN_ALL;

    report->last = listing->answers;
    report->n_findings = 0;

    jpp_arena_init(&report->arena, 0);

    rc = ngx_http_jpp_report(report, err);

    jpp_arena_destroy(&report->arena);

    if (rc == JPP_OK || rc == JPP_ERR_MEMORY) {
        return rc;
    }

    jpp_locations_absent(&listing->locations, listing->measure->measure,
                         err->text, "");

    return JPP_OK;
}


static bool
ngx_http_jpp_listing_take(void *taker, const jpp_view_t *view)
{
    ngx_http_jpp_listing_t *listing = taker;

    jpp_locations_take(&listing->locations, listing->measure->measure, view);

    return !listing->locations.failed;
}


/* Nobody answered: all workers mostly have the reason of the first. */

static void
ngx_http_jpp_listing_absent(ngx_http_jpp_listing_t *listing)
{
    jpp_err_t                    err;
    const char                  *why, *cure;
    jpp_problem_t                problems[JPP_MAX_PROBLEMS];
    const jpp_message_reply_t   *reply;

    why = "nobody has looked at it";
    cure = "locations?seconds=5 does, for 5 seconds";

    if (listing->answers != NULL) {
        reply = &listing->answers->parts[0].reply;
        why = reply->err.text;
        cure = "";

        if (listing->answers->kind->is_sampled
            && reply->err.code == JPP_ERR_STATE
            && jpp_problems(&reply->worker, problems) != 0
            && problems[0].is_fatal)
        {
            (void) jpp_err_set(&err, JPP_ERR_STATE, "%s: %s",
                               problems[0].what, problems[0].why);
            why = err.text;
            cure = problems[0].cure;
        }
    }

    jpp_locations_absent(&listing->locations, listing->measure->measure, why,
                         cure);
}


/* To pages of its own: a response may live long. */

static jpp_code_t
ngx_http_jpp_listing_write(ngx_http_jpp_listing_t *listing, jpp_err_t *err)
{
    uint8_t                        *buffer;
    jpp_vec_t                      *out;
    jpp_sink_t                      sink;
    jpp_arena_t                    *arena;
    ngx_http_jpp_locations_list_t  *list;

    arena = listing->locations.arena;
    list = listing->list;

    buffer = jpp_arena_alloc(arena, JPP_SINK_BUFFER);
    out = jpp_vec_create(arena);

    if (buffer == NULL || out == NULL) {
        return jpp_err_memory(err);
    }

    jpp_sink_init(&sink, buffer, JPP_SINK_BUFFER, jpp_sink_to_vec, out);

    if (!jpp_locations_write(&listing->locations, &sink)
        || jpp_sink_flush(&sink) != 0)
    {
        return jpp_err_memory(err);
    }

    list->len = out->len;
    list->body = jpp_arena_keep(&list->arena, out);

    return list->body != NULL ? JPP_OK : jpp_err_memory(err);
}


/*
 * Two questions to the chosen workers, for their pools and their heap; and with
 * seconds=N one for their CPU time, at the end of which the others are sent, so
 * that all have one deadline.  What they have answered becomes a list in the
 * background thread.
 */


typedef struct {
    ngx_http_jpp_job_t                          job;

    ngx_http_jpp_inquiry_t           inquiries[
                                                    JPP_LOCATIONS_MEASURES];
    ngx_http_jpp_locations_list_t               list;
} ngx_http_jpp_locations_t;


static ngx_http_jpp_locations_t *ngx_http_jpp_locations_create(
    const jpp_args_t *args, const ngx_http_jpp_loc_conf_t *conf);
static void ngx_http_jpp_locations_describe(ngx_http_jpp_answer_t *answer,
    const jpp_args_t *args);
static ngx_int_t ngx_http_jpp_locations_ask(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_locations_asked(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static void ngx_http_jpp_locations_work(ngx_http_jpp_job_t *job);
static ngx_int_t ngx_http_jpp_locations_send(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static void ngx_http_jpp_locations_release(ngx_http_jpp_job_t *job);


ngx_int_t
ngx_http_jpp_locations(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    jpp_err_t                  err;
    ngx_http_jpp_answer_t      answer;
    ngx_http_jpp_loc_conf_t   *conf;
    ngx_http_jpp_locations_t  *locations;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    if (jpp_locations_check(&question->args, &err) != JPP_OK) {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    if (r->method == NGX_HTTP_HEAD) {
        ngx_http_jpp_locations_describe(&answer, &question->args);

        return ngx_http_jpp_send_head(r, &answer);
    }

    locations = ngx_http_jpp_locations_create(&question->args, conf);

    return locations != NULL
           ? ngx_http_jpp_job_start(&locations->job, r)
           : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_http_jpp_locations_t *
ngx_http_jpp_locations_create(const jpp_args_t *args,
    const ngx_http_jpp_loc_conf_t *conf)
{
    ngx_uint_t                 i;
    ngx_msec_t                 delay;
    jpp_message_times_t       *times;
    ngx_http_jpp_locations_t  *locations;

    locations = (ngx_http_jpp_locations_t *)
                    ngx_http_jpp_job_create(sizeof(ngx_http_jpp_locations_t),
                                            conf->timeout);

    if (locations == NULL) {
        return NULL;
    }

    locations->job.work = ngx_http_jpp_locations_work;
    locations->job.next = ngx_http_jpp_locations_ask;
    locations->job.release = ngx_http_jpp_locations_release;
    locations->job.is_patient = 1;

    locations->list.args = *args;

    if (!args->is_set[JPP_ARG_BY]) {
        locations->list.args.values[JPP_ARG_BY] = JPP_BY_LOCATION;
    }

    locations->list.max_size = conf->max_size;

    delay = (ngx_msec_t) args->values[JPP_ARG_SECONDS] * 1000;

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {
        ngx_http_jpp_inquiry_init(&locations->inquiries[i],
                                  ngx_http_jpp_measures[i].kind, args, conf);
        locations->inquiries[i].delay = delay;
    }

    times = &locations->inquiries[0].question.times;

    times->seconds = args->values[JPP_ARG_SECONDS];
    times->frequency = args->values[JPP_ARG_FREQUENCY];
    times->mode = JPP_MODE_CPU;

    locations->inquiries[0].wait = delay;
    locations->inquiries[0].delay = 0;

    jpp_arena_init(&locations->list.arena, 0);

    return locations;
}


static void
ngx_http_jpp_locations_describe(ngx_http_jpp_answer_t *answer,
    const jpp_args_t *args)
{
    ngx_memzero(answer, sizeof(ngx_http_jpp_answer_t));

    answer->type = jpp_locations_type(args);
    answer->is_begun = args->values[JPP_ARG_SECONDS] != 0;
}


static ngx_int_t
ngx_http_jpp_locations_ask(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_locations_t *locations = (void *) job;

    ngx_uint_t  first;

    first = locations->list.args.values[JPP_ARG_SECONDS] != 0 ? 0 : 1;

    return ngx_http_jpp_job_collect(job, r, &locations->list.readers[first],
                                    &locations->inquiries[first],
                                    JPP_LOCATIONS_MEASURES - first,
                                    ngx_http_jpp_locations_asked);
}


/* Whom strict=1 misses is missed in every question that workers can answer. */

static ngx_int_t
ngx_http_jpp_locations_asked(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_locations_t *locations = (void *) job;

    ngx_uint_t                        i, n_gaps;
    const ngx_http_jpp_collection_t  *co;

    for (i = 0;
         i < job->n_readers
         && locations->list.args.values[JPP_ARG_STRICT] != 0;
         i++)
    {
        co = job->readers[i].collection;
        n_gaps = ngx_http_jpp_collect_gaps(co);

        if (co->n_answered != 0 && co->n_answered < co->n) {
            return ngx_http_jpp_refuse_incomplete(r, co->n_answered, co->n, 0);
        }

        if (n_gaps != 0) {
            return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_GAP, n_gaps,
                                       co->n_answered);
        }
    }

    return ngx_http_jpp_job_run(job, ngx_http_jpp_locations_send);
}


static void
ngx_http_jpp_locations_work(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_locations_t *locations = (void *) job;

    job->rc = ngx_http_jpp_locations_list(&locations->list, &job->err);
}


static ngx_int_t
ngx_http_jpp_locations_send(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_locations_t *locations = (void *) job;

    ngx_uint_t                         i;
    ngx_http_jpp_answer_t              answer;

    if (job->rc != JPP_OK) {
        return ngx_http_jpp_refuse_own(r, &job->err);
    }

    /* the answer needs room that the captures have taken */

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {
        ngx_http_jpp_collect_leave(&locations->list.readers[i]);
    }

    ngx_http_jpp_locations_describe(&answer, &locations->list.args);

    return ngx_http_jpp_deliver(r, &answer, &locations->list.arena,
                                locations->list.body, locations->list.len);
}


static void
ngx_http_jpp_locations_release(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_locations_t *locations = (void *) job;

    ngx_uint_t  i;

    for (i = 0; i < JPP_LOCATIONS_MEASURES; i++) {
        ngx_http_jpp_collect_leave(&locations->list.readers[i]);
    }

    jpp_arena_destroy(&locations->list.arena);
}
