
/*
 * Whom samples belong to: the server and location on whose behalf the memory
 * was allocated.
 *
 * An owner is the number of a pair of names (jpp_owner_names.h).  While a
 * connection is served for an owner, jpp_owners_set() says so,
 * and samples find it by the words of their stacks (jpp_serving.h).  What is
 * sampled before the connection has an owner waits for one: jpp_owners_set()
 * gives it the next, and jpp_owners_settle() one for the meantime.  Before that
 * it has the one that its connection had last, which is the next, too, as a
 * rule.  As many as JPP_OWNERS_WAITING wait; older ones keep what they were
 * given, or have none.
 *
 * One per process, for the thread that serves: jpp_owners_start() makes the
 * calling one that.  Samples of other threads belong to JPP_OWNER_THREADS, and
 * those on another stack (a coroutine) to nobody.  jpp_samples.h asks here,
 * under its own rules.
 */


#ifndef _JPP_OWNERS_H_INCLUDED_
#define _JPP_OWNERS_H_INCLUDED_


#include "jpp_serving.h"


#define JPP_OWNERS_WAITING  4096


/*
 * Who the connection INDEX with NUMBER, which may have ended, belongs to as far
 * as is known now: an owner, or JPP_OWNER_NONE.
 */
typedef uint32_t (*jpp_owners_ask_pt)(uint32_t index, uint64_t number,
    void *data);


/*
 * Connections are SERVING's, which is copied; those that there are now have no
 * owner.  DUE is called, [signal], when something waits that is to be settled.
 * False: no memory.
 */
bool jpp_owners_start(const jpp_serving_t *serving, void (*due)(void));

/* SERVING is no more: samples belong to nobody from now on. */
void jpp_owners_stop(void);

/* The connection INDEX with NUMBER is served for OWNER from now on, and what
   waits for that was. */
void jpp_owners_set(uint32_t index, uint64_t number, uint32_t owner);

/* It is served for nobody from now on: returns what it was served for. */
uint32_t jpp_owners_clear(uint32_t index, uint64_t number);

/* What it is served for. */
uint32_t jpp_owners_get(uint32_t index, uint64_t number);

/* Does anything wait that jpp_owners_settle() has not seen? */
bool jpp_owners_is_due(void);

/* ASK who has what came since the last time: at most N of it. */
void jpp_owners_settle(uint32_t n, jpp_owners_ask_pt ask, void *data);


#endif /* _JPP_OWNERS_H_INCLUDED_ */
