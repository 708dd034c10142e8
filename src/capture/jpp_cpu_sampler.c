
/* gettid() by syscall() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jpp_cpu_sampler.h"
#include "jpp_cut.h"
#include "jpp_restart.h"


/* how often to see who has come and gone, and who blocks the signal */
#define JPP_CPU_SCAN   (JPP_CPU_NANOS / 10)
#define JPP_CPU_SCANS  10


static void jpp_cpu_sampler_record(jpp_mode_t mode,
    const jpp_cpu_sample_t *sample);
static void jpp_cpu_sampler_deaf(const jpp_cpu_thread_t *thread,
    jpp_mode_t mode, uint64_t count, uint64_t nanos);
static void jpp_cpu_sampler_clocks(void);
static void jpp_cpu_sampler_tick(uint64_t now);
static void jpp_cpu_sampler_watch(jpp_cpu_thread_t *thread, uint64_t count,
    uint64_t nanos);
static void jpp_cpu_sampler_interrupt(jpp_cpu_thread_t *thread,
    uint64_t count, uint64_t nanos);
static void jpp_cpu_sampler_owe(jpp_cpu_thread_t *thread, uint64_t count,
    uint64_t nanos);
static void jpp_cpu_sampler_asleep(jpp_cpu_thread_t *thread,
    const jpp_blocked_t *blocked, uint64_t count, uint64_t nanos);
static void jpp_cpu_sampler_idle(const jpp_cpu_thread_t *thread,
    uint64_t nanos);


jpp_cpu_sampler_t  jpp_cpu_sampler;


void
jpp_cpu_sampler_receive(const jpp_signal_t *signal)
{
    jpp_mode_t         mode;
    jpp_cpu_thread_t  *thread;
    jpp_cpu_sample_t   sample;

    mode = (jpp_mode_t) (signal->number / JPP_CPU_THREADS);
    thread = &jpp_cpu_sampler.threads.threads[signal->number
                                              % JPP_CPU_THREADS];

    if (mode == JPP_MODE_CPU) {
        sample.count = 1 + (uint64_t) signal->missed;
        sample.nanos = sample.count * __atomic_load_n(&thread->interval,
                                                      __ATOMIC_RELAXED)
                       + __atomic_exchange_n(&thread->debt, 0,
                                             __ATOMIC_RELAXED);

        (void) __atomic_fetch_add(&thread->taken, sample.nanos,
                                  __ATOMIC_RELAXED);

    } else {
        sample.count = __atomic_exchange_n(&thread->owed, 0,
                                           __ATOMIC_RELAXED);
        sample.nanos = __atomic_exchange_n(&thread->owed_nanos, 0,
                                           __ATOMIC_RELAXED);
    }

    if (sample.nanos == 0) {
        return;
    }

    sample.state = JPP_CPU_RUNS;
    sample.name = thread->name;
    sample.n = jpp_backtrace_interrupted(signal->ucontext, sample.pcs,
                                         JPP_CPU_DEPTH);

    jpp_cpu_sampler_record(mode, &sample);

    /* the thread ran a moment ago: it has just fallen asleep */

    (void) jpp_restart(signal->ucontext);
}


/* [signal] */

static void
jpp_cpu_sampler_record(jpp_mode_t mode, const jpp_cpu_sample_t *sample)
{
    uint32_t           i;
    jpp_cpu_window_t  *window;

    for (i = 0; i < JPP_CPU_WINDOWS; i++) {

        window = __atomic_load_n(&jpp_cpu_sampler.windows[i],
                                 __ATOMIC_SEQ_CST);

        if (window != NULL && window->mode == mode) {
            jpp_cpu_table_add(&window->table, sample);
        }
    }
}


void
jpp_cpu_sampler_arm(void)
{
    uint32_t  frequency;

    frequency = jpp_cpu_sampler.frequency[JPP_MODE_CPU];

    jpp_cpu_threads_arm(&jpp_cpu_sampler.threads,
                        frequency != 0 ? JPP_CPU_NANOS / frequency : 0);
}


