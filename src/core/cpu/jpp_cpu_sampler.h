
/*
 * What jpp_cpu.h's windows are filled by: the handler of the signal, and what
 * that shares with the sampler's thread.
 *
 * There is one sampler in a process, because a signal comes without a pointer.
 * All of it belongs to its thread, except for the handler, which reads the list
 * of windows and takes what is owed to a thread.
 */


#ifndef _JPP_CPU_SAMPLER_H_INCLUDED_
#define _JPP_CPU_SAMPLER_H_INCLUDED_


#include "jpp_backtrace.h"
#include "jpp_cpu_timers.h"
#include "jpp_cpu_window.h"
#include "jpp_cut.h"


#define JPP_CPU_NANOS  1000000000u


typedef struct {
    jpp_cpu_window_t    *windows[JPP_CPU_WINDOWS];   /* read by the handler */
    uint32_t             n[JPP_MODES];         /* windows, by mode */
    uint32_t             frequency[JPP_MODES]; /* 0: off */

    pid_t                tid;                  /* of the sampler's thread */
    uint64_t             scanned;              /* when last, ns */
    uint64_t             ticked;
    jpp_cpu_threads_t    threads;
    jpp_cpu_sample_t     sample;               /* of its thread */
} jpp_cpu_sampler_t;


extern jpp_cpu_sampler_t  jpp_cpu_sampler;


/* [signal] For jpp_signal_claim(). */
void jpp_cpu_sampler_receive(const jpp_signal_t *signal);

/* [signal] Add SAMPLE to the windows of wall clock time. */
void jpp_cpu_sampler_passed(const jpp_cpu_sample_t *sample);

/*
 * [signal] Add SAMPLE, whose CPU time is SPAN of THREAD, to the windows of CPU
 * time: to each what came after it was opened.
 */
void jpp_cpu_sampler_ran(const jpp_cpu_thread_t *thread,
    const jpp_cpu_span_t *span, jpp_cpu_sample_t *sample);

/* A sample of THREAD, whose stack is unknown: CUT says why. */
jpp_cpu_sample_t *jpp_cpu_sampler_blank(const jpp_cpu_thread_t *thread,
    jpp_cut_t cut);

/* ns of CLOCK_MONOTONIC */
uint64_t jpp_cpu_sampler_now(void);


#endif /* _JPP_CPU_SAMPLER_H_INCLUDED_ */
