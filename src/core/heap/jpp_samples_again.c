
#include "jpp_frame.h"
#include "jpp_samples_again.h"


static inline uint32_t
jpp_again_place(const jpp_backtrace_frame_t *frame, const jpp_site_key_t *key)
{
    return (uint32_t) ((frame->pc + frame->rsp * 5 + key->size_class * 1021u)
                       * 0x9e3779b97f4a7c15u >> (64 - JPP_AGAIN_LG));
}


uint32_t
jpp_again_find(const jpp_again_t *again, const jpp_sites_t *sites,
    const jpp_backtrace_frame_t *frame, const jpp_site_key_t *key)
{
    uint32_t         i, site;
    uint64_t         reach;
    jpp_site_t      *at;
    const uint32_t  *words;

    site = __atomic_load_n(&again->sites[jpp_again_place(frame, key)],
                           __ATOMIC_ACQUIRE);

    if (site == 0) {
        return 0;
    }

    at = jpp_sites_at(sites, site);
    reach = __atomic_load_n(&at->reach, __ATOMIC_RELAXED);

    if (at->pcs[0] != frame->pc
        || at->key.size_class != key->size_class
        || !jpp_backtrace_holds(frame->rsp, reach))
    {
        return 0;
    }

    words = jpp_sites_words(at);

    for (i = 1; i < at->n; i++) {
        if (jpp_frame_word(frame->rsp + words[i] * sizeof(uintptr_t))
            != at->pcs[i])
        {
            return 0;
        }
    }

    return site;
}


/* Two threads that are here at once find the same. */

static uint64_t
jpp_again_reach(jpp_site_t *site)
{
    uint32_t    i, *words;
    uintptr_t   distance, rsp;

    words = jpp_sites_words(site);
    words[0] = 0;
    rsp = 0;

    for (i = 0; i + 1 < site->n; i++) {
        distance = jpp_backtrace_distance(site->pcs[i]);

        if (distance == 0 || distance == JPP_BACKTRACE_LAST) {
            return JPP_SITES_VARIES;
        }

        rsp += distance;
        words[i + 1] = (uint32_t) (rsp / sizeof(uintptr_t)) - 1;
    }

    /* a last frame that says why the walk has ended, and one whose caller may
       be another the next time */

    return jpp_backtrace_distance(site->pcs[i]) == JPP_BACKTRACE_LAST
           ? rsp : JPP_SITES_VARIES;
}


void
jpp_again_learn(jpp_again_t *again, const jpp_sites_t *sites,
    const jpp_backtrace_frame_t *frame, uint32_t site)
{
    jpp_site_t  *at;

    at = jpp_sites_at(sites, site);

    if (__atomic_load_n(&at->reach, __ATOMIC_RELAXED) == JPP_SITES_UNKNOWN) {
        __atomic_store_n(&at->reach, jpp_again_reach(at), __ATOMIC_RELAXED);
    }

    if (at->reach != JPP_SITES_VARIES) {
        __atomic_store_n(&again->sites[jpp_again_place(frame, &at->key)],
                         site, __ATOMIC_RELEASE);
    }
}
