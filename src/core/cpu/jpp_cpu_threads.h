
/*
 * The threads of this process, while anybody samples them: who they are, the
 * timer of each, and how much of their time is in samples.
 *
 * A thread that cannot be signalled, because it blocks SIGPROF or because the
 * kernel refuses the timer (jpp_cpu_timers.h), is deaf: its CPU time is read
 * from its clock.
 *
 * For one thread at a time; handlers read it.
 */


#ifndef _JPP_CPU_THREADS_H_INCLUDED_
#define _JPP_CPU_THREADS_H_INCLUDED_


#include "jpp_args.h"
#include "jpp_cpu_thread.h"
#include "jpp_err.h"


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

/* Forget all; their timers are deleted. */
void jpp_cpu_threads_clear(jpp_cpu_threads_t *threads);


#endif /* _JPP_CPU_THREADS_H_INCLUDED_ */
