
/*
 * What there is to say about the memory of an nginx: a sentence, the numbers
 * behind it, and what to do.  A problem (jpp_problems.h) keeps profiles from
 * being right; a finding is about the memory itself.
 *
 * One table has every rule, the gravest first.  Each has a ratio and a floor in
 * bytes or counts, so that a small idle nginx has none.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_FINDINGS_H_INCLUDED_
#define _JPP_FINDINGS_H_INCLUDED_


#include "jpp_finding.h"


typedef enum {
    JPP_FINDING_LIMIT_NEAR = 0,
    JPP_FINDING_OOM_KILL,
    JPP_FINDING_PRESSURE,
    JPP_FINDING_SWAP,
    JPP_FINDING_ZONE_FULL,
    JPP_FINDING_OLD_WORKERS,
    JPP_FINDING_ODD_WORKER,
    JPP_FINDING_OUTSIDE,
    JPP_FINDING_RETAINED,
    JPP_FINDING_FRAGMENTED,
    JPP_FINDING_PEAK,
    JPP_FINDING_STALLS,
    JPP_FINDINGS
} jpp_finding_id_t;


/*
 * Fill FINDINGS with what holds of TELEMETRY, the gravest first; returns their
 * number.
 */
size_t jpp_findings(const jpp_telemetry_t *telemetry,
    jpp_finding_t findings[JPP_FINDINGS]);


#endif /* _JPP_FINDINGS_H_INCLUDED_ */
