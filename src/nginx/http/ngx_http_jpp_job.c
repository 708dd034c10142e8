
#include "ngx_http_jpp_job.h"
#include "ngx_http_jpp_owners.h"
#include "ngx_http_jpp_refuse.h"
#include "ngx_http_jpp_self.h"

#include "jpp_arena.h"


/* how often a job checks its request and the exit flags, ms */
#define NGX_HTTP_JPP_TICK   100

/* the time that a working job has when nginx exits, ms */
#define NGX_HTTP_JPP_GRACE  300


static void ngx_http_jpp_job_collected(void *data);
static ngx_int_t ngx_http_jpp_job_judge(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static void ngx_http_jpp_job_wait(ngx_http_jpp_job_t *job, ngx_msec_t delay);
static void ngx_http_jpp_job_work(ngx_http_jpp_task_t *task);
static void ngx_http_jpp_job_done(ngx_http_jpp_task_t *task);
static void ngx_http_jpp_job_tick(ngx_event_t *ev);
static ngx_int_t ngx_http_jpp_job_overdue(ngx_http_jpp_job_t *job,
    ngx_http_request_t *r);
static void ngx_http_jpp_job_arm(ngx_http_jpp_job_t *job);
static void ngx_http_jpp_job_watch(ngx_http_request_t *r);
static ngx_uint_t ngx_http_jpp_job_lost_request(ngx_http_jpp_job_t *job);
static void ngx_http_jpp_job_finish(ngx_http_jpp_job_t *job,
    ngx_http_jpp_job_next_pt answer);
static void ngx_http_jpp_job_abandoned(void *data);
static void ngx_http_jpp_job_detach(ngx_http_jpp_job_t *job);


/* all jobs, also those that nobody waits for */
static ngx_uint_t  ngx_http_jpp_n_jobs;


ngx_http_jpp_job_t *
ngx_http_jpp_job_create(size_t size, ngx_msec_t timeout)
{
    ngx_http_jpp_job_t  *job;

    job = jpp_arena_object(size);
    if (job == NULL) {
        return NULL;
    }

    job->timeout = timeout;

    job->task.work = ngx_http_jpp_job_work;
    job->task.done = ngx_http_jpp_job_done;

    job->timer.handler = ngx_http_jpp_job_tick;
    job->timer.data = &ngx_http_jpp_no_connection;
    job->timer.log = ngx_cycle->log;

    ngx_http_jpp_n_jobs++;

    return job;
}


ngx_int_t
ngx_http_jpp_job_start(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_int_t            rc;
    ngx_uint_t           max;
    ngx_http_cleanup_t  *cln;

    /* what needs little work here finds room beside what needs much */

    max = NGX_HTTP_JPP_MAX_JOBS;

    if (job->work == NULL || job->task.is_brief) {
        max *= 2;
    }

    if (ngx_http_jpp_n_jobs > max) {
        ngx_http_jpp_job_destroy(job);
        return ngx_http_jpp_refuse(r, NGX_HTTP_JPP_BUSY);
    }

    cln = ngx_http_cleanup_add(r, 0);

    if (cln == NULL) {
        ngx_http_jpp_job_destroy(job);
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cln->handler = ngx_http_jpp_job_abandoned;
    cln->data = job;

    job->request = r;
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


ngx_int_t
ngx_http_jpp_job_run(ngx_http_jpp_job_t *job, ngx_http_jpp_job_next_pt next)
{
    job->next = next;

    /* kept if no thread can be started */

    job->rc = jpp_err_set(&job->err, JPP_ERR_SYS,
                          "this worker cannot start a background thread: "
                          "the error log says why");

    if (ngx_http_jpp_thread_post(&job->task) != NGX_OK) {

        /* next is called as after a thread that is done, or has failed */

        if (job->task.is_brief) {
            job->work(job);
        }

        ngx_http_jpp_job_wait(job, 0);
        return NGX_OK;
    }

    job->is_in_thread = 1;

    ngx_http_jpp_job_wait(job, job->timeout);

    return NGX_OK;
}


ngx_int_t
ngx_http_jpp_job_collect(ngx_http_jpp_job_t *job, ngx_http_request_t *r,
    ngx_http_jpp_reader_t *readers, const ngx_http_jpp_inquiry_t *inquiries,
    ngx_uint_t n, ngx_http_jpp_job_next_pt next)
{
    ngx_int_t   rc;
    ngx_uint_t  i;

    job->next = next;
    job->readers = readers;
    job->n_readers = n;

    for (i = 0; i < n; i++) {
        readers[i].ready = ngx_http_jpp_job_collected;
        readers[i].data = job;

        rc = ngx_http_jpp_collect(&readers[i], &inquiries[i]);

        if (rc != NGX_OK) {
            return ngx_http_jpp_refuse_uncollected(r, rc);
        }
    }

    job->n_collecting = n;

    ngx_http_jpp_job_wait(job, job->timeout);

    return NGX_OK;
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


/* If nobody answered, all workers mostly have the reason of the first. */

static ngx_int_t
ngx_http_jpp_job_judge(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    jpp_code_t                  code;
    ngx_uint_t                  i;
    ngx_http_jpp_collection_t  *co;

    for (i = 0; i < job->n_readers; i++) {
        co = job->readers[i].collection;
        code = co->parts[0].reply.err.code;

        if (co->n_answered == 0
            && (code == JPP_ERR_LATE || code == JPP_ERR_FULL))
        {
            return ngx_http_jpp_refuse_unanswered(r, &co->parts[0]);
        }
    }

    return job->next(job, r);
}


/* Wait for DELAY, or until it is finished. */

static void
ngx_http_jpp_job_wait(ngx_http_jpp_job_t *job, ngx_msec_t delay)
{
    job->is_pending = 1;
    job->is_paused = 0;

    /* a job that leaves has one deadline for all of its steps */

    if (!job->is_leaving) {
        job->deadline = ngx_current_msec + delay;
    }

    ngx_http_jpp_job_arm(job);
}


ngx_int_t
ngx_http_jpp_job_pause(ngx_http_jpp_job_t *job, ngx_msec_t delay,
    ngx_http_jpp_job_next_pt next)
{
    job->next = next;

    ngx_http_jpp_job_wait(job, delay);

    job->is_paused = 1;

    return NGX_OK;
}


static void
ngx_http_jpp_job_work(ngx_http_jpp_task_t *task)
{
    ngx_http_jpp_job_t *job = (void *) task;

    job->work(job);
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

        if (job->is_paused) {
            job->deadline = ngx_current_msec;

        } else if (job->is_patient && job->n_collecting != 0) {

            /* for the answers, and for the report */

            job->deadline = ngx_current_msec + 2 * job->timeout;

            for (i = 0; i < job->n_readers; i++) {
                ngx_http_jpp_collect_hurry(&job->readers[i]);
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

    ngx_http_jpp_job_finish(job, job->is_in_thread
                                            || job->is_leaving
                            ? ngx_http_jpp_job_overdue
                            : job->next);
}


static ngx_int_t
ngx_http_jpp_job_overdue(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    return job->is_leaving
           ? ngx_http_jpp_refuse(r, NGX_HTTP_JPP_LEAVING)
           : ngx_http_jpp_refuse(r, NGX_HTTP_JPP_OVERDUE, job->timeout);
}


static void
ngx_http_jpp_job_arm(ngx_http_jpp_job_t *job)
{
    ngx_msec_int_t  left;

    left = (ngx_msec_int_t) (job->deadline - ngx_current_msec);

    if (job->timer.timer_set) {
        ngx_del_timer(&job->timer);
    }

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
 * Give the request its ANSWER, and the request back to nginx.  The end of the
 * thread, or a timer, has called: not the connection.
 */

static void
ngx_http_jpp_job_finish(ngx_http_jpp_job_t *job,
    ngx_http_jpp_job_next_pt answer)
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

    rc = answer(job, r);

    if (!job->is_pending) {
        ngx_http_jpp_job_detach(job);

        ngx_http_finalize_request(r, rc);
        ngx_http_run_posted_requests(c);
    }

    ngx_http_jpp_owners_end(before);
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


/* From here on the job leaves the request alone. */

static void
ngx_http_jpp_job_detach(ngx_http_jpp_job_t *job)
{
    job->request = NULL;
    job->cleanup->handler = NULL;

    if (job->timer.timer_set) {
        ngx_del_timer(&job->timer);
    }

    /* running work cannot be stopped: the job is freed when it is done */

    if (job->is_in_thread && !ngx_http_jpp_thread_cancel(&job->task)) {
        return;
    }

    ngx_http_jpp_job_destroy(job);
}


void
ngx_http_jpp_job_destroy(ngx_http_jpp_job_t *job)
{
    if (job->timer.timer_set) {
        ngx_del_timer(&job->timer);
    }

    if (job->release != NULL) {
        job->release(job);
    }

    jpp_arena_object_destroy(job);

    ngx_http_jpp_n_jobs--;
}
