
/*
 * A capture of stacks with the time that they took into a profile.
 *
 * Memory from the profile's arena.
 */


#ifndef _JPP_TIMES_STACKS_H_INCLUDED_
#define _JPP_TIMES_STACKS_H_INCLUDED_


#include "jpp_dump.h"
#include "jpp_times.h"


/* Open the LEN bytes at DATA as the caller's DUMP. */
jpp_code_t jpp_times_open(jpp_dump_t *dump, jpp_profile_t *profile,
    const char *data, size_t len, const char *tail, jpp_err_t *err);

/* Add what DUMP holds to PROFILE. */
jpp_code_t jpp_times_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err);


#endif /* _JPP_TIMES_STACKS_H_INCLUDED_ */
