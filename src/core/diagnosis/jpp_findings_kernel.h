
/*
 * Findings about limits, pressure and shared memory.  Each function says
 * whether its rule holds; if so, FINDING has the numbers.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_FINDINGS_KERNEL_H_INCLUDED_
#define _JPP_FINDINGS_KERNEL_H_INCLUDED_


#include "jpp_telemetry.h"


bool jpp_finding_limit_near(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_oom_kill(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_pressure(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_swap(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_thp(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_zone_full(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);


#endif /* _JPP_FINDINGS_KERNEL_H_INCLUDED_ */
