
/*
 * A thread of this process, as the sampler of its time knows it.
 *
 * jpp_cpu_threads.h sees who is there, and jpp_cpu_timers.h has the timers.
 */


#ifndef _JPP_CPU_THREAD_H_INCLUDED_
#define _JPP_CPU_THREAD_H_INCLUDED_


#include <stdbool.h>
#include <time.h>

#include "jpp_cpu_look.h"


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
    bool              is_suspect;  /* it was, at the last look */
    bool              is_refused;  /* the kernel gives it no timer */
    bool              has_timer;
    timer_t           timer;

    /* of its signals, which are for nobody once ROUND is another one */
    uint32_t          round;
    uint64_t          interval;    /* of the timer */
    uint64_t          set;         /* its CPU time when that was set */

    /* a handler's, too */
    uint32_t          ticked;      /* the round of its last tick, and 1 */
    uint64_t          sampled;     /* how much of its CPU time samples had */
    uint64_t          owed;        /* wall clock: ticks that the next one has */
    uint64_t          owed_nanos;
} jpp_cpu_thread_t;


/* zeroed until jpp_cpu_threads_init() */
typedef struct {
    uint32_t          round;       /* the last one */
    jpp_cpu_thread_t  threads[JPP_CPU_THREADS];
    uint32_t          n;           /* places in use lie below */
    uint32_t          n_seen;      /* in the last scan */
    uint32_t          n_beyond;    /* of these: there is no place for them */
    uint32_t          n_deaf;
    uint32_t          scan;
    char              names[JPP_CPU_NAMES][JPP_LOOK_NAME];
    uint32_t          n_names;
} jpp_cpu_threads_t;


#endif /* _JPP_CPU_THREAD_H_INCLUDED_ */
