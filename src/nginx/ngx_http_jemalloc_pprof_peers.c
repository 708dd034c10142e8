
#include "ngx_http_jemalloc_pprof_asked.h"
#include "ngx_http_jemalloc_pprof_peers.h"
#include "ngx_http_jemalloc_pprof_wire.h"


#define NGX_HTTP_JEMALLOC_PPROF_ENDED                                         \
    "it ended, or was asked too much, before it answered"


static ngx_int_t ngx_http_jemalloc_pprof_peer_open(
    ngx_http_jemalloc_pprof_peer_t *peer, ngx_socket_t s);
static ngx_int_t ngx_http_jemalloc_pprof_peer_self(
    ngx_http_jemalloc_pprof_peer_t *peer, ngx_socket_t *s);
static ngx_int_t ngx_http_jemalloc_pprof_peer_refused(
    ngx_http_jemalloc_pprof_peer_t *peer, ngx_err_t err);
static ngx_int_t ngx_http_jemalloc_pprof_peer_question(
    ngx_http_jemalloc_pprof_peer_t *peer,
    const jpp_message_question_t *question, int fd, ngx_socket_t s);
static void ngx_http_jemalloc_pprof_peer_read(ngx_event_t *ev);


ngx_int_t
ngx_http_jemalloc_pprof_peer_ask(ngx_http_jemalloc_pprof_peer_t *peer,
    const jpp_message_question_t *question, int fd)
{
    ngx_int_t     rc;
    ngx_socket_t  s;

    if (peer->row.pid == ngx_pid) {
        rc = ngx_http_jemalloc_pprof_peer_self(peer, &s);

    } else {
        s = socket(AF_UNIX, SOCK_SEQPACKET|SOCK_NONBLOCK|SOCK_CLOEXEC, 0);

        if (s == (ngx_socket_t) -1) {
            (void) jpp_err_sys(&peer->reply.err, ngx_errno,
                               "there is no socket to ask it by "
                               "(raise worker_rlimit_nofile)");
            return NGX_ERROR;
        }

        rc = ngx_http_jemalloc_pprof_peer_open(peer, s);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    return ngx_http_jemalloc_pprof_peer_question(peer, question, fd, s);
}


/* *S is the asker's end of a pair, the other one is asked. */

static ngx_int_t
ngx_http_jemalloc_pprof_peer_self(ngx_http_jemalloc_pprof_peer_t *peer,
    ngx_socket_t *s)
{
    ngx_socket_t  pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_NONBLOCK|SOCK_CLOEXEC, 0, pair)
        == -1)
    {
        (void) jpp_err_sys(&peer->reply.err, ngx_errno,
                           "there is no socket to ask it by "
                           "(raise worker_rlimit_nofile)");
        return NGX_ERROR;
    }

    if (ngx_http_jemalloc_pprof_asked_create(pair[0]) != NGX_OK) {
        (void) jpp_err_set(&peer->reply.err, JPP_ERR_LIMIT,
                           "there is no connection left to ask it by "
                           "(raise worker_connections)");

        (void) close(pair[0]);
        (void) close(pair[1]);

        return NGX_ERROR;
    }

    *s = pair[1];

    return NGX_OK;
}


static ngx_int_t
ngx_http_jemalloc_pprof_peer_open(ngx_http_jemalloc_pprof_peer_t *peer,
    ngx_socket_t s)
{
    ngx_int_t           rc;
    ngx_pid_t           pid;
    socklen_t           len;
    struct sockaddr_un  sun;

    rc = NGX_ERROR;

    if (!peer->row.can_listen) {
        (void) jpp_err_set(&peer->reply.err, JPP_ERR_SYS,
                           "it cannot listen for the others: the error log "
                           "of its start says why");
        goto failed;
    }

    len = ngx_http_jemalloc_pprof_wire_name(&sun, peer->row.pid,
                                            peer->row.key);

    if (connect(s, (struct sockaddr *) &sun, len) == -1) {

        rc = ngx_http_jemalloc_pprof_peer_refused(peer, ngx_errno);
        goto failed;
    }

    if (ngx_http_jemalloc_pprof_wire_process(s, &pid) != NGX_OK
        || pid != peer->row.pid)
    {
        (void) jpp_err_set(&peer->reply.err, JPP_ERR_SYS,
                           "another process listens in its place, or it "
                           "runs as another user since a reload");
        goto failed;
    }

    return NGX_OK;

failed:

    (void) close(s);

    return rc;
}


