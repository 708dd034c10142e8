
#include "ngx_http_jpp_answerer.h"
#include "ngx_http_jpp_asker.h"
#include "ngx_http_jpp_self.h"
#include "ngx_http_jpp_socket.h"

#include "jpp_process.h"


static ngx_int_t ngx_http_jpp_ask_self(ngx_http_jpp_peer_t *peer,
    ngx_socket_t *s);
static ngx_int_t ngx_http_jpp_ask_other(ngx_http_jpp_peer_t *peer,
    ngx_socket_t *s);
static ngx_int_t ngx_http_jpp_ask_open(ngx_http_jpp_peer_t *peer,
    ngx_socket_t s);
static ngx_int_t ngx_http_jpp_ask_refused(ngx_http_jpp_peer_t *peer,
    ngx_err_t err);
static void ngx_http_jpp_ask_wrong_process(ngx_http_jpp_peer_t *peer);
static ngx_int_t ngx_http_jpp_ask_send(ngx_http_jpp_peer_t *peer,
    const jpp_message_question_t *question, ngx_socket_t s);
static ngx_int_t ngx_http_jpp_ask_no_socket(ngx_http_jpp_peer_t *peer,
    ngx_err_t err);
static ngx_int_t ngx_http_jpp_ask_no_connection(ngx_http_jpp_peer_t *peer);
static ngx_int_t ngx_http_jpp_ask_ended(ngx_http_jpp_peer_t *peer);
static void ngx_http_jpp_ask_read(ngx_event_t *ev);
static void ngx_http_jpp_ask_take(ngx_http_jpp_peer_t *peer,
    const uint8_t *data, ssize_t n, int files[NGX_HTTP_JPP_FILES]);


/* a question carries none */
static const int  ngx_http_jpp_no_files[] = { -1, -1 };


ngx_int_t
ngx_http_jpp_ask(ngx_http_jpp_peer_t *peer,
    const jpp_message_question_t *question)
{
    ngx_int_t     rc;
    ngx_socket_t  s;

    s = (ngx_socket_t) -1;

    rc = peer->row.pid == ngx_pid
         ? ngx_http_jpp_ask_self(peer, &s)
         : ngx_http_jpp_ask_other(peer, &s);

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_http_jpp_ask_send(peer, question, s) != NGX_OK) {
        (void) close(s);
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* *S is the asker's end of a pair; the other end is answered. */

static ngx_int_t
ngx_http_jpp_ask_self(ngx_http_jpp_peer_t *peer, ngx_socket_t *s)
{
    ngx_socket_t  pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_NONBLOCK|SOCK_CLOEXEC, 0, pair)
        == -1)
    {
        return ngx_http_jpp_ask_no_socket(peer, ngx_errno);
    }

    if (ngx_http_jpp_answerer_open(pair[0]) != NGX_OK) {

        (void) close(pair[0]);
        (void) close(pair[1]);

        return ngx_http_jpp_ask_no_connection(peer);
    }

    *s = pair[1];

    return NGX_OK;
}


static ngx_int_t
ngx_http_jpp_ask_other(ngx_http_jpp_peer_t *peer, ngx_socket_t *s)
{
    ngx_int_t  rc;

    if (!peer->row.can_listen) {
        (void) jpp_err_set(&peer->reply.err, JPP_ERR_SYS,
                           "it could not listen on its socket: the error log "
                           "at its start says why");
        return NGX_ERROR;
    }

    *s = socket(AF_UNIX, SOCK_SEQPACKET|SOCK_NONBLOCK|SOCK_CLOEXEC, 0);

    if (*s == (ngx_socket_t) -1) {
        return ngx_http_jpp_ask_no_socket(peer, ngx_errno);
    }

    rc = ngx_http_jpp_ask_open(peer, *s);

    if (rc != NGX_OK) {
        (void) close(*s);
    }

    return rc;
}


