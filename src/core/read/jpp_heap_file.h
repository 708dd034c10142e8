
/*
 * A heap dump taken apart: its first line, its mappings, its header.
 *
 * A dump that jemalloc could not finish is refused, although jemalloc reported
 * success: it must have a maps section, and end in a newline.
 *
 * Pure functions; memory from the profile's arena.
 */


#ifndef _JPP_HEAP_FILE_H_INCLUDED_
#define _JPP_HEAP_FILE_H_INCLUDED_


#include "jpp_dump.h"


#define JPP_HEAP_MAPS  "MAPPED_LIBRARIES:\n"


/*
 * Open the LEN bytes at DATA as the caller's DUMP; the mappings go to PROFILE.
 * TAIL is that of jpp_maps_read().
 */
jpp_code_t jpp_heap_open(jpp_dump_t *dump, jpp_profile_t *profile,
    const char *data, size_t len, const char *tail, jpp_err_t *err);

/*
 * Are the LEN bytes at DATA a dump with all its parts?  This checks its ends
 * only: the writer may call it at once, and a reader finds out the rest.
 */
bool jpp_heap_is_whole(const char *data, size_t len);


#endif /* _JPP_HEAP_FILE_H_INCLUDED_ */
