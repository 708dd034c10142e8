
/*
 * A part: one question to one worker, over its own connection.
 *
 * Every worker listens on an abstract unix socket of its own.  To ask one,
 * connect, check with the kernel that it is the process of the registry and
 * runs as our user, and send the question.  The answering worker creates the
 * files of the answer, so a question that nobody reads holds only its place in
 * the queue.  A killed worker is seen at once, as end of file; a stuck one runs
 * into the deadline of the collection; and no answer can belong to an older
 * question.
 *
 * A worker queries itself in the same way, through a socket pair.  What a peer
 * sends is unpacked as if it were hostile (jpp_message.h).
 */


#include "ngx_http_jpp_ask.h"
#include "ngx_http_jpp_self.h"


/* workers that are asked at the same time */
#define NGX_HTTP_JPP_AT_ONCE    2

/* late workers that are looked at, to say why: of many one knows then */
#define NGX_HTTP_JPP_SEEN       16

/* bytes that are always allowed, so that pages are served */
#define NGX_HTTP_JPP_LEAST      (1024 * 1024)

/* what the kernel says about a process, after a colon */
#define NGX_HTTP_JPP_DESCRIBED  (sizeof(": ") + JPP_PROCESS_TEXT)


static const char  ngx_http_jpp_part_ended[] = "it exited before it answered";

static ngx_uint_t  ngx_http_jpp_n_slots;

/* bytes of the budget */
static size_t      ngx_http_jpp_held;


ngx_uint_t
ngx_http_jpp_part_has_room(const ngx_http_jpp_inquiry_t *inquiry)
{
    return inquiry->wait != 0 || ngx_http_jpp_n_slots < NGX_HTTP_JPP_AT_ONCE;
}


static jpp_code_t
ngx_http_jpp_part_no_socket(ngx_http_jpp_part_t *part, ngx_err_t err)
{
    const char  *fix;

    fix = err == NGX_EMFILE || err == NGX_ENFILE
          ? " (raise worker_rlimit_nofile)"
          : err == NGX_EPERM || err == NGX_EACCES || err == EAFNOSUPPORT
          ? " (a seccomp filter, or RestrictAddressFamilies without AF_UNIX, "
            "forbids it)"
          : "";

    return jpp_err_sys(&part->reply.err, err,
                       "cannot create a socket to query it%s", fix);
}


static jpp_code_t
ngx_http_jpp_part_no_connection(ngx_http_jpp_part_t *part)
{
    return jpp_err_set(&part->reply.err, JPP_ERR_SYS,
                       "no free connection to query it (raise "
                       "worker_connections)");
}


/* *S is the asker's end of a pair; the other end is answered. */

static jpp_code_t
ngx_http_jpp_part_connect_self(ngx_http_jpp_part_t *part, ngx_socket_t *s)
{
    ngx_socket_t  pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_NONBLOCK|SOCK_CLOEXEC, 0, pair)
        == -1)
    {
        return ngx_http_jpp_part_no_socket(part, ngx_errno);
    }

    *s = pair[1];

    if (ngx_http_jpp_answerer_open(pair[0]) != NGX_OK) {
        (void) close(pair[0]);
        return ngx_http_jpp_part_no_connection(part);
    }

    return JPP_OK;
}


/*
 * Another process listens by the worker's name.  If the process of this pid was
 * not started when the worker was, the worker is gone.  If it was, or that
 * cannot be read, a reload may have changed the user that it runs as.
 */

static jpp_code_t
ngx_http_jpp_part_wrong_process(ngx_http_jpp_part_t *part)
{
    jpp_process_t  process;

    if (part->row.started != 0
        && jpp_process_read((pid_t) part->row.who.pid, &process)
        && process.started != part->row.started)
    {
        ngx_http_jpp_registry_clear(ngx_http_jpp_self.zone, &part->row, 1);
    }

    return jpp_err_set(&part->reply.err, JPP_ERR_GONE,
                       "another process listens in its place, or a reload "
                       "changed the user of the workers");
}


