
/*
 * Where the stack that rsp lies in ends: of the main thread, of any other, and
 * of whatever else code runs on (coroutines, alternate signal stacks).
 *
 * The main thread's stack ends at what the kernel put on top of it, and
 * another's at its thread pointer, which libc keeps above the stack.  Between
 * rsp and there every page is proven once, and stays proven: these stacks are
 * not unmapped while they are run on.  Of any other stack nobody says where it
 * ends or whether it is still what it was; so its pages are proven for each
 * walk, as many as the walk needs.
 *
 * A page is proven by a system call that reads a word of it and does nothing
 * else: rt_sigprocmask() with an operation that does not exist.  Where such
 * calls are emulated without the reading, a stack is the rest of rsp's page.
 *
 * [signal] No lock, no memory, errno untouched; any thread.  amd64 only.
 */


#ifndef _JPP_STACK_H_INCLUDED_
#define _JPP_STACK_H_INCLUDED_


#include <stdbool.h>
#include <stdint.h>

#include "jpp_frame.h"


#define JPP_STACK_PAGE      4096

/* by how much a stack may be found to have grown: far more lies elsewhere */
#define JPP_STACK_GROWN     (2048 * JPP_STACK_PAGE)

/* what is proven of a stack whose end is not known: at first, and at most */
#define JPP_STACK_FIRST     (4 * JPP_STACK_PAGE)
#define JPP_STACK_MORE      (256 * JPP_STACK_PAGE)

/* threads whose proven pages are kept; of two that share a place one is proven
   anew each time */
#define JPP_STACK_THREADS   256


typedef enum {
    JPP_STACK_UNTRIED = 0,
    JPP_STACK_PROVES,
    JPP_STACK_NO_PROOF        /* the system call does not read */
} jpp_stack_proof_t;


/* zeroed, nothing is proven yet */
typedef struct {
    uint32_t          proof;  /* jpp_stack_proof_t */
    uintptr_t         top;    /* of the main thread's stack; 0: not known */
    uintptr_t         low;    /* and its lowest page that is proven */

    /* thread pointer, and above 47 bits the pages proven below its own */
    uint64_t          threads[JPP_STACK_THREADS];
} jpp_stacks_t;


/*
 * [signal] STACK becomes the bounds around RSP, which lies in the stack that
 * this thread runs on.  False: more of it may be had
 * from jpp_stack_more(), because nobody knows where it ends.
 */
bool jpp_stack_bounds(jpp_stacks_t *stacks, uintptr_t rsp,
    jpp_unwind_stack_t *stack);

/* [signal] The same if that is the main thread's; false: it is not.  Any
   thread of the process. */
bool jpp_stack_is_main(jpp_stacks_t *stacks, uintptr_t rsp,
    jpp_unwind_stack_t *stack);

/* [signal] Four times as much of such a stack; false: that was all of it, or
   JPP_STACK_MORE bytes. */
bool jpp_stack_more(jpp_unwind_stack_t *stack);


#endif /* _JPP_STACK_H_INCLUDED_ */
