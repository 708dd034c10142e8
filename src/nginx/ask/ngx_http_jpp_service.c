
#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_http_jpp_self.h"
#include "ngx_http_jpp_service.h"
#include "ngx_http_jpp_slices.h"

#include "jpp_arena.h"
#include "jpp_status.h"


/*
 * Some seconds that pass before the work of an answer begins.  They end early
 * when nginx does.  From the beginning of the wait to the end of the work nginx
 * stays, since a timer that is not cancelable runs.
 *
 * All functions are for the event loop.
 */


typedef struct ngx_http_jpp_wait_s  ngx_http_jpp_wait_t;


/* zeroed, it does not wait */
struct ngx_http_jpp_wait_s {
    ngx_event_t   timer;
    ngx_msec_t    deadline;
    ngx_uint_t    is_waiting;

    /* WHY_EARLY is NULL, or why it was not as long as it should have been */
    void        (*over)(ngx_http_jpp_wait_t *wait, const char *why_early);
};


/* how often it looks whether nginx exits, ms */
#define NGX_HTTP_JPP_TICK  100


static void ngx_http_jpp_wait_tick(ngx_event_t *ev);
static void ngx_http_jpp_wait_over(ngx_http_jpp_wait_t *wait,
    const char *why_early);


/* Call WAIT's function over, which is set, in DELAY ms. */

static void
ngx_http_jpp_wait(ngx_http_jpp_wait_t *wait, ngx_msec_t delay)
{
    wait->timer.handler = ngx_http_jpp_wait_tick;
    wait->timer.data = &ngx_http_jpp_no_connection;
    wait->timer.log = ngx_cycle->log;

    wait->deadline = ngx_current_msec + delay;
    wait->is_waiting = 1;

    ngx_add_timer(&wait->timer, NGX_HTTP_JPP_TICK);
}


/* Afterwards what WAIT belongs to may be freed. */

static void
ngx_http_jpp_wait_tick(ngx_event_t *ev)
{
    const char           *why_early;
    ngx_msec_int_t        left;
    ngx_http_jpp_wait_t  *wait;

    wait = ngx_queue_data(ev, ngx_http_jpp_wait_t, timer);

    left = (ngx_msec_int_t) (wait->deadline - ngx_current_msec);
    why_early = NULL;

    if (left > 0 && (ngx_exiting || ngx_quit || ngx_terminate)) {
        why_early = "it shuts down";
        left = 0;
    }

    ngx_add_timer(ev, left > 0 && left < NGX_HTTP_JPP_TICK
                      ? (ngx_msec_t) left : NGX_HTTP_JPP_TICK);

    if (left <= 0) {
        ngx_http_jpp_wait_over(wait, why_early);
    }
}


/* End WAIT now, if it is one; WHY_EARLY is a string that stays. */

static void
ngx_http_jpp_wait_over(ngx_http_jpp_wait_t *wait, const char *why_early)
{
    if (wait->is_waiting) {
        wait->is_waiting = 0;
        wait->over(wait, why_early);
    }
}


/* The work is done, or will not be.  Allowed at any time. */

static void
ngx_http_jpp_wait_end(ngx_http_jpp_wait_t *wait)
{
    wait->is_waiting = 0;

    if (wait->timer.timer_set) {
        ngx_del_timer(&wait->timer);
    }
}


struct ngx_http_jpp_work_s {
    ngx_http_jpp_task_t                     task;

    ngx_queue_t                             queue;      /* of all works */
    ngx_queue_t                             callers;
    const ngx_http_jpp_kind_t              *kind;
    unsigned                                is_worked:1;  /* work has begun */
    unsigned                                is_in_thread:1;

    ngx_http_jpp_wait_t          wait;       /* before it */

    ngx_http_jpp_reply_t                    reply;
};


static ngx_int_t ngx_http_jpp_serve_by_work(ngx_http_jpp_caller_t *caller,
    const ngx_http_jpp_kind_t *kind, ngx_http_jpp_reply_t *reply);
static ngx_http_jpp_work_t *ngx_http_jpp_work_next(
    const jpp_message_question_t *question);
