
/*
 * Answers the questions of other workers: listens on this worker's socket,
 * reads one question from each connection, and sends the reply with its files.
 *
 * Only the kernel is trusted about the asker: that it runs as our user and is a
 * process of the registry.  A fixed number of questions is read at a time; the
 * others wait in the socket's queue, where each holds only its connection.
 *
 * The work that an answer takes is done one at a time: in the background
 * thread, or in slices on the event loop; for some types after a wait.  Whoever
 * asks the same before the work has begun gets the same answer, so many askers
 * cost a worker little more than one.  All functions are for the event loop.
 */


#include "ngx_http_jpp_ask.h"
#include "ngx_http_jpp_self.h"
#include "ngx_http_jpp_thread.h"


/* questions that are read at a time */
#define NGX_HTTP_JPP_MAX_QUERIES  16

#define NGX_HTTP_JPP_BACKLOG      511

/* connections accepted at once: a flood does not stop the event loop */
#define NGX_HTTP_JPP_AT_A_TIME    64

/* how long one without descriptors or connections does not accept, ms */
#define NGX_HTTP_JPP_AGAIN        100

/* how often a work that waits looks whether nginx exits, ms */
#define NGX_HTTP_JPP_TICK         100


typedef struct ngx_http_jpp_work_s  ngx_http_jpp_work_t;


/* An asker. */
typedef struct {
    ngx_queue_t           queue;        /* of all that wait for work */
    ngx_http_jpp_work_t  *work;         /* NULL: no question has come */
    ngx_connection_t     *connection;
    unsigned              is_apart:1;   /* its answer takes a while: */
                                               /*   not counted */
} ngx_http_jpp_query_t;


/*
 * From the beginning of a wait to the end of the work nginx stays, since a
 * timer that is not cancelable runs.
 */

struct ngx_http_jpp_work_s {
    ngx_http_jpp_task_t  task;         /* its queue: that of the */
                                               /*   thread, or of slices */
    ngx_queue_t                 queue;        /* of all works */
    ngx_queue_t                 queries;
    const ngx_http_jpp_type_t  *type;
    ngx_http_jpp_reply_t        reply;

    ngx_event_t  timer;        /* of a wait before it */
    ngx_msec_t   deadline;

    unsigned  is_waiting:1;
    unsigned  is_worked:1;  /* work has begun */
};


static void ngx_http_jpp_work_slice(ngx_event_t *ev);


static ngx_uint_t   ngx_http_jpp_n_queries;


/* Accept again: a descriptor may be free, or a question was answered. */

static void
ngx_http_jpp_answerer_resume(ngx_event_t *ev)
{
    ngx_connection_t *c = ev->data;

    if (c == NULL || c->read->active) {
        return;
    }

    if (ngx_add_event(c->read, NGX_READ_EVENT, 0) != NGX_OK) {
        ngx_add_timer(ev, NGX_HTTP_JPP_AGAIN);
    }
}


/* data: the connection that listens, or NULL */
static ngx_event_t  ngx_http_jpp_again = {
    .handler = ngx_http_jpp_answerer_resume,
    .cancelable = 1
};

/* posted or begun */
static ngx_queue_t  ngx_http_jpp_works = {
    &ngx_http_jpp_works, &ngx_http_jpp_works
};

/* of these, those with slices: the first has its turn */
static ngx_queue_t  ngx_http_jpp_sliced = {
    &ngx_http_jpp_sliced, &ngx_http_jpp_sliced
};

static ngx_event_t  ngx_http_jpp_next_slice = {
    .handler = ngx_http_jpp_work_slice
};


/*
 * Without a descriptor, a connection or memory the question stays in the queue,
 * and the event would come again at once: the worker tries again a little
 * later.
 */

static void
ngx_http_jpp_answerer_failed(ngx_connection_t *c, ngx_err_t err)
{
    if (err == NGX_EAGAIN || err == NGX_EINTR || err == NGX_ECONNABORTED) {
        return;
    }

    ngx_log_debug0(NGX_LOG_DEBUG_CORE, c->log, err,
                   "jemalloc_pprof: cannot accept a question");

    if (ngx_del_event(c->read, NGX_READ_EVENT, 0) == NGX_OK) {
        ngx_add_timer(&ngx_http_jpp_again, NGX_HTTP_JPP_AGAIN);
    }
}


