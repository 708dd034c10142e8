
/*
 * The last events of an nginx: reloads, crashes, findings, changes, in a ring
 * in shared memory that outlives the workers.
 *
 * The writer holds the lock of that memory.  A worker that is killed as it
 * writes loses its event and the oldest one: an event is listed only if it is
 * whole.  Zeroed, the ring is empty.
 */


#ifndef _JPP_EVENTS_H_INCLUDED_
#define _JPP_EVENTS_H_INCLUDED_


#include "jpp_stall.h"
#include "jpp_worker.h"


#define JPP_EVENTS      256

/* bytes of an event's text; a longer one is truncated */
#define JPP_EVENT_TEXT  192


/*
 * A generation has ended when its last worker has exited; a worker has crashed
 * or was killed, or the kernel killed in the cgroup; a finding begins to hold,
 * and is over; the limit of memory has changed; a snapshot was stored.
 */

#define JPP_EVENT_LIST(X)                                                     \
    X(JPP_EVENT_START, "start")                                               \
    X(JPP_EVENT_RELOAD, "reload")                                             \
    X(JPP_EVENT_ENDED, "ended")                                               \
    X(JPP_EVENT_CRASH, "crash")                                               \
    X(JPP_EVENT_KILL, "kill")                                                 \
    X(JPP_EVENT_FINDING, "finding")                                           \
    X(JPP_EVENT_OVER, "over")                                                 \
    X(JPP_EVENT_LIMIT, "limit")                                               \
    X(JPP_EVENT_CONTROL, "control")                                           \
    X(JPP_EVENT_SNAPSHOT, "snapshot")                                         \
    X(JPP_EVENT_STALL, "stall")

typedef enum {
    JPP_EVENT_LIST(JPP_LIST_ID)
    JPP_EVENT_TYPES
} jpp_event_type_t;


/* Plain bytes: it lies in shared memory. */
typedef struct {
    int64_t            time;           /* seconds since the epoch */
    jpp_identity_t     who;            /* pid 0: no worker */
    uint32_t           type;           /* jpp_event_type_t */
    char               text[JPP_EVENT_TEXT];
} jpp_event_t;


typedef struct {
    uint64_t           sum;            /* of the event */
    jpp_event_t        event;
} jpp_event_slot_t;


typedef struct {
    uint64_t           n;              /* events so far */
    uint64_t           counts[JPP_EVENT_TYPES];
    jpp_event_slot_t   slots[JPP_EVENTS];
} jpp_events_t;


extern const char *const  jpp_event_types[JPP_EVENT_TYPES];


/*
 * Append an event of TYPE at the time NOW with formatted text, by WHO; NULL: by
 * no worker.
 */
void jpp_events_add(jpp_events_t *events, jpp_event_type_t type, int64_t now,
    const jpp_identity_t *who, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Copy the events that are whole to LIST, the newest first; their number. */
size_t jpp_events_list(const jpp_events_t *events,
    jpp_event_t list[JPP_EVENTS]);


/*
 * The last stalls of all workers, in a table in shared memory that outlives
 * them.
 *
 * Nobody locks it, so a worker that is killed while it writes leaves no lock.
 * Who writes takes the oldest slot; what a parser finds half written, or
 * written by two, it leaves out.  Zeroed, it is empty.
 *
 * Any process, any thread.
 */

/* lines of a log in a minute */
#define JPP_STALL_LINES  5


typedef struct {
    uint64_t          id;          /* 0: free, or being written */
    uint64_t          sum;         /* of the stall */
    jpp_stall_t       stall;
} jpp_stall_slot_t;


typedef struct {
    uint64_t          n;           /* stalls so far */
    uint64_t          minute;      /* of the log, since the epoch */
    uint64_t          n_lines;     /* in this minute */
    uint64_t          n_silent;    /* stalls without a line, to be counted in */
                                   /*   the next one */
    jpp_stall_slot_t  slots[JPP_STALLS];
} jpp_stall_table_t;


/*
 * Store STALL: *ID is 0 at first, and says later which one is replaced.  If
 * others have taken its slot meanwhile, it gets another one.
 */
void jpp_stall_table_put(jpp_stall_table_t *table, const jpp_stall_t *stall,
    uint64_t *id);

/*
 * Copy the stalls that lasted at SINCE (nanoseconds since the epoch) or later
 * to STALLS, the newest first; returns their number.
 */
size_t jpp_stall_table_list(const jpp_stall_table_t *table, int64_t since,
    jpp_stall_t stalls[JPP_STALLS]);

/*
 * May one more stall be logged in MINUTE (since the epoch)?  *SILENT is then
 * how many were not since the last one that was; else this one counts there.
 */
bool jpp_stall_table_may_log(jpp_stall_table_t *table, uint64_t minute,
    uint64_t *silent);


/*
 * Stalls in words: for the log, and as comments of a profile.
 */

#define JPP_STALL_TEXT  512


/*
 * What STALL served: ", in location "/x" of server "a", connection *12"; ""
 * if that is not known.
 */
const char *jpp_stall_served(const jpp_stall_t *stall,
    char text[JPP_STALL_TEXT]);

#define JPP_STALL_OWNER  160


/* The same as an owner: "location /x of a", "server a"; "": not known. */
const char *jpp_stall_owner(const jpp_stall_t *stall,
    char text[JPP_STALL_OWNER]);

/* Append comments on N STALLS, one each. */
void jpp_stall_comments(const jpp_stall_t *stalls, size_t n,
    uint64_t threshold, jpp_profile_t *profile);


#endif /* _JPP_EVENTS_H_INCLUDED_ */
