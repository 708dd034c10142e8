
/*
 * Allocation sites: each stack once, for each size class and owner, with the
 * sums of its allocations.  A window of CPU time (jpp_cpu.h) keeps its stacks
 * here, too: once for each owner and each thread's name and state, with the sum
 * of the times.
 *
 * Sizes are kept apart, four classes to a doubling, because an object that was
 * sampled stands for the more, the smaller it is: counts of one class can be
 * scaled by their mean, to within half a per cent.
 *
 * A site is its place in memory in words, never 0, and is never given up: its
 * number may be used at any time, whatever happened since.  Additions are one
 * compare-and-swap, without a lock.
 *
 * Everything but jpp_sites_init() is [signal], and for any thread; the counts
 * of a dump are for one at a time.  Memory is the caller's, zeroed pages.
 */


#include "jpp_samples.h"


/* objects of this many bytes and more are all sampled: one class will do */
#define JPP_SITES_LARGE  ((uint64_t) 1 << 29)


void
jpp_sites_init(jpp_sites_t *sites, void *memory, size_t words)
{
    sites->memory = memory;
    sites->words = (uint32_t) words;

    /* no site is 0 */

    sites->used = 1;
}


static uint32_t
jpp_sites_find(const jpp_sites_t *sites, uint32_t first,
    const jpp_site_t *like, const uintptr_t *pcs)
{
    uint32_t           site;
    const jpp_site_t  *known;

    for (site = first; site != 0; site = known->next) {
        known = jpp_sites_at(sites, site);

        if (known->hash == like->hash
            && known->n == like->n
            && known->key.kind == like->key.kind
            && known->key.owner == like->key.owner
            && memcmp(known->pcs, pcs, like->n * sizeof(uintptr_t)) == 0)
        {
            return site;
        }
    }

    return 0;
}


static uint32_t
jpp_sites_make(jpp_sites_t *sites, const jpp_site_t *like,
    const uintptr_t *pcs)
{
    uint32_t     used, words, room;
    jpp_site_t  *site;

    words = (uint32_t) (sizeof(jpp_site_t) / sizeof(uint64_t))
            + like->n + (like->n + 1u) / 2;
    room = like->key.owner == 0 ? sites->words : sites->words / 4 * 3;
    used = jpp_atomic_get(&sites->used);

    do {
        if (used + words > room) {
            return 0;
        }

    } while (!jpp_atomic_cmp_set(&sites->used, &used, used + words));

    site = jpp_sites_at(sites, used);
    site->hash = like->hash;
    site->n = like->n;
    site->key = like->key;

    memcpy(site->pcs, pcs, like->n * sizeof(uintptr_t));

    return used;
}


uint32_t
jpp_sites_add(jpp_sites_t *sites, const uintptr_t *pcs, uint32_t n,
    const jpp_site_key_t *key)
{
    uint32_t     i, site, found, first, *head;
    jpp_site_t   like;

    like.n = n < JPP_SITES_DEPTH ? n : JPP_SITES_DEPTH;
    like.key = *key;
    like.hash = (uint64_t) key->owner << 16 | key->kind;

    for (i = 0; i < like.n; i++) {
        like.hash = (like.hash ^ pcs[i]) * 0x9e3779b97f4a7c15u;
    }

    like.hash = jpp_hash_u64(like.hash);

    head = &sites->heads[like.hash % JPP_SITES_HEADS];
    first = jpp_atomic_get(head);
    site = 0;

    /* once more where another thread, which may have the same, was faster */

    do {
        found = jpp_sites_find(sites, first, &like, pcs);
        if (found != 0) {
            return found;
        }

        site = site != 0 ? site : jpp_sites_make(sites, &like, pcs);
        if (site == 0) {
            jpp_atomic_add(&sites->n_dropped, key->owner == 0);
            return 0;
        }

        jpp_sites_at(sites, site)->next = first;

    } while (!jpp_atomic_cmp_set(head, &first, site));

    jpp_atomic_add(&sites->n, 1);

    return site;
}


uint32_t
jpp_sites_give_another(jpp_sites_t *sites, jpp_site_t *from, uint16_t owner)
{
    uint32_t        given;
    jpp_site_key_t  key;

    key.kind = from->key.kind;
    key.owner = owner;

    given = jpp_sites_add(sites, from->pcs, from->n, &key);

    jpp_atomic_set(&from->given, given);

    return given;
}


void
jpp_sites_count(jpp_sites_t *sites, uint32_t site, uint64_t n, uint64_t size)
{
    jpp_site_t  *at;

    at = jpp_sites_at(sites, site);

    jpp_atomic_add(&at->allocated, n);
    jpp_atomic_add(&at->allocated_bytes, size);
}


/* Another thread may set it to zero meanwhile. */

static bool
jpp_sites_subtract(uint64_t *count, uint64_t n)
{
    uint64_t  now;

    now = jpp_atomic_get(count);

    do {
        if (now < n) {
            return false;
        }

    } while (!jpp_atomic_cmp_set(count, &now, now - n));

    return true;
}


bool
jpp_sites_uncount(jpp_sites_t *sites, uint32_t site, uint64_t size)
{
    jpp_site_t  *at;

    at = jpp_sites_at(sites, site);

    return jpp_sites_subtract(&at->allocated, 1)
           && jpp_sites_subtract(&at->allocated_bytes, size);
}


void
jpp_sites_walk(jpp_sites_t *sites, jpp_sites_visit_pt visit, void *data)
{
    uint32_t     i, site;
    jpp_site_t  *at;

    for (i = 0; i < JPP_SITES_HEADS; i++) {
        for (site = jpp_atomic_get(&sites->heads[i]);
             site != 0;
             site = at->next)
        {
            at = jpp_sites_at(sites, site);
            visit(at, data);
        }
    }
}


static void
jpp_sites_clear_site(jpp_site_t *site, void *data)
{
    (void) data;

    jpp_atomic_set(&site->allocated, 0);
    jpp_atomic_set(&site->allocated_bytes, 0);
}


void
jpp_sites_clear(jpp_sites_t *sites)
{
    jpp_sites_walk(sites, jpp_sites_clear_site, NULL);

    jpp_atomic_set(&sites->n_dropped, 0);
}


size_t
jpp_sites_bytes(const jpp_sites_t *sites)
{
    return sizeof(jpp_sites_t)
           + jpp_atomic_get(&sites->used) * sizeof(uint64_t);
}


/* The exponent, and the two bits below the first, of one that has three. */

uint16_t
jpp_sites_class(uint64_t size)
{
    unsigned  lg;

    size = (size < JPP_SITES_LARGE ? size : JPP_SITES_LARGE) + 4;
    lg = 63 - (unsigned) __builtin_clzll(size);

    return (uint16_t) (lg << 2 | (size >> (lg - 2) & 3));
}
