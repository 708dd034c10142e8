
/*
 * A worker's report about itself: its identity, the source of its heap samples
 * and since when they are complete, its memory over time, the delays of its
 * event loop, its use of the machine, and its last error.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_WORKER_H_INCLUDED_
#define _JPP_WORKER_H_INCLUDED_


#include "jpp_host.h"
#include "jpp_source.h"


/*
 * Memory histories: a worker's, and nginx's with its largest owners.
 *
 * A history has a fixed number of points.  When they are used up, pairs of them
 * become one, and a point stands for twice the time.  A point has the most that
 * was seen in its time, since that is what limits are about; the last one is
 * still growing.
 *
 * Values without pointers, so that they may lie in shared memory, whose lock
 * the writer holds.
 */

#define JPP_HISTORY_POINTS    120

/* seconds of a point, in the beginning */
#define JPP_HISTORY_INTERVAL  5


/* JPP_NONE: unknown */
typedef struct {
    uint64_t             interval;     /* seconds of a point */
    uint64_t             n;
    uint64_t             allocated[JPP_HISTORY_POINTS];    /* and not freed */
    uint64_t             rss[JPP_HISTORY_POINTS];
} jpp_history_t;


/* Initialize HISTORY: no point. */
void jpp_history_init(jpp_history_t *history);

/*
 * Add what was seen SECONDS after the beginning.  Time in which nothing was
 * added gets the same; time does not go back.
 */
void jpp_history_add(jpp_history_t *history, uint64_t seconds,
    uint64_t allocated, uint64_t rss);

/* Write HISTORY as a member of the object that is open; NULL: null. */
void jpp_history_json(jpp_json_t *json, const jpp_history_t *history);

/*
 * The slope of the least squares through N of VALUES, all known, in bytes a
 * point; *ERROR, unless it is NULL, is its standard error.
 */
double jpp_history_slope(const uint64_t *values, size_t n, double *error);


/* points that a rate needs */
#define JPP_GROWN_POINTS  6

/* How an owner, or a worker, has changed. */
typedef struct {
    const char          *who;          /* NULL: all of nginx */
    const char          *place;
    uint64_t             then;         /* bytes */
    uint64_t             now;
    size_t               n;            /* points that are known */
    double               per_hour;
    double               error;        /* of that: its standard error */
    bool                 is_rising;    /* it is believed to go on */
} jpp_grown_t;


/*
 * Fill GROWN with how VALUES have changed from the point FROM of HISTORY to
 * END; false: the last of them is not known.  A rise goes through all of the
 * time, in both halves of it, by more than the points scatter, and beyond what
 * there was in as much time before: what comes and goes comes back to where it
 * was.
 */
bool jpp_history_change(const jpp_history_t *history, const uint64_t *values,
    size_t from, size_t end, jpp_grown_t *grown);


/* owners that are told apart, and bytes of their names */
#define JPP_HELD_OWNERS  24
#define JPP_HELD_NAME    256
#define JPP_HELD_PLACE   192


typedef struct {
    char                 who[JPP_HELD_NAME];   /* "location /a of www"; "": */
                                               /*   nobody */
    char                 place[JPP_HELD_PLACE];    /* "nginx.conf:41"; "" */
    uint64_t             last;                 /* bytes, as last seen */
    uint64_t             bytes[JPP_HISTORY_POINTS];    /* JPP_NONE: unknown */
} jpp_held_owner_t;


/* Begins with zeros. */
typedef struct {
    uint64_t             begun;        /* in ms */
    uint64_t             seconds;      /* of it, as of the last point */
    jpp_history_t        all;          /* its RSS is anonymous memory */
    jpp_held_owner_t     owners[JPP_HELD_OWNERS + 1];  /* the last: others */
} jpp_held_t;


/*
 * The owners of memory were looked at: begin, and say what each holds, the
 * largest first.  One that is not told apart yet takes the place of the one
 * that held least, if that was less than half as much.
 */
void jpp_held_begin(jpp_held_t *held);
void jpp_held_see(jpp_held_t *held, const char *who, const char *place,
    uint64_t bytes);

/*
 * At the time NOW, in ms, all have ALLOCATED and RSS, and each owner what it
 * had when they were last looked at.
 */
void jpp_held_add(jpp_held_t *held, uint64_t now, uint64_t allocated,
    uint64_t rss);

/*
 * The point that HELD's present rise begins with: the last one before which
 * there was more.
 */
size_t jpp_held_rise(const jpp_held_t *held);

/* Seconds since it began; 0: nothing is known. */
uint64_t jpp_held_since(const jpp_held_t *held);


/*
 * Fill GROWN with the owners from the point FROM on, which there is, those that
 * grew most first, and ALL with all of nginx.  Returns the number of owners.
 */
size_t jpp_held_grown(const jpp_held_t *held, size_t from, jpp_grown_t *all,
    jpp_grown_t grown[JPP_HELD_OWNERS + 1]);


/* Write SECONDS as a member of the object that is open; 0: null. */
void jpp_json_time(jpp_json_t *json, const char *key, int64_t seconds);

/* Write TEXT as a member of the object that is open; "": null. */
void jpp_json_filled(jpp_json_t *json, const char *key, const char *text);


/* The same three numbers wherever a worker is named. */
typedef struct {
    uint32_t   index;              /* nginx's number for it, from 0 */
    int64_t    pid;
    uint64_t   generation;         /* of the configuration, from 1 */
} jpp_identity_t;


#define JPP_WORKER_NAME  48

/* "worker 1 (pid 4712)"; returns TEXT. */
const char *jpp_identity_text(const jpp_identity_t *identity,
    char text[JPP_WORKER_NAME]);