static void
ngx_http_jpp_answerer_accept(ngx_event_t *ev)
{
    ngx_uint_t         n;
    ngx_socket_t       s;
    ngx_connection_t  *c;

    c = ev->data;

    /* the event is level-triggered: it comes again for the rest */

    for (n = 0; n < NGX_HTTP_JPP_AT_A_TIME; n++) {

        if (ngx_http_jpp_n_queries >= NGX_HTTP_JPP_MAX_QUERIES) {
            (void) ngx_del_event(c->read, NGX_READ_EVENT, 0);
            return;
        }

        if (ngx_cycle->free_connection_n == 0) {
            ngx_http_jpp_answerer_failed(c, 0);
            return;
        }

        s = accept4(c->fd, NULL, NULL, SOCK_NONBLOCK|SOCK_CLOEXEC);

        if (s == (ngx_socket_t) -1) {
            ngx_http_jpp_answerer_failed(c, ngx_errno);
            return;
        }

        /* Strangers are closed at once, so that none keeps others waiting. */

        if (ngx_http_jpp_self.zone == NULL
            || !ngx_http_jpp_registry_has(ngx_http_jpp_self.zone,
                                          ngx_http_jpp_socket_process(s))
            || ngx_http_jpp_answerer_open(s) != NGX_OK)
        {
            (void) close(s);
        }
    }
}


ngx_int_t
ngx_http_jpp_answerer_listen(ngx_cycle_t *cycle,
    const u_char key[NGX_HTTP_JPP_KEY])
{
    socklen_t           len;
    ngx_socket_t        s;
    ngx_connection_t   *c;
    struct sockaddr_un  sun;

    s = socket(AF_UNIX, SOCK_SEQPACKET|SOCK_NONBLOCK|SOCK_CLOEXEC, 0);

    if (s == (ngx_socket_t) -1) {
        goto failed;
    }

    len = ngx_http_jpp_socket_name(&sun, ngx_pid, key);

    if (bind(s, (struct sockaddr *) &sun, len) == -1
        || listen(s, NGX_HTTP_JPP_BACKLOG) == -1)
    {
        goto failed;
    }

    c = ngx_http_jpp_socket_connection(s, ngx_http_jpp_answerer_accept, NULL);

    if (c == NULL) {
        goto failed;
    }

    ngx_http_jpp_again.data = c;
    ngx_http_jpp_again.log = c->log;

    return NGX_OK;

failed:

    ngx_log_error(NGX_LOG_WARN, cycle->log, ngx_errno,
                  "jemalloc_pprof: this worker cannot listen on its socket, so "
                  "the other workers cannot query it");

    if (s != (ngx_socket_t) -1) {
        (void) close(s);
    }

    return NGX_ERROR;
}


/* There is room for another question. */

static void
ngx_http_jpp_answerer_gone(void)
{
    ngx_http_jpp_n_queries--;

    ngx_http_jpp_answerer_resume(&ngx_http_jpp_again);
}


static void
ngx_http_jpp_work_destroy(ngx_http_jpp_work_t *work)
{
    ngx_http_jpp_timer_stop(&work->timer);

    if (work->type->release != NULL) {
        work->type->release(&work->reply);
    }

    jpp_memfd_close(&work->reply.file);
    jpp_arena_object_destroy(work);
}


static void
ngx_http_jpp_answerer_leave(ngx_http_jpp_query_t *query)
{
    ngx_http_jpp_work_t  *work;

    work = query->work;

    if (work != NULL) {
        ngx_queue_remove(&query->queue);

        /* a running thread cannot be stopped: its work is freed when done */

        if (ngx_queue_empty(&work->queries)
            && ngx_http_jpp_thread_cancel(&work->task))
        {
            ngx_queue_remove(&work->queue);
            ngx_http_jpp_work_destroy(work);
        }
    }

    ngx_close_connection(query->connection);

    if (!query->is_apart) {
        ngx_http_jpp_answerer_gone();
    }

    jpp_arena_object_destroy(query);
}


