
/*
 * Wall clock time for jpp_cpu.h's windows: a look at every thread, and what it
 * does then, it is taken to have done since the last one.
 *
 * For the sampler's thread, which is not looked at.
 */


#ifndef _JPP_CPU_WALL_H_INCLUDED_
#define _JPP_CPU_WALL_H_INCLUDED_


#include <stdint.h>


/* Look, at NOW. */
void jpp_cpu_wall_look(uint64_t now);

/*
 * Wait until signals have recorded what they were to record, but not for long:
 * what is left then is recorded without a stack.
 */
void jpp_cpu_wall_settle(void);


#endif /* _JPP_CPU_WALL_H_INCLUDED_ */
