
/*
 * Findings about nginx's memory: a sentence, the numbers behind it, and the
 * fix.  A problem (jpp_problems.h) makes profiles wrong; a finding is about the
 * memory itself.
 *
 * One table has every rule, the gravest first.  Each has a ratio and a floor in
 * bytes or counts, so that a small idle nginx has none; and each falls later
 * than it rises (jpp_finding_above()).
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_FINDINGS_H_INCLUDED_
#define _JPP_FINDINGS_H_INCLUDED_


#include "jpp_fleet.h"


/* the last ones need a profile */
#define JPP_FINDINGS_PROFILE  (JPP_FINDINGS - JPP_FINDING_FEW_SAMPLES)


/*
 * Fill FINDINGS with what holds of TELEMETRY, the gravest first; returns their
 * number.
 */
size_t jpp_findings(const jpp_telemetry_t *telemetry,
    jpp_finding_t findings[JPP_FINDINGS]);

/*
 * The same for the rules about PROFILE, a heap of FLEET's workers; IS_WHOLE: it
 * has what they inherited and what they allocated themselves.
 */
size_t jpp_findings_profile(const jpp_fleet_t *fleet,
    const jpp_profile_t *profile, bool is_whole,
    jpp_finding_t findings[JPP_FINDINGS_PROFILE]);

/*
 * The rules of memory that grows (jpp_findings_time.c): do they hold?  If so,
 * FINDING has the numbers.
 */
bool jpp_finding_grows(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_reload_leak(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);

/*
 * What all of nginx gained of late: bytes an hour of anonymous memory, by the
 * last *WINDOW seconds; 0: HELD is too short.
 */
int64_t jpp_finding_rate(const jpp_held_t *held, int64_t *window);

/* " 4294967295 days" and what is said around it */
#define JPP_GROWS_TEXT  96

/* ": the limit of 1.0 GiB is reached in 0 h 12 min", by then; returns TEXT. */
const char *jpp_finding_when(const jpp_cgroup_t *cgroup, uint64_t per_hour,
    char text[JPP_GROWS_TEXT]);

/* The rules of profiles (jpp_findings_profile.c). */
bool jpp_finding_few_samples(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);
bool jpp_finding_explains(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);

/* The rule of event loops that stand still (jpp_findings_stalls.c). */
bool jpp_finding_stalls(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding);

#define JPP_FINDING_STALL  512

/*
 * "location /x of a (a.conf:9) kept WORKER for 1.2 s, blocked in ..."; returns
 * TEXT.
 */
const char *jpp_finding_stall(const jpp_stall_t *stall, const char *worker,
    char text[JPP_FINDING_STALL]);

/* The owner that holds half of what FINDING is about; NULL: there is none. */
const jpp_holder_t *jpp_finding_holder(const jpp_telemetry_t *telemetry,
    const jpp_finding_t *finding);

/* What the kernel has killed in the cgroup since nginx started. */
uint64_t jpp_finding_kills(const jpp_telemetry_t *telemetry);

/* Fill FINDING for the rule ID, but its numbers; or with its name alone. */
void jpp_finding_of(jpp_finding_id_t id, jpp_finding_t *finding);
void jpp_finding_named(jpp_finding_id_t id, jpp_finding_t *finding);


#endif /* _JPP_FINDINGS_H_INCLUDED_ */
