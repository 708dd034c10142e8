
/*
 * Where functions start and end, from a section .eh_frame.  It is there in
 * stripped files too, because the unwinder needs it.
 *
 * Pure; memory from the vector's arena.
 */


#ifndef _JPP_EH_FRAME_H_INCLUDED_
#define _JPP_EH_FRAME_H_INCLUDED_


#include "jpp_extents.h"


/*
 * Append the nameless extent of every function that the LEN bytes at DATA
 * describe to EXTENTS.  The section lies at virtual address VADDR, and
 * addresses of the file are ADDRESS_SIZE (4 or 8) bytes wide.
 *
 * What cannot be read is left out: an entry in an encoding that is not used
 * for code, and all that follows the first entry that is damaged.  False: no
 * memory.
 */
bool jpp_eh_frame_read(jpp_vec_t *extents, const uint8_t *data, size_t len,
    uint64_t vaddr, uint32_t address_size);


#endif /* _JPP_EH_FRAME_H_INCLUDED_ */
