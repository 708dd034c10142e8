
/*
 * A job: the work behind a resource, which asks workers, runs in the background
 * thread, or does both.  All resources take this one way, and set their own
 * functions in a handler:
 *
 *     init -> ask -> collect -> asked -> run: write -> written -> send
 *                 -> pause   ->
 *
 * A job may outlive its request: when the client leaves, the request detaches,
 * and the job is freed as soon as the thread has left it.  A job checks nginx's
 * exit flags ten times a second: a paused job ends at once, one that works has
 * a moment to finish.  Its timer is not cancelable, so a worker that quits
 * sends its answers first.
 *
 * A job lives in pages of its own: neither in r->pool nor in the heap that is
 * measured.
 */


#include "ngx_http_jpp_http.h"


/* how often a job checks its request and the exit flags, ms */
#define NGX_HTTP_JPP_TICK   100

/* the time that a working job has when nginx exits, ms */
#define NGX_HTTP_JPP_GRACE  300

/*
 * Memory for the work: the model of a profile, its indices and the body are
 * smaller than any dump of jemalloc's, and the names have to fit.
 */
#define NGX_HTTP_JPP_WORK_CAP(max_size)                            \
    (4 * (max_size) + 512 * 1024 * 1024)


/* requests of which each worker says what bounds them */
#define NGX_HTTP_JPP_UNITS  8


/* A body that is being sent. */
typedef struct {
    u_char  *data;
    size_t   len;
} ngx_http_jpp_body_t;


/* all jobs, also those that nobody waits for */
static ngx_uint_t  ngx_http_jpp_n_jobs;


static jpp_code_t
ngx_http_jpp_job_write(ngx_http_jpp_job_t *job)
{
    uint8_t    *buffer;
    jpp_vec_t  *out;
    jpp_code_t  rc;
    jpp_sink_t  sink;

    buffer = jpp_arena_alloc(&job->arena, JPP_SINK_BUFFER);
    out = jpp_vec_create(&job->arena);

    if (buffer == NULL || out == NULL
        || (job->handler->has_telemetry
            && ngx_http_jpp_telemetry_collected(job->telemetry,
                                                job->subscribers[0].collection,
                                                job->subscribers[1].collection,
                                                &job->arena)
               != NGX_OK))
    {
        return jpp_err_memory(&job->err);
    }

    jpp_sink_init(&sink, buffer, JPP_SINK_BUFFER, jpp_sink_to_vec, out);

    rc = job->handler->write(job, &sink);

    if (rc != JPP_OK) {
        return rc;
    }

    if (jpp_sink_flush(&sink) != 0) {
        return jpp_err_memory(&job->err);
    }

    /* to pages of its own: a response may live long */

    job->len = out->len;
    job->body = jpp_arena_object(out->len);

    if (job->body == NULL) {
        return jpp_err_memory(&job->err);
    }

    ngx_memcpy(job->body, out->data, out->len);

    return JPP_OK;
}


static void
ngx_http_jpp_job_work(ngx_http_jpp_task_t *task)
{
    ngx_http_jpp_job_t *job = (void *) task;

    job->rc = ngx_http_jpp_job_write(job);

    jpp_arena_destroy(&job->arena);
}


static void
ngx_http_jpp_job_leave(ngx_http_jpp_job_t *job)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_HTTP_JPP_QUESTIONS; i++) {
        ngx_http_jpp_collect_leave(&job->subscribers[i]);
    }
}


static void
ngx_http_jpp_job_destroy(ngx_http_jpp_job_t *job)
{
    ngx_http_jpp_timer_stop(&job->timer);

    ngx_http_jpp_job_leave(job);

    jpp_arena_destroy(&job->arena);
    jpp_arena_object_destroy(job->body);
    jpp_arena_object_destroy(job);

    ngx_http_jpp_n_jobs--;
}


/* From here on the job leaves the request alone. */

static void
ngx_http_jpp_job_detach(ngx_http_jpp_job_t *job)
{
    job->request = NULL;
    job->cleanup->handler = NULL;

    ngx_http_jpp_timer_stop(&job->timer);

    /* running work cannot be stopped: the job is freed when it is done */

    if (job->is_in_thread && !ngx_http_jpp_thread_cancel(&job->task)) {
        return;
    }

    ngx_http_jpp_job_destroy(job);
}


