
/*
 * What the kernel says about this process: its mappings.  The owner of
 * /proc/self/maps.
 *
 * No state; any thread.
 */


#ifndef _JPP_PROC_H_INCLUDED_
#define _JPP_PROC_H_INCLUDED_


#include "jpp_core.h"


/* Append the text of /proc/self/maps to MAPS, once more if it changed while it
   was read. */
jpp_code_t jpp_proc_maps(jpp_vec_t *maps, jpp_err_t *err);

/*
 * Read M from the line of maps at P; from 0 to 0: it is not such a line.
 * Returns the line behind it, or END; NULL: it has no end.
 */
const char *jpp_proc_line(const char *p, const char *end,
    jpp_scan_mapping_t *m);

/*
 * How the page at ADDRESS is protected, as mprotect() has it (PROT_READ ...),
 * by the LEN bytes of maps TEXT; 0: nothing is mapped there.
 */
int jpp_proc_protection(const char *text, size_t len, uintptr_t address);

/*
 * The name of the last mapping in the LEN bytes of maps TEXT ("[vsyscall]"),
 * copied to ARENA: with it jpp_maps_read() sees that a listing is complete.
 * NULL if the last mapping is not one of the kernel's own, whose names are in
 * brackets, and without memory.
 */
const char *jpp_proc_tail(const char *text, size_t len, jpp_arena_t *arena);


#endif /* _JPP_PROC_H_INCLUDED_ */