static void
ngx_http_jpp_answerer_send(ngx_http_jpp_query_t *query,
    const ngx_http_jpp_reply_t *reply)
{
    int                  files[NGX_HTTP_JPP_FILES];
    uint8_t              data[JPP_MESSAGE_REPLY];
    jpp_message_reply_t  message;

    message = reply->reply;

    files[0] = message.err.code == JPP_OK ? reply->file.fd : -1;
    files[1] = files[0] != -1
               && ngx_http_jpp_types[reply->question.type].is_sampled
               && !message.worker.sampler.is_on
               ? ngx_http_jpp_self.baseline.fd : -1;

    for ( ;; ) {
        message.has_file = files[0] != -1;
        message.has_baseline = files[1] != -1;

        jpp_message_reply_pack(&message, data);

        /* without files, the asker may have left, which is no error here */

        if (ngx_http_jpp_socket_send(query->connection->fd, data, sizeof(data),
                                     files)
            != -1
            || files[0] == -1)
        {
            break;
        }

        /* the kernel limits the files that are in flight */

        (void) jpp_err_sys(&message.err, ngx_errno,
                           "it could not send the files of its answer");

        files[0] = -1;
        files[1] = -1;
    }

    ngx_http_jpp_answerer_leave(query);
}


static void
ngx_http_jpp_answerer_error(const ngx_http_jpp_reply_t *reply)
{
    /* status shows a state as a problem; it is not an event */

    if (reply->reply.err.code != JPP_OK
        && reply->reply.err.code != JPP_ERR_STATE)
    {
        jpp_status_failed(&ngx_http_jpp_self.last_error, ngx_time(),
                          reply->reply.err.text);
    }
}


/*
 * One for the same question that has not begun, so its answer will be newer
 * than QUESTION.  A change is made once for each asker, and a time begins with
 * each.
 */

static ngx_http_jpp_work_t *
ngx_http_jpp_work_next(const jpp_message_question_t *question)
{
    ngx_http_jpp_work_t  *work;

    ngx_http_jpp_each_queued(work, &ngx_http_jpp_works) {
        if (!work->type->is_change
            && work->type->wait == NULL
            && !work->is_worked
            && !ngx_http_jpp_thread_has_begun(&work->task)
            && jpp_message_question_is_same(&work->reply.question, question))
        {
            return work;
        }
    }

    return NULL;
}


/* In any thread, before each step: with the first one a file is opened. */

static ngx_uint_t
ngx_http_jpp_work_begin(ngx_http_jpp_work_t *work)
{
    jpp_code_t            rc;
    jpp_message_reply_t  *reply;

    work->is_worked = 1;
    reply = &work->reply.reply;

    if (work->type->file == NULL || work->reply.file.fd != -1) {
        return 1;
    }

    if (reply->time_nanos == 0) {
        reply->time_nanos = jpp_clock_wall();
    }

    rc = jpp_memfd_open(&work->reply.file, ngx_http_jpp_self.directory,
                        &reply->err);

    if (rc == JPP_ERR_DENIED) {
        (void) jpp_err_set(&reply->err, JPP_ERR_DENIED,
                           "memfd_create is forbidden to nginx: set "
                           "jemalloc_pprof_temp_path to a directory for its "
                           "dumps");
    }

    return rc == JPP_OK;
}


static void
ngx_http_jpp_work_run(ngx_http_jpp_task_t *task)
{
    ngx_http_jpp_work_t  *work;

    work = (ngx_http_jpp_work_t *) task;

    ngx_memzero(&work->reply.reply.err, sizeof(jpp_err_t));

    if (ngx_http_jpp_work_begin(work)) {
        work->type->work(&work->reply);
    }
}


static void
ngx_http_jpp_work_done(ngx_http_jpp_task_t *task)
{
    ngx_queue_t           *q;
    jpp_sampler_state_t    sampler;
    ngx_http_jpp_work_t   *work;
    jpp_message_reply_t   *reply;
    ngx_http_jpp_query_t  *query;

    work = (ngx_http_jpp_work_t *) task;

    ngx_queue_remove(&work->queue);

    /* A change may have been made while the work waited. */

    reply = &work->reply.reply;
    sampler = reply->worker.sampler;

    reply->n_resets = ngx_http_jpp_self.n_resets;

    ngx_http_jpp_describe(&reply->worker);

    if (work->is_worked && work->type->is_sampled) {

        /* of the dump: the source may be another by now */

        reply->worker.sampler = sampler;
    }

    if (work->is_worked && work->type->end != NULL) {
        work->type->end(&work->reply);
    }

    /* status shows it even if every asker has left */

    ngx_http_jpp_answerer_error(&work->reply);

    while (!ngx_queue_empty(&work->queries)) {

        q = ngx_queue_head(&work->queries);
        ngx_queue_remove(q);

        query = ngx_queue_data(q, ngx_http_jpp_query_t, queue);
        query->work = NULL;

        ngx_http_jpp_answerer_send(query, &work->reply);
    }

    ngx_http_jpp_work_destroy(work);
}


