
/*
 * The reasons for truncated stacks.  A reason is stored as the last frame of
 * its stack.
 *
 * Such a frame is an address of page 0, which no process maps, so that dumps
 * keep their grammar and every parser still reads them.  Ours shows its name.
 * The numbers are part of the dumps: they never change.
 *
 * Pure functions; any thread, and [signal].
 */


#ifndef _JPP_CUT_H_INCLUDED_
#define _JPP_CUT_H_INCLUDED_


#include "jpp_core.h"


#define JPP_CUT_LIST(X)                                                       \
    X(JPP_CUT_CODE, "[cut: JIT code]")                                        \
    X(JPP_CUT_RULE, "[cut: no call-frame information]")                       \
    X(JPP_CUT_ODD, "[cut: unknown call-frame information]")                   \
    X(JPP_CUT_STACK, "[cut: outside the stack]")                              \
    X(JPP_CUT_DEAF, "[cut: the thread takes no signal]")                      \
    X(JPP_CUT_LATE, "[cut: the thread did not answer in time]")

typedef enum {
    JPP_CUT_LIST(JPP_LIST_ID)
    JPP_CUTS
} jpp_cut_t;


/* in a dump; as for any frame, the location's address is one less */
#define JPP_CUT_FRAME  0x101


/* The frame of a stack that is CUT. */
static inline uintptr_t
jpp_cut_frame(jpp_cut_t cut)
{
    return JPP_CUT_FRAME + (uintptr_t) cut;
}


/* The name of FRAME: "[cut: JIT code]"; NULL: it is an address of code. */
const char *jpp_cut_name(uint64_t frame);


#endif /* _JPP_CUT_H_INCLUDED_ */