uint64_t
jpp_cpu_sampler_step(uint64_t now)
{
    uint64_t  scan, tick, interval;

    if (now - jpp_cpu_sampler.scanned >= JPP_CPU_SCAN) {
        jpp_cpu_sampler_scan(now);
    }

    scan = jpp_cpu_sampler.scanned + JPP_CPU_SCAN;

    if (jpp_cpu_sampler.frequency[JPP_MODE_WALL] == 0) {
        return scan;
    }

    interval = JPP_CPU_NANOS / jpp_cpu_sampler.frequency[JPP_MODE_WALL];

    if (now - jpp_cpu_sampler.ticked >= interval) {
        jpp_cpu_sampler_tick(now);
    }

    tick = jpp_cpu_sampler.ticked + interval;

    return tick < scan ? tick : scan;
}


void
jpp_cpu_sampler_scan(uint64_t now)
{
    jpp_err_t           err;
    jpp_cpu_threads_t  *threads;

    threads = &jpp_cpu_sampler.threads;

    jpp_cpu_sampler.scanned = now;

    /* without /proc, those that are known stay */

    (void) jpp_cpu_threads_scan(threads, threads->scan % JPP_CPU_SCANS == 0,
                                &err);
    jpp_cpu_sampler_arm();
    jpp_cpu_sampler_clocks();
}


/* The CPU time of those that no signal reaches, whatever they did with it. */

static void
jpp_cpu_sampler_clocks(void)
{
    uint32_t           i;
    uint64_t           count, interval;
    jpp_cpu_thread_t  *thread;

    interval = jpp_cpu_sampler.frequency[JPP_MODE_CPU];
    interval = interval != 0 ? JPP_CPU_NANOS / interval : 0;

    for (i = 0; i < jpp_cpu_sampler.threads.n; i++) {

        thread = &jpp_cpu_sampler.threads.threads[i];

        if (thread->tid == 0 || !thread->is_deaf) {
            continue;
        }

        count = jpp_cpu_threads_intervals(thread, interval);

        jpp_cpu_sampler_deaf(thread, JPP_MODE_CPU, count, count * interval);
    }
}


static void
jpp_cpu_sampler_deaf(const jpp_cpu_thread_t *thread, jpp_mode_t mode,
    uint64_t count, uint64_t nanos)
{
    jpp_cpu_sample_t  *sample;

    if (nanos == 0) {
        return;
    }

    sample = &jpp_cpu_sampler.sample;

    sample->count = count;
    sample->nanos = nanos;
    sample->state = JPP_CPU_RUNS;
    sample->name = thread->name;
    sample->n = 1;
    sample->pcs[0] = jpp_cut_frame(JPP_CUT_DEAF);

    jpp_cpu_sampler_record(mode, sample);
}


static void
jpp_cpu_sampler_tick(uint64_t now)
{
    pid_t              self;
    uint32_t           i;
    uint64_t           count, nanos, interval;
    jpp_cpu_thread_t  *thread;

    self = (pid_t) syscall(SYS_gettid);
    nanos = now - jpp_cpu_sampler.ticked;
    interval = JPP_CPU_NANOS / jpp_cpu_sampler.frequency[JPP_MODE_WALL];
    count = (nanos + interval / 2) / interval;

    jpp_cpu_sampler.ticked = now;

    for (i = 0; i < jpp_cpu_sampler.threads.n; i++) {

        thread = &jpp_cpu_sampler.threads.threads[i];

        if (thread->tid == 0 || thread->tid == jpp_cpu_sampler.tid) {
            continue;
        }

        /* what this one does here is no part of its work */

        if (thread->tid == self) {
            jpp_cpu_sampler_owe(thread, count, nanos);

        } else {
            jpp_cpu_sampler_watch(thread, count, nanos);
        }
    }
}


/* What THREAD does now, it is taken to have done since the last look. */

static void
jpp_cpu_sampler_watch(jpp_cpu_thread_t *thread, uint64_t count,
    uint64_t nanos)
{
    jpp_blocked_t  blocked;

    jpp_blocked_read(thread->tid, &blocked);

    switch (blocked.state) {

    case JPP_BLOCKED_RUNS:
        jpp_cpu_sampler_interrupt(thread, count, nanos);
        break;

    case JPP_BLOCKED_WAITS:

        if (jpp_look_is_in_epoll(&blocked)
            || (!thread->is_main && jpp_look_is_in_futex(&blocked)))
        {
            jpp_cpu_sampler_idle(thread, nanos);

        } else {
            jpp_cpu_sampler_asleep(thread, &blocked, count, nanos);
        }

        break;

    case JPP_BLOCKED_UNKNOWN:
        break;
    }
}


