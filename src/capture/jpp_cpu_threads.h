
/*
 * The threads of this process, while anybody samples them: who they are, the
 * timer of each, and how much of their time is in samples.
 *
 * A timer runs on the CPU time of its thread, and signals that thread
 * (jpp_signal.h), with the number of its place in the table.  A thread that
 * cannot be signalled, because it blocks SIGPROF or because the kernel refuses
 * the timer, is deaf: its CPU time is read from its clock.
 *
 * [signal] where it says so; all else for one thread at a time.
 */


#ifndef _JPP_CPU_THREADS_H_INCLUDED_
#define _JPP_CPU_THREADS_H_INCLUDED_


#include <stdbool.h>
#include <time.h>

#include "jpp_args.h"
#include "jpp_cpu_look.h"
#include "jpp_err.h"


#define JPP_CPU_THREADS  1024

/* distinct names of threads; the last one stands for all others */
#define JPP_CPU_NAMES    64


typedef struct {
    pid_t             tid;         /* 0: the place is free */
    uint32_t          seen;        /* the last scan that saw it */
    uint32_t          since;       /* and the first */
    uint8_t           name;        /* of names */
    bool              is_main;
    bool              is_deaf;
    bool              is_refused;  /* the kernel gives it no timer */
    bool              has_timer;
    timer_t           timer;
    uint64_t          interval;    /* of the timer */

    /* a handler's, too */
    uint64_t          sampled;     /* how much of its CPU time samples had */
    uint64_t          owed;        /* wall clock: ticks that the next one has */
    uint64_t          owed_nanos;
} jpp_cpu_thread_t;


/* zeroed until jpp_cpu_threads_init() */
typedef struct {
    uint32_t          session;     /* how often it was initialized */
    jpp_cpu_thread_t  threads[JPP_CPU_THREADS];
    uint32_t          n;           /* places in use lie below */
    uint32_t          n_seen;      /* in the last scan */
    uint32_t          n_deaf;
    uint32_t          scan;
    char              names[JPP_CPU_NAMES][JPP_LOOK_NAME];
    uint32_t          n_names;
} jpp_cpu_threads_t;


/* Does the kernel allow what MODE needs for the main thread? */
jpp_code_t jpp_cpu_threads_check(jpp_mode_t mode, jpp_err_t *err);

/* Initialize the caller's THREADS: nobody is known. */
void jpp_cpu_threads_init(jpp_cpu_threads_t *threads);

/* See who has come and gone; with IS_THOROUGH, ask again who is deaf. */
jpp_code_t jpp_cpu_threads_scan(jpp_cpu_threads_t *threads, bool is_thorough,
    jpp_err_t *err);

/*
 * A timer for each thread that has none, and INTERVAL nanoseconds for all; 0:
 * no timers.
 */
void jpp_cpu_threads_arm(jpp_cpu_threads_t *threads, uint64_t interval);

/*
 * The number of THREADS' THREAD in signals for MODE; and [signal] the thread
 * that such a signal is for, and its MODE.  NULL: it was sent before THREADS
 * were initialized, and its place may be another's by now.
 */
uint32_t jpp_cpu_threads_number(const jpp_cpu_threads_t *threads,
    const jpp_cpu_thread_t *thread, jpp_mode_t mode);
jpp_cpu_thread_t *jpp_cpu_threads_find(jpp_cpu_threads_t *threads,
    uint32_t number, jpp_mode_t *mode);

/* [signal] The CPU time that thread TID has used; 0: it has ended. */
uint64_t jpp_cpu_threads_used(pid_t tid);

/* Forget all; their timers are deleted. */
void jpp_cpu_threads_clear(jpp_cpu_threads_t *threads);


#endif /* _JPP_CPU_THREADS_H_INCLUDED_ */
