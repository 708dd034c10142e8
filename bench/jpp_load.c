
/*
 * A small load of plain HTTP/1.1 requests, for the demonstration and for
 * measuring inside nginx.
 *
 *     jpp_load [-c CONNECTIONS] [-n REQUESTS | -t SECONDS] [-r RATE]
 *              [-H 'Name: value']... URL...
 *
 * GET requests go to the URLs in turn, over kept connections, to loopback
 * addresses only.  Without -r each connection asks again as soon as it is
 * answered.  With -r a request has a moment at which it is due, and its latency
 * counts from there, whether or not a connection was free: a server that
 * stalls is charged for all who would have come meanwhile.
 *
 * One line comes out; latencies are microseconds, of good answers alone:
 *
 *     requests=N errors=N resent=N seconds=S rate=R p50= p90= p99= p999= max=
 *
 * An error is an answer that is not 2xx or not HTTP, a lost connection, or what
 * is still owed when nothing was answered for half a minute.  A kept connection
 * that the server closes before the first byte of an answer is no error: the
 * request is sent again.  The end is 0 without errors, 1 with some, 2 where
 * nothing was begun.
 *
 * Every run is bounded: by -n, by -t (10 seconds, where neither is given), by
 * an hour, by a thousand errors in a row.
 */


#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>


#define JPP_LOAD_SECOND         1000000000ull

#define JPP_LOAD_CONNECTIONS    1024
#define JPP_LOAD_URLS           64
#define JPP_LOAD_HEADERS        4096
#define JPP_LOAD_REQUESTS       1e9
#define JPP_LOAD_SECONDS        3600
#define JPP_LOAD_ERRORS         1000
#define JPP_LOAD_TIMEOUT        (30 * JPP_LOAD_SECOND)
#define JPP_LOAD_TICK           100     /* milliseconds */

#define JPP_LOAD_HEAD           16384
#define JPP_LOAD_BUFFER         65536

/*
 * Latencies in nanoseconds: exact below 256, then 128 steps for each power of
 * two, which is less than one per cent.
 */
#define JPP_LOAD_BITS           7
#define JPP_LOAD_STEPS          (1u << JPP_LOAD_BITS)
#define JPP_LOAD_BUCKETS        ((65 - JPP_LOAD_BITS) * JPP_LOAD_STEPS)


typedef enum {
    JPP_LOAD_MORE = 0,
    JPP_LOAD_DONE,
    JPP_LOAD_BAD
} jpp_load_step_t;

typedef enum {
    JPP_LOAD_IDLE = 0,
    JPP_LOAD_SENDING,
    JPP_LOAD_IN_HEAD,
    JPP_LOAD_IN_BODY           /* "left" bytes of it */
} jpp_load_state_t;

typedef enum {
    JPP_LOAD_UNTIL_CLOSE = 0,
    JPP_LOAD_LENGTH,
    JPP_LOAD_CHUNKED
} jpp_load_length_t;

typedef struct {
    char      *text;
    size_t     len;
} jpp_load_request_t;

typedef struct {
    int                         fd;         /* -1: not connected */
    jpp_load_state_t            state;
    const jpp_load_request_t   *request;
    size_t                      sent;
    uint64_t                    due;        /* when it should have gone out */

    bool                        is_kept;    /* has served a request before */
    bool                        closes;     /* and says so */
    bool                        is_good;    /* 2xx */

    jpp_load_length_t           length;
    uint64_t                    left;       /* bytes of the body, or chunk */
    bool                        is_trailer; /* the last chunk was seen */
    bool                        is_size;    /* digits of a chunk's size */
    size_t                      line_len;
    uint64_t                    size;

    size_t                      head_len;
    char                        head[JPP_LOAD_HEAD];
} jpp_load_connection_t;

typedef struct {
    struct sockaddr_in          address;
    jpp_load_request_t          requests[JPP_LOAD_URLS];
    size_t                      nrequests;
    char                        headers[JPP_LOAD_HEADERS];
    size_t                      nconnections;
    uint64_t                    most;       /* requests */
    double                      seconds;
    double                      rate;       /* 0: as fast as it goes */

    int                         epoll;
    int                         timer;
    jpp_load_connection_t      *connections;
    jpp_load_connection_t      *idle[JPP_LOAD_CONNECTIONS];
    size_t                      nidle;

    uint64_t                    begin;
    uint64_t                    end;        /* nothing is begun after it */
    uint64_t                    moved;      /* begun or answered */
    uint64_t                    last;       /* when something was answered */
    uint64_t                    begun;
    uint64_t                    good;
    uint64_t                    errors;
    uint64_t                    errors_in_a_row;
    uint64_t                    resent;
    uint64_t                    max;
    uint64_t                    buckets[JPP_LOAD_BUCKETS];
} jpp_load_t;