/*
 * When the client leaves and a post_action is set, nginx sends the request
 * there without a cleanup: it lives on in another location, which would still
 * use it after an answer has freed it.
 */

static ngx_uint_t
ngx_http_jpp_job_lost_request(ngx_http_jpp_job_t *job)
{
    if (!job->request->post_action) {
        return 0;
    }

    ngx_http_jpp_job_detach(job);

    return 1;
}


/*
 * Take the next STEP; where it gives the request its answer, give the request
 * back to nginx.  The end of the thread, a reply, or a timer has called: not
 * the connection.
 */

static void
ngx_http_jpp_job_finish(ngx_http_jpp_job_t *job, ngx_http_jpp_step_pt step)
{
    uint32_t             before;
    ngx_int_t            rc;
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    if (ngx_http_jpp_job_lost_request(job)) {
        return;
    }

    r = job->request;
    c = r->connection;

    before = ngx_http_jpp_owners_begin(r);

    ngx_http_set_log_request(c->log, r);

    job->is_pending = 0;

    rc = step(job, r);

    if (!job->is_pending) {
        ngx_http_jpp_job_detach(job);

        ngx_http_finalize_request(r, rc);
        ngx_http_run_posted_requests(c);
    }

    ngx_http_jpp_owners_end(before);
}


static void
ngx_http_jpp_job_done(ngx_http_jpp_task_t *task)
{
    ngx_http_jpp_job_t *job = (void *) task;

    job->is_in_thread = 0;

    if (job->request == NULL) {
        ngx_http_jpp_job_destroy(job);
        return;
    }

    ngx_http_jpp_job_finish(job, job->next);
}


static ngx_int_t
ngx_http_jpp_job_overdue(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    return job->is_leaving
           ? ngx_http_jpp_refuse(r, NGX_HTTP_JPP_LEAVING)
           : ngx_http_jpp_refuse(r, NGX_HTTP_JPP_OVERDUE,
                                 jpp_duration(job->question.conf->timeout
                                              * 1000000));
}


static void
ngx_http_jpp_job_arm(ngx_http_jpp_job_t *job)
{
    ngx_msec_int_t  left;

    left = (ngx_msec_int_t) (job->deadline - ngx_current_msec);

    ngx_http_jpp_timer_stop(&job->timer);

    if (job->n_collecting != 0 || left > NGX_HTTP_JPP_TICK) {
        left = NGX_HTTP_JPP_TICK;
    }

    ngx_add_timer(&job->timer, (ngx_msec_t) ngx_max(0, left));
}


/*
 * Let nginx notice when the client leaves.  A body that is being discarded has
 * a read handler of its own, and leaves one behind that notices nothing.
 */

static void
ngx_http_jpp_job_watch(ngx_http_request_t *r)
{
    if (r->discard_body || r->read_event_handler == ngx_http_test_reading) {
        return;
    }

    r->read_event_handler = ngx_http_test_reading;

    /* a client that has already left causes no other event */

    if (r->connection->read->ready) {
        ngx_post_event(r->connection->read, &ngx_posted_events);
    }
}


static void
ngx_http_jpp_job_tick(ngx_event_t *ev)
{
    ngx_uint_t           i;
    ngx_http_jpp_job_t  *job;

    job = ngx_queue_data(ev, ngx_http_jpp_job_t, timer);

    if (ngx_http_jpp_job_lost_request(job)) {
        return;
    }

    ngx_http_jpp_job_watch(job->request);

    if (!job->is_leaving && (ngx_exiting || ngx_quit || ngx_terminate)) {

        job->is_leaving = 1;

        if (!job->is_in_thread && job->n_collecting == 0) {
            job->deadline = ngx_current_msec;

        } else if (job->is_patient && job->n_collecting != 0) {

            /* for the answers, and for the report */

            job->deadline = ngx_current_msec + 2 * job->question.conf->timeout;

            for (i = 0; i < job->n; i++) {
                ngx_http_jpp_collect_hurry(&job->subscribers[i]);
            }

        } else if ((ngx_msec_int_t) (job->deadline - ngx_current_msec)
                   > NGX_HTTP_JPP_GRACE)
        {
            job->deadline = ngx_current_msec + NGX_HTTP_JPP_GRACE;
        }
    }

    /* a collection has a timeout of its own */

    if ((ngx_msec_int_t) (job->deadline - ngx_current_msec) > 0
        || (job->n_collecting != 0 && !job->is_leaving))
    {
        ngx_http_jpp_job_arm(job);
        return;
    }

    ngx_http_jpp_job_finish(job, job->is_in_thread || job->is_leaving
                                 ? ngx_http_jpp_job_overdue : job->next);
}


