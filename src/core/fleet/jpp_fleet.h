
/*
 * The workers of an nginx: those that answered, those that did not, and what
 * was found about all of them.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_FLEET_H_INCLUDED_
#define _JPP_FLEET_H_INCLUDED_


#include "jpp_json.h"
#include "jpp_worker.h"


/*
 * One thing there is to say about the memory of an nginx: NUL-terminated
 * printable ASCII.  jpp_findings.h has the rules.
 */
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


/* A worker that did not answer, and one sentence that says why. */
typedef struct {
    jpp_identity_t         who;
    const char            *why;
} jpp_missing_t;


/* Write N MISSING workers as a member of the object that is open. */
void jpp_missing_json(jpp_json_t *json, const jpp_missing_t *missing,
    size_t n);


typedef struct {
    const char            *nginx;          /* "1.22.1" */
    const char            *host;           /* name of the machine */
    uint32_t               n_asked;        /* workers that were asked */
    const jpp_worker_t    *workers;        /* those that answered */
    size_t                 n;
    const jpp_missing_t   *missing;        /* the others */
    size_t                 n_missing;
    const jpp_finding_t   *findings;       /* about all, as they were last */
    size_t                 n_findings;     /*   found */
    const jpp_control_t   *wanted;         /* settings for all; or NULL */
    const char            *unnamed;        /* of the last profile: which */
                                           /*   code lacks names; or NULL */
    bool                   is_of_time;     /* the profile is not of memory */
    bool                   is_sampled;     /* it is of samples of memory */
} jpp_fleet_t;


#endif /* _JPP_FLEET_H_INCLUDED_ */
