
/*
 * Snapshots: what all workers answered at a moment when memory was short, or
 * has grown, in a region of shared memory that outlives the workers.
 *
 * The region knows a snapshot as bytes; the adapter makes them: a tar.gz of
 * the captures that the workers' answers contain, as served live.
 *
 * Its header has a slot for each snapshot; the rest are pages, each with the
 * number of the slot that it belongs to.  A page whose slot is free is free,
 * so whoever is killed while it writes leaves nothing to repair.  The functions
 * that change slots are called under the lock of the workers' shared memory;
 * bytes are copied without it, and a sum proves them.
 */


#ifndef _JPP_SNAPSHOTS_H_INCLUDED_
#define _JPP_SNAPSHOTS_H_INCLUDED_


#include "jpp_events.h"


/* the most that are kept */
#define JPP_SNAPSHOTS       64

#define JPP_SNAPSHOT_PAGE   4096
#define JPP_SNAPSHOT_PAGES  65536

#define JPP_SNAPSHOT_TEXT   128


/* Why it was taken. */

#define JPP_SNAPSHOT_LIST(X)                                                  \
    X(JPP_SNAPSHOT_NONE, "none")                                              \
    X(JPP_SNAPSHOT_START, "start")                                            \
    X(JPP_SNAPSHOT_GROWTH, "growth")                                          \
    X(JPP_SNAPSHOT_SOON, "soon")                                              \
    X(JPP_SNAPSHOT_LIMIT, "limit")                                            \
    X(JPP_SNAPSHOT_KILL, "kill")                                              \
    X(JPP_SNAPSHOT_MANUAL, "manual")

typedef enum {
    JPP_SNAPSHOT_LIST(JPP_LIST_ID)
    JPP_SNAPSHOT_REASONS
} jpp_snapshot_reason_t;


extern const char *const  jpp_snapshot_reasons[JPP_SNAPSHOT_REASONS];


/* Plain bytes: it lies in shared memory. */
typedef struct {
    uint64_t   id;             /* from 1; 0: none */
    int64_t    time;           /* seconds since the epoch */
    uint32_t   reason;         /* jpp_snapshot_reason_t */
    uint32_t   n_asked;        /* workers, */
    uint32_t   n_workers;      /*   those that answered, */
    uint32_t   n_left_out;     /*   and those for which there was no room */
    uint32_t   sum;            /* of its bytes */
    uint64_t   len;            /* how many */
    uint64_t   generation;     /* of the configuration */
    uint64_t   rise;           /* of memory: which one it is of */
    uint64_t   held;           /* memory of the workers that answered */
    uint64_t   usage;          /* what is limited, and how: the cgroup's, or */
    uint64_t   limit;          /*   the machine's; or JPP_NONE */
    char       text[JPP_SNAPSHOT_TEXT];    /* "usage is 86 % of 512 MiB" */
    uint64_t   owner_bytes;    /* of the owner that held most, */
    char       owner[JPP_HELD_NAME];       /* "location /a of www"; "" */
    char       place[JPP_HELD_PLACE];      /* "nginx.conf:41"; "" */
} jpp_snapshot_t;


typedef struct {
    uint32_t        sum;       /* of what is known about it; 0: its bytes are */
                               /*   being written */
    jpp_snapshot_t  about;     /* id 0: free */
} jpp_snapshot_slot_t;


/*
 * When a snapshot is taken: what was seen so far, by whoever looked.
 *
 * Some worker looks once a second: the first that comes after that, so that a
 * stopped worker stops nobody.  Times are in ms of a clock that does not jump.
 */

#define JPP_TRIGGER_EVERY   1000
#define JPP_TRIGGER_POINTS  8


typedef struct {
    uint64_t   at;
    uint64_t   usage;
} jpp_trigger_point_t;


typedef struct {
    uint64_t   looked;         /* when; 0: never */
    uint64_t   taken;          /* when the last one was; 0: none was */
    uint64_t   generation;
    uint64_t   began;          /* when that was first seen */
    bool       is_wanted;      /* somebody asks for one */
    bool       has_begun;      /* one was taken since that */
    bool       is_rising;
    uint64_t   rise;
    uint64_t   most;           /* held in the rise */
    uint64_t   least;          /* held since the last snapshot; 0: none */
    uint64_t   crossed;        /* usage when the limit was near; 0: it is not */
    uint64_t   kills;          /* of the cgroup, as of the last look */
    jpp_trigger_point_t
               points[JPP_TRIGGER_POINTS];     /* of usage, the last first */
} jpp_trigger_t;


/* What whoever looks has seen; JPP_NONE: it is not known. */
typedef struct {
    uint64_t   now;
    uint64_t   generation;
    uint64_t   held;
    uint64_t   usage;
    uint64_t   limit;
    uint64_t   kills;
    unsigned   near;           /* the limit is near above so many per cent */
    unsigned   growth;         /* and so many are growth */
} jpp_trigger_look_t;


