
/*
 * The types, columns and comments of a CPU or wall-clock profile.
 */


#ifndef _JPP_TIMES_H_INCLUDED_
#define _JPP_TIMES_H_INCLUDED_


#include "jpp_dump.h"


/* how a capture begins, before its kind, and what separates its mappings */
#define JPP_TIMES_HEAD  "jpp_times/1 "
#define JPP_TIMES_MAPS  "MAPPED_LIBRARIES:\n"

/* of a reason */
#define JPP_TIMES_TEXT  160


enum {
    JPP_TIMES_SAMPLES = 0,
    JPP_TIMES_NANOS,               /* of the profile's mode */
    JPP_TIMES_OTHER,               /* of the other, which it has not */
    JPP_TIMES_TYPES
};


/* What a capture says of itself; times are nanoseconds. */
typedef struct {
    uint64_t          frequency;      /* asked for */
    uint64_t          highest;        /* that it was sampled at */
    uint64_t          duration;
    uint64_t          dropped;        /* samples */
    uint64_t          dropped_nanos;
    uint64_t          idle;           /* of event loops */
    uint64_t          waits;          /* of other threads, for work */
    uint64_t          threads;
    uint64_t          deaf;           /* of these: no signal reaches them */
    uint64_t          beyond;         /* of these: there was no room */
    uint64_t          owned;          /* samples that have an owner */
    bool              is_asked;       /* for owners */
} jpp_times_facts_t;


/* The facts of all captures of a profile, which are its facts: sums, but for
   the highest three. */
typedef struct {
    jpp_times_facts_t  facts;
    uint64_t           lasted;        /* durations, added up */
    uint64_t           shortest;      /* that ended early */
    uint32_t           n;
    uint32_t           n_early;
    char               early[JPP_TIMES_TEXT];     /* why the last did */
} jpp_times_sums_t;


extern const jpp_value_type_t  jpp_times_types[JPP_MODES][JPP_TIMES_TYPES];


/* Open the LEN bytes at DATA as the caller's DUMP. */
jpp_code_t jpp_times_open(jpp_dump_t *dump, jpp_profile_t *profile,
    const char *data, size_t len, const char *tail, jpp_err_t *err);

/* Add what DUMP holds to PROFILE. */
jpp_code_t jpp_times_read(jpp_profile_t *profile, const jpp_dump_t *dump,
    const jpp_read_options_t *options, jpp_err_t *err);

/* Set period and duration, and append comments on all that. */
void jpp_times_describe(jpp_profile_t *profile);


#endif /* _JPP_TIMES_H_INCLUDED_ */
