
/*
 * A list of locations as JSON.  Used by
 * jpp_locations_write.c alone.
 */


#ifndef _JPP_LOCATIONS_JSON_H_INCLUDED_
#define _JPP_LOCATIONS_JSON_H_INCLUDED_


#include "jpp_locations.h"


/* Append LOCATIONS to SINK; false: no memory. */
bool jpp_locations_as_json(const jpp_locations_t *locations, jpp_sink_t *sink);


#endif /* _JPP_LOCATIONS_JSON_H_INCLUDED_ */
