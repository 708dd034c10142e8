
/*
 * Allocations as jemalloc itself reports them, for a jemalloc that is linked
 * into the program: experimental.hooks, which 5.2.0 to 5.3.1 have.  Every call
 * takes the slow way through jemalloc then, which costs it 250 to 370
 * instructions.
 *
 * One thread at a time, as long as jpp_jemalloc.h allows.
 */


#ifndef _JPP_SAMPLER_HOOKS_H_INCLUDED_
#define _JPP_SAMPLER_HOOKS_H_INCLUDED_


#include <stdbool.h>


/* Have jpp_samples.h see every allocation; false: jemalloc has no such hooks,
   or they are all in use. */
bool jpp_hooks_install(void);

/* No longer; a thread may still be in one of them.  False: it is refused. */
bool jpp_hooks_remove(void);


#endif /* _JPP_SAMPLER_HOOKS_H_INCLUDED_ */