/* JPP_ERR_LATE: it accepts no connection now. */

static jpp_code_t
ngx_http_jpp_part_connect(ngx_http_jpp_part_t *part, ngx_socket_t *s)
{
    socklen_t           len;
    struct sockaddr_un  sun;

    if (!part->row.can_listen) {
        return jpp_err_set(&part->reply.err, JPP_ERR_SYS,
                           "it could not listen on its socket: the error log "
                           "at its start says why");
    }

    *s = socket(AF_UNIX, SOCK_SEQPACKET|SOCK_NONBLOCK|SOCK_CLOEXEC, 0);

    if (*s == (ngx_socket_t) -1) {
        return ngx_http_jpp_part_no_socket(part, ngx_errno);
    }

    len = ngx_http_jpp_socket_name(&sun, (ngx_pid_t) part->row.who.pid,
                                   part->row.key);

    if (connect(*s, (struct sockaddr *) &sun, len) == -1) {
        switch (ngx_errno) {

        case NGX_EAGAIN:
            return jpp_err_set(&part->reply.err, JPP_ERR_LATE,
                               "it accepts no connections: it is stopped or "
                               "overloaded");

        case NGX_ECONNREFUSED:

            /*
             * it was killed, and its pid may belong to another process by now
             */

            ngx_http_jpp_registry_clear(ngx_http_jpp_self.zone, &part->row,
                                        1);

            return jpp_err_set(&part->reply.err, JPP_ERR_GONE,
                               "it no longer listens, so it has exited");

        default:

            /* this says nothing about the worker */

            return jpp_err_sys(&part->reply.err, ngx_errno, "cannot query it");
        }
    }

    return ngx_http_jpp_socket_process(*s) == part->row.who.pid
           ? JPP_OK : ngx_http_jpp_part_wrong_process(part);
}


static ssize_t
ngx_http_jpp_part_question(const ngx_http_jpp_part_t *part, ngx_socket_t s)
{
    uint8_t  data[JPP_MESSAGE_QUESTION];

    /* a question carries none */

    static const int  no_files[NGX_HTTP_JPP_FILES] = { -1, -1 };

    jpp_message_question_pack(&part->collection->inquiry.question, data);

    return ngx_http_jpp_socket_send(s, data, sizeof(data), no_files);
}


static void
ngx_http_jpp_part_unpack(ngx_http_jpp_part_t *part, const uint8_t *data,
    ssize_t n, int files[NGX_HTTP_JPP_FILES])
{
    jpp_code_t            code;
    const char           *why;
    struct stat           st;
    jpp_message_reply_t  *reply;

    reply = &part->reply;

    code = JPP_ERR_GONE;
    why = NULL;

    if (n == 0) {
        why = ngx_http_jpp_part_ended;

    } else if (n < 0 || !jpp_message_reply_unpack(reply, data, n)) {
        why = "its answer is not valid: it runs another version of the module";

    } else if ((reply->has_file && files[0] == -1)
               || (reply->has_baseline && files[1] == -1))
    {
        /* without a free descriptor the kernel drops the file */

        code = JPP_ERR_SYS;
        why = "the files of its answer were lost: the worker that asked has no "
              "free descriptor (raise worker_rlimit_nofile)";

    } else if (files[0] != -1
               && (fstat(files[0], &st) == -1 || !S_ISREG(st.st_mode)))
    {
        /* reading anything else might block */

        why = "its answer is not valid: it sent a descriptor that is not a "
              "file";

    } else if (reply->err.code == JPP_OK
               && reply->has_file != (part->collection->type->file != NULL))
    {
        why = "its answer is not valid: it has the wrong number of files";
    }

    if (why != NULL) {
        (void) jpp_err_set(&reply->err, code, "%s", why);
    }

    if (reply->err.code != JPP_OK || !reply->has_file) {
        ngx_http_jpp_socket_close(files);
        return;
    }

    part->dump.fd = files[0];
    part->inherited.fd = files[1];
}


