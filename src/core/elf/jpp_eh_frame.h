
/*
 * Where functions start and end, from the section .eh_frame.  Stripped files
 * have it too, because the unwinder needs it.
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
 * Leaves out what it cannot read: entries in an encoding that code does not
 * use, and everything from the first damaged entry on.  False: no memory.
 */
bool jpp_eh_frame_read(jpp_vec_t *extents, const uint8_t *data, size_t len,
    uint64_t vaddr, uint32_t address_size);


#endif /* _JPP_EH_FRAME_H_INCLUDED_ */
