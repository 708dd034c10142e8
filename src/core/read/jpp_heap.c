
#include <inttypes.h>

#include "jpp_heap.h"
#include "jpp_intern.h"


const jpp_value_type_t  jpp_heap_types[JPP_HEAP_TYPES] = {
    { "alloc_objects", "count", true,  0, JPP_HEAP_ALLOC_OBJECTS },
    { "alloc_space",   "bytes", true,  0, JPP_HEAP_ALLOC_OBJECTS },
    { "inuse_objects", "count", false, 1, JPP_HEAP_INUSE_OBJECTS },
    { "inuse_space",   "bytes", false, 1, JPP_HEAP_INUSE_OBJECTS }
};


void
jpp_heap_count(jpp_profile_t *profile, const uint64_t counts[4],
    bool is_asked, bool has_owner)
{
    jpp_heap_facts_t *facts = profile->facts;

    profile->n_seen[0] += counts[2];
    profile->n_seen[1] += counts[0];

    facts->is_asked |= is_asked;

    if (has_owner) {
        facts->live += counts[0];
        facts->allocated += counts[2];
    }
}


bool
jpp_heap_describe(jpp_profile_t *profile)
{
    bool                     is_done;
    const jpp_heap_facts_t  *facts;

    facts = profile->facts;
    is_done = profile->has_periods
              ? jpp_profile_comment(profile, "dumps of different sampling "
                                    "periods: each was scaled by its own")
              : jpp_profile_comment(profile, "lg_sample %d",
                                    __builtin_ctzll((uint64_t)
                                                    profile->period));

    if (is_done && profile->columns[JPP_HEAP_ALLOC_OBJECTS]->len != 0) {
        is_done = jpp_profile_comment(profile, "prof_accum true");
    }

    if (!is_done || !facts->is_asked) {
        return is_done;
    }

    if (facts->allocated == 0 && facts->live == 0) {
        return jpp_profile_comment(profile, "no sample has an owner: those of "
                                   "workers do, with jemalloc_pprof_owners "
                                   "on, inherited ones never");
    }

    /* without prof_accum, nobody knows of those that were freed */

    return profile->n_seen[0] == 0
           ? jpp_profile_comment(profile, "samples with an owner: %" PRIu64
                                 " of %" PRIu64 " live ones", facts->live,
                                 profile->n_seen[1])
           : jpp_profile_comment(profile, "samples with an owner: %" PRIu64
                                 " of %" PRIu64 " live ones, %" PRIu64
                                 " of %" PRIu64 " in all", facts->live,
                                 profile->n_seen[1], facts->allocated,
                                 profile->n_seen[0]);
}
