
/*
 * What is known about the memory of an nginx at one moment, as the resources
 * metrics and memory write it: the workers, and what the kernel and the shared
 * zones say.
 *
 * The values belong to the caller.
 */


#ifndef _JPP_TELEMETRY_H_INCLUDED_
#define _JPP_TELEMETRY_H_INCLUDED_


#include "jpp_cgroup.h"
#include "jpp_fleet.h"
#include "jpp_system.h"


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
    bool                   was_busy;       /* read as somebody changed it: */
                                           /*   numbers of several moments */
} jpp_zone_t;


/* A worker that ended without saying so. */
typedef struct {
    jpp_identity_t         who;            /* pid 0: there was none */
    uint64_t               rss;            /* seconds before; or JPP_NONE */
} jpp_vanished_t;


/* How often a resource was requested: answers by the first digit, from 2xx. */
typedef struct {
    char                   name[JPP_RESOURCE];     /* "": a free place */
    uint64_t               answers[4];
} jpp_requested_t;


/* What a profile of the fleet's workers has. */
typedef struct {
    uint64_t               samples;
    uint64_t               bytes;          /* that are live: an estimate, */
    double                 error;          /*   off by so many per cent */
    bool                   is_whole;       /* not only of an origin */
} jpp_profiled_t;


typedef struct {
    const jpp_fleet_t     *fleet;
    uint64_t               generation;     /* of the configuration */
    int64_t                loaded;         /* when: seconds since the epoch */
    uint64_t               oom_kills;      /* of the cgroup, when nginx */
                                           /*   started; JPP_NONE: unknown */
    uint64_t               unclean_exits;  /* workers that ended without */
                                           /*   saying so */
    jpp_vanished_t         vanished;       /* the last of them */
    uint32_t               standing;       /* findings that do: a bit for */
                                           /*   each number */
    uint64_t               inherited;      /* by a worker of the newest */
    uint64_t               inherited_before;   /*   generation, and of the */
                                           /*   one before; or JPP_NONE */
    const jpp_profiled_t  *profile;        /* NULL: there is none at hand */
    const jpp_zone_t      *zones;
    size_t                 n_zones;
    jpp_requested_t        requested[JPP_RESOURCES];   /* the first ones */
    const jpp_system_t    *system;
    const jpp_cgroup_t    *cgroup;         /* NULL: */
    const char            *cgroup_why;     /*   a sentence that says why */
} jpp_telemetry_t;


#endif /* _JPP_TELEMETRY_H_INCLUDED_ */