static ngx_http_jpp_work_t *
ngx_http_jpp_work_create(const ngx_http_jpp_type_t *type,
    const ngx_http_jpp_reply_t *reply)
{
    ngx_http_jpp_work_t  *work;

    work = jpp_arena_object(sizeof(ngx_http_jpp_work_t));
    if (work == NULL) {
        return NULL;
    }

    work->type = type;
    work->reply = *reply;

    work->task.is_brief = type->is_brief;
    work->task.work = ngx_http_jpp_work_run;
    work->task.done = ngx_http_jpp_work_done;

    ngx_queue_init(&work->task.queue);
    ngx_queue_init(&work->queries);
    ngx_queue_insert_tail(&ngx_http_jpp_works, &work->queue);

    return work;
}


/* In the next turn of the event loop, which does not wait for anything then. */

static void
ngx_http_jpp_work_schedule(void)
{
    if (!ngx_queue_empty(&ngx_http_jpp_sliced)) {
        ngx_http_jpp_next_slice.log = ngx_cycle->log;

        ngx_post_event(&ngx_http_jpp_next_slice, &ngx_posted_next_events);
    }
}


/* Where no thread can be started, the work is done, and freed, at once. */

static void
ngx_http_jpp_work_post(ngx_http_jpp_work_t *work)
{
    /* kept if no thread can be started, unless the work is done here */

    (void) jpp_err_set(&work->reply.reply.err, JPP_ERR_SYS,
                       "it cannot start a background thread: the error log "
                       "says why");

    if (ngx_http_jpp_thread_post(&work->task) != NGX_OK) {
        ngx_http_jpp_work_done(&work->task);
    }
}


/*
 * Work that has to be done on the event loop, because it reads what nginx
 * changes there, is done a slice at a time: one work after the other, each
 * slice in an event of its own, which is never inside another handler.  Between
 * two slices nginx handles whatever else there is.
 */

static void
ngx_http_jpp_work_start(ngx_http_jpp_work_t *work)
{
    if (work->type->slice != NULL) {
        ngx_queue_insert_tail(&ngx_http_jpp_sliced, &work->task.queue);
        ngx_http_jpp_work_schedule();

    } else {
        ngx_http_jpp_work_post(work);
    }
}


/*
 * If WORK waits, it does no longer; WHY_EARLY is NULL, or a string that stays.
 * Afterwards it may be freed.
 */

static void
ngx_http_jpp_work_waited(ngx_http_jpp_work_t *work, const char *why_early)
{
    if (work->is_waiting) {
        work->is_waiting = 0;
        work->reply.why_early = why_early;

        ngx_http_jpp_work_start(work);
    }
}


/* Afterwards the work may be freed. */

static void
ngx_http_jpp_work_tick(ngx_event_t *ev)
{
    const char           *why_early;
    ngx_msec_int_t        left;
    ngx_http_jpp_work_t  *work;

    work = ngx_queue_data(ev, ngx_http_jpp_work_t, timer);

    left = (ngx_msec_int_t) (work->deadline - ngx_current_msec);
    why_early = NULL;

    if (left > 0 && (ngx_exiting || ngx_quit || ngx_terminate)) {
        why_early = "it shuts down";
        left = 0;
    }

    ngx_add_timer(ev, left > 0 && left < NGX_HTTP_JPP_TICK
                      ? (ngx_msec_t) left : NGX_HTTP_JPP_TICK);

    if (left <= 0) {
        ngx_http_jpp_work_waited(work, why_early);
    }
}


static void
ngx_http_jpp_work(ngx_http_jpp_query_t *query, const ngx_http_jpp_type_t *type,
    ngx_http_jpp_reply_t *reply)
{
    ngx_uint_t            is_new;
    ngx_http_jpp_work_t  *work;

    work = ngx_http_jpp_work_next(&reply->question);
    is_new = work == NULL;

    if (is_new) {
        work = ngx_http_jpp_work_create(type, reply);
    }

    if (work == NULL) {

        if (type->release != NULL) {
            type->release(reply);
        }

        ngx_http_jpp_answerer_leave(query);
        return;
    }

    query->work = work;
    ngx_queue_insert_tail(&work->queries, &query->queue);

    if (!is_new) {
        return;
    }

    if (type->wait == NULL) {
        ngx_http_jpp_work_start(work);
        return;
    }

    query->is_apart = 1;
    ngx_http_jpp_answerer_gone();

    ngx_http_jpp_timer_init(&work->timer, ngx_http_jpp_work_tick);

    work->deadline = ngx_current_msec + type->wait(&reply->question);
    work->is_waiting = 1;

    ngx_add_timer(&work->timer, NGX_HTTP_JPP_TICK);
}