static void jpp_load_options(jpp_load_t *load, int argc, char **argv);
static double jpp_load_number(char option, const char *text, double most);
static void jpp_load_header(jpp_load_t *load, const char *text);
static void jpp_load_url(jpp_load_t *load, const char *url);
static void jpp_load_prepare(jpp_load_t *load);
static void jpp_load_run(jpp_load_t *load);
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
static jpp_load_step_t jpp_load_answer(jpp_load_connection_t *c, const char *p,
    size_t len);
static jpp_load_step_t jpp_load_head(jpp_load_connection_t *c);
static jpp_load_step_t jpp_load_body(jpp_load_connection_t *c, const char *p,
    size_t len);
static jpp_load_step_t jpp_load_chunked(jpp_load_connection_t *c,
    const char *p, size_t len);
static void jpp_load_record(jpp_load_t *load, uint64_t ns);
static double jpp_load_percentile(const jpp_load_t *load, double part);
static uint64_t jpp_load_now(void);
static void jpp_load_die(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), noreturn));


static jpp_load_t  jpp_load;


int
main(int argc, char **argv)
{
    double       seconds;
    jpp_load_t  *load;

    load = &jpp_load;

    jpp_load_options(load, argc, argv);
    jpp_load_prepare(load);
    jpp_load_run(load);

    seconds = (double) (load->last - load->begin) / JPP_LOAD_SECOND;

    printf("requests=%llu errors=%llu resent=%llu seconds=%.3f rate=%.1f"
           " p50=%.0f p90=%.0f p99=%.0f p999=%.0f max=%.0f\n",
           (unsigned long long) (load->good + load->errors),
           (unsigned long long) load->errors,
           (unsigned long long) load->resent, seconds,
           seconds > 0 ? (double) load->good / seconds : 0,
           jpp_load_percentile(load, 0.5), jpp_load_percentile(load, 0.9),
           jpp_load_percentile(load, 0.99), jpp_load_percentile(load, 0.999),
           (double) load->max / 1000);

    if (fflush(stdout) != 0) {
        jpp_load_die("cannot write the result: %s", strerror(errno));
    }

    return load->errors != 0;
}


static void
jpp_load_options(jpp_load_t *load, int argc, char **argv)
{
    int  ch;

    load->nconnections = 1;

    while ((ch = getopt(argc, argv, "c:n:t:r:H:")) != -1) {

        switch (ch) {

        case 'c':
            load->nconnections = (size_t) jpp_load_number('c', optarg,
                                                        JPP_LOAD_CONNECTIONS);
            break;

        case 'n':
            load->most = (uint64_t) jpp_load_number('n', optarg,
                                                    JPP_LOAD_REQUESTS);
            break;

        case 't':
            load->seconds = jpp_load_number('t', optarg, JPP_LOAD_SECONDS);
            break;

        case 'r':
            load->rate = jpp_load_number('r', optarg, 1e6);
            break;

        case 'H':
            jpp_load_header(load, optarg);
            break;

        default:
            jpp_load_die("usage: jpp_load [-c CONNECTIONS]"
                         " [-n REQUESTS | -t SECONDS] [-r RATE]"
                         " [-H 'Name: value']... URL...");
        }
    }

    if (optind == argc || argc - optind > JPP_LOAD_URLS) {
        jpp_load_die("give 1 to %d URLs", JPP_LOAD_URLS);
    }

    while (optind < argc) {
        jpp_load_url(load, argv[optind++]);
    }

    if (load->seconds <= 0) {
        load->seconds = load->most ? JPP_LOAD_SECONDS : 10;
    }

    if (load->most == 0) {
        load->most = UINT64_MAX;
    }

    if (load->rate > 0 && (double) load->most > load->rate * load->seconds) {
        load->most = (uint64_t) (load->rate * load->seconds);
    }
}


static double
jpp_load_number(char option, const char *text, double most)
{
    char    *end;
    double   value;

    value = strtod(text, &end);

    if (*text == '\0' || *end != '\0' || !(value > 0) || value > most
        || (strchr("cn", option) != NULL && value < 1))
    {
        jpp_load_die("-%c takes a number above 0, up to %.0f", option, most);
    }

    return value;
}


