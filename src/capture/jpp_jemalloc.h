
/*
 * The jemalloc of this process: whether it is there, what state its profiler
 * is in, a dump of it, and what can be changed while it runs.  The owner of
 * mallctl.
 *
 * mallctl is looked up by dlsym() under the names of the usual builds, and is
 * believed only when malloc() of this process is proven to be the same
 * library's; without it every function here still works and says so.  There
 * is no dependency at link time.
 *
 * The lookup is done once per process, by jpp_jemalloc_read(), which the first
 * caller must finish before a second thread calls anything here.  After that
 * every function may be called in any thread.
 */


#ifndef _JPP_JEMALLOC_H_INCLUDED_
#define _JPP_JEMALLOC_H_INCLUDED_


#include <stdbool.h>

#include "jpp_err.h"


/*
 * The rates that may be asked for, as lg_sample.  A small object that is
 * sampled takes 16 KiB, so that below them a process grows; above them next to
 * nothing is sampled.
 */
#define JPP_JEMALLOC_LG_MIN  10
#define JPP_JEMALLOC_LG_MAX  24


/* In the order in which it is decided: the first that holds. */
typedef enum {
    JPP_JEMALLOC_ABSENT = 0,   /* malloc is not a jemalloc's */
    JPP_JEMALLOC_NO_PROF,      /* built without --enable-prof */
    JPP_JEMALLOC_OFF,          /* opt.prof is false: for this process's life */
    JPP_JEMALLOC_REFUSED,      /* prof_sys_thread_name before 5.3.1 */
    JPP_JEMALLOC_INACTIVE,     /* prof.active is false */
    JPP_JEMALLOC_READY
} jpp_jemalloc_state_t;


typedef struct {
    jpp_jemalloc_state_t   state;

    char                   allocator[64];  /* ABSENT: the file malloc is in, */
                                           /*   "" where that is unknown */
    char                   version[32];    /* "5.3.0", without the commit */
    const char            *variable;       /* "MALLOC_CONF", or what this */
                                           /*   build calls it */
    bool                   active;         /* prof.active */
    uint32_t               lg_sample;      /* prof.lg_sample */
    bool                   accum;          /* opt.prof_accum */
    bool                   unsampled;      /* !opt.prof_thread_active_init: */
                                           /*   no thread is sampled */

    /* options that do harm in a server */

    bool                   interval;       /* opt.lg_prof_interval >= 0 */
    bool                   gdump;          /* prof.gdump */
    bool                   final;          /* opt.prof_final */
    bool                   leak_error;     /* opt.prof_leak_error */
} jpp_jemalloc_t;


typedef struct {
    uint64_t               allocated;      /* bytes, see jemalloc(3) stats.* */
    uint64_t               active;
    uint64_t               metadata;
    uint64_t               resident;
    uint64_t               mapped;
    uint64_t               retained;
} jpp_jemalloc_stats_t;


/* What to change. */
typedef struct {
    int                    active;         /* 0, 1; -1: as it is */
    int                    lg_sample;      /* JPP_JEMALLOC_LG_MIN .. _MAX; */
                                           /*   -1: as it is */
    bool                   reset;          /* forget the samples there are */
    bool                   purge;          /* give unused memory back */
} jpp_control_t;


typedef struct {
    bool                   active;
    uint32_t               lg_sample;
} jpp_control_state_t;


typedef struct {
    bool                   has_profiler;   /* false: the states are zeros */
    jpp_control_state_t    before;
    jpp_control_state_t    after;

    bool                   has_stats;      /* of a purge that was done */
    uint64_t               resident_before;
    uint64_t               resident_after;
} jpp_control_result_t;


/* Fill the caller's JEMALLOC with the state as it is now. */
void jpp_jemalloc_read(jpp_jemalloc_t *jemalloc);

/*
 * Does the environment of this process ask for a profiler, whether or not one
 * is there?  prof:true in a variable that jemalloc reads its options from.
 */
bool jpp_jemalloc_is_wanted(void);

/* Fill STATS; false where there is no jemalloc, or one without statistics. */
bool jpp_jemalloc_stats(jpp_jemalloc_stats_t *stats);

/*
 * Have the allocations of the calling thread sampled, or not: what the
 * profiler itself does is no part of the picture.  Returns how it was, true
 * where that is unknown.
 */
bool jpp_jemalloc_sample_thread(bool is_sampled);

/*
 * Write a heap dump to the file behind descriptor FD, which is truncated.  It
 * takes two more descriptors for a moment, and /proc.  The calling thread must
 * have SIGXFSZ blocked or ignored.
 *
 * Where the state forbids a dump it is JPP_ERR_STATE, and jpp_problems.h has
 * the sentence.  JPP_OK only says that jemalloc saw no failure: it overlooks
 * some, and the reader of the dump has to notice (jpp_heap.h).
 */
jpp_code_t jpp_jemalloc_dump(int fd, jpp_err_t *err);

/*
 * Do what CONTROL wants, in this order: samples forgotten and the rate set,
 * active, purge.  jemalloc sets a rate only by forgetting the samples, so a
 * new one implies that; the present one again changes nothing.  A purge takes
 * as long as the kernel needs to take the pages: not for the event loop.
 *
 * The first step that fails is the last, and ERR names it: with JPP_ERR_STATE
 * where the state forbids it.  RESULT is filled in any case.
 */
jpp_code_t jpp_jemalloc_control(const jpp_control_t *control,
    jpp_control_result_t *result, jpp_err_t *err);

/*
 * The names that jpp_jemalloc_t.variable may have, by number from 0; NULL
 * behind the last.
 */
const char *jpp_jemalloc_variable(uint32_t number);


#endif /* _JPP_JEMALLOC_H_INCLUDED_ */
