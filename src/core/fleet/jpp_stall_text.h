
/*
 * Stalls in words: for the log, and as comments of a profile.
 *
 * Pure functions; any thread.
 */


#ifndef _JPP_STALL_TEXT_H_INCLUDED_
#define _JPP_STALL_TEXT_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_stall.h"


#define JPP_STALL_TEXT  512


/*
 * What STALL served: ", in location "/x" of server "a", connection *12"; ""
 * if that is not known.
 */
const char *jpp_stall_served(const jpp_stall_t *stall,
    char text[JPP_STALL_TEXT]);

/* Comments on N STALLS, one each; NULL: no memory. */
const char *const *jpp_stall_comments(const jpp_stall_t *stalls, size_t n,
    uint64_t threshold, jpp_arena_t *arena);


#endif /* _JPP_STALL_TEXT_H_INCLUDED_ */
