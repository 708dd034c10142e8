
/*
 * Problems with the profiling of a process: cause, reason and fix.
 *
 * One table has every problem: the log, the error answers, the status resource
 * and the console all take their words from the same row.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_PROBLEMS_H_INCLUDED_
#define _JPP_PROBLEMS_H_INCLUDED_


#include "jpp_worker.h"


#define JPP_MAX_PROBLEMS  8


/*
 * Sentences, joined as "WHAT: WHY. FIX": NUL-terminated printable ASCII; a
 * fix may have newlines, and its indented lines are for copying.
 */
typedef struct {
    const char    *id;             /* "prof-off" */
    bool           is_fatal;       /* no profile without the fix */
    char           what[160];
    char           why[256];
    char           fix[768];
} jpp_problem_t;


/*
 * Fill PROBLEMS with what is wrong with the sampling of WORKER; a fatal one, at
 * most one, comes first.  Returns their number.
 */
size_t jpp_problems(const jpp_worker_t *worker,
    jpp_problem_t problems[JPP_MAX_PROBLEMS]);

/*
 * If ERR's code is JPP_ERR_STATE, append to its sentence what is wrong with
 * WORKER's jemalloc, and why.
 */
void jpp_problems_explain(const jpp_worker_t *worker, jpp_err_t *err);

/*
 * Why jemalloc walks stacks itself, by the hook: the second half of a sentence;
 * NULL: it does not.
 */
extern const char *const  jpp_problem_hooks[];


#endif /* _JPP_PROBLEMS_H_INCLUDED_ */
