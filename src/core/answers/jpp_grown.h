
/*
 * The resource grown: which owners of memory have grown, how fast, and when the
 * limit will be reached, as tables for a terminal or as JSON.
 *
 * A pure function of the caller's values; any thread.
 */


#ifndef _JPP_GROWN_H_INCLUDED_
#define _JPP_GROWN_H_INCLUDED_


#include "jpp_fleet.h"


/*
 * Append what HELD, a copy that does not change, says at the time NOW, as ARGS
 * ask; CGROUP may be NULL.  False: no memory in ARENA.
 */
bool jpp_grown_write(const jpp_held_t *held, const jpp_cgroup_t *cgroup,
    int64_t now, const jpp_args_t *args, jpp_arena_t *arena,
    jpp_sink_t *sink);


#endif /* _JPP_GROWN_H_INCLUDED_ */
