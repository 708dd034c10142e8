
/*
 * The resource memory: what is known about the memory of all workers, of their
 * cgroup, of the machine and of the shared zones, and what there is to say
 * about it, as JSON; and what was asked for besides: ledgers, smaps_rollup, or
 * the arenas of one worker.
 *
 * A value that a kernel or a version of jemalloc lacks is null, and what could
 * not be read at all is null with its reason in "unavailable".
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_MEMORY_H_INCLUDED_
#define _JPP_MEMORY_H_INCLUDED_


#include "jpp_memory_input.h"


/*
 * Append MEMORY as JSON to SINK, which the caller flushes.  False: no memory.
 */
bool jpp_memory_json(const jpp_memory_t *memory, jpp_sink_t *sink);


#endif /* _JPP_MEMORY_H_INCLUDED_ */
