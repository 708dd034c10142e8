
/*
 * The stacks of jemalloc's heap dumps (heap_v2, 5.2.1 to 5.3.1) into a profile.
 *
 * Counts are scaled to what they stand for, per stack and per pair (see
 * jpp_scale.h), unless the reader of the profile does that.  The allocator's
 * own frames, at the leaf of every stack, are left out; a stack of nothing
 * else keeps its outermost frame.  Every stack must have its totals.
 *
 * Memory from the profile's arena.
 */


#ifndef _JPP_HEAP_STACKS_H_INCLUDED_
#define _JPP_HEAP_STACKS_H_INCLUDED_


#include "jpp_dump.h"
#include "jpp_heap.h"


/* Add the samples of DUMP, which jpp_heap_open() opened, to PROFILE. */
jpp_code_t jpp_heap_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err);


#endif /* _JPP_HEAP_STACKS_H_INCLUDED_ */
