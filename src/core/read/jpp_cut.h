
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


typedef enum {
    JPP_CUT_CODE = 0,         /* code of no object: a JIT compiler's */
    JPP_CUT_RULE,             /* code without call-frame information */
    JPP_CUT_ODD,              /* with some that cannot be followed */
    JPP_CUT_STACK,            /* the next frame is not on this stack */
    JPP_CUT_DEAF,             /* no signal can look at the thread */
    JPP_CUT_LATE,             /* none has, before the end */
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
