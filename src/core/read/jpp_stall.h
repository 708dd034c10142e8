
/*
 * A stall: an iteration of an event loop that lasted longer than the threshold.
 *
 * It holds all that a report needs, the mappings of its addresses too, so that
 * it can be reported when its process has ended.  Plain bytes without pointers:
 * it lies in shared memory, and is a capture as it is (jpp_parser_stalls).
 */


#ifndef _JPP_STALL_H_INCLUDED_
#define _JPP_STALL_H_INCLUDED_


#include "jpp_core.h"


#define JPP_STALL_DEPTH   128
#define JPP_STALL_NAME    64

/* in place of a location: nginx tries the regular expressions of locations */
#define JPP_STALL_CHOOSING  "(choosing a location)"
#define JPP_STALL_WHERE   384
#define JPP_STALL_MAPS    2048

/* of one report */
#define JPP_STALLS        64


/* what the thread did, and where its stack is from */
typedef enum {
    JPP_STALL_RAN = 0,         /* it computed: recorded by a signal */
    JPP_STALL_WAITED,          /* in a system call or for a page, which went */
                               /*   on undisturbed: read from its memory */
    JPP_STALL_SHORT,           /* no stack: it was over before it was taken */
    JPP_STALL_FOREIGN,         /* no stack: SIGPROF belongs to somebody else */
    JPP_STALL_BLIND,           /* no stack: the kernel does not say what a */
                               /*   thread does */
    JPP_STALL_KINDS
} jpp_stall_kind_t;


typedef enum {
    JPP_STALL_LASTS = 0,       /* nanos is how long it had lasted when it was */
                               /*   last looked at */
    JPP_STALL_OVER,
    JPP_STALL_DIED,            /* its process ended in it: the same */
    JPP_STALL_STATES
} jpp_stall_state_t;


typedef struct {
    int64_t           time_nanos;  /* when it began, since the epoch */
    uint64_t          nanos;       /* how long it lasted */

    int64_t           pid;
    uint64_t          started;     /* when, see jpp_process_t; 0: unknown */
    uint64_t          generation;
    uint32_t          index;       /* of the worker */
    uint32_t          kind;        /* jpp_stall_kind_t */
    uint32_t          state;       /* jpp_stall_state_t */

    uint32_t          depth;
    uint64_t          pcs[JPP_STALL_DEPTH];    /* innermost first, as return */
                                               /*   addresses; see jpp_cut.h */

    /* what was served; "": unknown */
    uint64_t          connection;  /* as the error log numbers them; 0 */
    char              server[JPP_STALL_NAME];
    char              location[JPP_STALL_NAME];
    char              place[JPP_STALL_NAME];   /* "nginx.conf:41"; or "" */

    char              where[JPP_STALL_WHERE];  /* jpp_where() in its process */

    /* the lines of /proc/self/maps that PCS lie in */
    uint32_t          maps_len;
    char              maps[JPP_STALL_MAPS];
} jpp_stall_t;


#endif /* _JPP_STALL_H_INCLUDED_ */
