
/*
 * The memory that locations hold, from the tables of pools of the workers.
 */


#ifndef _JPP_LOCATIONS_POOLS_H_INCLUDED_
#define _JPP_LOCATIONS_POOLS_H_INCLUDED_


#include "jpp_locations.h"
#include "jpp_fleet.h"


/*
 * Add the answer of the worker WHO, LEN bytes at DATA.  If that is no table of
 * pools, or DATA is NULL, the worker is missing, because of WHY.
 */
void jpp_locations_pools(jpp_locations_t *locations, const jpp_identity_t *who,
    const char *data, size_t len, const char *why);


#endif /* _JPP_LOCATIONS_POOLS_H_INCLUDED_ */
