
/*
 * The state of the workers as comments of a profile.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_STATUS_COMMENTS_H_INCLUDED_
#define _JPP_STATUS_COMMENTS_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_fleet.h"


/*
 * The comments of a profile of FLEET's workers, one fact each: versions, which
 * workers, and, of memory, how much jemalloc has given them.  What is allocated
 * is a sum; what is resident is that of the largest worker, since they share
 * pages.  NULL-terminated, in ARENA; NULL: no memory.
 */
const char *const *jpp_status_comments(const jpp_fleet_t *fleet,
    jpp_arena_t *arena);


#endif /* _JPP_STATUS_COMMENTS_H_INCLUDED_ */
