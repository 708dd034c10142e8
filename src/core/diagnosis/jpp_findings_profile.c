
#include <inttypes.h>
#include <math.h>

#include "jpp_error.h"
#include "jpp_findings_profile.h"
#include "jpp_heap.h"


/* per cent; and where there is not even that to sample, none is expected */
#define JPP_FEW_ERROR  10
#define JPP_FEW_FLOOR  (4 * JPP_FINDING_MIB)


/*
 * As jpp_error.c has it, but from the estimates alone: not all profiles have
 * counts.  Objects of the size s are seen with p = 1 - exp(-s/period), so that
 * n p of n were.
 */

static double
jpp_finding_variance(const jpp_profile_t *profile, int64_t objects,
    int64_t bytes)
{
    double  p;

    if (objects <= 0 || bytes <= 0) {
        return 0;
    }

    p = -expm1(-(double) bytes / (double) objects / (double) profile->period);

    return jpp_error_of_value((double) bytes, (double) objects * p,
                              (double) objects * p * (1 - p));
}


void
jpp_findings_profiled(jpp_profiled_t *profiled, const jpp_profile_t *profile,
    bool is_whole)
{
    double    variance;
    int64_t   sum, bytes;
    uint32_t  i;

    profiled->samples =
        profile->n_seen[jpp_heap_types[JPP_HEAP_INUSE_SPACE].count];
    profiled->is_whole = is_whole && !profile->is_difference;

    for (i = 0, sum = 0, variance = 0; i < profile->n_samples; i++) {
        bytes = jpp_profile_value(profile->columns[JPP_HEAP_INUSE_SPACE], i);

        sum = jpp_add_i64(sum, bytes);
        variance += jpp_finding_variance(profile,
            jpp_profile_value(profile->columns[JPP_HEAP_INUSE_OBJECTS], i),
            bytes);
    }

    profiled->bytes = sum > 0 ? (uint64_t) sum : 0;
    profiled->error = sum > 0 ? jpp_error_percent(variance, sum) : 100;
}


/*
 * What workers inherited is in the profile once for each generation.  It counts
 * for the first of each here; what a worker has allocated before it looked for
 * the first time is taken for inherited, so this is rather too little.
 */

static bool
jpp_finding_expected(const jpp_fleet_t *fleet, uint64_t *bytes)
{
    size_t               i, k;
    const jpp_worker_t  *worker;

    for (i = 0, *bytes = 0; i < fleet->n; i++) {
        worker = &fleet->workers[i];

        if (!worker->has_stats || worker->inherited == JPP_NONE) {
            return false;
        }

        for (k = 0; k < i; k++) {
            if (fleet->workers[k].who.generation == worker->who.generation) {
                break;
            }
        }

        *bytes += k == i ? worker->stats.allocated
                         : jpp_less(worker->stats.allocated,
                                    worker->inherited);
    }

    return fleet->n != 0;
}


/* of a hundred samples of equal weight it is a tenth */

bool
jpp_finding_few_samples(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    char                   all[JPP_UNITS_TEXT], error[JPP_ERROR_TEXT];
    uint64_t               expected;
    const jpp_profiled_t  *profile;

    profile = telemetry->profile;

    return profile != NULL && profile->is_whole
           && profile->error > JPP_FEW_ERROR
           && jpp_finding_expected(telemetry->fleet, &expected)
           && jpp_finding_above(finding, expected, 100, JPP_FEW_FLOOR)
           && jpp_finding_because(finding, "%" PRIu64 " in all, for %s that "
                                  "are allocated: %s", profile->samples,
                                  jpp_units_bytes(expected, all),
                                  jpp_error_text(profile->error, error));
}


bool
jpp_finding_explains(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    char                   has[JPP_UNITS_TEXT], all[JPP_UNITS_TEXT];
    uint64_t               expected;
    const jpp_profiled_t  *profile;

    profile = telemetry->profile;

    if (profile == NULL || !profile->is_whole
        || !jpp_finding_expected(telemetry->fleet, &expected)
        || !jpp_finding_above(finding, jpp_less(expected, profile->bytes),
                              100, JPP_FINDING_FLOOR)
        || !jpp_finding_below(finding, profile->bytes, 70, expected))
    {
        return false;
    }

    return jpp_finding_because(finding, "%s of %s",
               jpp_units_bytes(profile->bytes, has),
               jpp_units_bytes(expected, all));
}
