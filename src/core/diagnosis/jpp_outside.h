
/*
 * Finds the owner of most memory outside of nginx's pools: the location whose
 * heap samples exceed its pools by half of that memory or more.
 *
 * No state; any thread.
 */


#ifndef _JPP_OUTSIDE_H_INCLUDED_
#define _JPP_OUTSIDE_H_INCLUDED_


#include "jpp_owner_names.h"
#include "jpp_pools_table.h"


typedef struct {
    uint64_t       bytes;              /* an estimate; 0: nobody has half */
    char           server[JPP_OWNER_NAME];
    char           location[JPP_OWNER_NAME];   /* "": of its connections */
} jpp_outside_t;


/*
 * Find who has half of the memory outside of the pools of TABLE, or more, by
 * the LEN bytes of a heap dump at DATA.  Samples without an owner are nobody's,
 * as are all if the dump cannot be read.  Works in ARENA.
 */
void jpp_outside_find(jpp_outside_t *outside, const jpp_pools_t *table,
    jpp_arena_t *arena, const char *data, size_t len);

/* Tell it in the facts of TABLE, which gets an owner that has nothing else. */
void jpp_outside_tell(const jpp_outside_t *outside, jpp_pools_t *table);


#endif /* _JPP_OUTSIDE_H_INCLUDED_ */
