
/*
 * The timers of jpp_cpu_threads.h's threads, and their signals.
 *
 * A timer runs on the CPU time of its thread, and signals that thread
 * (jpp_signal.h), with a number: the thread's place in the table, and the round
 * in which the timer was set.
 *
 * [signal] where it says so; all else for one thread at a time.
 */


#ifndef _JPP_CPU_TIMERS_H_INCLUDED_
#define _JPP_CPU_TIMERS_H_INCLUDED_


#include "jpp_args.h"
#include "jpp_cpu_thread.h"
#include "jpp_signal.h"


/* what a thread used from when it had used FROM until it had used TO, ns */
typedef struct {
    uint64_t          from;
    uint64_t          to;
} jpp_cpu_span_t;


/* Does the kernel allow one for the main thread? */
jpp_code_t jpp_cpu_timers_check(jpp_err_t *err);

/*
 * A timer with INTERVAL nanoseconds for THREAD of THREADS, which has none, in
 * their round.  False: the kernel refuses it.
 */
bool jpp_cpu_timers_set(const jpp_cpu_threads_t *threads,
    jpp_cpu_thread_t *thread, uint64_t interval);

/* THREAD has none any more. */
void jpp_cpu_timers_unset(jpp_cpu_thread_t *thread);

/*
 * The number of THREADS' THREAD in signals for MODE; and [signal] the thread
 * that such a signal is for, and its MODE.  NULL: it was sent before the
 * thread's timer was set anew, or its place became another's.
 */
uint32_t jpp_cpu_timers_number(const jpp_cpu_threads_t *threads,
    const jpp_cpu_thread_t *thread, jpp_mode_t mode);
jpp_cpu_thread_t *jpp_cpu_timers_find(jpp_cpu_threads_t *threads,
    uint32_t number, jpp_mode_t *mode);

/*
 * [signal] In THREAD, which is that of SIGNAL, by its timer: SPAN becomes what
 * is in no sample yet.  False: nothing is, or the timer is being set anew.
 */
bool jpp_cpu_timers_tick(const jpp_cpu_threads_t *threads,
    jpp_cpu_thread_t *thread, const jpp_signal_t *signal,
    jpp_cpu_span_t *span);

/* [signal] The CPU time that thread TID has used; 0: it has ended. */
uint64_t jpp_cpu_timers_used(pid_t tid);


#endif /* _JPP_CPU_TIMERS_H_INCLUDED_ */
