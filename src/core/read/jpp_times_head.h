
/*
 * A capture of times while it is read, and what comes before its stacks.
 */


#ifndef _JPP_TIMES_HEAD_H_INCLUDED_
#define _JPP_TIMES_HEAD_H_INCLUDED_


#include "jpp_addresses.h"
#include "jpp_dump.h"
#include "jpp_owner_labels.h"
#include "jpp_times.h"


typedef struct {
    jpp_profile_t              *profile;
    const jpp_dump_t           *dump;
    const jpp_read_options_t   *options;
    jpp_err_t                  *err;
    jpp_addresses_t             addresses;
    jpp_vec_t                  *sets;          /* uint32_t, of the profile */
    jpp_owner_labels_t         *owners;        /* NULL: none */
    bool                        is_owned;      /* the stack */
    jpp_times_facts_t           facts;
    char                        early[JPP_TIMES_TEXT];
} jpp_times_reading_t;


/* Read kind, facts, labels and owners, from P on.  Returns where the stacks
   begin, or NULL. */
const char *jpp_times_head(jpp_times_reading_t *reading, const char *p);

/* P is somewhere in a line that SENTENCE is about; returns NULL. */
const char *jpp_times_error(jpp_times_reading_t *reading, const char *p,
    const char *sentence);

/* There is no memory; returns NULL. */
const char *jpp_times_memory(jpp_times_reading_t *reading);


#endif /* _JPP_TIMES_HEAD_H_INCLUDED_ */