/* That of another part, if it is mapped already, or NULL. */

static const jpp_memfd_t *
ngx_http_jpp_part_same_baseline(const ngx_http_jpp_part_t *part,
    const struct stat *st)
{
    const ngx_http_jpp_part_t  *other;

    jpp_each(other, part->collection->parts, part->collection->n) {

        if (other != part && other->inherited.data != NULL
            && other->ino == st->st_ino && other->dev == st->st_dev)
        {
            return &other->inherited;
        }
    }

    return NULL;
}


/* Count LEN more bytes for PART. */

static jpp_code_t
ngx_http_jpp_part_hold(ngx_http_jpp_part_t *part, size_t len, const char *what,
    jpp_err_t *err)
{
    const ngx_http_jpp_inquiry_t  *inquiry;

    inquiry = &part->collection->inquiry;

    if (ngx_http_jpp_budget_hold(len, inquiry->max_size, inquiry->is_second)
        != NGX_OK)
    {
        return jpp_err_set(err, JPP_ERR_FULL,
                           "its %s of %zu bytes exceeds the memory for dumps "
                           "and answers: raise jemalloc_pprof_max_size, of "
                           "which this is %d times", what, len,
                           NGX_HTTP_JPP_TOTAL);
    }

    part->held += len;

    return JPP_OK;
}


/*
 * Workers of one generation share one file, which is mapped once.  Without it,
 * inherited memory counts as the worker's own, and the report says so.
 */

static void
ngx_http_jpp_part_map_baseline(ngx_http_jpp_part_t *part)
{
    jpp_err_t          *err;
    struct stat         st;
    jpp_memfd_t        *memfd;
    const jpp_memfd_t  *same;

    err = &part->baseline_err;
    memfd = &part->inherited;

    part->baseline = memfd;

    if (fstat(memfd->fd, &st) == -1 || !S_ISREG(st.st_mode)) {
        (void) jpp_err_set(err, JPP_ERR_INPUT, "it is not a file");
        jpp_memfd_close(memfd);
        return;
    }

    same = ngx_http_jpp_part_same_baseline(part, &st);

    if (same != NULL) {
        jpp_memfd_close(memfd);
        part->baseline = same;
        return;
    }

    part->dev = st.st_dev;
    part->ino = st.st_ino;

    if (jpp_memfd_map(memfd, part->collection->inquiry.max_size, err) != JPP_OK
        || ngx_http_jpp_part_hold(part, memfd->len, "baseline", err) != JPP_OK)
    {
        jpp_memfd_close(memfd);
        return;
    }

    (void) close(memfd->fd);
    memfd->fd = -1;
}


/* Map the file and the baseline, and close their descriptors. */

static void
ngx_http_jpp_part_map(ngx_http_jpp_part_t *part)
{
    size_t                      max_size;
    jpp_err_t                  *err;
    const ngx_http_jpp_type_t  *type;

    err = &part->reply.err;
    max_size = part->collection->inquiry.max_size;
    type = part->collection->type;

    if (jpp_memfd_map(&part->dump, max_size, err) != JPP_OK) {

        if (err->code == JPP_ERR_LIMIT) {
            (void) jpp_err_set(err, JPP_ERR_LIMIT,
                               "its %s is larger than the %zu bytes of "
                               "jemalloc_pprof_max_size: raise it%s",
                               type->file, max_size,
                               type->smaller != NULL ? type->smaller : "");
        }

        return;
    }

    if (ngx_http_jpp_part_hold(part, part->dump.len, type->file, err)
        != JPP_OK)
    {
        return;
    }

    (void) close(part->dump.fd);
    part->dump.fd = -1;

    if (part->inherited.fd != -1) {
        ngx_http_jpp_part_map_baseline(part);
    }
}


