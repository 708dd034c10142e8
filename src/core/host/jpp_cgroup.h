
/*
 * The memory of this process's cgroup and its parents: usage, limit, and
 * headroom.
 *
 * A cgroup's own limit says little: a parent may have a lower one, and other
 * children that fill it.  So usage and limit are compared at each level up to
 * the root, and the headroom is the least that any of them leaves.  Both
 * versions of cgroups are read, also where they are mounted side by side, and
 * from inside a container, where only the levels that it can see count.
 *
 * What a kernel does not have is JPP_NONE; so is a limit that is not set.
 * Reads files only.  No allocation; any thread.
 */


#ifndef _JPP_CGROUP_H_INCLUDED_
#define _JPP_CGROUP_H_INCLUDED_


#include "jpp_keys.h"


/*
 * The memory of the machine: what is left of it, whether tasks wait for it,
 * and how the kernel hands it out.  Pressure stall information is the share of
 * time in which some, or all, tasks waited for memory
 * (Documentation/accounting/psi.rst of the kernel); a cgroup has its own.
 *
 * Bytes; what a kernel does not have is JPP_NONE.  No allocation; any
 * thread.
 */

/* per cent of the last 10, 60 and 300 seconds times 100; microseconds so far */

#define JPP_PRESSURE(X)                                                       \
    X(avg10)                                                                  \
    X(avg60)                                                                  \
    X(avg300)                                                                 \
    X(total)

typedef struct {
    JPP_PRESSURE(JPP_KEYS_FIELD)
} jpp_pressure_line_t;


typedef struct {
    jpp_pressure_line_t  some;
    jpp_pressure_line_t  full;
} jpp_pressure_t;


/* Fill PRESSURE from the file PATH; what is not there is JPP_NONE. */
void jpp_pressure_read(jpp_pressure_t *pressure, const char *path);


#define JPP_SYSTEM_THP  16


#define JPP_SYSTEM_MEMINFO(X)                                                 \
    X(total, "MemTotal")                                                      \
    X(available, "MemAvailable")                                              \
    X(swap_total, "SwapTotal")                                                \
    X(swap_free, "SwapFree")                                                  \
    X(commit_limit, "CommitLimit")                                            \
    X(committed, "Committed_AS")

typedef struct {
    JPP_SYSTEM_MEMINFO(JPP_KEYS_FIELD)
    uint64_t        overcommit;                /* vm.overcommit_memory */
    char            thp[JPP_SYSTEM_THP];       /* always, madvise, never; "" */
    jpp_pressure_t  pressure;
} jpp_system_t;


/* Fill SYSTEM.  ROOT is what comes before /proc and /sys: "" but for tests. */
void jpp_system_read(jpp_system_t *system, const char *root);


#define JPP_CGROUP_PATH  4096


/* levels from the cgroup to the root */
#define JPP_CGROUP_LEVELS  32


/* The path of a level is the first LEN bytes of the cgroup's. */
typedef struct {
    size_t                 len;
    uint64_t               usage;
    uint64_t               limit;
    uint64_t               high;       /* version 2: reclaim begins there */
} jpp_cgroup_level_t;


/* memory.stat, in bytes */

#define JPP_CGROUP_STAT(X)                                                    \
    X(anon)                                                                   \
    X(file)                                                                   \
    X(kernel)                                                                 \
    X(kernel_stack)                                                           \
    X(pagetables)                                                             \
    X(percpu)                                                                 \
    X(sock)                                                                   \
    X(shmem)                                                                  \
    X(file_dirty)                                                             \
    X(anon_thp)                                                               \
    X(inactive_file)                                                          \
    X(slab_reclaimable)                                                       \
    X(slab_unreclaimable)

typedef struct {
    JPP_CGROUP_STAT(JPP_KEYS_FIELD)
} jpp_cgroup_stat_t;


/* memory.events: how often */

#define JPP_CGROUP_EVENTS(X)                                                  \
    X(low)                                                                    \
    X(high)                                                                   \
    X(max)                                                                    \
    X(oom)                                                                    \
    X(oom_kill)                                                               \
    X(oom_group_kill)

typedef struct {
    JPP_CGROUP_EVENTS(JPP_KEYS_FIELD)
} jpp_cgroup_events_t;


typedef struct {
    uint32_t               version;    /* 1, 2 */
    char                   path[JPP_CGROUP_PATH];      /* below the mount; */
                                                       /*   "/" is its root */
    jpp_cgroup_level_t     levels[JPP_CGROUP_LEVELS];  /* its own first, */
                                                       /*   if readable */
    size_t                 n_levels;
    size_t                 binding;    /* the level that leaves least; */
                                       /*   n_levels: none has a limit */
    uint64_t               headroom;   /* what it leaves */

    uint64_t               usage;      /* of the first level, as the rest */
    uint64_t               working_set;    /* without the file pages that go */
                                           /*   first */
    uint64_t               low;
    uint64_t               peak;
    uint64_t               swap_usage;
    uint64_t               swap_limit;
    jpp_cgroup_stat_t      stat;
    jpp_cgroup_events_t    events;
    jpp_pressure_t         pressure;
} jpp_cgroup_t;


/*
 * Set version and path of CGROUP, and MOUNT, from /proc/self/cgroup and
 * /proc/self/mountinfo.  Fails with JPP_ERR_DENIED where they show no cgroup
 * with a memory controller, and says why.
 */
jpp_code_t jpp_cgroup_place_find(jpp_cgroup_t *cgroup,
    char mount[JPP_CGROUP_PATH], jpp_lines_t *own, jpp_lines_t *mounts,
    jpp_err_t *err);


/* names and places of the values above, for those who write them */
extern const jpp_keys_row_t  jpp_cgroup_stat_rows[];
extern const jpp_keys_row_t  jpp_cgroup_events_rows[];


/*
 * Fill CGROUP for this process.  ROOT is what comes before /proc and the mounts
 * of cgroups: "" but for tests.  Fails with JPP_ERR_DENIED where there is no
 * cgroup with a memory controller to be seen, and says why.
 */
jpp_code_t jpp_cgroup_read(jpp_cgroup_t *cgroup, const char *root,
    jpp_err_t *err);


/*
 * What is left below the limit of CGROUP, or NULL, for memory that is not the
 * kernel's to drop: pages of files that go first leave room.  JPP_NONE: there
 * is no limit, or it is not known.
 */
static inline uint64_t
jpp_cgroup_left(const jpp_cgroup_t *cgroup)
{
    uint64_t  left;

    if (cgroup == NULL || cgroup->binding == cgroup->n_levels) {
        return JPP_NONE;
    }

    left = cgroup->headroom;
    jpp_add_known(&left, cgroup->stat.inactive_file);

    return left;
}


#endif /* _JPP_CGROUP_H_INCLUDED_ */
