
/*
 * What jpp_cpu.h's windows are filled by: the handler of the signal, and what
 * the sampler's thread does at its turns.
 *
 * There is one sampler in a process, because a signal comes without a pointer.
 * Whoever calls any of this holds the lock of jpp_cpu.c, except for the
 * handler, which reads the list of windows and takes what is owed to a thread.
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

    pid_t                tid;                  /* of the sampler's thread, 0 */
    uint64_t             scanned;              /* when last, ns */
    uint64_t             ticked;
    jpp_cpu_threads_t    threads;
    jpp_cpu_sample_t     sample;               /* of its thread */
    uint8_t              copy[JPP_BACKTRACE_COPY];
} jpp_cpu_sampler_t;


extern jpp_cpu_sampler_t  jpp_cpu_sampler;


/* [signal] For jpp_signal_claim(). */
void jpp_cpu_sampler_receive(const jpp_signal_t *signal);

/* Set the timers to the frequency. */
void jpp_cpu_sampler_arm(void);

/* Do what is due at NOW; returns when something is due again. */
uint64_t jpp_cpu_sampler_step(uint64_t now);

/* See who has come and gone. */
void jpp_cpu_sampler_scan(uint64_t now);

/* Everything that is due to the windows until NOW goes into them. */
void jpp_cpu_sampler_flush(uint64_t now);


#endif /* _JPP_CPU_SAMPLER_H_INCLUDED_ */
