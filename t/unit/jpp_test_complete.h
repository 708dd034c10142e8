
/*
 * A walk that takes each step with all registers, and keeps no rule: the
 * witness for the walk with the cache.
 */


#ifndef _JPP_TEST_COMPLETE_H_INCLUDED_
#define _JPP_TEST_COMPLETE_H_INCLUDED_


#include "jpp_unwind.h"


/* As jpp_unwind_walk(), from AT, whose rsp lies in STACK. */
static inline uint32_t
jpp_test_complete(const jpp_unwinder_t *unwinder,
    const jpp_unwind_context_t *at, const jpp_unwind_stack_t *stack,
    uintptr_t *pcs, uint32_t depth, jpp_unwind_end_t *end)
{
    uint32_t     n;
    jpp_frame_t  frame;

    frame.at = *at;
    frame.stack = *stack;
    n = 0;

    do {

        if (n == depth) {
            *end = JPP_UNWIND_DEPTH;
            return n;
        }

        pcs[n++] = frame.at.pc;
        *end = jpp_complete_step(&unwinder->mapped, &frame);

    } while (*end == JPP_UNWIND_ON);

    return n;
}


#endif /* _JPP_TEST_COMPLETE_H_INCLUDED_ */
