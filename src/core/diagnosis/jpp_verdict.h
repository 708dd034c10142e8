
/*
 * The verdict: one sentence, on the first line of every response, that names
 * the most severe finding, its owner, and the directive that bounds it; without
 * a finding, the largest owner of memory.
 *
 * What keeps nginx from answering comes first: workers that do not answer, then
 * the findings in their order (jpp_findings.h).  An owner that holds half of
 * what a finding is about explains it, and is named.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_VERDICT_H_INCLUDED_
#define _JPP_VERDICT_H_INCLUDED_


#include "jpp_findings.h"


/* owners that are shown beside it */
#define JPP_VERDICT_OWNERS  5


/* "Healthy", "Warning", "Critical" */
extern const char *const  jpp_severities[];


/* What the workers of TELEMETRY have for themselves, and all zones. */
uint64_t jpp_verdict_total(const jpp_telemetry_t *telemetry);

/* Fill VERDICT from TELEMETRY and its N FINDINGS. */
void jpp_verdict(const jpp_telemetry_t *telemetry,
    const jpp_finding_t *findings, size_t n, jpp_verdict_t *verdict);

/* Fill VERDICT with the sentence of FINDING alone. */
void jpp_verdict_finding(const jpp_telemetry_t *telemetry,
    const jpp_finding_t *finding, jpp_verdict_t *verdict);

/* Write VERDICT as a line, and an empty one. */
void jpp_verdict_line(jpp_sink_t *sink, const jpp_verdict_t *verdict);

/* Write VERDICT, or NULL, as a member of the object that is open. */
void jpp_verdict_json(jpp_json_t *json, const jpp_verdict_t *verdict);


#endif /* _JPP_VERDICT_H_INCLUDED_ */
