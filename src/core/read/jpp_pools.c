
/* The types, columns, words and comments of a profile of pools. */


#include "jpp_parsers.h"


const jpp_value_type_t  jpp_pools_types[JPP_POOLS_TYPES] = {
    { "inuse_objects", "count", false, 0, JPP_POOLS_INUSE_OBJECTS },
    { "inuse_space",   "bytes", false, 0, JPP_POOLS_INUSE_OBJECTS },
    { "unused_space",  "bytes", false, 0, JPP_POOLS_INUSE_OBJECTS }
};


void
jpp_pools_add_up(jpp_pools_sums_t *sums, const jpp_pools_t *table)
{
    bool                      is_short;
    uint64_t                  outside;
    const jpp_pools_facts_t  *facts;

    facts = &table->facts;

    sums->n++;
    sums->is_estimate |= facts->is_estimate;
    sums->has_scripts |= facts->has_scripts;
    sums->n_connections += facts->n_connections;
    sums->n_unproven += facts->n_unproven;
    sums->n_slices += facts->n_slices;
    sums->nanos += facts->nanos;

    sums->longest_nanos = jpp_larger(sums->longest_nanos, facts->longest_nanos);

    memcpy(sums->allocator, facts->allocator, JPP_POOLS_ALLOCATOR);

    if (facts->reason != JPP_POOLS_WHOLE) {
        sums->n_partial++;
        sums->n_missed += facts->n_missed;
        sums->reason = (jpp_pools_reason_t) facts->reason;
    }

    if (!facts->has_total) {
        return;
    }

    outside = jpp_pools_outside(table, &is_short);

    sums->n_totals++;
    sums->n_short += is_short;
    sums->total += facts->total;
    sums->outside += outside;

    /* what was not seen is there, too */

    if (facts->reason == JPP_POOLS_WHOLE
        && outside > facts->outside_inherited)
    {
        sums->n_tls += facts->n_tls;
        sums->since_start += outside - facts->outside_inherited;
    }
}


void
jpp_pools_describe(jpp_profile_t *profile)
{
    const jpp_pools_sums_t  *sums;

    sums = profile->facts;

    jpp_profile_comment(profile, "counted, not sampled");

    if (sums->n_totals < sums->n) {
        jpp_profile_comment(profile, "what is in no pool is not known of "
                            "%" PRIu32 " of %" PRIu32 " workers: their "
                            "allocator does not count what a thread holds",
                            sums->n - sums->n_totals, sums->n);
    }

    if (sums->n_short != 0) {
        jpp_profile_comment(profile, "%" PRIu32 " of %" PRIu32 " workers hold "
                            "less than their pools: another thread allocated "
                            "there, or the walk took time",
                            sums->n_short, sums->n);
    }

    if (sums->total != 0) {
        jpp_profile_comment(profile, "total %" PRIu64 " bytes in %" PRIu32
                            " worker%s, each with what it inherited: %.1f %% "
                            "in units of nginx, exactly; %" PRIu64 " bytes "
                            "outside pools%s, by difference",
                            sums->total, sums->n_totals,
                            sums->n_totals == 1 ? "" : "s",
                            100 * (double) (sums->total - sums->outside)
                            / (double) sums->total,
                            sums->outside,
                            sums->n_partial != 0 ? " or not seen" : "");
    }

    jpp_profile_comment(profile, "allocator %s%s", sums->allocator,
                        sums->is_estimate
                        ? ": sizes are what it lets nginx use, without its "
                          "own headers" : "");

    if (sums->n_tls != 0 && sums->since_start != 0) {
        jpp_profile_comment(profile, "TLS (OpenSSL)%s: about %s a connection: "
                            "the average of %" PRIu64 " bytes outside pools "
                            "since start over %" PRIu64 " connections",
                            sums->has_scripts
                            ? ", and whatever scripts hold" : "",
                            jpp_bytes(sums->since_start / sums->n_tls),
                            sums->since_start, sums->n_tls);
    }

    if (sums->n_partial != 0) {
        jpp_profile_comment(profile, "partial: %" PRIu32 " of %" PRIu32
                            " walks ended early, %" PRIu64 " connections were "
                            "not seen: %s", sums->n_partial, sums->n,
                            sums->n_missed, jpp_pools_reasons[sums->reason]);
    }

    if (sums->n_unproven != 0) {
        jpp_profile_comment(profile, JPP_POOLS_UNPROVEN, sums->n_unproven);
    }

    jpp_profile_comment(profile, "%" PRIu64 " connections, seen in %" PRIu64
                        " slices of %.1f ms in all, the longest of %.1f ms",
                        sums->n_connections, sums->n_slices,
                        (double) sums->nanos / 1e6,
                        (double) sums->longest_nanos / 1e6);
}
