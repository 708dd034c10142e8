
/*
 * All workers of an nginx, including workers that did not reply, and the memory
 * numbers of nginx as a whole.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_FLEET_H_INCLUDED_
#define _JPP_FLEET_H_INCLUDED_


#include "jpp_snapshots.h"


/* the most severe first; the last ones are about a profile */

#define JPP_FINDING_LIST(X)                                                   \
    X(JPP_FINDING_LIMIT_NEAR, "limit-near")                                   \
    X(JPP_FINDING_OOM_KILL, "oom-kill")                                       \
    X(JPP_FINDING_STALLS, "stalls")                                           \
    X(JPP_FINDING_GROWS, "grows")                                             \
    X(JPP_FINDING_RELOAD_LEAK, "reload-leak")                                 \
    X(JPP_FINDING_PRESSURE, "pressure")                                       \
    X(JPP_FINDING_SWAP, "swap")                                               \
    X(JPP_FINDING_ZONE_FULL, "zone-full")                                     \
    X(JPP_FINDING_OLD_WORKERS, "old-workers")                                 \
    X(JPP_FINDING_ODD_WORKER, "odd-worker")                                   \
    X(JPP_FINDING_OUTSIDE, "outside")                                         \
    X(JPP_FINDING_RETAINED, "retained")                                       \
    X(JPP_FINDING_FRAGMENTED, "fragmented")                                   \
    X(JPP_FINDING_THP, "thp")                                                 \
    X(JPP_FINDING_PEAK, "peak")                                               \
    X(JPP_FINDING_FEW_SAMPLES, "few-samples")                                 \
    X(JPP_FINDING_EXPLAINS, "explains")

typedef enum {
    JPP_FINDING_LIST(JPP_LIST_ID)
    JPP_FINDINGS
} jpp_finding_id_t;


/* "limit-near"; NULL ends them. */
extern const char *const  jpp_finding_ids[];


#define JPP_FINDING_OWNER  512
#define JPP_FINDING_LINK   96
#define JPP_FINDING_PLACE  192

/*
 * One thing there is to say about the memory of an nginx: NUL-terminated
 * printable ASCII.  jpp_diagnosis.h has the rules.
 */
typedef struct {
    unsigned      number;          /* its place in the table of all */
    const char   *id;              /* "limit-near" */
    bool          is_critical;     /* nginx is about to be killed, or was */
    const char   *what;
    char          owner[JPP_FINDING_OWNER];     /* who is behind it; "" */
    char          place[JPP_FINDING_PLACE];     /* its "nginx.conf:41"; "" */
    char          because[512];    /* the numbers */
    char          fix[512];
    char          link[JPP_FINDING_LINK];  /* what shows more: a resource */
                                   /*   and its query; "" */
    uint64_t      bytes;           /* of memory that it is about; or 0, */
    int64_t       pid;             /*   of this worker; 0: of all */
    int64_t       at;              /* when it happened; 0: it lasts */
    int64_t       since;           /* seconds since the epoch; 0: unknown */
    int64_t       acknowledged;    /* the same; 0: it is not */
    bool          stands;          /* it was found before: see below */
} jpp_finding_t;


/*
 * Is VALUE above PERCENT of BYTES, or below them?  Every bound of a rule is
 * asked for here: a finding rises at its bounds, and one that stands falls only
 * when it is a fifth away from them, so that none comes and goes with a value
 * at its bound.
 */
bool jpp_finding_above(const jpp_finding_t *finding, uint64_t value,
    unsigned percent, uint64_t bytes);
bool jpp_finding_below(const jpp_finding_t *finding, uint64_t value,
    unsigned percent, uint64_t bytes);


/* It is about BYTES of memory, of the worker PID or, with 0, of all; true. */
static inline bool
jpp_finding_about(jpp_finding_t *finding, uint64_t bytes, int64_t pid)
{
    finding->bytes = bytes;
    finding->pid = pid;

    return true;
}


