
/*
 * The state of the profiling of each worker: as a line of the log and as JSON.
 * jpp_status_comments.h writes it as comments of a profile.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_STATUS_H_INCLUDED_
#define _JPP_STATUS_H_INCLUDED_


#include "jpp_identity.h"
#include "jpp_loop.h"
#include "jpp_problems.h"
#include "jpp_sink.h"
#include "jpp_stats.h"
#include "jpp_usage.h"


#define JPP_STATUS_TIME  32


/* The last failure in a worker. */
typedef struct {
    int64_t                time;           /* seconds since the epoch */
    char                   text[256];      /* one sentence; "": none */
} jpp_failure_t;


/*
 * What a worker uses, and how busy it is; zeros where it was not asked for its
 * status.
 */
typedef struct {
    jpp_usage_t            usage;
    uint64_t               connections;    /* of worker_connections */
    uint64_t               connections_free;
    jpp_loop_t             loop;
} jpp_activity_t;


/* One worker when it was last asked. */
typedef struct {
    jpp_identity_t         who;
    bool                   is_exiting;
    int64_t                started;        /* seconds since the epoch */
    jpp_jemalloc_t         jemalloc;
    bool                   has_stats;
    jpp_stats_t            stats;
    jpp_activity_t         activity;
    jpp_failure_t          last_error;
} jpp_worker_t;


/* A worker that did not answer, and one sentence that says why. */
typedef struct {
    jpp_identity_t         who;
    const char            *why;
} jpp_missing_t;


typedef struct {
    const char            *nginx;          /* "1.22.1" */
    const char            *host;           /* name of the machine */
    uint32_t               n_asked;        /* workers that were asked */
    const jpp_worker_t    *workers;        /* those that answered */
    size_t                 n;
    const jpp_missing_t   *missing;        /* the others */
    size_t                 n_missing;
    const jpp_control_t   *wanted;         /* settings for all; or NULL */
    const char            *unnamed;        /* of the last profile: which */
                                           /*   code lacks names; or NULL */
} jpp_fleet_t;


/* The word for STATE: "no-jemalloc no-prof off refused inactive ready". */
const char *jpp_status_word(jpp_jemalloc_state_t state);

/* SECONDS since the epoch as "2026-11-21T04:02:00Z"; returns TEXT. */
const char *jpp_status_time(int64_t seconds, char text[JPP_STATUS_TIME]);

/* Fill FAILURE with the time SECONDS and TEXT, which is cut if too long. */
void jpp_status_failed(jpp_failure_t *failure, int64_t seconds,
    const char *text);

/*
 * Write one line for a log, without a newline, to the SIZE bytes at TEXT, cut
 * if they are too few: the state and, unless ready, the reason and the cure; or
 * the harm that options do.
 */
void jpp_status_notice(const jpp_jemalloc_t *jemalloc, char *text,
    size_t size);

/*
 * Are the settings of JEMALLOC those WANTED for all workers?  1, 0; -1: none
 * are.
 */
int jpp_status_in_step(const jpp_jemalloc_t *jemalloc,
    const jpp_control_t *wanted);

/*
 * Write the status resource to SINK, which the caller flushes.  It is ASCII:
 * other bytes become question marks.
 */
void jpp_status_json(const jpp_fleet_t *fleet, jpp_sink_t *sink);


#endif /* _JPP_STATUS_H_INCLUDED_ */
