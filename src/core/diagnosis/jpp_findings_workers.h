
/*
 * Findings about what workers hold, and how busy they are.  Each function says
 * whether its rule holds; if so, FINDING has the numbers.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_FINDINGS_WORKERS_H_INCLUDED_
#define _JPP_FINDINGS_WORKERS_H_INCLUDED_


#include "jpp_telemetry.h"


bool jpp_finding_old_workers(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_odd_worker(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_outside(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_retained(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_fragmented(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_peak(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_stalls(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);


#endif /* _JPP_FINDINGS_WORKERS_H_INCLUDED_ */