/* Write the numbers; true, so that it can be a rule's result. */
bool jpp_finding_because(jpp_finding_t *finding, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* "Warning", "Critical" */
const char *jpp_finding_severity(const jpp_finding_t *finding);

/* ", acknowledged at 2026-11-26T13:20:05Z", or ""; returns TEXT. */
const char *jpp_finding_acknowledged(const jpp_finding_t *finding,
    char text[JPP_FINDING_LINK]);


/* Write N FINDINGS as a member of the object that is open. */
void jpp_findings_json(jpp_json_t *json, const jpp_finding_t *findings,
    size_t n);


/* A worker that did not answer, and one sentence that says why. */
typedef struct {
    jpp_identity_t         who;
    const char            *why;
} jpp_missing_t;


/* Write N MISSING workers as a member of the object that is open. */
void jpp_missing_json(jpp_json_t *json, const jpp_missing_t *missing, size_t n);

/* A line for each of them, below a table. */
void jpp_missing_text(jpp_sink_t *sink, const jpp_missing_t *missing, size_t n);


/* Who holds memory: jpp_diagnosis.h finds out. */
typedef struct {
    const char            *who;            /* "upstream buffers of location */
                                           /*   /export/ of www", as text; */
    const char            *what;           /*   "upstream buffers"; or "" */
    const char            *where;          /*   "location /export/ of www" */
    const char            *lasting;        /* where, in any generation */
    const char            *bound;          /* "proxy_buffers 64 64k"; or "" */
    const char            *place;          /* "nginx.conf:41"; or "" */
    const char            *units;          /* "requests"; NULL: it is one */
    uint64_t               n_units;
    uint64_t               bytes;          /* of all workers */
    jpp_identity_t         worker;         /* the one that has most of it; */
    uint64_t               worker_bytes;   /*   0: it is of none */
} jpp_holder_t;


#define JPP_VERDICT_TEXT  1024


typedef enum {
    JPP_VERDICT_HEALTHY = 0,
    JPP_VERDICT_WARNING,
    JPP_VERDICT_CRITICAL
} jpp_severity_t;


/* One sentence about all of an nginx: jpp_diagnosis.h says it. */
typedef struct {
    jpp_severity_t         severity;
    const char            *id;             /* of a finding, "missing-worker", */
                                           /*   "healthy" */
    char                   text[JPP_VERDICT_TEXT];
    char                   owner[JPP_FINDING_OWNER];   /* that it names; "" */
    char                   place[JPP_FINDING_PLACE];   /* where that is; "" */
    char                   link[JPP_FINDING_LINK];     /* what shows more; "" */
    int64_t                since;          /* of a finding; 0: unknown */
    size_t                 n_more;         /* findings besides */
} jpp_verdict_t;


typedef struct {
    const char            *nginx;          /* "1.22.1" */
    const char            *host;           /* name of the machine */
    uint32_t               n_asked;        /* workers that were asked */
    const jpp_worker_t    *workers;        /* those that answered */
    size_t                 n;
    const jpp_missing_t   *missing;        /* the others */
    size_t                 n_missing;
    const jpp_finding_t   *findings;       /* about all, as they were last */
    size_t                 n_findings;     /*   found */
    const jpp_verdict_t   *verdict;        /* NULL: there is none */
    const jpp_control_t   *wanted;         /* settings for all; or NULL */
    const char            *unnamed;        /* of the last profile: which */
                                           /*   code lacks names; or NULL */
    bool                   is_of_time;     /* the profile is not of memory */
    bool                   is_sampled;     /* it is of samples of memory */
} jpp_fleet_t;


/*
 * The anonymous memory of all workers: a page that they share, as a fork leaves
 * them, counts once.
 */
uint64_t jpp_fleet_anon(const jpp_fleet_t *fleet);

/* The same where it counts in each of them. */
uint64_t jpp_fleet_held(const jpp_fleet_t *fleet);


/* resources, and the bytes of a name */
#define JPP_RESOURCES      24
#define JPP_RESOURCE       16

#define JPP_FINDING_MIB    ((uint64_t) 1024 * 1024)

/* less is not worth a sentence */
#define JPP_FINDING_FLOOR  (64 * JPP_FINDING_MIB)


/* Places of one size in a zone. */
typedef struct {
    uint64_t               size;
    uint64_t               total;          /* places there are */
    uint64_t               used;
    uint64_t               allocations;    /* so far, successful or not */
    uint64_t               failures;
} jpp_zone_slot_t;


/* A zone of shared memory that nginx divides into slabs. */
typedef struct {
    const char            *name;           /* any bytes, of the configuration */
    size_t                 name_len;
    uint64_t               size;
    uint64_t               free;           /* in whole pages */
    uint64_t               used;           /* by allocations within pages */
    uint64_t               allocations;    /* so far, successful or not */
    uint64_t               failures;
    const jpp_zone_slot_t *slots;          /* by size, the smallest first */
    size_t                 n_slots;
    bool                   is_own;         /* this module's */
    bool                   was_busy;       /* read as somebody changed it: */
                                           /*   numbers of several moments */
} jpp_zone_t;


/* A worker that crashed or was killed. */
typedef struct {
    jpp_identity_t         who;            /* pid 0: there was none */
    uint64_t               rss;            /* seconds before; or JPP_NONE */
    int64_t                at;             /* when that was noticed */
} jpp_vanished_t;


/* What the kernel killed in the cgroup since nginx started. */
typedef struct {
    uint64_t               n;
    int64_t                at;             /* when the last was noticed */
} jpp_killed_t;


/* A finding over time. */
typedef struct {
    int64_t                since;          /* seconds since the epoch; 0: it */
                                           /*   does not stand */
    int64_t                acknowledged;   /* the same; 0: it is not */
    bool                   holds;          /* as of the last look: its bounds */
                                           /*   are wider */
} jpp_standing_t;


/* How often a resource was requested: answers by the first digit, from 2xx. */
typedef struct {
    char                   name[JPP_RESOURCE];     /* "": a free place */
    uint64_t               answers[4];
} jpp_requested_t;


/* What is written down as it happens; without pointers, for shared memory. */
typedef struct {
    uint64_t               unclean_exits;  /* workers that ended without */
                                           /*   saying so */
    jpp_vanished_t         vanished;       /* the last of them */
    jpp_killed_t           killed;
    uint64_t               inherited;      /* by a worker of the newest */
    uint64_t               inherited_before;   /*   generation, and of the */
                                           /*   one before; or JPP_NONE */
    uint64_t               requests;       /* a second, in tenths, a moment */
                                           /*   ago; JPP_NONE: unknown */
    jpp_requested_t        requested[JPP_RESOURCES];   /* the first ones */
    jpp_standing_t         standing[JPP_FINDINGS];     /* by number */
} jpp_noted_t;


/* What a profile of the fleet's workers has. */
typedef struct {
    uint64_t               samples;
    uint64_t               bytes;          /* that are live: an estimate, */
    double                 error;          /*   off by so many per cent */
    bool                   is_whole;       /* not only of an origin */
} jpp_profiled_t;


/*
 * What is known about the memory of an nginx at one moment, as the resources
 * metrics and memory write it: the workers, and what the kernel and the shared
 * zones say.
 */
typedef struct {
    const jpp_fleet_t     *fleet;
    uint64_t               generation;     /* of the configuration */
    int64_t                loaded;         /* when: seconds since the epoch */
    uint64_t               oom_kills;      /* of the cgroup, when nginx */
                                           /*   started; JPP_NONE: unknown */
    jpp_noted_t            noted;          /* as it was last written down */
    uint64_t               events[JPP_EVENT_TYPES];    /* so far */
    int64_t                now;            /* seconds since the epoch */
    uint64_t               shutdown_timeout;   /* of workers, in seconds; 0: */
                                           /*   they have all the time */
    const jpp_profiled_t  *profile;        /* NULL: there is none at hand */
    const jpp_zone_t      *zones;
    size_t                 n_zones;
    const jpp_holder_t    *holders;        /* the largest first; none where */
    size_t                 n_holders;      /*   nobody was asked for them */
    const jpp_stall_t     *stalls;         /* of the last minute, the newest */
    size_t                 n_stalls;       /*   first */
    jpp_held_t             held;           /* over the life of nginx */
    const jpp_event_t     *marks;          /* events, the newest first */
    size_t                 n_marks;
    const jpp_snapshot_t  *snapshots;      /* that are kept, the oldest */
    uint64_t               n_snapshots;    /*   first; NULL: none are taken */
    uint64_t               snapshots_taken[JPP_SNAPSHOT_REASONS];  /* so far, */
    uint64_t               snapshots_failed;   /*   and that were not stored */
    const jpp_system_t    *system;
    const jpp_cgroup_t    *cgroup;         /* NULL: */
    const char            *cgroup_why;     /*   a sentence that says why */
} jpp_telemetry_t;


#endif /* _JPP_FLEET_H_INCLUDED_ */
