
/*
 * Where samples were taken: each stack once, for each class of sizes and each
 * owner, with what was allocated there.
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


#ifndef _JPP_SAMPLES_SITES_H_INCLUDED_
#define _JPP_SAMPLES_SITES_H_INCLUDED_


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


#define JPP_SITES_HEADS   8192

/* words of memory, so that a site fits into 24 bits */
#define JPP_SITES_WORDS   ((size_t) 2 << 20)
#define JPP_SITES_MEMORY  (JPP_SITES_WORDS * sizeof(uint64_t))

/* frames of a stack */
#define JPP_SITES_DEPTH   128

#define JPP_SITES_UNKNOWN  0
#define JPP_SITES_VARIES   UINT64_MAX


/* what keeps samples of one stack apart */
typedef struct {
    uint16_t      size_class;
    uint16_t      owner;           /* jpp_owners.h */
} jpp_site_key_t;


/* of two words of a stack: how far from the frame, in words, and of what kind,
   by whoever sets it; zeroed: none */
typedef struct {
    uint16_t      at[2];
    uint8_t       kinds[2];
} jpp_site_hints_t;


typedef struct {
    uint64_t      hash;
    uint32_t      next;            /* the next site of this hash, 0: none */
    uint32_t      n;               /* frames */
    jpp_site_key_t
                  key;
    uint32_t      given;           /* the site that its samples were given to */
                                   /*   last; 0: none */
    jpp_site_hints_t
                  hints;           /* where its owner was found last */
    uint64_t      reach;           /* bytes of stack that have the addresses, */
                                   /*   JPP_SITES_UNKNOWN, or _VARIES */

    uint64_t      allocated;       /* objects that were sampled, and bytes: */
    uint64_t      allocated_bytes; /*   since they were cleared */
    uint64_t      live;            /* the same, of the dump being written */
    uint64_t      live_bytes;

    uintptr_t     pcs[];           /* innermost first; behind them the words */
                                   /*   of the stack where each lies */
} jpp_site_t;


/* zeroed until jpp_sites_init() */
typedef struct {
    uint32_t      heads[JPP_SITES_HEADS];
    uint32_t      used;            /* words of memory */
    uint32_t      n;
    uint64_t      n_dropped;
    uint64_t     *memory;
} jpp_sites_t;


/* Called for each site. */
typedef void (*jpp_sites_visit_pt)(jpp_site_t *site, void *data);


/* SITES is empty, and works in the JPP_SITES_MEMORY bytes at MEMORY. */
void jpp_sites_init(jpp_sites_t *sites, void *memory);

/*
 * The site of KEY whose stack is the N addresses at PCS.  0: there is no room
 * for another, and the sample is dropped.  A quarter of the memory is for sites
 * without an owner: one that has none is worth a second try.
 */
uint32_t jpp_sites_add(jpp_sites_t *sites, const uintptr_t *pcs, uint32_t n,
    const jpp_site_key_t *key);

/* What jpp_sites_give() does for another owner than the last time. */
uint32_t jpp_sites_give_another(jpp_sites_t *sites, jpp_site_t *from,
    uint16_t owner);

/* Count an object of SIZE bytes as allocated at SITE. */
void jpp_sites_count(jpp_sites_t *sites, uint32_t site, uint64_t size);

/* Take that back; false: nothing was counted since they were cleared. */
bool jpp_sites_uncount(jpp_sites_t *sites, uint32_t site, uint64_t size);

/* Call VISIT with every site. */
void jpp_sites_walk(jpp_sites_t *sites, jpp_sites_visit_pt visit, void *data);

/* Set what was allocated, and dropped, to zero. */
void jpp_sites_clear(jpp_sites_t *sites);

/* Bytes of memory that are in use. */
size_t jpp_sites_bytes(const jpp_sites_t *sites);

/* The class of SIZE. */
uint16_t jpp_sites_class(uint64_t size);


/* Where in the stack the N frames of SITE are, in words above rsp of the first
   one: room for as many. */
static inline uint32_t *
jpp_sites_words(jpp_site_t *site)
{
    return (uint32_t *) (void *) (site->pcs + site->n);
}


static inline jpp_site_t *
jpp_sites_at(const jpp_sites_t *sites, uint32_t site)
{
    return (jpp_site_t *) (void *) (sites->memory + site);
}


/* The site that is like FROM but OWNER's; 0: there is no room. */
static inline uint32_t
jpp_sites_give(jpp_sites_t *sites, jpp_site_t *from, uint16_t owner)
{
    uint32_t  given;

    given = __atomic_load_n(&from->given, __ATOMIC_ACQUIRE);

    return given != 0 && jpp_sites_at(sites, given)->key.owner == owner
           ? given : jpp_sites_give_another(sites, from, owner);
}


#endif /* _JPP_SAMPLES_SITES_H_INCLUDED_ */
