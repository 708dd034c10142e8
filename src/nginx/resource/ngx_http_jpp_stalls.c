
/*
 * The resource stalls: what kept the event loops of the fleet, as a profile.
 *
 * Whoever is asked answers for all workers, also for
 * those that are stuck at this moment, or have ended: a stall has all that a
 * report needs, and lies in shared memory.
 */


#include "ngx_http_jpp_ask.h"
#include "ngx_http_jpp_deliver.h"
#include "ngx_http_jpp_job.h"
#include "ngx_http_jpp_profile.h"
#include "ngx_http_jpp_refuse.h"
#include "ngx_http_jpp_resources.h"
#include "ngx_http_jpp_self.h"
#include "ngx_http_jpp_stall.h"

#include "jpp_report.h"
#include "jpp_stall_table.h"


/* the model, the names of functions and the body */
#define NGX_HTTP_JPP_STALLS_CAP    (512 * 1024 * 1024)

/* "stalls of nginx on " and the machine's name */
#define NGX_HTTP_JPP_STALLS_TITLE  (NGX_MAXHOSTNAMELEN + 32)


typedef struct {
    ngx_http_jpp_job_t                         job;

    const ngx_http_jpp_resource_t  *resource;
    jpp_report_options_t            options;
    uint64_t                        threshold;
    int64_t                                    since;    /* nanoseconds */

    jpp_stall_t                                stalls[JPP_STALLS];
    ngx_uint_t                                 n;

    jpp_arena_t                                arena;    /* holds the body */
    u_char                                    *body;
    size_t                                     len;
} ngx_http_jpp_stalls_t;


