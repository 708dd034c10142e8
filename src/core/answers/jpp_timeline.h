
/*
 * The resources events and snapshots: the last events of an nginx and the
 * stalls of its workers, and the snapshots that are kept, the newest first, as
 * a table for a terminal or as JSON.
 *
 * A pure function of the caller's values; any thread.
 */


#ifndef _JPP_TIMELINE_H_INCLUDED_
#define _JPP_TIMELINE_H_INCLUDED_


#include "jpp_snapshots.h"


/*
 * Append EVENTS, a copy that does not change, and N STALLS to SINK, which the
 * caller flushes, as ARGS ask.  False: no memory in ARENA.
 */
bool jpp_timeline_write(const jpp_events_t *events, const jpp_stall_t *stalls,
    size_t n, const jpp_args_t *args, jpp_arena_t *arena, jpp_sink_t *sink);

/* The same of the N snapshots of LIST, the oldest first. */
bool jpp_timeline_snapshots(const jpp_snapshot_t *list, size_t n,
    const jpp_args_t *args, jpp_arena_t *arena, jpp_sink_t *sink);


#endif /* _JPP_TIMELINE_H_INCLUDED_ */
