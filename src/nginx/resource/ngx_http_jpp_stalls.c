
/*
 * The resource stalls: the stacks that blocked the workers' event loops, as a
 * profile.
 *
 * Whoever is asked answers for all workers, also for
 * those that are stuck at this moment, or have ended: a stall has all that a
 * report needs, and lies in shared memory.
 */


#include "ngx_http_jpp_resources.h"


typedef struct {
    jpp_report_options_t   options;
    uint64_t               threshold;
    int64_t                since;              /* nanoseconds */
    jpp_stall_t            stalls[JPP_STALLS];
    ngx_uint_t             n;
} ngx_http_jpp_stalls_t;


/* DATA: the options of the report. */

static ngx_int_t
ngx_http_jpp_stalls_init(ngx_http_jpp_job_t *job, void *data)
{
    ngx_http_jpp_stalls_t *stalls = job->state;

    stalls->options = *(jpp_report_options_t *) data;
    stalls->threshold = ngx_http_jpp_self.stalling.threshold;

    return NGX_OK;
}


/* One that starts at this moment counts. */

static ngx_uint_t
ngx_http_jpp_stalls_has_worker(const ngx_http_jpp_job_t *job)
{
    ngx_uint_t                 n;
    jpp_selector_t             selector;
    const ngx_http_jpp_row_t  *rows;

    selector = jpp_args_selector(&job->question.args);

    return ngx_http_jpp_choose(&selector, &rows, &n) != NGX_DECLINED;
}


/* With seconds, only those that begin from now on. */

static ngx_int_t
ngx_http_jpp_stalls_wait(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_stalls_t *stalls = job->state;

    uint32_t  seconds;

    seconds = job->question.args.values[JPP_ARG_SECONDS];

    if (seconds == 0) {
        return ngx_http_jpp_job_run(job, r);
    }

    if (!ngx_http_jpp_stalls_has_worker(job)) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_NO_WORKER);
    }

    stalls->since = jpp_clock_wall();

    return ngx_http_jpp_job_pause(job, (ngx_msec_t) seconds * 1000,
                                  ngx_http_jpp_job_run);
}


static void
ngx_http_jpp_stalls_comments(void *data, jpp_profile_t *profile)
{
    ngx_http_jpp_stalls_t *stalls = data;

    jpp_stall_comments(stalls->stalls, stalls->n, stalls->threshold, profile);
}


static jpp_code_t
ngx_http_jpp_stalls_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    ngx_http_jpp_stalls_t *stalls = job->state;

    ngx_uint_t           i, n;
    jpp_stall_t         *stall;
    jpp_capture_t        capture;
    jpp_selector_t       selector;
    jpp_identity_t       who;

    selector = jpp_args_selector(&job->question.args);

    stalls->n = ngx_http_jpp_stall_list(0, stalls->stalls);

    for (i = 0, n = 0; i < stalls->n; i++) {
        stall = &stalls->stalls[i];

        who.pid = stall->pid;
        who.index = stall->index;
        who.generation = stall->generation;

        if (stall->time_nanos >= stalls->since
            && ngx_http_jpp_is_chosen(&selector, &who,
                                      ngx_http_jpp_self.generation))
        {
            stalls->stalls[n++] = *stall;
        }
    }

    stalls->n = n;

    job->time_nanos = jpp_clock_wall();

    stalls->options.title = jpp_arena_printf(&job->arena, "%s of nginx on %s",
                                             stalls->options.title,
                                             ngx_http_jpp_self.host);

    if (stalls->options.title == NULL) {
        return jpp_err_memory(&job->err);
    }

    stalls->options.time_nanos = job->time_nanos;

    if (stalls->since != 0) {
        stalls->options.duration_nanos = job->time_nanos - stalls->since;
    }

    stalls->options.comments = ngx_http_jpp_stalls_comments;
    stalls->options.data = stalls;

    ngx_memzero(&capture, sizeof(jpp_capture_t));

    capture.data = (char *) stalls->stalls;
    capture.len = stalls->n * sizeof(jpp_stall_t);

    return jpp_report(&job->arena, &ngx_http_jpp_self.symbols, &capture, 1,
                      &stalls->options, sink, &job->err);
}


/* A worker that has ended is known by its stalls. */

static ngx_int_t
ngx_http_jpp_stalls_written(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    const ngx_http_jpp_stalls_t *stalls = job->state;

    return stalls->n == 0 && !ngx_http_jpp_stalls_has_worker(job)
           ? ngx_http_jpp_refuse(r, NGX_HTTP_JPP_NO_WORKER)
           : ngx_http_jpp_job_send(job, r);
}


const ngx_http_jpp_handler_t  ngx_http_jpp_stalls = {
    .start = ngx_http_jpp_profile_start,
    .size = sizeof(ngx_http_jpp_stalls_t),
    .init = ngx_http_jpp_stalls_init,
    .ask = ngx_http_jpp_stalls_wait,
    .write = ngx_http_jpp_stalls_write,
    .written = ngx_http_jpp_stalls_written
};
