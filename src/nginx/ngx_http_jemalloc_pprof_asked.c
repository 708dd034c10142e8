
/* accept4() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "ngx_http_jemalloc_pprof_asked.h"
#include "ngx_http_jemalloc_pprof_thread.h"
#include "ngx_http_jemalloc_pprof_wire.h"

#include "jpp_message.h"


/* questions that a worker works on at once: beyond these it is busy */
#define NGX_HTTP_JEMALLOC_PPROF_MAX_ASKED  16

#define NGX_HTTP_JEMALLOC_PPROF_BACKLOG    511

/* what is accepted at once: whoever floods does not stop the event loop */
#define NGX_HTTP_JEMALLOC_PPROF_AT_A_TIME  64

/* how long a worker without descriptors does not accept, ms */
#define NGX_HTTP_JEMALLOC_PPROF_AGAIN      100

/* what the arena of a question needs beside it */
#define NGX_HTTP_JEMALLOC_PPROF_ASK_SPARE  (16 * 1024)


/* A question that another worker asks. */

typedef struct {
    ngx_http_jemalloc_pprof_task_t     task;

    jpp_arena_t                        memory;      /* it is in it, too */
    ngx_connection_t                  *connection;  /* NULL: the asker left */
    int                                fd;          /* of the dump, or -1 */
    unsigned                           is_in_thread;
    unsigned                           is_worked;   /* by the thread */

    jpp_message_question_t             question;
    jpp_message_reply_t                reply;
} ngx_http_jemalloc_pprof_asked_t;


static void ngx_http_jemalloc_pprof_asked_accept(ngx_event_t *ev);
static void ngx_http_jemalloc_pprof_asked_admit(ngx_socket_t s);
static void ngx_http_jemalloc_pprof_asked_accept_failed(ngx_connection_t *c,
    ngx_err_t err);
static void ngx_http_jemalloc_pprof_asked_accept_again(ngx_event_t *ev);
static void ngx_http_jemalloc_pprof_asked_read(ngx_event_t *ev);
static void ngx_http_jemalloc_pprof_asked_start(
    ngx_http_jemalloc_pprof_asked_t *asked);
static void ngx_http_jemalloc_pprof_asked_work(
    ngx_http_jemalloc_pprof_task_t *task);
static void ngx_http_jemalloc_pprof_asked_done(
    ngx_http_jemalloc_pprof_task_t *task);
static void ngx_http_jemalloc_pprof_asked_failed(
    const ngx_http_jemalloc_pprof_asked_t *asked);
static void ngx_http_jemalloc_pprof_asked_reply(
    ngx_http_jemalloc_pprof_asked_t *asked);
static void ngx_http_jemalloc_pprof_asked_leave(
    ngx_http_jemalloc_pprof_asked_t *asked);


static ngx_uint_t   ngx_http_jemalloc_pprof_n_asked;

static ngx_event_t  ngx_http_jemalloc_pprof_asked_again;


ngx_int_t
ngx_http_jemalloc_pprof_asked_listen(ngx_cycle_t *cycle,
    const u_char key[NGX_HTTP_JEMALLOC_PPROF_KEY])
{
    socklen_t           len;
    ngx_socket_t        s;
    struct sockaddr_un  sun;

    s = socket(AF_UNIX, SOCK_SEQPACKET|SOCK_NONBLOCK|SOCK_CLOEXEC, 0);

    if (s == (ngx_socket_t) -1) {
        goto failed;
    }

    len = ngx_http_jemalloc_pprof_wire_name(&sun, ngx_pid, key);

    if (bind(s, (struct sockaddr *) &sun, len) == -1
        || listen(s, NGX_HTTP_JEMALLOC_PPROF_BACKLOG) == -1
        || ngx_http_jemalloc_pprof_wire_connection(s,
               ngx_http_jemalloc_pprof_asked_accept, NULL) == NULL)
    {
        goto failed;
    }

    return NGX_OK;

failed:

    ngx_log_error(NGX_LOG_WARN, cycle->log, ngx_errno,
                  "jemalloc_pprof: this worker cannot listen for the others, "
                  "which will not be able to ask it");

    if (s != (ngx_socket_t) -1) {
        (void) close(s);
    }

    return NGX_ERROR;
}


static void
ngx_http_jemalloc_pprof_asked_accept(ngx_event_t *ev)
{
    ngx_uint_t         n;
    ngx_socket_t       s;
    ngx_connection_t  *c;

    c = ev->data;

    /* the event is level-triggered: for what is left it comes by itself */

    for (n = 0; n < NGX_HTTP_JEMALLOC_PPROF_AT_A_TIME; n++) {

        s = accept4(c->fd, NULL, NULL, SOCK_NONBLOCK|SOCK_CLOEXEC);

        if (s == (ngx_socket_t) -1) {
            ngx_http_jemalloc_pprof_asked_accept_failed(c, ngx_errno);
            return;
        }

        ngx_http_jemalloc_pprof_asked_admit(s);
    }
}


/* Strangers are sent away at once, so that none keeps others waiting. */