static ngx_uint_t ngx_http_jpp_work_has_begun(const ngx_http_jpp_work_t *work);
static ngx_http_jpp_work_t *ngx_http_jpp_work_create(
    const ngx_http_jpp_kind_t *kind, const ngx_http_jpp_reply_t *reply);
static void ngx_http_jpp_work_waited(ngx_http_jpp_wait_t *wait,
    const char *why_early);
static ngx_int_t ngx_http_jpp_work_post(ngx_http_jpp_work_t *work);
static ngx_int_t ngx_http_jpp_work_post_thread(ngx_http_jpp_work_t *work);
static void ngx_http_jpp_work_run(ngx_http_jpp_task_t *task);
static ngx_int_t ngx_http_jpp_work_slice(ngx_http_jpp_task_t *task);
static void ngx_http_jpp_work_sliced(ngx_http_jpp_task_t *task);
static void ngx_http_jpp_work_done(ngx_http_jpp_task_t *task);
static void ngx_http_jpp_work_describe(ngx_http_jpp_work_t *work);
static ngx_uint_t ngx_http_jpp_work_cancel(ngx_http_jpp_work_t *work);
static void ngx_http_jpp_work_destroy(ngx_http_jpp_work_t *work);
static void ngx_http_jpp_serve_record_error(const ngx_http_jpp_reply_t *reply);


/* posted or begun */
static ngx_queue_t  ngx_http_jpp_works = {
    &ngx_http_jpp_works, &ngx_http_jpp_works
};


ngx_int_t
ngx_http_jpp_serve(ngx_http_jpp_caller_t *caller,
    const jpp_message_question_t *question)
{
    ngx_http_jpp_reply_t        reply;
    const ngx_http_jpp_kind_t  *kind;

    kind = &ngx_http_jpp_kinds[question->kind];

    ngx_memzero(&reply, sizeof(ngx_http_jpp_reply_t));

    jpp_memfd_init(&reply.file);

    reply.question = *question;
    reply.reply.n_resets = ngx_http_jpp_self.n_resets;

    ngx_http_jpp_describe(&reply.reply.worker);

    if (kind->check == NULL
        || kind->check(&reply.reply.worker, &reply.reply.err) == JPP_OK)
    {
        if (kind->begin != NULL) {
            kind->begin(&reply);
        }

        if (reply.reply.err.code == JPP_OK
            && (kind->work != NULL || kind->slice != NULL))
        {
            return ngx_http_jpp_serve_by_work(caller, kind, &reply);
        }
    }

    ngx_http_jpp_serve_record_error(&reply);
    caller->answer(caller, &reply);

    return NGX_OK;
}


static ngx_int_t
ngx_http_jpp_serve_by_work(ngx_http_jpp_caller_t *caller,
    const ngx_http_jpp_kind_t *kind, ngx_http_jpp_reply_t *reply)
{
    ngx_http_jpp_work_t  *work;

    work = ngx_http_jpp_work_next(&reply->question);

    if (work != NULL) {
        caller->work = work;
        ngx_queue_insert_tail(&work->callers, &caller->queue);

        return NGX_OK;
    }

    work = ngx_http_jpp_work_create(kind, reply);

    if (work == NULL) {

        if (kind->release != NULL) {
            kind->release(reply);
        }

        return NGX_ERROR;
    }

    caller->work = work;
    ngx_queue_insert_tail(&work->callers, &caller->queue);

    if (kind->wait != NULL) {
        work->wait.over = ngx_http_jpp_work_waited;
        ngx_http_jpp_wait(&work->wait, kind->wait(&reply->question));

        return NGX_AGAIN;
    }

    if (ngx_http_jpp_work_post(work) != NGX_OK) {
        ngx_http_jpp_work_done(&work->task);
    }

    return NGX_OK;
}


/*
 * One for the same question that has not begun, so its answer will be newer
 * than QUESTION.  A change is made once for each asker, and a time begins with
 * each.
 */

