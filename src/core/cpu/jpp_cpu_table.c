
/*
 * The stacks seen in one window, each once, with its number of samples and its
 * time: a table of fixed size, whose untouched pages cost nothing.
 *
 * [signal] Additions take no lock and no memory, and any thread may make them,
 * in a handler too.  What does not fit is dropped and counted.  Reading is for
 * one thread, and sees whatever is complete.
 */


#include "jpp_cpu_sampler.h"


/* The first of N things more of MAX, of which *USED are taken; MAX: none. */

static uint32_t
jpp_cpu_take(uint32_t *used, uint32_t n, uint32_t max)
{
    uint32_t  at;

    at = __atomic_load_n(used, __ATOMIC_RELAXED);

    do {

        if (max - at < n) {
            return max;
        }

    } while (!__atomic_compare_exchange_n(used, &at, at + n, 1,
                                          __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));

    return at;
}


static uint32_t
jpp_cpu_fill(jpp_cpu_table_t *table, const jpp_cpu_sample_t *sample,
    uint64_t hash)
{
    uint32_t         place, frames;
    jpp_cpu_site_t  *site;

    frames = jpp_cpu_take(&table->n_frames, sample->n, JPP_CPU_FRAMES);

    if (frames == JPP_CPU_FRAMES) {
        return 0;
    }

    place = jpp_cpu_take(&table->n_sites, 1, JPP_CPU_SITES);

    if (place == JPP_CPU_SITES) {
        return 0;
    }

    memcpy(&table->frames[frames], sample->pcs, sample->n * sizeof(uintptr_t));

    site = &table->sites[place];

    site->hash = hash;
    site->frames = frames;
    site->n = (uint16_t) sample->n;
    site->state = sample->state;
    site->name = sample->name;
    site->owner = sample->owner;

    return place + 1;
}


static inline int
jpp_cpu_is_same(const jpp_cpu_table_t *table, const jpp_cpu_site_t *site,
    const jpp_cpu_sample_t *sample, uint64_t hash)
{
    return site->hash == hash
           && site->n == sample->n
           && site->state == sample->state
           && site->name == sample->name
           && site->owner == sample->owner
           && memcmp(&table->frames[site->frames], sample->pcs,
                     sample->n * sizeof(uintptr_t))
              == 0;
}


/*
 * A site is complete before its number goes into a slot.  If another thread was
 * faster, that slot is looked at again; the site may then be in vain.
 */

static uint32_t
jpp_cpu_place(jpp_cpu_table_t *table, const jpp_cpu_sample_t *sample,
    uint64_t hash)
{
    uint32_t  i, own, place, *slot;

    own = 0;

    for (i = 0; i < JPP_CPU_SLOTS; i++) {

        slot = &table->slots[(hash + i) % JPP_CPU_SLOTS];
        place = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

        if (place == 0) {

            own = own != 0 ? own : jpp_cpu_fill(table, sample, hash);

            if (own == 0
                || __atomic_compare_exchange_n(slot, &place, own, 0,
                                               __ATOMIC_ACQ_REL,
                                               __ATOMIC_ACQUIRE))
            {
                return own;
            }
        }

        if (jpp_cpu_is_same(table, &table->sites[place - 1], sample, hash)) {
            return place;
        }
    }

    return 0;
}


static uint64_t
jpp_cpu_hash(const jpp_cpu_sample_t *sample)
{
    uint32_t  i;
    uint64_t  hash;

    hash = sample->n | (uint64_t) sample->state << 32
           | (uint64_t) sample->name << 40
           | (uint64_t) sample->owner << 48;

    for (i = 0; i < sample->n; i++) {
        hash = (hash ^ sample->pcs[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }

    return hash;
}


void
jpp_cpu_table_add(jpp_cpu_table_t *table, const jpp_cpu_sample_t *sample)
{
    uint32_t         place;
    jpp_cpu_site_t  *site;

    place = jpp_cpu_place(table, sample, jpp_cpu_hash(sample));

    if (place == 0) {
        (void) __atomic_fetch_add(&table->dropped, sample->count,
                                  __ATOMIC_RELAXED);
        (void) __atomic_fetch_add(&table->dropped_nanos, sample->nanos,
                                  __ATOMIC_RELAXED);
        return;
    }

    site = &table->sites[place - 1];

    (void) __atomic_fetch_add(&site->count, sample->count, __ATOMIC_RELAXED);
    (void) __atomic_fetch_add(&site->nanos, sample->nanos, __ATOMIC_RELAXED);
}
