
/*
 * What can be wrong with the profiling of a process, why, and its cure.
 *
 * One table holds every problem there can be: the log, the error answers, the
 * status resource and the console all say the same, from the same row.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_PROBLEMS_H_INCLUDED_
#define _JPP_PROBLEMS_H_INCLUDED_


#include "jpp_jemalloc.h"
#include "jpp_units.h"


#define JPP_MAX_PROBLEMS  8


/*
 * Sentences to be joined as "WHAT: WHY. CURE": NUL-terminated printable ASCII,
 * and in the cure newlines.  Its indented lines are to be copied.
 */
typedef struct {
    const char    *id;             /* "prof-off" */
    bool           is_fatal;       /* no profile until it is cured */
    char           what[160];
    char           why[256];
    char           cure[512];
} jpp_problem_t;


/*
 * Fill PROBLEMS with what is wrong with JEMALLOC, the fatal one (there is one
 * at most) first; the number as the result.
 */
size_t jpp_problems(const jpp_jemalloc_t *jemalloc,
    jpp_problem_t problems[JPP_MAX_PROBLEMS]);

/*
 * Append to the sentence of ERR what is wrong with JEMALLOC, and why, where its
 * code is JPP_ERR_STATE; another is left as it is.
 */
void jpp_problems_explain(const jpp_jemalloc_t *jemalloc, jpp_err_t *err);

/* The bytes between two samples, 2^LG_SAMPLE, in TEXT, which is the result. */
const char *jpp_problems_rate(uint32_t lg_sample, char text[JPP_UNITS_TEXT]);


#endif /* _JPP_PROBLEMS_H_INCLUDED_ */
