
/*
 * What the sampler's thread does at its turns: windows begin and end, threads
 * come and go, timers are set, and wall clock time is looked at.  It may take
 * as long as there are threads to look at.
 *
 * For that thread.
 */


#ifndef _JPP_CPU_TURNS_H_INCLUDED_
#define _JPP_CPU_TURNS_H_INCLUDED_


#include "jpp_cpu_sampler.h"


/*
 * Open those of the N WINDOWS that are not open, and end the others, with all
 * that is due to them.  Without a window there is no timer, and no thread is
 * known.
 */
void jpp_cpu_turns_change(jpp_cpu_window_t *const *windows, uint32_t n);

/* Do what is due; returns when something is due again. */
uint64_t jpp_cpu_turns_step(void);


#endif /* _JPP_CPU_TURNS_H_INCLUDED_ */