static ngx_int_t ngx_http_jpp_stalls_head(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);
static ngx_int_t ngx_http_jpp_stalls_wait(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static ngx_uint_t ngx_http_jpp_stalls_has_worker(
    const ngx_http_jpp_stalls_t *stalls);
static ngx_int_t ngx_http_jpp_stalls_run(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_jpp_stalls_send(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static void ngx_http_jpp_stalls_work(ngx_http_jpp_job_t *job);
static void ngx_http_jpp_stalls_choose(ngx_http_jpp_stalls_t *stalls);
static jpp_code_t ngx_http_jpp_stalls_write(ngx_http_jpp_stalls_t *stalls,
    jpp_arena_t *arena, jpp_err_t *err);
static const char *const *ngx_http_jpp_stalls_comments(void *data,
    const jpp_profile_t *profile, jpp_arena_t *arena);
static void ngx_http_jpp_stalls_release(ngx_http_jpp_job_t *job);


ngx_int_t
ngx_http_jpp_stalls(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    jpp_err_t                 err;
    jpp_report_options_t      options;
    ngx_http_jpp_stalls_t    *stalls;
    ngx_http_jpp_loc_conf_t  *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    jpp_report_options_init(&options);

    options.reader = question->resource->evidence->reader;
    options.args = question->args;
    options.level = conf->gzip_level;

    if (jpp_report_check(&options, 1, &err) != JPP_OK) {
        return ngx_http_jpp_refuse_error(r, &err);
    }

    if (r->method == NGX_HTTP_HEAD) {
        return ngx_http_jpp_stalls_head(r, question);
    }

    stalls = (ngx_http_jpp_stalls_t *)
                 ngx_http_jpp_job_create(sizeof(ngx_http_jpp_stalls_t),
                                         conf->timeout);

    if (stalls == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    stalls->job.work = ngx_http_jpp_stalls_work;
    stalls->job.next = ngx_http_jpp_stalls_wait;
    stalls->job.release = ngx_http_jpp_stalls_release;

    stalls->resource = question->resource;
    stalls->options = options;
    stalls->threshold = ngx_http_jpp_self.stalling.threshold;

    jpp_arena_init(&stalls->arena, 0);

    return ngx_http_jpp_job_start(&stalls->job, r);
}


static ngx_int_t
ngx_http_jpp_stalls_head(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question)
{
    ngx_http_jpp_answer_t  answer;

    if (ngx_http_jpp_profile_describe(r, &answer, question->resource,
                                      jpp_format_of(&question->args),
                                      (int64_t) ngx_time() * 1000000000)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_jpp_send_head(r, &answer);
}


/* With seconds, only those that begin from now on. */

static ngx_int_t
ngx_http_jpp_stalls_wait(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_stalls_t *stalls = (void *) job;

    uint32_t          seconds;
    struct timespec   now;

    seconds = stalls->options.args.values[JPP_ARG_SECONDS];

    if (seconds == 0) {
        return ngx_http_jpp_stalls_run(job, r);
    }

    if (!ngx_http_jpp_stalls_has_worker(stalls)) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_NO_WORKER);
    }

    (void) clock_gettime(CLOCK_REALTIME, &now);

    stalls->since = (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;

    return ngx_http_jpp_job_pause(job, (ngx_msec_t) seconds * 1000,
                                  ngx_http_jpp_stalls_run);
}


/* One that starts at this moment counts. */

static ngx_uint_t
ngx_http_jpp_stalls_has_worker(const ngx_http_jpp_stalls_t *stalls)
{
    ngx_uint_t                 n;
    jpp_selector_t             selector;
    const ngx_http_jpp_row_t  *rows;

    selector = jpp_args_selector(&stalls->options.args);

    return ngx_http_jpp_choose(&selector, &rows, &n)
           != NGX_DECLINED;
}


static ngx_int_t
ngx_http_jpp_stalls_run(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    return ngx_http_jpp_job_run(job, ngx_http_jpp_stalls_send);
}


static ngx_int_t
ngx_http_jpp_stalls_send(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_stalls_t *stalls = (void *) job;

    ngx_http_jpp_answer_t  answer;

    if (job->rc != JPP_OK) {
        return ngx_http_jpp_refuse_own(r, &job->err);
    }

    /* a worker that has ended is known by its stalls */

    if (stalls->n == 0 && !ngx_http_jpp_stalls_has_worker(stalls)) {
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_NO_WORKER);
    }

    if (ngx_http_jpp_profile_describe(r, &answer, stalls->resource,
                                      jpp_format_of(&stalls->options.args),
                                      stalls->options.time_nanos)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_jpp_deliver(r, &answer, &stalls->arena, stalls->body,
                                stalls->len);
}


static void
ngx_http_jpp_stalls_work(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_stalls_t *stalls = (void *) job;

    jpp_arena_t  arena;

    stalls->n = ngx_http_jpp_stall_list(stalls->stalls);

    ngx_http_jpp_stalls_choose(stalls);

    jpp_arena_init(&arena, NGX_HTTP_JPP_STALLS_CAP);

    job->rc = ngx_http_jpp_stalls_write(stalls, &arena, &job->err);

    jpp_arena_destroy(&arena);
}


static void
ngx_http_jpp_stalls_choose(ngx_http_jpp_stalls_t *stalls)
{
    ngx_uint_t           i, n;
    jpp_stall_t         *stall;
    jpp_selector_t       selector;
    ngx_http_jpp_row_t   row;

    selector = jpp_args_selector(&stalls->options.args);

    for (i = 0, n = 0; i < stalls->n; i++) {
        stall = &stalls->stalls[i];

        row.pid = stall->pid;
        row.index = stall->index;
        row.generation = stall->generation;

        if (stall->time_nanos >= stalls->since
            && ngx_http_jpp_is_chosen(&selector, &row,
                                      ngx_http_jpp_self.generation))
        {
            stalls->stalls[n++] = *stall;
        }
    }

    stalls->n = n;
}


static jpp_code_t
ngx_http_jpp_stalls_write(ngx_http_jpp_stalls_t *stalls, jpp_arena_t *arena,
    jpp_err_t *err)
{
    u_char                title[NGX_HTTP_JPP_STALLS_TITLE];
    uint8_t              *buffer;
    jpp_vec_t            *out;
    jpp_sink_t            sink;
    jpp_code_t            rc;
    jpp_capture_t         capture;
    struct timespec       now;

    buffer = jpp_arena_alloc(arena, JPP_SINK_BUFFER);
    out = jpp_vec_create(arena);

    if (buffer == NULL || out == NULL) {
        return jpp_err_memory(err);
    }

    (void) ngx_snprintf(title, sizeof(title), "%V of nginx on %s%Z",
                        &stalls->resource->name, ngx_http_jpp_self.host);
    (void) clock_gettime(CLOCK_REALTIME, &now);

    stalls->options.title = (char *) title;
    stalls->options.time_nanos = (int64_t) now.tv_sec * 1000000000
                                 + now.tv_nsec;

    if (stalls->since != 0) {
        stalls->options.duration_nanos = stalls->options.time_nanos
                                         - stalls->since;
    }

    stalls->options.comments = ngx_http_jpp_stalls_comments;
    stalls->options.data = stalls;

    ngx_memzero(&capture, sizeof(jpp_capture_t));

    capture.data = (char *) stalls->stalls;
    capture.len = stalls->n * sizeof(jpp_stall_t);

    jpp_sink_init(&sink, buffer, JPP_SINK_BUFFER, jpp_sink_to_vec, out);

    rc = jpp_report(arena, &ngx_http_jpp_self.symbols, &capture, 1,
                    &stalls->options, &sink, err);

    stalls->options.title = "";

    if (rc != JPP_OK) {
        return rc;
    }

    /* to pages of its own: a response may live long */

    stalls->len = out->len;
    stalls->body = jpp_arena_keep(&stalls->arena, out);

    return stalls->body != NULL ? JPP_OK : jpp_err_memory(err);
}


static const char *const *
ngx_http_jpp_stalls_comments(void *data, const jpp_profile_t *profile,
    jpp_arena_t *arena)
{
    ngx_http_jpp_stalls_t *stalls = data;

    return jpp_stall_comments(stalls->stalls, stalls->n, stalls->threshold,
                              arena);
}


static void
ngx_http_jpp_stalls_release(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_stalls_t *stalls = (void *) job;

    jpp_arena_destroy(&stalls->arena);
}