/* The same for one use, as jpp_bytes(). */
#define jpp_worker_name(identity)                                             \
    jpp_identity_text(identity, (char[JPP_WORKER_NAME]) { 0 })

/* Write the members worker, pid and generation of the object that is open. */
void jpp_json_identity(jpp_json_t *json, const jpp_identity_t *identity);


/*
 * Since when jemalloc's samples of a worker are complete, and when it took none
 * before that.  jemalloc sees a sampled object freed even while its sampling is
 * off, but what is allocated then is never sampled.
 *
 * The sampler of the module needs no such thing: it forgets its samples when it
 * is switched off.
 */


/* of the words of a gap */
#define JPP_COVERAGE_TEXT  96


/* Times are seconds since the epoch. */
typedef struct {
    int64_t    since;      /* what is allocated since then is sampled; */
                           /*   0: what the process ever allocated */
    int64_t    off;        /* sampling was first switched off, while there */
                           /*   were samples from before; 0: never */
    uint64_t   n_off;      /* how often it was */
} jpp_coverage_t;


/* RESULT, of a change that was made at NOW, may make samples incomplete. */
void jpp_coverage_changed(jpp_coverage_t *coverage,
    const jpp_control_result_t *result, int64_t now);

/* Is memory missing that was allocated while sampling was off? */
static inline bool
jpp_coverage_has_gap(const jpp_coverage_t *coverage)
{
    return coverage->n_off != 0 && coverage->since >= coverage->off;
}


/*
 * Write when sampling was off, "from ... to ...", to TEXT; returns TEXT.
 * There is a gap.
 */
const char *jpp_coverage_gap(const jpp_coverage_t *coverage,
    char text[JPP_COVERAGE_TEXT]);


/*
 * How long the iterations of an event loop keep everybody waiting: a histogram
 * that only grows.
 *
 * One writer, in its event loop; a copy may be read anywhere.
 */


#define JPP_LOOP_BOUNDS  10


typedef struct {
    uint64_t  counts[JPP_LOOP_BOUNDS + 1];   /* up to each bound; beyond */
    uint64_t  sum;                           /* milliseconds */
    uint64_t  max;
} jpp_loop_t;


/* the bounds, in milliseconds */
extern const uint64_t  jpp_loop_bounds[JPP_LOOP_BOUNDS];


/* Count one iteration of MS milliseconds. */
void jpp_loop_add(jpp_loop_t *loop, uint64_t ms);

/* The number of iterations. */
uint64_t jpp_loop_count(const jpp_loop_t *loop);

/*
 * The bound below which PER_MILLE of the iterations stay, or the longest one,
 * if that is less; 0 if there is none.
 */
uint64_t jpp_loop_quantile(const jpp_loop_t *loop, uint64_t per_mille);


/*
 * How long the iterations of an event loop took of late: the longest of the
 * last minute, and how much of it slow ones took.  jpp_loop_t has all of them.
 *
 * One writer, in its event loop, who reads it as well.
 */


/* milliseconds: an iteration of more is a slow one */
#define JPP_RECENT_SLOW   100

/* the last minute, and what has passed of the step after it */
#define JPP_RECENT_STEP   10000
#define JPP_RECENT_STEPS  7


/* in milliseconds */
typedef struct {
    uint64_t              longest;
    uint64_t              slow;        /* slow ones, together */
} jpp_minute_t;


/* all zeros: nothing so far */
typedef struct {
    uint64_t              numbers[JPP_RECENT_STEPS];   /* of steps, from 1 */
    jpp_minute_t          took[JPP_RECENT_STEPS];
} jpp_recent_t;


/* An iteration of MS milliseconds has ended at the time NOW, in ms. */
void jpp_recent_add(jpp_recent_t *recent, uint64_t now, uint64_t ms);

/* Fill MINUTE with the last minute before NOW. */
void jpp_recent_read(const jpp_recent_t *recent, uint64_t now,
    jpp_minute_t *minute);


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


/* The VMs of LuaJIT that it may have: of http, of stream. */
#define JPP_LUA_VMS  2

/* of the words */
#define JPP_LUA_WHY  192

extern const char *const  jpp_lua_vm_names[JPP_LUA_VMS];

typedef struct {
    uint64_t               bytes[JPP_LUA_VMS];     /* allocated; JPP_NONE: */
                                                   /*   there is none */
    uint64_t               uncached;       /* locations with lua_code_cache */
                                           /*   off: each request has a VM */
    char                   why[JPP_LUA_WHY];       /* nothing is known of */
                                                   /*   them; "": it is */
} jpp_lua_known_t;


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
    bool                   has_owners;     /* its samples do */
    jpp_lua_known_t        lua;
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


/* A sample every 2^N bytes, by who takes them. */
static inline uint32_t
jpp_worker_lg_sample(const jpp_worker_t *worker)
{
    return worker->sampler.is_on ? worker->sampler.lg_sample
                                 : worker->jemalloc.lg_sample;
}


/* Since when its samples are complete; 0: since nginx was started. */
static inline int64_t
jpp_worker_complete_since(const jpp_worker_t *worker)
{
    return worker->sampler.is_on ? worker->sampler.since
                                 : worker->coverage.since;
}


/*
 * The anonymous memory that WORKER shares with no other process, and that comes
 * back if it ends; where that was not read, all that it has.
 */
uint64_t jpp_worker_own(const jpp_worker_t *worker);

/* The part of it that is neither jemalloc's nor the sampler's, if known. */
uint64_t jpp_worker_outside(const jpp_worker_t *worker);


/* The connections in use; 0 where more are free than there are. */
static inline uint64_t
jpp_activity_used(const jpp_activity_t *activity)
{
    return jpp_less(activity->connections, activity->connections_free);
}


#endif /* _JPP_WORKER_H_INCLUDED_ */