static ngx_int_t
ngx_http_jemalloc_pprof_peer_refused(ngx_http_jemalloc_pprof_peer_t *peer,
    ngx_err_t err)
{
    switch (err) {

    case NGX_EAGAIN:
        (void) jpp_err_set(&peer->reply.err, JPP_ERR_LIMIT,
                           "it accepts no questions: it is stopped, or asked "
                           "too much at once");
        return NGX_AGAIN;

    case NGX_ECONNREFUSED:
        (void) jpp_err_sys(&peer->reply.err, err,
                           "it does not listen, perhaps it has just ended");

        /* it was killed, and its pid may be somebody else's by now */

        ngx_http_jemalloc_pprof_table_forget(
            ngx_http_jemalloc_pprof_worker.zone, &peer->row);

        return NGX_ERROR;

    default:

        /* which says nothing of the worker */

        (void) jpp_err_sys(&peer->reply.err, err, "it cannot be asked");

        return NGX_ERROR;
    }
}


static ngx_int_t
ngx_http_jemalloc_pprof_peer_question(ngx_http_jemalloc_pprof_peer_t *peer,
    const jpp_message_question_t *question, int fd, ngx_socket_t s)
{
    uint8_t  data[JPP_MESSAGE_QUESTION];

    jpp_message_question_pack(question, data);

    if (ngx_http_jemalloc_pprof_wire_send(s, data, sizeof(data), fd)
        != sizeof(data))
    {
        if (ngx_errno == NGX_EPIPE || ngx_errno == NGX_ECONNRESET) {
            (void) jpp_err_set(&peer->reply.err, JPP_ERR_SYS,
                               NGX_HTTP_JEMALLOC_PPROF_ENDED);
        } else {
            (void) jpp_err_sys(&peer->reply.err, ngx_errno,
                               "the question did not reach it");
        }

        goto failed;
    }

    peer->connection = ngx_http_jemalloc_pprof_wire_connection(s,
                           ngx_http_jemalloc_pprof_peer_read, peer);

    if (peer->connection == NULL) {
        (void) jpp_err_set(&peer->reply.err, JPP_ERR_LIMIT,
                           "there is no connection left to ask it by "
                           "(raise worker_connections)");
        goto failed;
    }

    return NGX_OK;

failed:

    (void) close(s);

    return NGX_ERROR;
}


void
ngx_http_jemalloc_pprof_peer_close(ngx_http_jemalloc_pprof_peer_t *peer)
{
    if (peer->connection != NULL) {
        ngx_close_connection(peer->connection);
        peer->connection = NULL;
    }

    if (peer->baseline != -1) {
        (void) close(peer->baseline);
        peer->baseline = -1;
    }
}


static void
ngx_http_jemalloc_pprof_peer_read(ngx_event_t *ev)
{
    ssize_t                          n;
    uint8_t                          data[JPP_MESSAGE_REPLY];
    ngx_connection_t                *c;
    ngx_http_jemalloc_pprof_peer_t  *peer;

    c = ev->data;
    peer = c->data;

    n = ngx_http_jemalloc_pprof_wire_receive(c->fd, data, sizeof(data),
                                             &peer->baseline);
    if (n == NGX_AGAIN) {
        return;
    }

    if (n == 0) {
        (void) jpp_err_set(&peer->reply.err, JPP_ERR_SYS,
                           NGX_HTTP_JEMALLOC_PPROF_ENDED);

    } else if (n < 0 || !jpp_message_reply_unpack(&peer->reply, data, n)) {
        (void) jpp_err_set(&peer->reply.err, JPP_ERR_SYS,
                           "its answer makes no sense");
    }

    /* who it is the table knows, and the kernel has confirmed it */

    peer->reply.worker.index = peer->row.index;
    peer->reply.worker.pid = peer->row.pid;
    peer->reply.worker.generation = peer->row.generation;

    ngx_close_connection(c);
    peer->connection = NULL;

    peer->replied(peer);
}