static void
jpp_load_header(jpp_load_t *load, const char *text)
{
    size_t  len;

    len = strlen(load->headers);

    if (strchr(text, ':') == NULL || strpbrk(text, "\r\n") != NULL
        || len + strlen(text) + sizeof("\r\n") > sizeof(load->headers))
    {
        jpp_load_die("-H takes one line \"Name: value\", all of them up to"
                     " %zu bytes", sizeof(load->headers));
    }

    (void) sprintf(load->headers + len, "%s\r\n", text);
}


static void
jpp_load_url(jpp_load_t *load, const char *url)
{
    int                  len;
    long                 port;
    char                *end, host[64];
    size_t               n;
    const char          *p;
    struct sockaddr_in   address;
    jpp_load_request_t  *request;

    if (strncmp(url, "http://", 7) != 0) {
        jpp_load_die("\"%s\" does not begin with http://", url);
    }

    p = url + 7;
    n = strcspn(p, ":/");
    n = n < sizeof(host) ? n : sizeof(host) - 1;

    memcpy(host, p, n);
    host[n] = '\0';
    p += n;

    port = 80;

    if (*p == ':') {
        port = strtol(p + 1, &end, 10);
        p = end;
    }

    if ((*p != '/' && *p != '\0') || port < 1 || port > 65535
        || strpbrk(url, " \r\n") != NULL)
    {
        jpp_load_die("\"%s\" is not http://HOST:PORT/PATH", url);
    }

    memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t) port);

    if (inet_pton(AF_INET, strcmp(host, "localhost") ? host : "127.0.0.1",
                  &address.sin_addr) != 1
        || ntohl(address.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
    {
        jpp_load_die("\"%s\" is no loopback address: only 127.x.x.x and"
                     " localhost are loaded", host);
    }

    if (load->nrequests == 0) {
        load->address = address;

    } else if (memcmp(&load->address, &address, sizeof(address)) != 0) {
        jpp_load_die("\"%s\" is not on the host and port of the first URL",
                     url);
    }

    request = &load->requests[load->nrequests++];

    len = asprintf(&request->text, "GET %s HTTP/1.1\r\nHost: %s:%ld\r\n"
                   "User-Agent: jpp_load\r\n%s\r\n", *p ? p : "/", host, port,
                   load->headers);
    if (len < 0) {
        jpp_load_die("out of memory");
    }

    request->len = (size_t) len;
}


static void
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


static void
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


static jpp_load_step_t
jpp_load_answer(jpp_load_connection_t *c, const char *p, size_t len)
{
    char             *end;
    size_t            n, before;
    jpp_load_step_t   step;

    if (c->state == JPP_LOAD_IN_BODY) {
        return jpp_load_body(c, p, len);
    }

    n = sizeof(c->head) - c->head_len;
    n = len < n ? len : n;
    before = c->head_len;

    memcpy(c->head + c->head_len, p, n);
    c->head_len += n;

    end = memmem(c->head, c->head_len, "\r\n\r\n", 4);

    if (end == NULL) {
        return c->head_len == sizeof(c->head) ? JPP_LOAD_BAD : JPP_LOAD_MORE;
    }

    c->head_len = (size_t) (end + 4 - c->head);
    end[2] = '\0';

    step = jpp_load_head(c);

    if (step != JPP_LOAD_MORE) {
        return step;
    }

    c->state = JPP_LOAD_IN_BODY;
    n = c->head_len - before;

    return jpp_load_body(c, p + n, len - n);
}


/* The head ends with the line end of its last line, and a zero. */

static jpp_load_step_t
jpp_load_head(jpp_load_connection_t *c)
{
    int          minor, status;
    char        *end;
    const char  *p, *value;

    if (sscanf(c->head, "HTTP/1.%1d %3d", &minor, &status) != 2
        || status < 200)
    {
        return JPP_LOAD_BAD;
    }

    c->is_good = (status / 100 == 2);
    c->closes = (minor == 0);
    c->length = JPP_LOAD_UNTIL_CLOSE;
    c->left = 0;
    c->is_trailer = false;
    c->is_size = true;
    c->line_len = 0;
    c->size = 0;

    for (p = strchr(c->head, '\n') + 1; *p != '\0'; p = strchr(p, '\n') + 1) {

        value = p + strcspn(p, ":\n");

        if (*value != ':') {
            return JPP_LOAD_BAD;
        }

        value++;
        value += strspn(value, " \t");

        if (strncasecmp(p, "Content-Length:", 15) == 0) {
            c->length = JPP_LOAD_LENGTH;
            c->left = strtoull(value, &end, 10);

            if (end == value) {
                return JPP_LOAD_BAD;
            }

        } else if (strncasecmp(p, "Transfer-Encoding: chunked", 26) == 0) {
            c->length = JPP_LOAD_CHUNKED;

        } else if (strncasecmp(p, "Connection:", 11) == 0) {
            c->closes = (strncasecmp(value, "close", 5) == 0);
        }
    }

    return (status == 204 || status == 304) ? JPP_LOAD_DONE : JPP_LOAD_MORE;
}


static jpp_load_step_t
jpp_load_body(jpp_load_connection_t *c, const char *p, size_t len)
{
    switch (c->length) {

    case JPP_LOAD_LENGTH:
        if (len > c->left) {
            return JPP_LOAD_BAD;
        }

        c->left -= len;
        return c->left == 0 ? JPP_LOAD_DONE : JPP_LOAD_MORE;

    case JPP_LOAD_CHUNKED:
        return jpp_load_chunked(c, p, len);

    case JPP_LOAD_UNTIL_CLOSE:
        break;
    }

    return JPP_LOAD_MORE;
}


/* Lines, and what the size in a line says: so many bytes and CRLF follow. */

static jpp_load_step_t
jpp_load_chunked(jpp_load_connection_t *c, const char *p, size_t len)
{
    size_t             n;
    const char        *last, *digit;
    static const char  digits[] = "0123456789abcdef";

    for (last = p + len; p < last; p += n) {

        if (c->left > 0) {
            n = (size_t) (last - p);
            n = n < c->left ? n : (size_t) c->left;
            c->left -= n;
            continue;
        }

        n = 1;

        if (*p != '\n') {
            c->line_len += (*p != '\r');
            digit = memchr(digits, tolower((unsigned char) *p), 16);
            c->is_size = (c->is_size && digit != NULL);

            if (c->is_size) {
                c->size = c->size * 16 + (uint64_t) (digit - digits);
            }

            if (c->size >> 40) {
                return JPP_LOAD_BAD;
            }

            continue;
        }

        if (c->is_trailer) {
            if (c->line_len == 0) {
                return JPP_LOAD_DONE;
            }

        } else if (c->line_len == 0) {
            return JPP_LOAD_BAD;

        } else if (c->size > 0) {
            c->left = c->size + 2;
            c->size = 0;
            c->is_size = true;

        } else {
            c->is_trailer = true;
        }

        c->line_len = 0;
    }

    return JPP_LOAD_MORE;
}


static void
jpp_load_record(jpp_load_t *load, uint64_t ns)
{
    unsigned  shift;

    shift = 63 - (unsigned) __builtin_clzll(ns | JPP_LOAD_STEPS)
            - JPP_LOAD_BITS;

    load->buckets[shift * JPP_LOAD_STEPS + (ns >> shift)]++;

    if (ns > load->max) {
        load->max = ns;
    }
}


/* In microseconds: the middle of the bucket, which is not above the most. */

static double
jpp_load_percentile(const jpp_load_t *load, double part)
{
    size_t    i;
    double    rank;
    uint64_t  low, seen, step;

    rank = part * (double) load->good;
    seen = 0;

    for (i = 0; i < JPP_LOAD_BUCKETS; i++) {
        seen += load->buckets[i];

        if (seen > 0 && (double) seen >= rank) {
            break;
        }
    }

    if (i == JPP_LOAD_BUCKETS) {
        return 0;
    }

    step = i < 2 * JPP_LOAD_STEPS ? 0 : i / JPP_LOAD_STEPS - 1;
    low = (i - step * JPP_LOAD_STEPS) << step;
    low += ((uint64_t) 1 << step) / 2;

    return (double) (low < load->max ? low : load->max) / 1000;
}


static uint64_t
jpp_load_now(void)
{
    struct timespec  now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);

    return (uint64_t) now.tv_sec * JPP_LOAD_SECOND + (uint64_t) now.tv_nsec;
}


static void
jpp_load_die(const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    fputs("jpp_load: ", stderr);
    vfprintf(stderr, fmt, args);
    fputs("\n", stderr);
    va_end(args);

    exit(2);
}
