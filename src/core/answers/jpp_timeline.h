
/*
 * The resource events: the last events of an nginx and the stalls of its
 * workers, the newest first, as a table for a terminal or as JSON.
 *
 * A pure function of the caller's values; any thread.
 */


#ifndef _JPP_TIMELINE_H_INCLUDED_
#define _JPP_TIMELINE_H_INCLUDED_


#include "jpp_events.h"


/*
 * Append EVENTS, a copy that does not change, and N STALLS to SINK, which the
 * caller flushes, as ARGS ask.  False: no memory in ARENA.
 */
bool jpp_timeline_write(const jpp_events_t *events, const jpp_stall_t *stalls,
    size_t n, const jpp_args_t *args, jpp_arena_t *arena, jpp_sink_t *sink);


#endif /* _JPP_TIMELINE_H_INCLUDED_ */
