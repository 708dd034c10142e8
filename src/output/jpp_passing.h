
/*
 * Functions that only pass memory on to whoever wanted it: ngx_palloc(),
 * CRYPTO_malloc(), strdup() ...  In a table of functions they are the first
 * rows, and say nothing.
 *
 * They are known by name.  Memory from the profile's arena.
 */


#ifndef _JPP_PASSING_H_INCLUDED_
#define _JPP_PASSING_H_INCLUDED_


#include "jpp_profile.h"


/* What a function is, by its name. */
typedef enum {
    JPP_PASSING_NOT = 0,
    JPP_PASSING_YES,
    JPP_PASSING_UNNAMED        /* "nginx+0x3f2a0", "0x3000" */
} jpp_passing_t;


/* What the function NAME is. */
jpp_passing_t jpp_passing(const char *name);

/*
 * What each function of PROFILE is, by id from 1 on; NULL: no memory.  All its
 * locations have functions.
 */
const uint8_t *jpp_passing_table(const jpp_profile_t *profile);

/*
 * The innermost frame of the packed STACK, which ends at END, that does not
 * only pass memory on.  A stack of nothing else keeps its outermost frame.  A
 * frame without a name counts as what its caller is, if a callee passes memory
 * on: ngx_palloc() calls functions that have no names in a stripped nginx.
 */
const uint8_t *jpp_passing_skip(const jpp_profile_t *profile,
    const uint8_t *table, const uint8_t *stack, const uint8_t *end);


#endif /* _JPP_PASSING_H_INCLUDED_ */
