
/*
 * One thing there is to say about the memory of an nginx.
 *
 * jpp_findings.h has the rules.  Pure functions of the caller's values; any
 * thread.
 */


#ifndef _JPP_FINDING_H_INCLUDED_
#define _JPP_FINDING_H_INCLUDED_


#include "jpp_json.h"


/* NUL-terminated printable ASCII */
typedef struct {
    unsigned      number;          /* its place in the table of all */
    const char   *id;              /* "limit-near" */
    bool          is_critical;     /* nginx is about to be killed, or was */
    const char   *what;
    char          because[320];    /* the numbers */
    const char   *cure;
    bool          stands;          /* it was found before: see below */
} jpp_finding_t;


/*
 * Is VALUE above PERCENT of BYTES, or below them?  Every bound of a rule is
 * asked for here: a finding rises at its bounds, and one that stands falls only
 * when it is a fifth away from them, so that none comes and goes with a value
 * at its bound.
 */
bool jpp_finding_above(const jpp_finding_t *finding, uint64_t value,
    unsigned percent, uint64_t bytes);
bool jpp_finding_below(const jpp_finding_t *finding, uint64_t value,
    unsigned percent, uint64_t bytes);


/* Write the numbers; true, so that it can be a rule's result. */
bool jpp_finding_because(jpp_finding_t *finding, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));


/* Write N FINDINGS as a member of the object that is open. */
void jpp_findings_json(jpp_json_t *json, const jpp_finding_t *findings,
    size_t n);


#endif /* _JPP_FINDING_H_INCLUDED_ */
