
/*
 * Requests go out when they are due and a connection is free; what comes back
 * is read as it comes.
 */


#include "jpp_load.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>


static void jpp_load_issue(jpp_load_t *load);
static bool jpp_load_is_over(jpp_load_t *load);
static void jpp_load_arm(jpp_load_t *load);
static uint64_t jpp_load_due(const jpp_load_t *load);
static void jpp_load_connect(jpp_load_t *load, jpp_load_connection_t *c);
static void jpp_load_close(jpp_load_connection_t *c);
static void jpp_load_event(jpp_load_t *load, jpp_load_connection_t *c);
static void jpp_load_send(jpp_load_t *load, jpp_load_connection_t *c);
static void jpp_load_read(jpp_load_t *load, jpp_load_connection_t *c);
static void jpp_load_lost(jpp_load_t *load, jpp_load_connection_t *c);
static void jpp_load_finish(jpp_load_t *load, jpp_load_connection_t *c,
    bool is_good);


void
jpp_load_prepare(jpp_load_t *load)
{
    int                  fd;
    size_t               i;
    struct epoll_event   event;

    load->connections = calloc(load->nconnections,
                               sizeof(jpp_load_connection_t));
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    load->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC|TFD_NONBLOCK);

    if (load->connections == NULL || load->epoll == -1 || load->timer == -1) {
        jpp_load_die("cannot begin: %s", strerror(errno));
    }

    event.events = EPOLLIN|EPOLLET;
    event.data.ptr = NULL;

    if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, load->timer, &event) == -1) {
        jpp_load_die("epoll_ctl() failed: %s", strerror(errno));
    }

    i = load->nconnections;

    while (i-- > 0) {
        load->connections[i].fd = -1;
        load->idle[load->nidle++] = &load->connections[i];
    }

    /* a server that is not there is worth a sentence, not a row of errors */

    fd = socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, 0);

    if (fd == -1
        || connect(fd, (struct sockaddr *) &load->address,
                   sizeof(load->address)) == -1)
    {
        jpp_load_die("cannot connect to port %d: %s",
                     ntohs(load->address.sin_port), strerror(errno));
    }

    (void) close(fd);
}


void
jpp_load_run(jpp_load_t *load)
{
    int                      i, n;
    struct epoll_event       events[64];
    jpp_load_connection_t   *c;

    load->begin = jpp_load_now();
    load->last = load->begin;
    load->moved = load->begin;
    load->end = load->begin + (uint64_t) (load->seconds * JPP_LOAD_SECOND);

    for ( ;; ) {
        jpp_load_issue(load);

        if (jpp_load_is_over(load)) {
            break;
        }

        jpp_load_arm(load);

        n = epoll_wait(load->epoll, events, 64, JPP_LOAD_TICK);

        if (n == -1 && errno != EINTR) {
            jpp_load_die("epoll_wait() failed: %s", strerror(errno));
        }

        for (i = 0; i < n; i++) {
            c = events[i].data.ptr;

            if (c != NULL) {
                jpp_load_event(load, c);
            }
        }
    }
}


static void
jpp_load_issue(jpp_load_t *load)
{
    uint64_t                now, due;
    jpp_load_connection_t  *c;

    while (load->nidle > 0 && load->begun < load->most
           && load->errors_in_a_row < JPP_LOAD_ERRORS)
    {
        now = jpp_load_now();
        due = load->rate > 0 ? jpp_load_due(load) : now;

        if (due > now || due >= load->end) {
            return;
        }

        c = load->idle[--load->nidle];

        c->request = &load->requests[load->begun++ % load->nrequests];
        c->due = due;
        load->moved = now;

        jpp_load_connect(load, c);
        jpp_load_send(load, c);
    }
}


/*
 * What is due is also sent after the end, when connections were busy before,
 * but not for ever: what is left then is an error.  So is what a silent server
 * owes.
 */

static bool
jpp_load_is_over(jpp_load_t *load)
{
    uint64_t  now;

    now = jpp_load_now();

    if (load->errors_in_a_row >= JPP_LOAD_ERRORS
        || now > load->moved + JPP_LOAD_TIMEOUT
        || now > load->end + JPP_LOAD_TIMEOUT)
    {
        load->errors += load->begun - load->good - load->errors;

        if (load->rate > 0) {
            load->errors += load->most - load->begun;
        }

        return true;
    }

    if (load->nidle < load->nconnections) {
        return false;
    }

    return load->begun == load->most
           || (load->rate > 0 ? jpp_load_due(load) : now) >= load->end;
}


/* epoll_wait() counts in milliseconds, which is too coarse for a rate. */

static void
jpp_load_arm(jpp_load_t *load)
{
    uint64_t           due;
    struct itimerspec  when;

    if (load->rate <= 0 || load->nidle == 0 || load->begun == load->most) {
        return;
    }

    due = jpp_load_due(load);

    memset(&when, 0, sizeof(when));
    when.it_value.tv_sec = (time_t) (due / JPP_LOAD_SECOND);
    when.it_value.tv_nsec = (long) (due % JPP_LOAD_SECOND);

    if (timerfd_settime(load->timer, TFD_TIMER_ABSTIME, &when, NULL) == -1) {
        jpp_load_die("timerfd_settime() failed: %s", strerror(errno));
    }
}


