
/*
 * A frame pointer that nobody says, looked for on the stack.
 *
 * Of a thread that sleeps the kernel knows the program counter and the stack
 * pointer only.  Code that is compiled with frame pointers cannot be walked
 * without one; it has stored it close by, and no wrong one leads to the
 * outermost frame.
 *
 * [signal] No lock, no memory; any thread.
 */


#ifndef _JPP_UNWIND_RBP_H_INCLUDED_
#define _JPP_UNWIND_RBP_H_INCLUDED_


#include "jpp_unwind.h"


/*
 * Set rbp in AT, if the walk from there through STACK needs it and it is found:
 * after 4,096 frames in all attempts it is not.
 */
void jpp_unwind_rbp_find(jpp_unwinder_t *unwinder, jpp_unwind_context_t *at,
    const jpp_unwind_stack_t *stack);


#endif /* _JPP_UNWIND_RBP_H_INCLUDED_ */