static void
ngx_http_jemalloc_pprof_asked_admit(ngx_socket_t s)
{
    ngx_pid_t  pid;

    if (ngx_http_jemalloc_pprof_worker.zone == NULL
        || ngx_http_jemalloc_pprof_wire_process(s, &pid) != NGX_OK
        || !ngx_http_jemalloc_pprof_table_has(
                ngx_http_jemalloc_pprof_worker.zone, pid)
        || ngx_http_jemalloc_pprof_n_asked
           >= NGX_HTTP_JEMALLOC_PPROF_MAX_ASKED
        || ngx_http_jemalloc_pprof_asked_create(s) != NGX_OK)
    {
        (void) close(s);
    }
}


/*
 * Without a descriptor, or memory, the question stays where it is, and the
 * event would come again at once: it is looked at again in a while.
 */

static void
ngx_http_jemalloc_pprof_asked_accept_failed(ngx_connection_t *c, ngx_err_t err)
{
    if (err == NGX_EAGAIN || err == NGX_EINTR || err == NGX_ECONNABORTED) {
        return;
    }

    ngx_log_debug0(NGX_LOG_DEBUG_CORE, c->log, err,
                   "jemalloc_pprof: accept4() failed");

    if (ngx_del_event(c->read, NGX_READ_EVENT, 0) != NGX_OK) {
        return;
    }

    ngx_http_jemalloc_pprof_asked_again.handler =
                                   ngx_http_jemalloc_pprof_asked_accept_again;
    ngx_http_jemalloc_pprof_asked_again.data = c;
    ngx_http_jemalloc_pprof_asked_again.log = c->log;
    ngx_http_jemalloc_pprof_asked_again.cancelable = 1;

    ngx_add_timer(&ngx_http_jemalloc_pprof_asked_again,
                  NGX_HTTP_JEMALLOC_PPROF_AGAIN);
}


static void
ngx_http_jemalloc_pprof_asked_accept_again(ngx_event_t *ev)
{
    ngx_connection_t *c = ev->data;

    if (ngx_add_event(c->read, NGX_READ_EVENT, 0) != NGX_OK) {
        ngx_add_timer(ev, NGX_HTTP_JEMALLOC_PPROF_AGAIN);
    }
}


ngx_int_t
ngx_http_jemalloc_pprof_asked_create(ngx_socket_t s)
{
    jpp_arena_t                       memory;
    ngx_http_jemalloc_pprof_asked_t  *asked;

    jpp_arena_init(&memory, sizeof(ngx_http_jemalloc_pprof_asked_t)
                            + NGX_HTTP_JEMALLOC_PPROF_ASK_SPARE);

    asked = jpp_arena_alloc(&memory, sizeof(ngx_http_jemalloc_pprof_asked_t));

    if (asked == NULL) {
        jpp_arena_destroy(&memory);
        return NGX_ERROR;
    }

    asked->task.work = ngx_http_jemalloc_pprof_asked_work;
    asked->task.done = ngx_http_jemalloc_pprof_asked_done;
    asked->fd = -1;
    asked->memory = memory;

    asked->connection = ngx_http_jemalloc_pprof_wire_connection(s,
                            ngx_http_jemalloc_pprof_asked_read, asked);

    if (asked->connection == NULL) {
        jpp_arena_destroy(&memory);
        return NGX_ERROR;
    }

    ngx_http_jemalloc_pprof_n_asked++;

    return NGX_OK;
}


static void
ngx_http_jemalloc_pprof_asked_read(ngx_event_t *ev)
{
    int                               fd;
    ssize_t                           n;
    uint8_t                           data[JPP_MESSAGE_QUESTION];
    ngx_connection_t                 *c;
    ngx_http_jemalloc_pprof_asked_t  *asked;

    c = ev->data;
    asked = c->data;

    n = ngx_http_jemalloc_pprof_wire_receive(c->fd, data, sizeof(data), &fd);

    if (n == NGX_AGAIN) {
        return;
    }

    /* one question is all there is; while it is worked on, its end may come */

    if (n <= 0 || asked->is_in_thread
        || !jpp_message_question_unpack(&asked->question, data, n))
    {
        if (fd != -1) {
            (void) close(fd);
        }

        ngx_http_jemalloc_pprof_asked_leave(asked);
        return;
    }

    asked->fd = fd;

    ngx_http_jemalloc_pprof_asked_start(asked);
}