/*
 * The next signal that reaches THREAD takes all that it is owed.  While one is
 * on its way the kernel drops others.
 */

static void
jpp_cpu_sampler_interrupt(jpp_cpu_thread_t *thread, uint64_t count,
    uint64_t nanos)
{
    uint32_t  number;

    if (thread->is_deaf) {
        jpp_cpu_sampler_deaf(thread, JPP_MODE_WALL, count, nanos);
        return;
    }

    jpp_cpu_sampler_owe(thread, count, nanos);

    number = (uint32_t) (thread - jpp_cpu_sampler.threads.threads)
             + JPP_MODE_WALL * JPP_CPU_THREADS;

    /* what a refused one stands for is found by the flush */

    (void) jpp_signal_send(getpid(), thread->tid, JPP_SIGNAL_CPU, number);
}


static void
jpp_cpu_sampler_owe(jpp_cpu_thread_t *thread, uint64_t count, uint64_t nanos)
{
    (void) __atomic_fetch_add(&thread->owed, count, __ATOMIC_RELAXED);
    (void) __atomic_fetch_add(&thread->owed_nanos, nanos, __ATOMIC_RELAXED);
}


/*
 * A signal would end some sleeps early, so none is sent.  If the thread is
 * elsewhere by now, its stack was read while it changed.
 */

static void
jpp_cpu_sampler_asleep(jpp_cpu_thread_t *thread,
    const jpp_blocked_t *blocked, uint64_t count, uint64_t nanos)
{
    jpp_blocked_t      again;
    jpp_cpu_sample_t  *sample;

    sample = &jpp_cpu_sampler.sample;

    /* that of the main thread is always there */

    sample->n = thread->is_main
                ? jpp_backtrace_blocked(blocked, sample->pcs, JPP_CPU_DEPTH)
                : 0;

    if (sample->n == 0) {
        sample->n = jpp_backtrace_copied(blocked, jpp_cpu_sampler.copy,
                                         sample->pcs, JPP_CPU_DEPTH);
    }

    jpp_blocked_read(thread->tid, &again);

    if (memcmp(&again, blocked, sizeof(jpp_blocked_t)) != 0) {
        jpp_cpu_sampler_interrupt(thread, count, nanos);
        return;
    }

    sample->count = count;
    sample->nanos = nanos;
    sample->state = JPP_CPU_BLOCKED;
    sample->name = thread->name;

    jpp_cpu_sampler_record(JPP_MODE_WALL, sample);
}


static void
jpp_cpu_sampler_idle(const jpp_cpu_thread_t *thread, uint64_t nanos)
{
    uint32_t           i;
    jpp_cpu_window_t  *window;

    for (i = 0; i < JPP_CPU_WINDOWS; i++) {

        window = jpp_cpu_sampler.windows[i];

        if (window == NULL || window->mode != JPP_MODE_WALL) {
            continue;
        }

        if (thread->is_main) {
            window->idle += nanos;

        } else {
            window->waits += nanos;
        }
    }
}


void
jpp_cpu_sampler_flush(uint64_t now)
{
    uint32_t           i;
    uint64_t           count, nanos;
    jpp_cpu_thread_t  *thread;

    jpp_cpu_sampler_scan(now);

    if (jpp_cpu_sampler.frequency[JPP_MODE_WALL] != 0) {
        jpp_cpu_sampler_tick(now);
    }

    for (i = 0; i < jpp_cpu_sampler.threads.n; i++) {

        thread = &jpp_cpu_sampler.threads.threads[i];

        count = __atomic_exchange_n(&thread->owed, 0, __ATOMIC_RELAXED);
        nanos = __atomic_exchange_n(&thread->owed_nanos, 0, __ATOMIC_RELAXED);

        jpp_cpu_sampler_deaf(thread, JPP_MODE_WALL, count, nanos);
    }
}
