
/*
 * The parts of jpp_load: its command line (jpp_load.c), the requests that go
 * out and come back (jpp_load_run.c), what of an answer is its head and its
 * body (jpp_load_answer.c), and latencies (jpp_load_latency.c).
 *
 * One thread, one jpp_load_t, whose connections live as long as the process.
 */


#ifndef _JPP_LOAD_H_INCLUDED_
#define _JPP_LOAD_H_INCLUDED_


#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


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


/* Connect once, so that a server that is not there ends the program. */
void jpp_load_prepare(jpp_load_t *load);

/* Returns when all that is due was answered, or was given up. */
void jpp_load_run(jpp_load_t *load);

/*
 * Read on in an answer, in LEN bytes at P.  JPP_LOAD_BAD: it is no HTTP that is
 * understood here, or more than there should be.
 */
jpp_load_step_t jpp_load_answer(jpp_load_connection_t *c, const char *p,
    size_t len);

/* Count a latency of NS. */
void jpp_load_record(jpp_load_t *load, uint64_t ns);

/* In microseconds: the middle of the bucket, which is not above the most. */
double jpp_load_percentile(const jpp_load_t *load, double part);

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t jpp_load_now(void);

/* Print a sentence and end with 2. */
void jpp_load_die(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), noreturn));


#endif /* _JPP_LOAD_H_INCLUDED_ */
