
#include <inttypes.h>
#include <string.h>

#include "jpp_intern.h"
#include "jpp_times.h"
#include "jpp_units.h"


#define JPP_TIMES_SECOND  1e9


const jpp_value_type_t  jpp_times_types[JPP_MODES][JPP_TIMES_TYPES] = {

    [JPP_MODE_CPU] = {
        { "samples", "count",       false, 0, JPP_TIMES_SAMPLES },
        { "cpu",     "nanoseconds", false, 0, JPP_TIMES_SAMPLES },
        { "wall",    "nanoseconds", true,  0, JPP_TIMES_SAMPLES }
    },

    [JPP_MODE_WALL] = {
        { "samples", "count",       false, 0, JPP_TIMES_SAMPLES },
        { "wall",    "nanoseconds", false, 0, JPP_TIMES_SAMPLES },
        { "cpu",     "nanoseconds", true,  0, JPP_TIMES_SAMPLES }
    }
};


void
jpp_times_add_up(jpp_times_sums_t *sums, const jpp_times_facts_t *facts,
    const char *early)
{
    jpp_times_facts_t  *all;

    all = &sums->facts;

    all->frequency = jpp_larger(all->frequency, facts->frequency);

    all->highest = jpp_larger(all->highest, facts->highest);

    all->duration = jpp_larger(all->duration, facts->duration);

    sums->n++;
    sums->lasted += facts->duration;

    all->dropped += facts->dropped;
    all->dropped_nanos += facts->dropped_nanos;
    all->idle += facts->idle;
    all->waits += facts->waits;
    all->threads += facts->threads;
    all->deaf += facts->deaf;
    all->beyond += facts->beyond;
    all->owned += facts->owned;
    all->is_asked |= facts->is_asked;

    if (early[0] == '\0') {
        return;
    }

    if (sums->n_early == 0 || sums->shortest > facts->duration) {
        sums->shortest = facts->duration;
    }

    sums->n_early++;
    (void) memcpy(sums->early, early, JPP_TIMES_TEXT);
}


static bool
jpp_times_describe_rate(jpp_profile_t *profile, const jpp_times_sums_t *sums)
{
    const jpp_times_facts_t  *facts;

    facts = &sums->facts;

    return facts->highest <= facts->frequency
           ? jpp_profile_comment(profile, "%" PRIu64 " samples a second of "
                                 "each thread, for %.1f s", facts->frequency,
                                 (double) facts->duration / JPP_TIMES_SECOND)
           : jpp_profile_comment(profile, "%" PRIu64 " samples a second of "
                                 "each thread were asked for, for %.1f s; up "
                                 "to %" PRIu64 " were taken, for others who "
                                 "asked for more: each has its true time",
                                 facts->frequency,
                                 (double) facts->duration / JPP_TIMES_SECOND,
                                 facts->highest);
}


static bool
jpp_times_describe_idle(jpp_profile_t *profile, const jpp_times_sums_t *sums)
{
    if (profile->types != jpp_times_types[JPP_MODE_WALL]
        || sums->lasted == 0)
    {
        return true;
    }

    return jpp_profile_comment(profile, "idle %.1f %%: event loops that waited "
                               "for events, which is not in the profile",
                               100 * (double) sums->facts.idle
                               / (double) sums->lasted)
           && (sums->facts.waits == 0
               || jpp_profile_comment(profile, "other threads waited %.1f s "
                                      "for work or for each other, which is "
                                      "not in the profile",
                                      (double) sums->facts.waits
                                      / JPP_TIMES_SECOND));
}


static bool
jpp_times_describe_losses(jpp_profile_t *profile,
    const jpp_times_sums_t *sums)
{
    const jpp_times_facts_t  *facts;

    facts = &sums->facts;

    if (sums->n_early != 0
        && !jpp_profile_comment(profile, "%" PRIu32 " of %" PRIu32 " workers "
                                "ended early, the first after %.1f s: %s",
                                sums->n_early, sums->n,
                                (double) sums->shortest / JPP_TIMES_SECOND,
                                sums->early))
    {
        return false;
    }

    if (facts->deaf != 0
        && !jpp_profile_comment(profile, "%" PRIu64 " of %" PRIu64 " threads "
                                "take no signal (they block SIGPROF, as those "
                                "of aio threads do): their time is here "
                                "without a stack", facts->deaf,
                                facts->threads))
    {
        return false;
    }

    if (facts->beyond != 0
        && !jpp_profile_comment(profile, "%" PRIu64 " of %" PRIu64 " threads "
                                "are not in the profile: it has no room for "
                                "more of one worker", facts->beyond,
                                facts->threads))
    {
        return false;
    }

    return facts->dropped == 0
           || jpp_profile_comment(profile, "%" PRIu64 " samples of %.1f s were "
                                  "dropped: more different stacks than there "
                                  "is room for; ask for fewer seconds or a "
                                  "lower frequency", facts->dropped,
                                  (double) facts->dropped_nanos
                                  / JPP_TIMES_SECOND);
}


static bool
jpp_times_describe_owners(jpp_profile_t *profile,
    const jpp_times_sums_t *sums)
{
    if (!sums->facts.is_asked) {
        return true;
    }

    return sums->facts.owned == 0
           ? jpp_profile_comment(profile, "no sample has an owner: those of "
                                 "workers do, with jemalloc_pprof_owners on")
           : jpp_profile_comment(profile, "samples with an owner: %" PRIu64
                                 " of %" PRIu64, sums->facts.owned,
                                 profile->n_seen[0]);
}


bool
jpp_times_describe(jpp_profile_t *profile)
{
    const jpp_times_sums_t  *sums;

    sums = profile->facts;

    profile->duration_nanos = (int64_t) sums->facts.duration;
    profile->period = sums->facts.frequency != 0
                      ? 1000000000 / (int64_t) sums->facts.frequency : 0;

    return jpp_times_describe_rate(profile, sums)
           && jpp_times_describe_idle(profile, sums)
           && jpp_times_describe_losses(profile, sums)
           && jpp_times_describe_owners(profile, sums);
}
