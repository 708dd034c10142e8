
/*
 * What is held, added to a table of pools, and the units of it: the single
 * requests and connections, of which the largest are kept.
 *
 * What a unit holds is known when it ends.  What is expensive to find out, the
 * kernel's queues for example, is asked only of a unit that is kept by then.
 */


#ifndef _JPP_POOLS_UNITS_H_INCLUDED_
#define _JPP_POOLS_UNITS_H_INCLUDED_


#include "jpp_pools_table.h"


/* What is added to TABLE from now on belongs to a unit of OWNER, too. */
void jpp_pools_begin(jpp_pools_t *table, uint32_t owner);

/*
 * Add to what OWNER holds of CLASS, and of MODULE (a name, or 0), and to the
 * open unit.  BYTES is the allocator's size with everything; UNUSED is what of
 * it is still free in the pool.  False: no memory, or an owner of 0, which
 * means the same.
 */
bool jpp_pools_add(jpp_pools_t *table, uint32_t owner,
    jpp_pools_class_t class, uint32_t module, uint64_t objects,
    uint64_t bytes, uint64_t unused);

/*
 * The same for what the process had of it when it started, which its parent
 * has, too.  It is said beside what it has now, not in addition to it.
 */
bool jpp_pools_add_inherited(jpp_pools_t *table, uint32_t owner,
    jpp_pools_class_t class, uint64_t objects, uint64_t bytes,
    uint64_t unused);

/*
 * The unit has ended.  Returns it if it is one of the largest so far, to fill
 * in the rest, until the next call; or NULL.
 */
jpp_pools_unit_t *jpp_pools_end(jpp_pools_t *table);

/*
 * More of the unit that is open is added later: keep it at PARKED, as it is, to
 * fill in the rest there; no unit is open now.  And open it again.
 */
void jpp_pools_park(jpp_pools_t *table, jpp_pools_open_t *parked);
void jpp_pools_resume(jpp_pools_t *table, const jpp_pools_open_t *parked);


#endif /* _JPP_POOLS_UNITS_H_INCLUDED_ */