static void
ngx_http_jpp_part_free_slot(ngx_http_jpp_part_t *part)
{
    ngx_http_jpp_n_slots -= part->slots;
    part->slots = 0;
}


/* It is done: the error of the reply says whether it failed. */

static void
ngx_http_jpp_part_finish(ngx_http_jpp_part_t *part)
{
    ngx_http_jpp_part_free_slot(part);

    part->collection->n_done++;

    if (part->reply.err.code == JPP_OK) {
        part->state = NGX_HTTP_JPP_PART_ANSWERED;
        part->collection->n_answered++;
        return;
    }

    part->state = NGX_HTTP_JPP_PART_FAILED;

    ngx_http_jpp_part_close(part);

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "jemalloc_pprof: worker %uD (pid %L) did not answer: %s",
                  part->row.who.index, part->row.who.pid, part->reply.err.text);
}


/* The answer has come, or none will.  Afterwards PART may be freed. */

static void
ngx_http_jpp_part_read(ngx_event_t *ev)
{
    int                   files[NGX_HTTP_JPP_FILES];
    ssize_t               n;
    uint8_t               data[JPP_MESSAGE_REPLY];
    ngx_connection_t     *c;
    ngx_http_jpp_part_t  *part;

    c = ev->data;
    part = c->data;

    n = ngx_http_jpp_socket_receive(c->fd, data, sizeof(data), files);
    if (n == NGX_AGAIN) {
        return;
    }

    ngx_http_jpp_part_unpack(part, data, n, files);

    /* the registry knows who it is, and the kernel has confirmed that */

    part->reply.worker.who = part->row.who;

    ngx_close_connection(c);
    part->connection = NULL;

    if (part->dump.fd != -1) {
        ngx_http_jpp_part_map(part);
    }

    ngx_http_jpp_part_finish(part);

    ngx_http_jpp_collect_proceed(ev);
}


static jpp_code_t
ngx_http_jpp_part_send(ngx_http_jpp_part_t *part, ngx_socket_t s)
{
    if (ngx_http_jpp_part_question(part, s) != JPP_MESSAGE_QUESTION) {

        return ngx_errno == NGX_EPIPE || ngx_errno == NGX_ECONNRESET
               ? jpp_err_set(&part->reply.err, JPP_ERR_GONE, "%s",
                             ngx_http_jpp_part_ended)
               : jpp_err_sys(&part->reply.err, ngx_errno,
                             "cannot send the question");
    }

    part->connection = ngx_http_jpp_socket_connection(s,
                                                      ngx_http_jpp_part_read,
                                                      part);

    return part->connection != NULL
           ? JPP_OK : ngx_http_jpp_part_no_connection(part);
}


static void
ngx_http_jpp_part_try(ngx_http_jpp_part_t *part)
{
    jpp_code_t    rc;
    ngx_socket_t  s;

    s = (ngx_socket_t) -1;

    rc = part->row.who.pid == ngx_pid
         ? ngx_http_jpp_part_connect_self(part, &s)
         : ngx_http_jpp_part_connect(part, &s);

    if (rc == JPP_OK) {
        rc = ngx_http_jpp_part_send(part, s);
    }

    if (rc == JPP_OK) {
        part->state = NGX_HTTP_JPP_PART_ASKED;
        return;
    }

    if (s != (ngx_socket_t) -1) {
        (void) close(s);
    }

    if (rc == JPP_ERR_LATE) {
        part->state = NGX_HTTP_JPP_PART_REFUSED;

    } else {
        ngx_http_jpp_part_finish(part);
    }
}


void
ngx_http_jpp_part_ask(ngx_http_jpp_part_t *part)
{
    const ngx_http_jpp_type_t  *type;

    part->asked = ngx_current_msec;

    type = part->collection->type;

    if (type->wait == NULL) {
        part->slots = type->is_alone ? NGX_HTTP_JPP_AT_ONCE : 1;
        ngx_http_jpp_n_slots += part->slots;
    }

    ngx_http_jpp_part_try(part);
}