/* Perhaps before this returns: then QUERY is gone. */

static void
ngx_http_jpp_answerer_answer(ngx_http_jpp_query_t *query,
    const jpp_message_question_t *question)
{
    ngx_http_jpp_reply_t        reply;
    const ngx_http_jpp_type_t  *type;

    type = &ngx_http_jpp_types[question->type];

    ngx_memzero(&reply, sizeof(ngx_http_jpp_reply_t));

    jpp_memfd_init(&reply.file);

    reply.question = *question;
    reply.reply.n_resets = ngx_http_jpp_self.n_resets;

    ngx_http_jpp_describe(&reply.reply.worker);

    if (type->check == NULL
        || type->check(&reply.reply.worker, &reply.reply.err) == JPP_OK)
    {
        if (type->begin != NULL) {
            type->begin(&reply);
        }

        if (reply.reply.err.code == JPP_OK
            && (type->work != NULL || type->slice != NULL))
        {
            ngx_http_jpp_work(query, type, &reply);
            return;
        }
    }

    ngx_http_jpp_answerer_error(&reply);
    ngx_http_jpp_answerer_send(query, &reply);
}


static void
ngx_http_jpp_answerer_read(ngx_event_t *ev)
{
    int                     files[NGX_HTTP_JPP_FILES];
    ssize_t                 n;
    uint8_t                 data[JPP_MESSAGE_QUESTION];
    ngx_connection_t       *c;
    ngx_http_jpp_query_t   *query;
    jpp_message_question_t  question;

    c = ev->data;
    query = c->data;

    n = ngx_http_jpp_socket_receive(c->fd, data, sizeof(data), files);

    /* a question carries no file */

    ngx_http_jpp_socket_close(files);

    if (n == NGX_AGAIN) {
        return;
    }

    /* the end may come while the question is worked on */

    if (n <= 0 || !jpp_message_question_unpack(&question, data, n)) {
        ngx_http_jpp_answerer_leave(query);
        return;
    }

    if (query->work == NULL) {
        ngx_http_jpp_answerer_answer(query, &question);

    } else {

        /* there is one only: asked again, it wants its answer now */

        ngx_http_jpp_work_waited(query->work,
                                 "the worker that asked shuts down");
    }
}


ngx_int_t
ngx_http_jpp_answerer_open(ngx_socket_t s)
{
    ngx_http_jpp_query_t  *query;

    query = jpp_arena_object(sizeof(ngx_http_jpp_query_t));
    if (query == NULL) {
        return NGX_ERROR;
    }

    query->connection = ngx_http_jpp_socket_connection(s,
                              ngx_http_jpp_answerer_read, query);

    if (query->connection == NULL) {
        jpp_arena_object_destroy(query);
        return NGX_ERROR;
    }

    ngx_http_jpp_n_queries++;

    return NGX_OK;
}


/* The thread does the rest, if there is any. */

static void
ngx_http_jpp_work_slice(ngx_event_t *ev)
{
    ngx_int_t             rc;
    ngx_queue_t          *q;
    ngx_http_jpp_work_t  *work;

    /* its last work may have been cancelled */

    if (ngx_queue_empty(&ngx_http_jpp_sliced)) {
        return;
    }

    q = ngx_queue_head(&ngx_http_jpp_sliced);
    work = (ngx_http_jpp_work_t *) ngx_queue_data(q, ngx_http_jpp_task_t,
                                                  queue);

    rc = ngx_http_jpp_work_begin(work) ? work->type->slice(&work->reply)
                                       : NGX_ERROR;

    if (rc != NGX_AGAIN) {
        ngx_queue_remove(&work->task.queue);

        if (rc == NGX_OK) {
            ngx_http_jpp_work_post(work);

        } else {
            ngx_http_jpp_work_done(&work->task);
        }
    }

    ngx_http_jpp_work_schedule();
}
