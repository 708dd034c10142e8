
/*
 * The ages of live samples in a dump of the module's sampler: what is asked
 * for, the numbers in the dump, and the labels of the profile.
 *
 * Such a dump ends its header with the line
 *
 *     ages := "  t" JPP_AGES ": " counts " ages" NL
 *
 * A stack stands there once without an age, for what was ever allocated, and
 * once for each age of what is live: its last thread is JPP_AGES and an age, of
 * jpp_age().  To other parsers these are threads.
 *
 * Pure functions; any thread.
 */


#ifndef _JPP_AGES_H_INCLUDED_
#define _JPP_AGES_H_INCLUDED_


#include "jpp_profile.h"


/* more than the number of any owner */
#define JPP_AGES          65536
#define JPP_AGES_NAME     "ages"

/* an age: the power of four that it has reached, in seconds, and above that the
   quarter of the recording that it began in */
#define JPP_AGE_POWERS    16
#define JPP_AGE_QUARTERS  4

/* the keys of their labels: 1, 4, 16 .. seconds; 1 to 4 */
#define JPP_AGE_KEY       "age_seconds"
#define JPP_QUARTER_KEY   "quarter"


/* What is asked for. */
typedef struct {
    uint32_t   least;          /* seconds: what is younger is left out */
    bool       are_told;
} jpp_ages_t;


/* The age of what is SECONDS old, and was born AFTER so many of the seconds
   that are RECORDED. */
static inline uint32_t
jpp_age(uint32_t seconds, uint64_t after, uint64_t recorded)
{
    uint64_t  quarter;

    quarter = recorded != 0 ? after * JPP_AGE_QUARTERS / recorded
                            : JPP_AGE_QUARTERS;
    quarter = jpp_smaller(quarter, JPP_AGE_QUARTERS - 1);

    return (uint32_t) quarter * JPP_AGE_POWERS
           + (31 - (uint32_t) __builtin_clz(seconds | 1)) / 2;
}


/*
 * The number of the stack's thread with its age, where the stack is at P in a
 * dump with ages whose stacks end at END; what is less than JPP_AGES is none.
 */
uint64_t jpp_ages_read(const char *p, const char *end);

/*
 * The label set that has those of the set FROM and of such a NUMBER, or FROM
 * itself, in *SET; false: no memory.
 */
bool jpp_ages_label(jpp_profile_t *profile, uint32_t from, uint64_t number,
    uint32_t *set);


#endif /* _JPP_AGES_H_INCLUDED_ */
