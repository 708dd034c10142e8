
/*
 * The two sources of a process's heap profile: jemalloc's profiler, and the
 * module's sampler.  The sampler is the source while it is on.
 *
 * Threads as in jpp_sampler.h.
 */


#ifndef _JPP_SOURCE_H_INCLUDED_
#define _JPP_SOURCE_H_INCLUDED_


#include "jpp_jemalloc.h"
#include "jpp_sampler.h"

#include <pthread.h>


/*
 * Threads of our own.  They block all signals but those of faults and of
 * profilers, which they take if the thread that starts them does.  What libc
 * allocates for them is not sampled.
 *
 * No state; any thread.
 */

/*
 * Run MAIN with DATA in a thread with a stack of SIZE bytes.  Returns 0, or an
 * errno.  MAIN gives it a name first, so that people know whose it is, as
 * jpp_thread_name() does.  THREAD becomes what to join it by; NULL: nobody
 * does.
 */
int jpp_thread_start(size_t size, void *(*main)(void *data), void *data,
    pthread_t *thread);
void jpp_thread_name(void);

/* Initialize COND, which a thread waits for until END of jpp_clock(). */
void jpp_thread_cond(pthread_cond_t *cond);
void jpp_thread_wait(pthread_cond_t *cond, pthread_mutex_t *lock,
    uint64_t end);

/*
 * The caller uses no descriptor of the process from now on: it has a table of
 * its own.  While threads share one, the kernel counts references in every call
 * of each, which takes 1 % of nginx's CPU time.
 */
void jpp_thread_leave_files(void);


typedef enum {
    JPP_SOURCE_NONE = 0,       /* no sampler, and no profiler in jemalloc */
    JPP_SOURCE_JEMALLOC,
    JPP_SOURCE_SAMPLER,
    JPP_SOURCES
} jpp_source_t;


typedef struct {
    jpp_source_t           source;
    bool                   active;
    uint32_t               lg_sample;      /* 0 without a source */
} jpp_control_state_t;


typedef struct {
    jpp_control_state_t    before;
    jpp_control_state_t    after;
    uint64_t               purged;         /* bytes, the caller's to count; */
                                           /*   JPP_NONE: unknown, or not */
    /* which are not sent */

    bool                   is_reset;       /* jemalloc forgot its samples */
    bool                   was_active;     /*   sampled before, */
    bool                   is_active;      /*   and after */
    bool                   is_other;       /* the source forgot its samples, */
                                           /*   was off, or is another */
} jpp_control_result_t;


/* The source as JEMALLOC and SAMPLER have it. */
jpp_source_t jpp_source(const jpp_jemalloc_t *jemalloc,
    const jpp_sampler_state_t *sampler);

/* "sampler", "jemalloc"; NULL for none. */
const char *jpp_source_name(jpp_source_t source);

/*
 * Write the dump of the source to FD, as jpp_jemalloc_dump() does; SAMPLER is
 * filled with the state that it belongs to.  AGES, NULL for none, are the
 * sampler's alone: JPP_ERR_ARG otherwise.
 */
jpp_code_t jpp_source_dump(int fd, const jpp_ages_t *ages,
    jpp_sampler_state_t *sampler, jpp_err_t *err);

/*
 * The rate lg_sample of CONTROL is for the one that will be the source of a
 * process whose sampler IS_ON, or not: where that is the sampler, it becomes
 * sampler_lg, unless that is given too.
 */
void jpp_source_rates(jpp_control_t *control, bool is_on);

/*
 * Do what CONTROL says: the sampler first, then jemalloc.  The sampler's rate
 * is that of jpp_source_rates(), or else what it was, or its default; a reset
 * is for the source.  The sampler forgets its samples when it is switched
 * on, off or to another rate.
 *
 * Stops at the first step that fails, and ERR names it; JPP_ERR_STATE: the
 * state of jemalloc forbids it.  RESULT is filled in any case.
 */
jpp_code_t jpp_source_control(const jpp_control_t *control,
    jpp_control_result_t *result, jpp_err_t *err);

/*
 * Have the calling thread sampled by the sources of the set, and by no others;
 * returns the set that it was sampled by.
 */
#define JPP_SOURCE_BY_NONE      0u
#define JPP_SOURCE_BY_JEMALLOC  1u
#define JPP_SOURCE_BY_SAMPLER   2u

unsigned jpp_source_sample_thread(unsigned set);


#endif /* _JPP_SOURCE_H_INCLUDED_ */