static void
ngx_http_jemalloc_pprof_asked_start(ngx_http_jemalloc_pprof_asked_t *asked)
{
    struct stat    st;
    jpp_problem_t  problems[JPP_MAX_PROBLEMS];

    ngx_http_jemalloc_pprof_describe(&asked->reply.worker);

    if (asked->question.kind == JPP_MESSAGE_STATUS) {

        /* jemalloc's statistics wait for a dump to end */

        if (ngx_http_jemalloc_pprof_thread_is_idle()) {
            asked->reply.worker.has_stats =
                            jpp_jemalloc_stats(&asked->reply.worker.stats);
        }

        ngx_http_jemalloc_pprof_asked_reply(asked);
        return;
    }

    /* a dump into anything but a file could block */

    if (asked->question.kind == JPP_MESSAGE_DUMP
        && (asked->fd == -1 || fstat(asked->fd, &st) == -1
            || !S_ISREG(st.st_mode)))
    {
        (void) jpp_err_set(&asked->reply.err, JPP_ERR_SYS,
                           "the file for the dump did not reach it: it has no "
                           "free descriptor (raise worker_rlimit_nofile)");

        ngx_http_jemalloc_pprof_asked_reply(asked);
        return;
    }

    if (asked->question.kind == JPP_MESSAGE_DUMP
        && asked->reply.worker.jemalloc.state != JPP_JEMALLOC_READY)
    {
        (void) jpp_problems(&asked->reply.worker.jemalloc, problems);

        (void) jpp_err_set(&asked->reply.err, JPP_ERR_JEMALLOC, "%s: %s",
                           problems[0].what, problems[0].why);

        ngx_http_jemalloc_pprof_asked_reply(asked);
        return;
    }

    /* stays where there is no thread to work in */

    (void) jpp_err_set(&asked->reply.err, JPP_ERR_SYS,
                       "it cannot have a background thread: the error log "
                       "says why");

    if (ngx_http_jemalloc_pprof_thread_post(&asked->task) == NGX_OK) {
        asked->is_in_thread = 1;
        return;
    }

    ngx_http_jemalloc_pprof_asked_reply(asked);
}


static void
ngx_http_jemalloc_pprof_asked_work(ngx_http_jemalloc_pprof_task_t *task)
{
    struct timespec                   now;
    jpp_message_reply_t              *reply;
    ngx_http_jemalloc_pprof_asked_t  *asked;

    asked = (ngx_http_jemalloc_pprof_asked_t *) task;
    reply = &asked->reply;

    ngx_memzero(&reply->err, sizeof(jpp_err_t));

    asked->is_worked = 1;

    if (asked->question.kind == JPP_MESSAGE_CONTROL) {
        (void) jpp_jemalloc_control(&asked->question.control, &reply->control,
                                    &reply->err);
        return;
    }

    (void) clock_gettime(CLOCK_REALTIME, &now);
    reply->time_nanos = (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;

    (void) jpp_jemalloc_dump(asked->fd, &reply->err);

    reply->worker.has_stats = jpp_jemalloc_stats(&reply->worker.stats);
}


static void
ngx_http_jemalloc_pprof_asked_done(ngx_http_jemalloc_pprof_task_t *task)
{
    ngx_http_jemalloc_pprof_asked_t  *asked;

    asked = (ngx_http_jemalloc_pprof_asked_t *) task;

    asked->is_in_thread = 0;

    if (asked->question.kind == JPP_MESSAGE_CONTROL && asked->is_worked) {
        ngx_http_jemalloc_pprof_worker_changed(&asked->question.control,
                                               &asked->reply.control);
    }

    if (asked->connection == NULL) {
        ngx_http_jemalloc_pprof_asked_failed(asked);
        ngx_http_jemalloc_pprof_asked_leave(asked);
        return;
    }

    ngx_http_jemalloc_pprof_asked_reply(asked);
}


/* Whether or not its asker still hears of it, the status tells it. */

static void
ngx_http_jemalloc_pprof_asked_failed(
    const ngx_http_jemalloc_pprof_asked_t *asked)
{
    if (asked->reply.err.code != JPP_OK) {
        jpp_status_failed(&ngx_http_jemalloc_pprof_worker.last_error,
                          ngx_time(), asked->reply.err.text);
    }
}


static void
ngx_http_jemalloc_pprof_asked_reply(ngx_http_jemalloc_pprof_asked_t *asked)
{
    int      baseline;
    uint8_t  data[JPP_MESSAGE_REPLY];

    baseline = asked->question.kind == JPP_MESSAGE_DUMP
               ? ngx_http_jemalloc_pprof_worker.baseline.fd : -1;

    asked->reply.has_baseline = baseline != -1;

    ngx_http_jemalloc_pprof_asked_failed(asked);

    jpp_message_reply_pack(&asked->reply, data);

    /* whether the asker is still there is its own matter */

    (void) ngx_http_jemalloc_pprof_wire_send(asked->connection->fd, data,
                                             sizeof(data), baseline);

    ngx_http_jemalloc_pprof_asked_leave(asked);
}


/* Close, and free as soon as the thread has done with it. */

static void
ngx_http_jemalloc_pprof_asked_leave(ngx_http_jemalloc_pprof_asked_t *asked)
{
    jpp_arena_t  memory;

    if (asked->connection != NULL) {
        ngx_close_connection(asked->connection);
        asked->connection = NULL;
        ngx_http_jemalloc_pprof_n_asked--;
    }

    if (asked->is_in_thread
        && !ngx_http_jemalloc_pprof_thread_cancel(&asked->task))
    {
        return;
    }

    if (asked->fd != -1) {
        (void) close(asked->fd);
    }

    memory = asked->memory;
    jpp_arena_destroy(&memory);
}