void
ngx_http_jpp_part_check(ngx_http_jpp_part_t *part)
{
    ngx_http_jpp_collection_t  *co;

    co = part->collection;

    if (part->state == NGX_HTTP_JPP_PART_REFUSED) {
        ngx_http_jpp_part_try(part);
    }

    if (part->state >= NGX_HTTP_JPP_PART_ANSWERED
        || part->checked != 0
        || ngx_current_msec - part->asked
           < co->inquiry.wait + co->inquiry.timeout / NGX_HTTP_JPP_SLICES)
    {
        return;
    }

    ngx_http_jpp_part_free_slot(part);

    part->checked = ngx_current_msec;

    /* this takes reading two files */

    if (co->n_seen < NGX_HTTP_JPP_SEEN) {
        co->n_seen++;

        (void) jpp_process_read((pid_t) part->row.who.pid, &part->process);
    }
}


void
ngx_http_jpp_part_hurry(ngx_http_jpp_part_t *part)
{
    /* it sees by itself that it exits */

    if (part->state == NGX_HTTP_JPP_PART_ASKED
        && part->row.who.pid != ngx_pid)
    {

        /* where that fails, the answer comes later, or the deadline */

        (void) ngx_http_jpp_part_question(part, part->connection->fd);
    }
}


static const char *
ngx_http_jpp_part_describe(const ngx_http_jpp_part_t *part,
    char text[NGX_HTTP_JPP_DESCRIBED])
{
    jpp_process_t  now;

    /* this event loop runs, since it calls this */

    if (part->row.who.pid == ngx_pid) {
        return part->collection->type->work != NULL
               ? ": its background thread is still busy"
               : ": its event loop is still busy";
    }

    if (part->process.state == '\0'
        || !jpp_process_read((pid_t) part->row.who.pid, &now))
    {
        return "";
    }

    text[0] = ':';
    text[1] = ' ';

    (void) jpp_process_say(&part->process, &now,
                           ngx_current_msec - part->checked, text + 2);
    return text;
}


void
ngx_http_jpp_part_give_up(ngx_http_jpp_part_t *part)
{
    char  text[NGX_HTTP_JPP_DESCRIBED];

    (void) jpp_err_set(&part->reply.err, JPP_ERR_LATE,
                       part->state == NGX_HTTP_JPP_PART_WAITING
                       ? "it was not queried within %s "
                         "(jemalloc_pprof_timeout)%s"
                       : part->state == NGX_HTTP_JPP_PART_REFUSED
                       ? "it accepted no connection within %s "
                         "(jemalloc_pprof_timeout)%s"
                       : "no answer within %s (jemalloc_pprof_timeout)%s",
                       jpp_duration(part->collection->inquiry.timeout
                                    * 1000000),
                       ngx_http_jpp_part_describe(part, text));

    ngx_http_jpp_part_finish(part);
}


void
ngx_http_jpp_part_close(ngx_http_jpp_part_t *part)
{
    ngx_http_jpp_part_free_slot(part);

    if (part->connection != NULL) {
        ngx_close_connection(part->connection);
        part->connection = NULL;
    }

    jpp_memfd_close(&part->dump);
    jpp_memfd_close(&part->inherited);

    ngx_http_jpp_budget_release(part->held);
    part->held = 0;
}


ngx_int_t
ngx_http_jpp_budget_hold(size_t len, size_t max_size, ngx_uint_t is_begun)
{
    size_t  max;

    max = ngx_max(NGX_HTTP_JPP_TOTAL * max_size, NGX_HTTP_JPP_LEAST);

    if (is_begun) {
        max *= 2;
    }

    if (len > max || ngx_http_jpp_held > max - len) {
        return NGX_BUSY;
    }

    ngx_http_jpp_held += len;

    return NGX_OK;
}


void
ngx_http_jpp_budget_release(size_t len)
{
    ngx_http_jpp_held -= len;
}