static uint64_t
jpp_load_due(const jpp_load_t *load)
{
    return load->begin + (uint64_t) ((double) load->begun * JPP_LOAD_SECOND
                                     / load->rate);
}


static void
jpp_load_connect(jpp_load_t *load, jpp_load_connection_t *c)
{
    int                  one;
    struct epoll_event   event;

    c->state = JPP_LOAD_SENDING;
    c->sent = 0;
    c->head_len = 0;

    if (c->fd != -1) {
        return;
    }

    c->is_kept = false;

    c->fd = socket(AF_INET, SOCK_STREAM|SOCK_NONBLOCK|SOCK_CLOEXEC, 0);

    if (c->fd == -1) {
        jpp_load_die("socket() failed: %s", strerror(errno));
    }

    one = 1;
    (void) setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));

    event.events = EPOLLIN|EPOLLOUT|EPOLLRDHUP|EPOLLET;
    event.data.ptr = c;

    if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, c->fd, &event) == -1) {
        jpp_load_die("epoll_ctl() failed: %s", strerror(errno));
    }

    /* a failure is send()'s as well, and is counted there */

    (void) connect(c->fd, (struct sockaddr *) &load->address,
                   sizeof(load->address));
}


static void
jpp_load_close(jpp_load_connection_t *c)
{
    if (c->fd != -1) {
        (void) close(c->fd);
        c->fd = -1;
    }
}


static void
jpp_load_event(jpp_load_t *load, jpp_load_connection_t *c)
{
    char  byte;

    switch (c->state) {

    case JPP_LOAD_IDLE:
        if (c->fd != -1
            && (recv(c->fd, &byte, 1, 0) != -1 || errno != EAGAIN))
        {
            jpp_load_close(c);
        }

        break;

    case JPP_LOAD_SENDING:
        jpp_load_send(load, c);
        break;

    case JPP_LOAD_IN_HEAD:
    case JPP_LOAD_IN_BODY:
        jpp_load_read(load, c);
        break;
    }
}


static void
jpp_load_send(jpp_load_t *load, jpp_load_connection_t *c)
{
    ssize_t  n;

    while (c->sent < c->request->len) {

        n = send(c->fd, c->request->text + c->sent,
                 c->request->len - c->sent, MSG_NOSIGNAL);

        if (n == -1) {
            if (errno != EAGAIN && errno != EINTR) {
                jpp_load_lost(load, c);
                return;
            }

            if (errno == EAGAIN) {
                return;
            }

            continue;
        }

        c->sent += (size_t) n;
    }

    c->state = JPP_LOAD_IN_HEAD;
}


/* The events are edges: it is read until there is no more. */

static void
jpp_load_read(jpp_load_t *load, jpp_load_connection_t *c)
{
    ssize_t          n;
    static char      buffer[JPP_LOAD_BUFFER];
    jpp_load_step_t  step;

    for ( ;; ) {
        n = recv(c->fd, buffer, sizeof(buffer), 0);

        if (n == -1) {
            if (errno == EINTR) {
                continue;
            }

            if (errno != EAGAIN) {
                jpp_load_lost(load, c);
            }

            return;
        }

        if (n == 0) {
            if (c->state == JPP_LOAD_IN_BODY
                && c->length == JPP_LOAD_UNTIL_CLOSE)
            {
                jpp_load_close(c);
                jpp_load_finish(load, c, c->is_good);
                return;
            }

            jpp_load_lost(load, c);
            return;
        }

        step = jpp_load_answer(c, buffer, (size_t) n);

        if (step == JPP_LOAD_MORE) {
            continue;
        }

        if (step == JPP_LOAD_BAD || c->closes) {
            jpp_load_close(c);
        }

        jpp_load_finish(load, c, step == JPP_LOAD_DONE && c->is_good);
        return;
    }
}


static void
jpp_load_lost(jpp_load_t *load, jpp_load_connection_t *c)
{
    bool  may_send_again;

    may_send_again = c->is_kept && c->head_len == 0
                     && c->state != JPP_LOAD_IN_BODY;

    jpp_load_close(c);

    if (!may_send_again) {
        jpp_load_finish(load, c, false);
        return;
    }

    /* on a new connection, and those are not sent again */

    load->resent++;

    jpp_load_connect(load, c);
    jpp_load_send(load, c);
}


static void
jpp_load_finish(jpp_load_t *load, jpp_load_connection_t *c, bool is_good)
{
    load->last = jpp_load_now();
    load->moved = load->last;

    if (is_good) {
        load->good++;
        load->errors_in_a_row = 0;
        jpp_load_record(load, load->last - c->due);

    } else {
        load->errors++;
        load->errors_in_a_row++;
    }

    c->is_kept = true;
    c->state = JPP_LOAD_IDLE;
    load->idle[load->nidle++] = c;
}
