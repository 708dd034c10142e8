
/*
 * The maps section of a dump: /proc/<pid>/maps as it was when the dump was
 * taken.  Its executable mappings become mappings of the profile, the main
 * program's first.  A table by address tells the parser of the stacks which
 * mapping an address belongs to.
 *
 * Captures that loaded one object at different places share its mapping:
 * addresses are moved to where the first capture had it.
 *
 * A pure function of the text; memory from the profile's arena.
 */


#ifndef _JPP_MAPS_H_INCLUDED_
#define _JPP_MAPS_H_INCLUDED_


#include "jpp_profile.h"


/* [start, end) of run-time addresses */
typedef struct {
    uint64_t    start;
    uint64_t    end;
} jpp_range_t;


typedef struct {
    uint64_t    start;
    uint64_t    limit;
    uint64_t    shift;             /* add it for the profile's address */
    uint32_t    mapping;           /* id in the profile */
    bool        is_allocator;      /* this is a libjemalloc */
} jpp_map_t;


/*
 * Read the LEN bytes at TEXT, which end in a newline.  Executable mappings go
 * to PROFILE and, by address, to MAPS (jpp_map_t).  The line of an error is
 * counted from TEXT.
 *
 * A section that was cut between two lines still parses.  TAIL, if the caller
 * knows it, is the name of the last mapping that the kernel lists
 * ("[vsyscall]"): a listing that ends otherwise is JPP_ERR_CUT.  A list with
 * only executable mappings was not written by a kernel and needs no tail.
 * TAIL may be NULL.
 */
jpp_code_t jpp_maps_read(jpp_profile_t *profile, const char *text, size_t len,
    const char *tail, jpp_vec_t *maps, jpp_err_t *err);

/* The element of MAPS that holds ADDRESS, or NULL. */
const jpp_map_t *jpp_maps_find(const jpp_vec_t *maps, uint64_t address);


#endif /* _JPP_MAPS_H_INCLUDED_ */