static ngx_http_jpp_work_t *
ngx_http_jpp_work_next(const jpp_message_question_t *question)
{
    ngx_queue_t          *q;
    ngx_http_jpp_work_t  *work;

    for (q = ngx_queue_head(&ngx_http_jpp_works);
         q != ngx_queue_sentinel(&ngx_http_jpp_works);
         q = ngx_queue_next(q))
    {
        work = ngx_queue_data(q, ngx_http_jpp_work_t, queue);

        if (!work->kind->is_change
            && work->kind->wait == NULL
            && !ngx_http_jpp_work_has_begun(work)
            && jpp_message_question_is_same(&work->reply.question, question))
        {
            return work;
        }
    }

    return NULL;
}


static ngx_uint_t
ngx_http_jpp_work_has_begun(const ngx_http_jpp_work_t *work)
{
    return work->is_in_thread
           ? work->is_worked
             || ngx_http_jpp_thread_has_begun(&work->task)
           : ngx_http_jpp_slices_has_begun(&work->task);
}


static ngx_http_jpp_work_t *
ngx_http_jpp_work_create(const ngx_http_jpp_kind_t *kind,
    const ngx_http_jpp_reply_t *reply)
{
    ngx_http_jpp_work_t  *work;

    work = jpp_arena_object(sizeof(ngx_http_jpp_work_t));
    if (work == NULL) {
        return NULL;
    }

    work->kind = kind;
    work->reply = *reply;

    work->task.is_brief = kind->is_brief;
    work->task.work = ngx_http_jpp_work_run;
    work->task.slice = ngx_http_jpp_work_slice;
    work->task.done = ngx_http_jpp_work_done;

    ngx_queue_init(&work->callers);
    ngx_queue_insert_tail(&ngx_http_jpp_works, &work->queue);

    return work;
}


/* Afterwards the work may be freed. */

static void
ngx_http_jpp_work_waited(ngx_http_jpp_wait_t *wait, const char *why_early)
{
    ngx_http_jpp_work_t  *work;

    work = ngx_queue_data(wait, ngx_http_jpp_work_t, wait);

    work->reply.why_early = why_early;

    if (ngx_http_jpp_work_post(work) != NGX_OK) {
        ngx_http_jpp_work_done(&work->task);
    }
}


static ngx_int_t
ngx_http_jpp_work_post(ngx_http_jpp_work_t *work)
{
    if (work->kind->slice != NULL) {
        work->task.done = ngx_http_jpp_work_sliced;

        ngx_http_jpp_slices_post(&work->task);

        return NGX_OK;
    }

    return ngx_http_jpp_work_post_thread(work);
}


static ngx_int_t
ngx_http_jpp_work_post_thread(ngx_http_jpp_work_t *work)
{
    work->is_in_thread = 1;
    work->task.done = ngx_http_jpp_work_done;

    /* kept if no thread can be started, unless the work is done here */

    (void) jpp_err_set(&work->reply.reply.err, JPP_ERR_SYS,
                       "it cannot start a background thread: the error log "
                       "says why");

    if (ngx_http_jpp_thread_post(&work->task) == NGX_OK) {
        return NGX_OK;
    }

    if (work->kind->is_brief) {
        ngx_http_jpp_work_run(&work->task);
    }

    return NGX_ERROR;
}


static void
ngx_http_jpp_work_run(ngx_http_jpp_task_t *task)
{
    ngx_uint_t            is_ready;
    ngx_http_jpp_work_t  *work;

    work = (ngx_http_jpp_work_t *) task;

    ngx_memzero(&work->reply.reply.err, sizeof(jpp_err_t));

    /* where slices have begun it, there is a file */

    is_ready = work->is_worked || work->kind->file == NULL;
    work->is_worked = 1;

    if (is_ready || ngx_http_jpp_reply_open(&work->reply) == JPP_OK) {
        work->kind->work(&work->reply);
    }
}


static ngx_int_t
ngx_http_jpp_work_slice(ngx_http_jpp_task_t *task)
{
    ngx_http_jpp_work_t  *work;

    work = (ngx_http_jpp_work_t *) task;

    if (!work->is_worked) {
        work->is_worked = 1;

        if (work->kind->file != NULL
            && ngx_http_jpp_reply_open(&work->reply) != JPP_OK)
        {
            return NGX_ERROR;
        }
    }

    return work->kind->slice(&work->reply);
}


