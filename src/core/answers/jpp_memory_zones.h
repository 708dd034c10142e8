
/*
 * The zones of shared memory, for the resource memory: how full each is, and
 * by which sizes its pages are divided.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_MEMORY_ZONES_H_INCLUDED_
#define _JPP_MEMORY_ZONES_H_INCLUDED_


#include "jpp_memory_input.h"


/* Write the member "zones" of the object that is open. */
void jpp_memory_zones_json(jpp_json_t *json, const jpp_telemetry_t *telemetry);

/*
 * Write, as members of the object that is open, which zones were busy as they
 * were read.
 */
void jpp_memory_zones_why(jpp_json_t *json, const jpp_telemetry_t *telemetry);

/* Append them as a table, if there are any.  False: no memory. */
bool jpp_memory_zones_text(const jpp_memory_t *memory, jpp_sink_t *sink);


#endif /* _JPP_MEMORY_ZONES_H_INCLUDED_ */
