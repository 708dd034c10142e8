
/* accept4() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "ngx_http_jpp_answerer.h"
#include "ngx_http_jpp_self.h"
#include "ngx_http_jpp_service.h"
#include "ngx_http_jpp_socket.h"

#include "jpp_arena.h"


/* questions that are read at a time */
#define NGX_HTTP_JPP_MAX_QUERIES  16

#define NGX_HTTP_JPP_BACKLOG      511

/* connections accepted at once: a flood does not stop the event loop */
#define NGX_HTTP_JPP_AT_A_TIME    64

/* how long one without descriptors or connections does not accept, ms */
#define NGX_HTTP_JPP_AGAIN        100


/* An asker. */
typedef struct {
    ngx_http_jpp_caller_t   caller;
    ngx_connection_t       *connection;
    unsigned                           is_asked;   /* the question has come */
    unsigned                           is_apart;   /* its answer takes a */
                                                   /*   while: not counted */
} ngx_http_jpp_query_t;


static void ngx_http_jpp_answerer_accept(ngx_event_t *ev);
static void ngx_http_jpp_answerer_admit(ngx_socket_t s);
static void ngx_http_jpp_answerer_failed(ngx_connection_t *c, ngx_err_t err);
static ngx_int_t ngx_http_jpp_answerer_pause(ngx_connection_t *c);
static void ngx_http_jpp_answerer_resume(ngx_event_t *ev);
static void ngx_http_jpp_answerer_read(ngx_event_t *ev);
static void ngx_http_jpp_answerer_reply(ngx_http_jpp_caller_t *caller,
    const ngx_http_jpp_reply_t *reply);
static void ngx_http_jpp_answerer_leave(ngx_http_jpp_query_t *query);
static void ngx_http_jpp_answerer_gone(void);


static ngx_uint_t   ngx_http_jpp_n_queries;

/* data: the connection that listens, or NULL */
static ngx_event_t  ngx_http_jpp_again = {
    .handler = ngx_http_jpp_answerer_resume,
    .cancelable = 1
};


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
            (void) ngx_http_jpp_answerer_pause(c);
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

        ngx_http_jpp_answerer_admit(s);
    }
}


/* Strangers are closed at once, so that none keeps others waiting. */

static void
ngx_http_jpp_answerer_admit(ngx_socket_t s)
{
    ngx_pid_t  pid;

    if (ngx_http_jpp_self.zone == NULL
        || ngx_http_jpp_socket_process(s, &pid) != NGX_OK
        || !ngx_http_jpp_registry_has(ngx_http_jpp_self.zone, pid)
        || ngx_http_jpp_answerer_open(s) != NGX_OK)
    {
        (void) close(s);
    }
}


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

    if (ngx_http_jpp_answerer_pause(c) == NGX_OK) {
        ngx_add_timer(&ngx_http_jpp_again, NGX_HTTP_JPP_AGAIN);
    }
}


static ngx_int_t
ngx_http_jpp_answerer_pause(ngx_connection_t *c)
{
    return ngx_del_event(c->read, NGX_READ_EVENT, 0);
}


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


ngx_int_t
ngx_http_jpp_answerer_open(ngx_socket_t s)
{
    ngx_http_jpp_query_t  *query;

    query = jpp_arena_object(sizeof(ngx_http_jpp_query_t));
    if (query == NULL) {
        return NGX_ERROR;
    }

    query->caller.answer = ngx_http_jpp_answerer_reply;

    query->connection = ngx_http_jpp_socket_connection(s,
                              ngx_http_jpp_answerer_read, query);

    if (query->connection == NULL) {
        jpp_arena_object_destroy(query);
        return NGX_ERROR;
    }

    ngx_http_jpp_n_queries++;

    return NGX_OK;
}


static void
ngx_http_jpp_answerer_read(ngx_event_t *ev)
{
    int                                 files[NGX_HTTP_JPP_FILES];
    ssize_t                             n;
    uint8_t                             data[JPP_MESSAGE_QUESTION];
    ngx_int_t                           rc;
    ngx_connection_t                   *c;
    jpp_message_question_t              question;
    ngx_http_jpp_query_t  *query;

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

    /* there is one only: asked again, it wants its answer now */

    if (query->is_asked) {
        ngx_http_jpp_serve_hurry(&query->caller);
        return;
    }

    query->is_asked = 1;

    rc = ngx_http_jpp_serve(&query->caller, &question);

    if (rc == NGX_ERROR) {
        ngx_http_jpp_answerer_leave(query);

    } else if (rc == NGX_AGAIN) {
        query->is_apart = 1;
        ngx_http_jpp_answerer_gone();
    }
}


static void
ngx_http_jpp_answerer_reply(ngx_http_jpp_caller_t *caller,
    const ngx_http_jpp_reply_t *reply)
{
    int                                 files[NGX_HTTP_JPP_FILES];
    uint8_t                             data[JPP_MESSAGE_REPLY];
    jpp_message_reply_t                 message;
    ngx_http_jpp_query_t  *query;

    query = (ngx_http_jpp_query_t *) caller;

    message = reply->reply;

    files[0] = message.err.code == JPP_OK ? reply->file.fd : -1;
    files[1] = files[0] != -1
               && ngx_http_jpp_kinds[reply->question.kind].is_sampled
               && !message.worker.sampler.is_on
               ? ngx_http_jpp_self.baseline.fd : -1;

    message.has_file = files[0] != -1;
    message.has_baseline = files[1] != -1;

    jpp_message_reply_pack(&message, data);

    if (ngx_http_jpp_socket_send(query->connection->fd, data, sizeof(data),
                                 files)
        == -1
        && files[0] != -1)
    {
        /* the kernel limits the files that are in flight */

        (void) jpp_err_sys(&message.err, ngx_errno,
                           "it could not send the files of its answer");

        message.has_file = false;
        message.has_baseline = false;
        files[0] = -1;

        jpp_message_reply_pack(&message, data);

        /* the asker may have left, which is no error here */

        (void) ngx_http_jpp_socket_send(query->connection->fd, data,
                                        sizeof(data), files);
    }

    ngx_http_jpp_answerer_leave(query);
}


static void
ngx_http_jpp_answerer_leave(ngx_http_jpp_query_t *query)
{
    ngx_http_jpp_serve_leave(&query->caller);

    ngx_close_connection(query->connection);

    if (!query->is_apart) {
        ngx_http_jpp_answerer_gone();
    }

    jpp_arena_object_destroy(query);
}


/* There is room for another question. */

static void
ngx_http_jpp_answerer_gone(void)
{
    ngx_http_jpp_n_queries--;

    ngx_http_jpp_answerer_resume(&ngx_http_jpp_again);
}