/* Where the kind has both, the thread does the rest. */

static void
ngx_http_jpp_work_sliced(ngx_http_jpp_task_t *task)
{
    ngx_http_jpp_work_t  *work;

    work = (ngx_http_jpp_work_t *) task;

    if (work->kind->work == NULL || work->reply.reply.err.code != JPP_OK
        || ngx_http_jpp_work_post_thread(work) != NGX_OK)
    {
        ngx_http_jpp_work_done(task);
    }
}


static void
ngx_http_jpp_work_done(ngx_http_jpp_task_t *task)
{
    ngx_queue_t            *q;
    ngx_http_jpp_work_t    *work;
    ngx_http_jpp_caller_t  *caller;

    work = (ngx_http_jpp_work_t *) task;

    ngx_queue_remove(&work->queue);

    ngx_http_jpp_work_describe(work);

    if (work->is_worked && work->kind->end != NULL) {
        work->kind->end(&work->reply);
    }

    /* status shows it even if every caller has left */

    ngx_http_jpp_serve_record_error(&work->reply);

    while (!ngx_queue_empty(&work->callers)) {

        q = ngx_queue_head(&work->callers);
        ngx_queue_remove(q);

        caller = ngx_queue_data(q, ngx_http_jpp_caller_t, queue);
        caller->work = NULL;

        caller->answer(caller, &work->reply);
    }

    ngx_http_jpp_work_destroy(work);
}


/* A change may have been made while the work waited. */

static void
ngx_http_jpp_work_describe(ngx_http_jpp_work_t *work)
{
    jpp_worker_t          was;
    jpp_message_reply_t  *reply;

    reply = &work->reply.reply;
    was = reply->worker;

    reply->n_resets = ngx_http_jpp_self.n_resets;

    ngx_http_jpp_describe(&reply->worker);

    if (work->is_worked && work->kind->is_sampled) {

        /* of the dump: the source may be another by now */

        reply->worker.sampler = was.sampler;
    }

    reply->worker.has_stats = was.has_stats;
    reply->worker.stats = was.stats;
    reply->worker.activity = was.activity;
}


void
ngx_http_jpp_serve_hurry(ngx_http_jpp_caller_t *caller)
{
    if (caller->work != NULL) {
        ngx_http_jpp_wait_over(&caller->work->wait,
                               "the worker that asked shuts down");
    }
}


void
ngx_http_jpp_serve_leave(ngx_http_jpp_caller_t *caller)
{
    ngx_http_jpp_work_t  *work;

    work = caller->work;

    if (work == NULL) {
        return;
    }

    ngx_queue_remove(&caller->queue);
    caller->work = NULL;

    if (ngx_queue_empty(&work->callers) && ngx_http_jpp_work_cancel(work)) {
        ngx_queue_remove(&work->queue);
        ngx_http_jpp_work_destroy(work);
    }
}


/* A running thread cannot be stopped: its work is freed when it is done. */

static ngx_uint_t
ngx_http_jpp_work_cancel(ngx_http_jpp_work_t *work)
{
    if (work->wait.is_waiting) {
        return 1;
    }

    if (work->is_in_thread) {
        return ngx_http_jpp_thread_cancel(&work->task);
    }

    ngx_http_jpp_slices_cancel(&work->task);

    return 1;
}


static void
ngx_http_jpp_work_destroy(ngx_http_jpp_work_t *work)
{
    ngx_http_jpp_wait_end(&work->wait);

    if (work->kind->release != NULL) {
        work->kind->release(&work->reply);
    }

    jpp_memfd_close(&work->reply.file);
    jpp_arena_object_destroy(work);
}


static void
ngx_http_jpp_serve_record_error(const ngx_http_jpp_reply_t *reply)
{
    /* status shows a state as a problem; it is not an event */

    if (reply->reply.err.code != JPP_OK
        && reply->reply.err.code != JPP_ERR_STATE)
    {
        jpp_status_failed(&ngx_http_jpp_self.last_error, ngx_time(),
                          reply->reply.err.text);
    }
}
