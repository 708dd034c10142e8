
/* Starts threads of the module. */


#include "jpp_source.h"

#include <sys/prctl.h>
#include <sys/syscall.h>


/* linux/close_range.h, where libc's headers are older */
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE  (1U << 1)
#endif


int
jpp_thread_start(size_t size, void *(*main)(void *data), void *data,
    pthread_t *thread)
{
    int             error;
    unsigned        was_sampled;
    sigset_t        set, old;
    pthread_t       detached;
    pthread_attr_t  attr;

    (void) pthread_attr_init(&attr);
    (void) pthread_attr_setstacksize(&attr, size);

    if (thread == NULL) {
        thread = &detached;
        (void) pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    }

    /* signals are for other threads, but for faults and SIGPROF, which are as
       the caller has them: not even for a moment does it get one it blocks */

    (void) sigfillset(&set);
    (void) sigdelset(&set, SIGILL);
    (void) sigdelset(&set, SIGFPE);
    (void) sigdelset(&set, SIGSEGV);
    (void) sigdelset(&set, SIGBUS);
    (void) sigdelset(&set, SIGPROF);

    /* glibc takes a little of a thread's memory from malloc() */

    was_sampled = jpp_source_sample_thread(JPP_SOURCE_BY_NONE);
    (void) pthread_sigmask(SIG_BLOCK, &set, &old);

    error = pthread_create(thread, &attr, main, data);

    (void) pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void) jpp_source_sample_thread(was_sampled);

    (void) pthread_attr_destroy(&attr);

    return error;
}


void
jpp_thread_cond(pthread_cond_t *cond)
{
    pthread_condattr_t  clock;

    (void) pthread_condattr_init(&clock);
    (void) pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void) pthread_cond_init(cond, &clock);
    (void) pthread_condattr_destroy(&clock);
}


void
jpp_thread_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t end)
{
    struct timespec  time;

    time.tv_sec = (time_t) (end / 1000000000);
    time.tv_nsec = (long) (end % 1000000000);

    (void) pthread_cond_timedwait(cond, lock, &time);
}


void
jpp_thread_name(void)
{
    (void) prctl(PR_SET_NAME, "jemalloc_pprof");
}


/* Linux before 5.9 has no such call: they stay shared, and nothing is lost. */

void
jpp_thread_leave_files(void)
{
#ifdef SYS_close_range
    (void) syscall(SYS_close_range, 0U, UINT_MAX, CLOSE_RANGE_UNSHARE);
#endif
}
