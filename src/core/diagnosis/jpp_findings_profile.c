
/*
 * Findings about a profile: too few samples, or allocations that it does not
 * contain.
 */


#include "jpp_diagnosis.h"
#include "jpp_view.h"


/* per cent; and where there is not even that to sample, none is expected */
#define JPP_FEW_ERROR  10
#define JPP_FEW_FINER  3
#define JPP_FEW_FLOOR  (4 * JPP_FINDING_MIB)


/*
 * What workers inherited is in the profile once for each generation.  It counts
 * for the first of each here; what a worker has allocated before it looked for
 * the first time is taken for inherited, so this is rather too little.
 */

static bool
jpp_finding_expected(const jpp_fleet_t *fleet, uint64_t *bytes)
{
    const jpp_worker_t  *worker, *first;

    *bytes = 0;

    jpp_each(worker, fleet->workers, fleet->n) {
        if (!worker->has_stats || worker->inherited == JPP_NONE) {
            return false;
        }

        for (first = fleet->workers;
             first->who.generation != worker->who.generation;
             first++)
        {
            /* void */
        }

        *bytes += jpp_less(worker->stats.allocated,
                           first != worker ? worker->inherited : 0);
    }

    return fleet->n != 0;
}


/* A rate that is finer than the one at hand. */

static void
jpp_finding_finer(const jpp_fleet_t *fleet, jpp_finding_t *finding)
{
    uint32_t  lg;

    lg = fleet->n != 0 ? jpp_worker_lg_sample(&fleet->workers[0]) : 0;

    if (lg <= JPP_JEMALLOC_LG_MIN) {
        return;
    }

    lg = (uint32_t) jpp_larger(lg - JPP_FEW_FINER, JPP_JEMALLOC_LG_MIN);

    jpp_print(finding->fix, "Its figures may be far off. For an hour, sample "
              "one byte in %s: POST lg_sample=%" PRIu32 " to control.",
              jpp_bytes((uint64_t) 1 << lg), lg);
}


/* of a hundred samples of equal weight it is a tenth */

bool
jpp_finding_few_samples(const jpp_telemetry_t *telemetry,
    jpp_finding_t *finding)
{
    char                   error[JPP_ERROR_TEXT];
    uint64_t               expected;
    const jpp_profiled_t  *profile;

    profile = telemetry->profile;

    jpp_finding_finer(telemetry->fleet, finding);

    return profile != NULL && profile->is_whole
           && profile->error > JPP_FEW_ERROR
           && jpp_finding_expected(telemetry->fleet, &expected)
           && jpp_finding_above(finding, expected, 100, JPP_FEW_FLOOR)
           && jpp_finding_because(finding, "%" PRIu64 " in all, for %s that "
                                  "are allocated: %s", profile->samples,
                                  jpp_bytes(expected),
                                  jpp_error_text(profile->error, error));
}


bool
jpp_finding_explains(const jpp_telemetry_t *telemetry, jpp_finding_t *finding)
{
    uint64_t               expected;
    const jpp_profiled_t  *profile;

    profile = telemetry->profile;

    return profile != NULL && profile->is_whole
           && jpp_finding_expected(telemetry->fleet, &expected)
           && jpp_finding_above(finding, jpp_less(expected, profile->bytes),
                                100, JPP_FINDING_FLOOR)
           && jpp_finding_below(finding, profile->bytes, 70, expected)
           && jpp_finding_because(finding, "%s of %s",
                                  jpp_bytes(profile->bytes),
                                  jpp_bytes(expected));
}