static ngx_int_t
ngx_http_jpp_ask_open(ngx_http_jpp_peer_t *peer, ngx_socket_t s)
{
    ngx_pid_t           pid;
    socklen_t           len;
    struct sockaddr_un  sun;

    len = ngx_http_jpp_socket_name(&sun, peer->row.pid, peer->row.key);

    if (connect(s, (struct sockaddr *) &sun, len) == -1) {
        return ngx_http_jpp_ask_refused(peer, ngx_errno);
    }

    if (ngx_http_jpp_socket_process(s, &pid) != NGX_OK || pid != peer->row.pid)
    {
        ngx_http_jpp_ask_wrong_process(peer);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_jpp_ask_refused(ngx_http_jpp_peer_t *peer, ngx_err_t err)
{
    switch (err) {

    case NGX_EAGAIN:
        (void) jpp_err_set(&peer->reply.err, JPP_ERR_LATE,
                           "it accepts no connections: it is stopped or "
                           "overloaded");
        return NGX_AGAIN;

    case NGX_ECONNREFUSED:
        (void) jpp_err_set(&peer->reply.err, JPP_ERR_GONE,
                           "it no longer listens, so it has exited");

        /* it was killed, and its pid may belong to another process by now */

        ngx_http_jpp_registry_forget(ngx_http_jpp_self.zone, &peer->row);

        return NGX_ERROR;

    default:

        /* this says nothing about the worker */

        (void) jpp_err_sys(&peer->reply.err, err, "cannot query it");

        return NGX_ERROR;
    }
}


/*
 * Another process listens by the worker's name.  If the process of this pid was
 * not started when the worker was, the worker is gone.  If it was, or that
 * cannot be read, a reload may have changed the user that it runs as.
 */

static void
ngx_http_jpp_ask_wrong_process(ngx_http_jpp_peer_t *peer)
{
    jpp_process_t  process;

    (void) jpp_err_set(&peer->reply.err, JPP_ERR_GONE,
                       "another process listens in its place, or a reload "
                       "changed the user of the workers");

    if (peer->row.started != 0
        && jpp_process_read(peer->row.pid, &process)
        && process.started != peer->row.started)
    {
        ngx_http_jpp_registry_forget(ngx_http_jpp_self.zone, &peer->row);
    }
}


static ngx_int_t
ngx_http_jpp_ask_send(ngx_http_jpp_peer_t *peer,
    const jpp_message_question_t *question, ngx_socket_t s)
{
    ssize_t  n;
    uint8_t  data[JPP_MESSAGE_QUESTION];

    jpp_message_question_pack(question, data);

    n = ngx_http_jpp_socket_send(s, data, sizeof(data), ngx_http_jpp_no_files);

    if (n != sizeof(data)) {

        if (ngx_errno == NGX_EPIPE || ngx_errno == NGX_ECONNRESET) {
            return ngx_http_jpp_ask_ended(peer);
        }

        (void) jpp_err_sys(&peer->reply.err, ngx_errno,
                           "cannot send the question");
        return NGX_ERROR;
    }

    peer->connection = ngx_http_jpp_socket_connection(s, ngx_http_jpp_ask_read,
                                                      peer);

    return peer->connection != NULL
           ? NGX_OK : ngx_http_jpp_ask_no_connection(peer);
}


static ngx_int_t
ngx_http_jpp_ask_no_socket(ngx_http_jpp_peer_t *peer, ngx_err_t err)
{
    const char  *cure;

    switch (err) {

    case NGX_EMFILE:
    case NGX_ENFILE:
        cure = " (raise worker_rlimit_nofile)";
        break;

    case NGX_EPERM:
    case NGX_EACCES:
    case EAFNOSUPPORT:
        cure = " (a seccomp filter, or RestrictAddressFamilies without "
               "AF_UNIX, forbids it)";
        break;

    default:
        cure = "";
    }

    (void) jpp_err_sys(&peer->reply.err, err,
                       "cannot create a socket to query it%s", cure);

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_jpp_ask_no_connection(ngx_http_jpp_peer_t *peer)
{
    (void) jpp_err_set(&peer->reply.err, JPP_ERR_SYS,
                       "no free connection to query it (raise "
                       "worker_connections)");

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_jpp_ask_ended(ngx_http_jpp_peer_t *peer)
{
    (void) jpp_err_set(&peer->reply.err, JPP_ERR_GONE,
                       "it exited before it answered");

    return NGX_ERROR;
}


void
ngx_http_jpp_ask_again(ngx_http_jpp_peer_t *peer,
    const jpp_message_question_t *question)
{
    uint8_t  data[JPP_MESSAGE_QUESTION];

    jpp_message_question_pack(question, data);

    /* where that fails, the answer comes later, or the deadline */

    (void) ngx_http_jpp_socket_send(peer->connection->fd, data, sizeof(data),
                                    ngx_http_jpp_no_files);
}


void
ngx_http_jpp_ask_close(ngx_http_jpp_peer_t *peer)
{
    if (peer->connection != NULL) {
        ngx_close_connection(peer->connection);
        peer->connection = NULL;
    }

    if (peer->file != -1) {
        (void) close(peer->file);
        peer->file = -1;
    }

    if (peer->baseline != -1) {
        (void) close(peer->baseline);
        peer->baseline = -1;
    }
}


static void
ngx_http_jpp_ask_read(ngx_event_t *ev)
{
    int                   files[NGX_HTTP_JPP_FILES];
    ssize_t               n;
    uint8_t               data[JPP_MESSAGE_REPLY];
    ngx_connection_t     *c;
    ngx_http_jpp_peer_t  *peer;

    c = ev->data;
    peer = c->data;

    n = ngx_http_jpp_socket_receive(c->fd, data, sizeof(data), files);
    if (n == NGX_AGAIN) {
        return;
    }

    ngx_http_jpp_ask_take(peer, data, n, files);

    /* the registry knows who it is, and the kernel has confirmed that */

    peer->reply.worker.who.index = peer->row.index;
    peer->reply.worker.who.pid = peer->row.pid;
    peer->reply.worker.who.generation = peer->row.generation;

    ngx_close_connection(c);
    peer->connection = NULL;

    peer->replied(peer);
}


static void
ngx_http_jpp_ask_take(ngx_http_jpp_peer_t *peer, const uint8_t *data, ssize_t n,
    int files[NGX_HTTP_JPP_FILES])
{
    struct stat  st;

    if (n == 0) {
        (void) ngx_http_jpp_ask_ended(peer);

    } else if (n < 0 || !jpp_message_reply_unpack(&peer->reply, data, n)) {
        (void) jpp_err_set(&peer->reply.err, JPP_ERR_GONE,
                           "its answer is not valid: it runs another version "
                           "of the module");

    } else if ((peer->reply.has_file && files[0] == -1)
               || (peer->reply.has_baseline && files[1] == -1))
    {
        /* without a free descriptor the kernel drops the file */

        (void) jpp_err_set(&peer->reply.err, JPP_ERR_SYS,
                           "the files of its answer were lost: the worker that "
                           "asked has no free descriptor (raise "
                           "worker_rlimit_nofile)");

    } else if (files[0] != -1
               && (fstat(files[0], &st) == -1 || !S_ISREG(st.st_mode)))
    {
        /* reading anything else might block */

        (void) jpp_err_set(&peer->reply.err, JPP_ERR_GONE,
                           "its answer is not valid: it sent a descriptor that "
                           "is not a file");
    }

    if (peer->reply.err.code != JPP_OK || !peer->reply.has_file) {
        ngx_http_jpp_socket_close(files);
        return;
    }

    peer->file = files[0];
    peer->baseline = files[1];
}
