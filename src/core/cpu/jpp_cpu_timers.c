
/* SIGEV_THREAD_ID */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "jpp_cpu_timers.h"


#define JPP_CPU_SECOND  1000000000u

/* musl, and glibc before 2.36, have the field by this name only */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id  _sigev_un._tid
#endif


/* As glibc's pthread_getcpuclockid() makes it; the kernel knows the thread. */

static clockid_t
jpp_cpu_timers_clock(pid_t tid)
{
    return (clockid_t) (~(unsigned) tid << 3 | 6);
}


/* -1: errno says why */

static int
jpp_cpu_timers_create(pid_t tid, uint32_t number, timer_t *timer)
{
    struct sigevent  event;

    memset(&event, 0, sizeof(struct sigevent));

    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event.sigev_value.sival_ptr = jpp_signal_value(JPP_SIGNAL_CPU, number);
    event.sigev_notify_thread_id = tid;

    return timer_create(jpp_cpu_timers_clock(tid), &event, timer);
}


static jpp_code_t
jpp_cpu_timers_refused(int error, jpp_err_t *err)
{
    switch (error) {

    case EAGAIN:
        return jpp_err_set(err, JPP_ERR_SYS, "the kernel has no room for "
                           "another timer of this user: raise RLIMIT_SIGPENDING"
                           " (LimitSIGPENDING= in a unit of systemd)");

    case EPERM:
    case ENOSYS:
    case EACCES:
        return jpp_err_set(err, JPP_ERR_DENIED, "timer_create is forbidden "
                           "here: allow it in the filter of system calls "
                           "(SystemCallFilter= of systemd, seccomp of a "
                           "container), or use mode=wall, which needs no "
                           "timers");

    default:
        return jpp_err_sys(err, error, "cannot create a timer");
    }
}


jpp_code_t
jpp_cpu_timers_check(jpp_err_t *err)
{
    timer_t  timer;

    if (jpp_cpu_timers_create(getpid(), 0, &timer) == -1) {
        return jpp_cpu_timers_refused(errno, err);
    }

    (void) timer_delete(timer);

    return JPP_OK;
}


/* Signals of the timer before are for nobody from here on, so that they are not
   worth the wrong interval; and one is worth no more than the thread uses. */

bool
jpp_cpu_timers_set(const jpp_cpu_threads_t *threads,
    jpp_cpu_thread_t *thread, uint64_t interval)
{
    int                error;
    struct itimerspec  every;

    __atomic_store_n(&thread->round, threads->round, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);

    __atomic_store_n(&thread->interval, interval, __ATOMIC_RELAXED);

    every.it_interval.tv_sec = (time_t) (interval / JPP_CPU_SECOND);
    every.it_interval.tv_nsec = (long) (interval % JPP_CPU_SECOND);
    every.it_value = every.it_interval;

    thread->has_timer = jpp_cpu_timers_create(thread->tid,
                            jpp_cpu_timers_number(threads, thread,
                                                  JPP_MODE_CPU),
                            &thread->timer)
                        == 0;

    if (thread->has_timer) {
        __atomic_store_n(&thread->set, jpp_cpu_timers_used(thread->tid),
                         __ATOMIC_RELAXED);

        if (timer_settime(thread->timer, 0, &every, NULL) == 0) {
            return true;
        }
    }

    error = errno;

    jpp_cpu_timers_unset(thread);

    /* it may have ended */

    return error == EINVAL || error == ESRCH;
}


void
jpp_cpu_timers_unset(jpp_cpu_thread_t *thread)
{
    if (thread->has_timer) {
        (void) timer_delete(thread->timer);
        thread->has_timer = false;
    }

    thread->interval = 0;
}


/* From the lowest bits on: the place, the mode, and the round. */

uint32_t
jpp_cpu_timers_number(const jpp_cpu_threads_t *threads,
    const jpp_cpu_thread_t *thread, jpp_mode_t mode)
{
    uint32_t  number;

    number = __atomic_load_n(&thread->round, __ATOMIC_RELAXED);
    number = number * JPP_MODES + (uint32_t) mode;
    number = number * JPP_CPU_THREADS + (uint32_t) (thread - threads->threads);

    return number % JPP_SIGNAL_NUMBERS;
}


jpp_cpu_thread_t *
jpp_cpu_timers_find(jpp_cpu_threads_t *threads, uint32_t number,
    jpp_mode_t *mode)
{
    jpp_cpu_thread_t  *thread;

    thread = &threads->threads[number % JPP_CPU_THREADS];
    *mode = (jpp_mode_t) (number / JPP_CPU_THREADS % JPP_MODES);

    return thread->tid != 0
           && jpp_cpu_timers_number(threads, thread, *mode) == number
           ? thread : NULL;
}


/*
 * The timer runs on the thread's clock: it first fires an interval after it was
 * set, and then with each.  So the clock, which takes as long as all the rest,
 * is not read, but where the kernel says that much is missing.
 */

bool
jpp_cpu_timers_tick(const jpp_cpu_threads_t *threads,
    jpp_cpu_thread_t *thread, const jpp_signal_t *signal,
    jpp_cpu_span_t *span)
{
    uint32_t  ticked;
    uint64_t  used, since, interval;

    span->from = __atomic_load_n(&thread->sampled, __ATOMIC_RELAXED);

    ticked = 1 + signal->number / (JPP_MODES * JPP_CPU_THREADS);
    since = ticked == thread->ticked
            ? span->from : __atomic_load_n(&thread->set, __ATOMIC_RELAXED);
    interval = __atomic_load_n(&thread->interval, __ATOMIC_RELAXED);

    /* are they those of the timer that the signal is by? */

    __atomic_thread_fence(__ATOMIC_SEQ_CST);

    if (jpp_cpu_timers_number(threads, thread, JPP_MODE_CPU)
        != signal->number)
    {
        return false;
    }

    thread->ticked = ticked;
    span->to = since + interval * (1 + (uint64_t) signal->missed);

    if (signal->missed != 0) {
        used = jpp_cpu_timers_used(thread->tid);
        span->to = span->to < used ? span->to : used;
    }

    return span->from < span->to
           && __atomic_compare_exchange_n(&thread->sampled, &span->from,
                                          span->to, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED);
}


uint64_t
jpp_cpu_timers_used(pid_t tid)
{
    struct timespec  time;

    if (clock_gettime(jpp_cpu_timers_clock(tid), &time) == -1) {
        return 0;
    }

    return (uint64_t) time.tv_sec * JPP_CPU_SECOND + (uint64_t) time.tv_nsec;
}
