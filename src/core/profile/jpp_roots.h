
/*
 * Whom samples belong to, by the labels that parsers give them: server,
 * location and upstream, as text for tables, and as the root frames of by=.
 *
 * One thread at a time; memory from the profile's arena.
 */


#ifndef _JPP_ROOTS_H_INCLUDED_
#define _JPP_ROOTS_H_INCLUDED_


#include "jpp_args.h"
#include "jpp_profile.h"


/* the keys of these labels */
typedef enum {
    JPP_ROOT_SERVER = 0,
    JPP_ROOT_LOCATION,
    JPP_ROOT_UPSTREAM,
    JPP_ROOTS
} jpp_root_t;


extern const char *const  jpp_root_keys[JPP_ROOTS];


/* Does by=BY name what samples belong to? */
bool jpp_roots_allow(jpp_by_t by);

/* Is ROOT among the names that BY has a row for? */
bool jpp_roots_has(jpp_by_t by, jpp_root_t root);

/* The word for a ROOT that a sample has none of. */
jpp_str_t jpp_roots_none(jpp_root_t root);

/*
 * The name that the label set SET, an index, has as ROOT: its label, or the
 * word for none; another one where the set says origin=master.
 */
jpp_str_t jpp_roots_name(const jpp_profile_t *profile, uint32_t set,
    jpp_root_t root);

/*
 * Put the names that BY has a row for at the roots of all stacks of PROFILE,
 * which is closed.  False: no memory.
 */
bool jpp_roots_add(jpp_profile_t *profile, jpp_by_t by);


#endif /* _JPP_ROOTS_H_INCLUDED_ */
