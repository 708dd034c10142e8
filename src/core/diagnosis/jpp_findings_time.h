
/*
 * Findings about memory that grows: of workers, by their history, and from one
 * configuration to the next.  Each function says whether its rule holds; if so,
 * FINDING has the numbers.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_FINDINGS_TIME_H_INCLUDED_
#define _JPP_FINDINGS_TIME_H_INCLUDED_


#include "jpp_telemetry.h"


bool jpp_finding_grows(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_reload_leak(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);


#endif /* _JPP_FINDINGS_TIME_H_INCLUDED_ */
