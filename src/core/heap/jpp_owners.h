
/*
 * Whom samples belong to: the server and location on whose behalf memory was
 * allocated, or a CPU was busy.
 *
 * An owner is the number of some names (jpp_owner_names.h).  The words of a
 * sample's stack name the connection that is served (jpp_serving.h), and the
 * server's own structures say whom for: it looks there at that moment, so that
 * nothing has to be noted while nothing is sampled.
 *
 * What is sampled before that is known has what its connection had last, or the
 * best that is known, and waits for better (jpp_owners_wait.h) if it is memory.
 *
 * One per process, for the thread that serves: jpp_owners_start() makes the
 * calling one that.  Samples of other threads belong to JPP_OWNER_THREADS, and
 * those on another stack (a coroutine) to nobody.  jpp_samples.h asks here,
 * under its own rules.
 */


#ifndef _JPP_OWNERS_H_INCLUDED_
#define _JPP_OWNERS_H_INCLUDED_


#include "jpp_owners_look.h"
#include "jpp_owners_wait.h"


/*
 * Connections are SERVING's, which is copied, as SERVER is.  False: no memory.
 */
bool jpp_owners_start(const jpp_serving_t *serving,
    const jpp_owners_server_t *server);

/* SERVING is no more: samples belong to nobody from now on. */
void jpp_owners_stop(void);

/* Does anything wait that jpp_owners_settle() has not seen? */
bool jpp_owners_is_due(void);

/* Ask who has what came since the last time: at most N of it. */
void jpp_owners_settle(uint32_t n);

/* Ask who has anything that waits. */
void jpp_owners_settle_all(void);


#endif /* _JPP_OWNERS_H_INCLUDED_ */
