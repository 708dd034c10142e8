
/*
 * Two questions to the chosen workers, for their pools and their heap; and with
 * seconds=N one for their CPU time, at the end of which the others are sent, so
 * that all have one deadline.  What they have answered becomes a list in the
 * background thread.
 */


#include "ngx_http_jpp_deliver.h"
#include "ngx_http_jpp_job.h"
#include "ngx_http_jpp_locations.h"
#include "ngx_http_jpp_locations_list.h"
#include "ngx_http_jpp_refuse.h"

#include "jpp_locations_write.h"


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