typedef struct {
    uint64_t             n_ids;
    uint64_t             n_failed;
    uint64_t             counts[JPP_SNAPSHOT_REASONS];     /* listed so far */
    uint32_t             n_pages;
    uint32_t             keep;             /* how many; at most JPP_SNAPSHOTS */
    jpp_trigger_t        trigger;
    jpp_snapshot_slot_t  slots[JPP_SNAPSHOTS];
    uint8_t              owners[JPP_SNAPSHOT_PAGES];   /* by page: slot + 1 */
} jpp_snapshots_t;


/* a place in it */
typedef struct {
    uint64_t   id;
    uint32_t   slot;
} jpp_snapshot_place_t;


/* what it has at least: room for one page */
#define JPP_SNAPSHOTS_MIN  (sizeof(jpp_snapshots_t) + JPP_SNAPSHOT_PAGE)


/* Initialize SNAPSHOTS in SIZE zeroed bytes, JPP_SNAPSHOTS_MIN at least. */
void jpp_snapshots_init(jpp_snapshots_t *snapshots, size_t size);

/*
 * Under the lock: make room for the about->len bytes of a snapshot, drop
 * others for it, and fill PLACE and about->id.  JPP_ERR_LIMIT: it is larger
 * than all room there is.
 */
jpp_code_t jpp_snapshots_begin(jpp_snapshots_t *snapshots,
    jpp_snapshot_t *about, jpp_snapshot_place_t *place, jpp_err_t *err);

/*
 * Then without it: write the bytes; and under it: list it.  False: its room
 * was taken by another meanwhile.
 */
void jpp_snapshots_write(jpp_snapshots_t *snapshots,
    const jpp_snapshot_place_t *place, const uint8_t *data, size_t len);
bool jpp_snapshots_end(jpp_snapshots_t *snapshots,
    const jpp_snapshot_place_t *place);

/* Under the lock: copy those that are whole to LIST, the oldest first. */
size_t jpp_snapshots_list(const jpp_snapshots_t *snapshots,
    jpp_snapshot_t list[JPP_SNAPSHOTS]);

/*
 * Without it: copy the bytes of ABOUT, of the list, to DATA.  False: it was
 * dropped meanwhile.
 */
bool jpp_snapshots_read(const jpp_snapshots_t *snapshots,
    const jpp_snapshot_t *about, uint8_t *data);

/*
 * Which of the N snapshots of LIST, the oldest first, is dropped for another?
 * Not the newest, and if that can be, not the first of its rise of memory, nor
 * the largest of each rise; of former rises the oldest goes first, of the
 * present one what lies closest between two others.
 */
size_t jpp_snapshots_victim(const jpp_snapshot_t *list, size_t n);

/*
 * The one of the N of LIST that MOMENT means, where it is NOW: its id, the last
 * one of a generation, or the last one before a time.  NULL: ERR says which
 * ones there are.
 */
const jpp_snapshot_t *jpp_snapshots_find(const jpp_snapshot_t *list, size_t n,
    const jpp_moment_t *moment, int64_t now, jpp_err_t *err);

/* The one of SINCE to UNTIL that held most; NULL: there is none. */
const jpp_snapshot_t *jpp_snapshots_most(const jpp_snapshot_t *list, size_t n,
    int64_t since, int64_t until);

/*
 * The one to compare with what has grown since TIME: the newest that is not
 * later, else the oldest.  NULL: there is none.
 */
const jpp_snapshot_t *jpp_snapshots_before(const jpp_snapshot_t *list,
    size_t n, int64_t time);


/*
 * Write the LEN bytes of the archive DATA of ABOUT to a new file in the
 * directory PATH, which is there whole or not at all, and remove the oldest
 * files of snapshots until KEEP of them are left, with SIZE bytes at most; the
 * new one stays.  HOST is in its name.  Nothing else is touched.
 */
jpp_code_t jpp_snapshot_file(const char *path, const char *host,
    const jpp_snapshot_t *about, const uint8_t *data, size_t len, size_t keep,
    uint64_t size, jpp_err_t *err);


/* Under the lock: is it time to look?  Then it is the caller who does. */
bool jpp_trigger_is_due(jpp_trigger_t *trigger, uint64_t now);

/*
 * Under the lock: is a snapshot to be taken by what LOOK has seen?  Sets
 * reason, text, rise, generation and numbers of ABOUT.  False: it is not.
 */
bool jpp_trigger_look(jpp_trigger_t *trigger, const jpp_trigger_look_t *look,
    jpp_snapshot_t *about);


#endif /* _JPP_SNAPSHOTS_H_INCLUDED_ */
