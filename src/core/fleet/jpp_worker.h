
/*
 * What a worker says of itself: who it is, what samples its heap, what it uses,
 * and what failed last.
 */


#ifndef _JPP_WORKER_H_INCLUDED_
#define _JPP_WORKER_H_INCLUDED_


#include "jpp_coverage.h"
#include "jpp_history.h"
#include "jpp_identity.h"
#include "jpp_loop.h"
#include "jpp_recent.h"
#include "jpp_source.h"
#include "jpp_stats.h"
#include "jpp_usage.h"


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
    jpp_minute_t           minute;         /* the last one of the loop */
    jpp_loop_t             dumps;          /* how long they took */
} jpp_activity_t;


/* How it looks for stalls. */
typedef struct {
    uint64_t               threshold;      /* ms; 0: it does not */
    bool                   is_foreign;     /* SIGPROF is somebody else's */
} jpp_stalling_t;


/* One worker when it was last asked. */
typedef struct {
    jpp_identity_t         who;
    bool                   is_exiting;
    int64_t                started;        /* seconds since the epoch */
    uint64_t               inherited;      /* allocated then; or JPP_NONE */
    jpp_jemalloc_t         jemalloc;
    jpp_coverage_t         coverage;       /* of its samples */
    jpp_sampler_state_t    sampler;
    bool                   has_stats;
    jpp_stats_t            stats;
    jpp_activity_t         activity;
    jpp_stalling_t         stalling;
    jpp_failure_t          last_error;
    const jpp_history_t   *history;        /* not sent: it is in shared */
                                           /*   memory; NULL: none */
} jpp_worker_t;


/* Do profiles of WORKER lack what was allocated while sampling was off? */
static inline bool
jpp_worker_has_gap(const jpp_worker_t *worker)
{
    return !worker->sampler.is_on && jpp_coverage_has_gap(&worker->coverage);
}


/* Does WORKER take samples? */
static inline bool
jpp_worker_is_sampled(const jpp_worker_t *worker)
{
    return worker->sampler.is_on
           || worker->jemalloc.state == JPP_JEMALLOC_READY;
}


/* Since when its samples are complete; 0: since nginx was started. */
static inline int64_t
jpp_worker_complete_since(const jpp_worker_t *worker)
{
    return worker->sampler.is_on ? worker->sampler.since
                                 : worker->coverage.since;
}


/* The connections in use; 0 where more are free than there are. */
static inline uint64_t
jpp_activity_used(const jpp_activity_t *activity)
{
    return activity->connections > activity->connections_free
           ? activity->connections - activity->connections_free : 0;
}


#endif /* _JPP_WORKER_H_INCLUDED_ */
