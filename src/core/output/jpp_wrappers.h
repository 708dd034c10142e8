
/*
 * Functions that only pass memory on to their callers: ngx_palloc(),
 * CRYPTO_malloc(), strdup() ...  At the head of a table of functions they say
 * nothing.
 *
 * They are known by name, and where they have none by the functions next to
 * them.  Memory from the profile's arena.
 */


#ifndef _JPP_WRAPPERS_H_INCLUDED_
#define _JPP_WRAPPERS_H_INCLUDED_


#include "jpp_profile.h"


/* What a function is. */
typedef enum {
    JPP_WRAPPER_NOT = 0,
    JPP_WRAPPER_YES,
    JPP_WRAPPER_UNNAMED        /* "nginx+0x3f2a0", "0x3000" */
} jpp_wrappers_t;


/* What the function NAME is, by its name alone. */
jpp_wrappers_t jpp_wrappers(const char *name);

/*
 * What each function of PROFILE is, by id from 1 on; NULL: no memory.  One
 * without a name that lies among the functions of nginx's pools (see
 * jpp_symbolize.h) passes on.  In a profile without bytes, as one of time, no
 * function does.  All locations of PROFILE have functions.
 */
const uint8_t *jpp_wrappers_table(const jpp_profile_t *profile);

/*
 * Put "passes memory on" in front of the files of such functions of PROFILE,
 * for those who read it and do not know the names: pprof -hide, and the page.
 * False: no memory.
 */
bool jpp_wrappers_mark(jpp_profile_t *profile);

/*
 * The innermost frame of the packed STACK, which ends at END, that does more
 * than pass memory on.  A stack of nothing else keeps its outermost frame.  A
 * frame without a name passes on if its callee and its caller do.
 */
const uint8_t *jpp_wrappers_skip(const jpp_profile_t *profile,
    const uint8_t *table, const uint8_t *stack, const uint8_t *end);


#endif /* _JPP_WRAPPERS_H_INCLUDED_ */
