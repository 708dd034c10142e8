
/*
 * Findings over time: which hold, since when, and which are to be said in a
 * log.  A finding is said as it rises.  It is over when it has not held for a
 * minute, so that one that comes and goes at its bound is said once; and one
 * that rises again soon after it was said is not repeated.
 *
 * Values of the caller, without pointers, so that they may lie in shared
 * memory; any thread.
 */


#ifndef _JPP_STANDING_H_INCLUDED_
#define _JPP_STANDING_H_INCLUDED_


#include "jpp_findings.h"


/* seconds */
#define JPP_STANDING_OVER    60
#define JPP_STANDING_REPEAT  600


/* of a finding */
typedef struct {
    int64_t          since;        /* seconds since the epoch; 0: it is over */
    int64_t          seen;         /* when it held for the last time */
    int64_t          said;
    int64_t          holds;        /* 1: as of the last look */
    char             because[sizeof(((jpp_finding_t *) 0)->because)];
} jpp_standing_t;


/*
 * At the time NOW, N FINDINGS hold: keep that in STANDING, which begins with
 * zeros.  Leaves in FINDINGS those that are to be said; their number.
 */
size_t jpp_standing_update(jpp_standing_t standing[JPP_FINDINGS],
    jpp_finding_t findings[JPP_FINDINGS], size_t n, int64_t now);

/*
 * Those that hold as of the last look: a bit for the number of each.  These
 * are the ones whose bounds are wider (jpp_finding_above()).
 */
uint32_t jpp_standing_bits(const jpp_standing_t standing[JPP_FINDINGS]);

/* Fill FINDINGS with those that stand, the gravest first; their number. */
size_t jpp_standing_findings(const jpp_standing_t standing[JPP_FINDINGS],
    jpp_finding_t findings[JPP_FINDINGS]);


#endif /* _JPP_STANDING_H_INCLUDED_ */
