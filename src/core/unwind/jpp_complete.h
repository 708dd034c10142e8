
/*
 * The complete step: all registers, and every rule that call-frame information
 * can express.  The rare and slow half of jpp_unwind.h.
 *
 * [signal] No state, no lock, no memory; any thread.
 */


#ifndef _JPP_COMPLETE_H_INCLUDED_
#define _JPP_COMPLETE_H_INCLUDED_


#include "jpp_frame.h"
#include "jpp_mapped.h"


/* [signal] FRAME becomes its caller; any result but JPP_UNWIND_ON: it cannot,
   and is what it was. */
jpp_unwind_end_t jpp_complete_step(const jpp_mapped_t *objects,
    jpp_frame_t *frame);


#endif /* _JPP_COMPLETE_H_INCLUDED_ */
