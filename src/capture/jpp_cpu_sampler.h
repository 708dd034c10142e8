
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
#include "jpp_cpu_window.h"
#include "jpp_signal.h"


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

/* [signal] Add SAMPLE to the windows of MODE. */
void jpp_cpu_sampler_record(jpp_mode_t mode, const jpp_cpu_sample_t *sample);

/* The same of THREAD, whose stack is unknown; nothing if NANOS is 0. */
void jpp_cpu_sampler_deaf(const jpp_cpu_thread_t *thread, jpp_mode_t mode,
    uint64_t count, uint64_t nanos);

/* ns of CLOCK_MONOTONIC */
uint64_t jpp_cpu_sampler_now(void);


#endif /* _JPP_CPU_SAMPLER_H_INCLUDED_ */
