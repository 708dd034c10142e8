
/*
 * The last step of a ledger: what is left of the allocator's mappings, once all
 * ranges have theirs, is shared out among what is known by its sum only.
 *
 * Each of these parts has bounds: what the event loop's thread holds outside of
 * pools is exact, the rest is between 0 and what jemalloc counts.  As the
 * kernel knows what they are together, the bounds of each follow from those of
 * the others; in between, all parts have the same fraction.
 *
 * Threads and memory as in jpp_ledger.h.
 */


#ifndef _JPP_LEDGER_HEAP_H_INCLUDED_
#define _JPP_LEDGER_HEAP_H_INCLUDED_


#include "jpp_ledger.h"
#include "jpp_stats.h"


typedef struct {
    const jpp_pools_t  *pools;
    const jpp_stats_t  *stats;         /* NULL: there is no jemalloc */
    uint64_t            internal;      /* of stats->allocated, its own */
    bool                is_sampled;    /* its profiler is on */
    bool                is_marked;     /* its mappings are known as such; */
                                       /*   else all anonymous ones count */
} jpp_ledger_heap_t;


/* Complete the rows, and sort them.  False: no memory. */
bool jpp_ledger_finish(jpp_ledger_t *ledger, const jpp_ledger_heap_t *heap);


#endif /* _JPP_LEDGER_HEAP_H_INCLUDED_ */