static ngx_http_jpp_job_t *
ngx_http_jpp_job_create(const ngx_http_jpp_question_t *question,
    const ngx_http_jpp_handler_t *handler)
{
    ngx_http_jpp_job_t      *job;
    ngx_http_jpp_inquiry_t  *inquiry;

    job = jpp_arena_object(sizeof(ngx_http_jpp_job_t) + handler->size);
    if (job == NULL) {
        return NULL;
    }

    job->handler = handler;
    job->state = job + 1;
    job->question = *question;

    job->next = handler->ask != NULL ? handler->ask : ngx_http_jpp_job_collect;

    job->task.work = ngx_http_jpp_job_work;
    job->task.done = ngx_http_jpp_job_done;
    job->task.is_brief = handler->is_brief;

    ngx_http_jpp_timer_init(&job->timer, ngx_http_jpp_job_tick);

    jpp_arena_init(&job->arena,
                   NGX_HTTP_JPP_WORK_CAP(question->conf->max_size));

    ngx_http_jpp_n_jobs++;

    if (handler->has_telemetry) {
        (void) ngx_http_jpp_job_question(job, JPP_MESSAGE_STATUS);
    }

    if (handler->has_holders) {
        inquiry = ngx_http_jpp_job_question(job, JPP_MESSAGE_POOLS);

        inquiry->is_spare = 1;
        inquiry->question.pools.wants = JPP_POOLS_REQUESTS;
        inquiry->question.pools.top = NGX_HTTP_JPP_UNITS;
    }

    return job;
}


static void
ngx_http_jpp_job_abandoned(void *data)
{
    ngx_http_jpp_job_t  *job = data;

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "jemalloc_pprof: request is gone, job in thread: %d",
                   (int) job->is_in_thread);

    ngx_http_jpp_job_detach(job);
}


