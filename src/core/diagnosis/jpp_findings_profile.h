
/*
 * Findings about a profile, where one is at hand: whether it rests on enough
 * samples, and has what is allocated.  Each rule says whether it holds; if so,
 * FINDING has the numbers.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_FINDINGS_PROFILE_H_INCLUDED_
#define _JPP_FINDINGS_PROFILE_H_INCLUDED_


#include "jpp_profile.h"
#include "jpp_telemetry.h"


/* Fill PROFILED for PROFILE, which is of a heap. */
void jpp_findings_profiled(jpp_profiled_t *profiled,
    const jpp_profile_t *profile, bool is_whole);

bool jpp_finding_few_samples(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_explains(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);


#endif /* _JPP_FINDINGS_PROFILE_H_INCLUDED_ */
