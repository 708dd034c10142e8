
/*
 * The owners of a capture: numbers from 0, and for each number the labels
 * "server", "location" and, if there is one, "upstream".
 *
 * Memory from the profile's arena.
 */


#ifndef _JPP_OWNER_LABELS_H_INCLUDED_
#define _JPP_OWNER_LABELS_H_INCLUDED_


#include "jpp_profile.h"


/* of a capture */
#define JPP_OWNERS_MAX       4096

/* the frame of a stack that is owner 0's, if it has one: behind its outermost
   frame, in a page that no process maps (jpp_cut.h has another) */
#define JPP_OWNER_FRAME      0x2001

#define JPP_OWNER_NO_LABELS  UINT32_MAX


/* the numbers of those that are no names in a configuration: part of the dumps,
   so they never change */
typedef enum {
    JPP_OWNER_NONE = 0,       /* not known, or not yet */
    JPP_OWNER_OTHERS,         /* more than can be told apart */
    JPP_OWNER_LOOP,           /* no connection: timers */
    JPP_OWNER_THREADS,
    JPP_OWNER_ACCEPT,         /* a connection that nobody serves yet */
    JPP_OWNERS_FIXED
} jpp_owner_fixed_t;


typedef struct jpp_owner_labels_s  jpp_owner_labels_t;


/*
 * NAMES, up to LAST, are the next of *OWNERS, which is NULL at first: "SERVER
 * TAB LOCATION", perhaps with "TAB UPSTREAM" and "TAB PLACE" behind it, where
 * the upstream may be empty.  What is not that, or one too many, is left out.
 * False: no memory.
 */
bool jpp_owner_labels_add(jpp_owner_labels_t **owners, jpp_arena_t *arena,
    const char *names, const char *last);

/*
 * Below, OWNERS may be NULL: there are none.
 */

uint32_t jpp_owner_labels_count(const jpp_owner_labels_t *owners);

/*
 * The label set that has those of the set FROM and the names of OWNER, or FROM
 * itself; JPP_OWNER_NO_LABELS: no memory.
 */
uint32_t jpp_owner_labels(jpp_owner_labels_t *owners, jpp_profile_t *profile,
    uint32_t owner, uint32_t from);


#endif /* _JPP_OWNER_LABELS_H_INCLUDED_ */