ngx_int_t
ngx_http_jpp_job(ngx_http_request_t *r, const ngx_http_jpp_question_t *question,
    const ngx_http_jpp_handler_t *handler, void *data)
{
    ngx_int_t              rc;
    ngx_uint_t             max;
    ngx_http_cleanup_t    *cln;
    ngx_http_jpp_job_t    *job;
    ngx_http_jpp_answer_t  answer;

    answer = handler->answer;

    if (handler->formats != NULL) {
        answer.type = jpp_args_is_top(&question->args) ? "text/plain"
                                                       : "application/json";
    }

    if (handler->describe != NULL) {
        handler->describe(r, question, &answer);
    }

    if (r->method == NGX_HTTP_HEAD) {
        return ngx_http_jpp_profile_headers(r, &answer, question,
                                            (int64_t) ngx_time() * 1000000000)
               == NGX_OK
               ? ngx_http_jpp_send(r, NGX_HTTP_OK, &answer, NULL, (size_t) -1)
               : NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    job = ngx_http_jpp_job_create(question, handler);
    if (job == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    job->answer = answer;
    job->request = r;

    cln = ngx_http_cleanup_add(r, 0);

    if (cln == NULL
        || (handler->init != NULL && handler->init(job, data) != NGX_OK))
    {
        ngx_http_jpp_job_destroy(job);
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /* what needs little work here finds room beside what needs much */

    max = job->task.is_brief ? 2 * NGX_HTTP_JPP_MAX_JOBS
                             : NGX_HTTP_JPP_MAX_JOBS;

    if (ngx_http_jpp_n_jobs > max) {
        ngx_http_jpp_job_destroy(job);
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_BUSY);
    }

    cln->handler = ngx_http_jpp_job_abandoned;
    cln->data = job;

    job->cleanup = cln;

    rc = job->next(job, r);

    if (!job->is_pending) {
        ngx_http_jpp_job_detach(job);
        return rc;
    }

    ngx_http_jpp_job_watch(r);

    r->main->count++;

    return NGX_DONE;
}


ngx_http_jpp_inquiry_t *
ngx_http_jpp_job_question(ngx_http_jpp_job_t *job, jpp_message_type_t type)
{
    ngx_http_jpp_inquiry_t  *inquiry;

    inquiry = &job->inquiries[job->n++];

    inquiry->question.type = type;
    inquiry->selector = jpp_args_selector(&job->question.args);
    inquiry->snapshot = job->question.at;
    inquiry->max_size = job->question.conf->max_size;
    inquiry->timeout = job->question.conf->timeout;

    return inquiry;
}


/* Wait for DELAY, or until it is finished. */

static void
ngx_http_jpp_job_wait(ngx_http_jpp_job_t *job, ngx_msec_t delay)
{
    job->is_pending = 1;

    /* a job that leaves has one deadline for all of its steps */

    if (!job->is_leaving) {
        job->deadline = ngx_current_msec + delay;
    }

    ngx_http_jpp_job_arm(job);
}


static ngx_int_t
ngx_http_jpp_job_written(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    if (job->rc != JPP_OK) {
        return ngx_http_jpp_refuse_answer(r,
                   &ngx_http_jpp_types[job->inquiries[0].question.type],
                   &job->err);
    }

    return job->handler->written != NULL ? job->handler->written(job, r)
                                         : ngx_http_jpp_job_send(job, r);
}


ngx_int_t
ngx_http_jpp_job_run(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    job->next = ngx_http_jpp_job_written;

    /* kept if no thread can be started */

    job->rc = jpp_err_set(&job->err, JPP_ERR_SYS,
                          "this worker cannot start a background thread: "
                          "the error log says why");

    if (ngx_http_jpp_thread_post(&job->task) != NGX_OK) {

        /* next is called as after a thread that is done, or has failed */

        ngx_http_jpp_job_wait(job, 0);
        return NGX_OK;
    }

    job->is_in_thread = 1;

    ngx_http_jpp_job_wait(job, job->question.conf->timeout);

    return NGX_OK;
}


/* Of those that answered: lack what was allocated while sampling was off. */

static ngx_uint_t
ngx_http_jpp_job_gaps(const ngx_http_jpp_collection_t *co)
{
    ngx_uint_t  i, n;

    for (i = 0, n = 0; co->type->is_sampled && i < co->n; i++) {
        n += co->parts[i].state == NGX_HTTP_JPP_PART_ANSWERED
             && jpp_worker_has_gap(&co->parts[i].reply.worker);
    }

    return n;
}


/*
 * If nobody answered, all workers mostly have the reason of the first.  Whom
 * strict=1 misses is missed in every question, or where a job may lack one, in
 * every one that workers can answer.
 */

static ngx_int_t
ngx_http_jpp_job_judge(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_uint_t                  i;
    ngx_http_jpp_part_t        *part;
    ngx_http_jpp_collection_t  *co;

    job->n_asked = 0;
    job->n_answered = 0;
    job->n_gaps = 0;

    for (i = 0; i < job->n; i++) {
        if (job->inquiries[i].is_spare) {
            continue;
        }

        co = job->subscribers[i].collection;
        part = &co->parts[0];

        if (co->n_answered == 0 && part->reply.err.code == JPP_ERR_FULL) {
            return ngx_http_jpp_refuse_full(r);
        }

        if (co->n_answered == 0 && part->reply.err.code == JPP_ERR_LATE) {

            return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_LATE,
                                       part->row.who.index, part->row.who.pid,
                                       part->reply.err.text);
        }

        if (job->n_answered == job->n_asked
            && (co->n_answered != 0 || !job->may_lack))
        {
            job->n_asked = co->n;
            job->n_answered = co->n_answered;
            job->n_gaps += ngx_http_jpp_job_gaps(co);
        }
    }

    if (job->handler->has_telemetry) {
        job->telemetry = ngx_http_jpp_telemetry(&job->arena);

        if (job->telemetry == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    return job->handler->asked != NULL ? job->handler->asked(job, r)
                                       : ngx_http_jpp_job_run(job, r);
}


/* Afterwards the job may be freed. */

static void
ngx_http_jpp_job_collected(void *data)
{
    ngx_http_jpp_job_t *job = data;

    if (--job->n_collecting == 0) {
        ngx_http_jpp_job_finish(job, ngx_http_jpp_job_judge);
    }
}


ngx_int_t
ngx_http_jpp_job_collect(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_int_t   rc;
    ngx_uint_t  i;

    for (i = 0; i < job->n; i++) {
        job->subscribers[i].ready = ngx_http_jpp_job_collected;
        job->subscribers[i].data = job;

        rc = ngx_http_jpp_collect(&job->subscribers[i], &job->inquiries[i]);

        if (rc == NGX_OK) {
            job->n_collecting++;

        } else if (!job->inquiries[i].is_spare) {
            return rc == NGX_DECLINED
                   ? ngx_http_jpp_refuse(r, NGX_HTTP_JPP_NO_WORKER)
                   : rc == NGX_AGAIN
                   ? ngx_http_jpp_refuse(r, NGX_HTTP_JPP_STARTING)
                   : rc == NGX_BUSY ? ngx_http_jpp_refuse_full(r)
                   : NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    ngx_http_jpp_job_wait(job, job->question.conf->timeout);

    return NGX_OK;
}


ngx_int_t
ngx_http_jpp_job_pause(ngx_http_jpp_job_t *job, ngx_msec_t delay,
    ngx_http_jpp_step_pt next)
{
    job->next = next;

    ngx_http_jpp_job_wait(job, delay);

    return NGX_OK;
}


static void
ngx_http_jpp_deliver_free(void *data)
{
    ngx_http_jpp_body_t *body = data;

    ngx_http_jpp_budget_release(body->len);
    jpp_arena_object_destroy(body->data);
}


/*
 * 200 with the body, or 429 where the budget does not allow it.  The request
 * takes over the memory, which counts in the budget until it is sent.  Pages
 * are small, and are sent while profiles are refused; a difference that was
 * begun is completed.
 */

static ngx_int_t
ngx_http_jpp_deliver(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_pool_cleanup_t   *cln;
    ngx_http_jpp_body_t  *body;

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_http_jpp_body_t));
    if (cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ngx_http_jpp_budget_hold(job->len, job->question.conf->max_size,
                                 job->answer.workers == NULL || job->is_begun)
        != NGX_OK)
    {
        return ngx_http_jpp_refuse_full(r);
    }

    body = cln->data;
    body->data = job->body;
    body->len = job->len;

    job->body = NULL;

    cln->handler = ngx_http_jpp_deliver_free;

    return ngx_http_jpp_send(r, NGX_HTTP_OK, &job->answer, body->data,
                             body->len);
}


ngx_int_t
ngx_http_jpp_job_send(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    u_char                 *workers;
    const char             *where;
    ngx_http_jpp_answer_t  *answer;

    /* the answer needs room that the captures have taken */

    ngx_http_jpp_job_leave(job);

    if (job->question.args.values[JPP_ARG_STRICT] != 0
        && (job->n_answered < job->n_asked || job->n_gaps != 0
            || job->n_unsplit != 0))
    {
        /* The one place that says what strict=1 misses. */

        if (job->n_answered < job->n_asked) {

            where = job->question.resource->evidence.parser != NULL
                    ? "the error log and the comments of the profile without "
                      "strict=1 say why"
                    : job->question.resource->handler->is_change
                    ? "those that did made the change; the error log and the "
                      "answer without strict=1 say which are missing and why"
                    : "the error log and the answer without strict=1 say "
                      "which are missing and why";

            return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_INCOMPLETE,
                                       job->n_answered,
                                       job->n_asked, where);
        }

        return job->n_gaps != 0
               ? ngx_http_jpp_refuse(r, NGX_HTTP_JPP_GAP, job->n_gaps,
                                     job->n_answered)
               : ngx_http_jpp_refuse(r, NGX_HTTP_JPP_UNSPLIT, job->n_unsplit,
                                     job->n_answered);
    }

    answer = &job->answer;
    workers = ngx_pnalloc(r->pool, 2 * NGX_INT_T_LEN + 2);

    if (workers == NULL
        || ngx_http_jpp_profile_headers(r, answer, &job->question,
                                        job->time_nanos)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (job->handler->has_workers) {
        (void) ngx_sprintf(workers, "%ui/%ui%Z", job->n_answered, job->n_asked);
        answer->workers = (char *) workers;
    }

    return answer->is_address
           ? ngx_http_jpp_send_see_other(r, job->body, job->len)
           : ngx_http_jpp_deliver(job, r);
}
