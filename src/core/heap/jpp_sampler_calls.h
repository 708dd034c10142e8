
/*
 * What takes the place of malloc(), free(), operator new and their like while
 * the sampler is on: each reports to jpp_samples.h what it does, and calls the
 * real one.
 *
 * They are [signal], for any thread, and work at any time, also when the
 * sampler is off, because others may have kept their addresses.
 */


#ifndef _JPP_SAMPLER_CALLS_H_INCLUDED_
#define _JPP_SAMPLER_CALLS_H_INCLUDED_


#include "jpp_got.h"


/*
 * Look the real functions up, which is done once, in one thread; returns the
 * address of malloc().  They are those of the allocator that has malloc():
 * operators new and delete that call it are left alone.
 */
uintptr_t jpp_calls_prepare(void);

/* What to patch; N becomes how many. */
const jpp_got_function_t *jpp_calls_functions(uint32_t *n);


#endif /* _JPP_SAMPLER_CALLS_H_INCLUDED_ */
