
/*
 * A table of pools into a profile: a stack for each of its rows, and two for
 * what is in no pool.
 *
 *     http;server NAME;location NAME;request;large;request body
 *
 * Frames are names (jpp_profile_frame()) in one mapping; what cannot be seen of
 * a name is escaped.
 *
 * Memory from the profile's arena.
 */


#ifndef _JPP_POOLS_STACKS_H_INCLUDED_
#define _JPP_POOLS_STACKS_H_INCLUDED_


#include "jpp_dump.h"
#include "jpp_pools.h"


/*
 * Open the LEN bytes at DATA, written by jpp_pools_write(), as the caller's
 * DUMP.  TAIL is ignored.
 */
jpp_code_t jpp_pools_open(jpp_dump_t *dump, jpp_profile_t *profile,
    const char *data, size_t len, const char *tail, jpp_err_t *err);

/*
 * Add what DUMP holds to PROFILE; with options->columns, what of it the process
 * had when it started: a table is its own baseline.
 */
jpp_code_t jpp_pools_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err);


#endif /* _JPP_POOLS_STACKS_H_INCLUDED_ */
