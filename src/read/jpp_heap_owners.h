
/*
 * Whom the samples of a dump belong to: a server and a location, which a dump
 * of the module's sampler has in the place of a thread.
 *
 *     thread := "  t" owner ": " counts " owner" TAB server TAB location NL
 *
 * in the header, one for each owner, numbered from 0.  Other dumps have none;
 * what comes in another order, or past the bound, is none either.
 *
 * Memory from the profile's arena.
 */


#ifndef _JPP_HEAP_OWNERS_H_INCLUDED_
#define _JPP_HEAP_OWNERS_H_INCLUDED_


#include "jpp_dump.h"


/* of a dump */
#define JPP_HEAP_OWNERS_MAX  4096


#define JPP_HEAP_NO_LABELS  UINT32_MAX


/* the numbers of those that are no pair of names in a configuration: part of
   the dumps, so they never change */
typedef enum {
    JPP_OWNER_NONE = 0,       /* not known, or not yet */
    JPP_OWNER_OTHERS,         /* more than can be told apart */
    JPP_OWNER_LOOP,           /* no connection: timers, accepting */
    JPP_OWNER_THREADS,
    JPP_OWNERS_FIXED
} jpp_owner_fixed_t;


typedef struct jpp_heap_owners_s  jpp_heap_owners_t;


/*
 * The owners of DUMP, whose header begins at P; NULL without an error: it has
 * none.
 */
jpp_code_t jpp_heap_owners(jpp_heap_owners_t **owners, jpp_arena_t *arena,
    const char *p, const char *end);

/*
 * Below, OWNERS may be NULL: nothing is known of anybody.
 */

/* The owner of the stack whose first line is at P, before END. */
uint32_t jpp_heap_owner(const jpp_heap_owners_t *owners, const char *p,
    const char *end);

/*
 * The label set that has those of the set FROM and the names of OWNER, or FROM
 * itself; JPP_HEAP_NO_LABELS: no memory.
 */
uint32_t jpp_heap_owner_labels(jpp_heap_owners_t *owners,
    jpp_profile_t *profile, uint32_t owner, uint32_t from);


#endif /* _JPP_HEAP_OWNERS_H_INCLUDED_ */
