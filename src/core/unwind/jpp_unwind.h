
/*
 * Stacks of this process, by the call-frame information of what it has loaded:
 * what libgcc's unwinder does, without its locks, its cost, and its crashes.
 *
 * It reads .eh_frame of known objects, and words of the stack between rsp and
 * the top; never what a register or a return address points at elsewhere.  So
 * wrong call-frame information, code of a JIT compiler and an overwritten
 * stack give a short or a wrong stack, and no fault.  A walk that cannot go on
 * keeps what it has and says why.
 *
 * Nearly all frames need rsp and rbp only; their rules are cached as they are
 * met (jpp_rules.h).  At one that needs more (a signal's, a realigned stack,
 * the dynamic linker's, some assembly) the frames up to it are stepped over
 * again, with all registers (jpp_complete.h); above it the walk goes on with
 * the cache.
 *
 * Who uses it brings the objects: jpp_mapped_add(), outside signals.  A stack
 * ends at the frame that a signal interrupted on another stack; with musl,
 * whose libc has no call-frame information, at the first frame in libc, be it
 * the one that has called main().  amd64 only.
 *
 * Everything marked [signal] is safe in a handler and in malloc() itself: no
 * lock, no memory, errno untouched; at most 3 KB of stack; no system call but
 * those that prove a page of a stack.  Walk once outside of a handler first,
 * so that lazy binding is done.
 */


#ifndef _JPP_UNWIND_H_INCLUDED_
#define _JPP_UNWIND_H_INCLUDED_


#include "jpp_frame.h"
#include "jpp_mapped.h"
#include "jpp_rules.h"
#include "jpp_stack.h"


/* zeroed, it is an unwinder that knows nothing; about 130 KB */
typedef struct {
    jpp_mapped_t      mapped;
    jpp_rules_t       rules;
    jpp_stacks_t      stacks;
} jpp_unwinder_t;


#define JPP_UNWIND_LAST  UINTPTR_MAX


/* Is there an unwinder for this machine? */
bool jpp_unwind_is_here(void);

/*
 * [signal] Walk from AT, which knows rsp and rbp at least, and store at most
 * DEPTH addresses, innermost first: at PCS[0] that of AT, then return
 * addresses.  Returns their number; END becomes the reason why there are no
 * more.  STACK is what may be read; NULL: the bounds around AT's rsp are found
 * (jpp_stack.h).
 *
 * An address in no known object is stored, and ends the walk.
 */
uint32_t jpp_unwind_walk(jpp_unwinder_t *unwinder,
    const jpp_unwind_context_t *at, const jpp_unwind_stack_t *stack,
    uintptr_t *pcs, uint32_t depth, jpp_unwind_end_t *end);

/* [signal] The same from the caller of this function: PCS[0] lies in it. */
uint32_t jpp_unwind_here(jpp_unwinder_t *unwinder,
    const jpp_unwind_stack_t *stack, uintptr_t *pcs, uint32_t depth,
    jpp_unwind_end_t *end);

/*
 * [signal] How far the caller's rsp lies above rsp where a call returns to PC:
 * bytes, the same each time; 0: that depends on more than PC, or is not known.
 * JPP_UNWIND_LAST: nobody is the caller.
 */
uintptr_t jpp_unwind_distance(jpp_unwinder_t *unwinder, uintptr_t pc);

/*
 * [signal] AT becomes what a signal has interrupted: UCONTEXT is the third
 * argument of its handler.
 */
void jpp_unwind_interrupted(jpp_unwind_context_t *at, const void *ucontext);

/* [signal] END as a few words: "JIT or unknown code". */
const char *jpp_unwind_end_name(jpp_unwind_end_t end);


#endif /* _JPP_UNWIND_H_INCLUDED_ */
