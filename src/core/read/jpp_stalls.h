
/*
 * A profile of stalls: how often an event loop stood still, and for how long,
 * by the stack it stood still in.
 *
 * A capture is an array of jpp_stall_t, of any processes: what it is labelled
 * with, its worker and what that served, is in it.
 */


#ifndef _JPP_STALLS_H_INCLUDED_
#define _JPP_STALLS_H_INCLUDED_


#include "jpp_args.h"
#include "jpp_dump.h"
#include "jpp_stall.h"


enum {
    JPP_STALLS_COUNT = 0,
    JPP_STALLS_DELAY,
    JPP_STALLS_TYPES
};


extern const jpp_value_type_t  jpp_stalls_types[JPP_STALLS_TYPES];

/* their names as the words of the parameter "type" */
extern const jpp_words_t       jpp_stalls_words;


/* for jpp_reader_t */
bool jpp_stalls_init(jpp_profile_t *profile, jpp_arena_t *arena);
jpp_code_t jpp_stalls_open(jpp_dump_t *dump, jpp_profile_t *profile,
    const char *data, size_t len, const char *tail, jpp_err_t *err);
jpp_code_t jpp_stalls_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err);
bool jpp_stalls_describe(jpp_profile_t *profile);


#endif /* _JPP_STALLS_H_INCLUDED_ */
