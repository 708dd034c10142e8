
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
#include "jpp_status.h"
#include "jpp_system.h"


/* A zone of shared memory that nginx divides into slabs. */
typedef struct {
    const char            *name;           /* any bytes, of the configuration */
    size_t                 name_len;
    uint64_t               size;
    uint64_t               free;           /* in whole pages */
    uint64_t               used;           /* by allocations within pages */
    uint64_t               allocations;    /* so far, successful or not */
    uint64_t               failures;
} jpp_zone_t;


typedef struct {
    const jpp_fleet_t     *fleet;
    uint64_t               generation;     /* of the configuration */
    int64_t                loaded;         /* when: seconds since the epoch */
    uint64_t               oom_kills;      /* of the cgroup, when nginx */
                                           /*   started; JPP_NONE: unknown */
    uint64_t               unclean_exits;  /* workers that ended without */
                                           /*   saying so */
    const jpp_zone_t      *zones;
    size_t                 n_zones;
    const jpp_system_t    *system;
    const jpp_cgroup_t    *cgroup;         /* NULL: */
    const char            *cgroup_why;     /*   a sentence that says why */
} jpp_telemetry_t;


#endif /* _JPP_TELEMETRY_H_INCLUDED_ */
