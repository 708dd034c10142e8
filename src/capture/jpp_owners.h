
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


#include "jpp_serving.h"


/* What the server knows; all of it [signal]. */
typedef struct {
    /*
     * Whom the connection INDEX is served for: an owner, or JPP_OWNER_NONE.  If
     * it will have another, or one at all, WAITS becomes JPP_SERVING_NEXT or
     * _FIRST, or what the server calls that of several that it serves at once.
     * WORDS, of which there are N, are those of the stack in which that is
     * asked, and tell these apart; or what the server has called one.
     */
    uint32_t        (*served)(uint32_t index, const uintptr_t *words,
                              uint32_t n, uintptr_t *waits);

    /* The owner of one that has none, in the meantime if it waits. */
    uint32_t        (*meanwhile)(uint32_t index);

    /* Something waits that jpp_owners_settle() has not seen. */
    void            (*due)(void);
} jpp_owners_server_t;


/*
 * Connections are SERVING's, which is copied, as SERVER is.  False: no memory.
 */
bool jpp_owners_start(const jpp_serving_t *serving,
    const jpp_owners_server_t *server);

/* SERVING is no more: samples belong to nobody from now on. */
void jpp_owners_stop(void);

/*
 * [signal] Whom this thread is busy for in this call, which cannot be changed
 * later.
 */
uint32_t jpp_owners_here(void) __attribute__((noinline));

/* [signal] Whom this thread, which a signal has interrupted, is busy for. */
uint32_t jpp_owners_interrupted(const void *ucontext);

/*
 * What waits for the connection INDEX with NUMBER was served for OWNER: for
 * WHICH of several, or JPP_SERVING_NEXT.
 */
void jpp_owners_set(uint32_t index, uint64_t number, uintptr_t which,
    uint32_t owner);

/* Does anything wait for the connection INDEX? */
bool jpp_owners_wanted(uint32_t index);

/* Does anything wait that jpp_owners_settle() has not seen? */
bool jpp_owners_is_due(void);

/* Ask who has what came since the last time: at most N of it. */
void jpp_owners_settle(uint32_t n);


#endif /* _JPP_OWNERS_H_INCLUDED_ */
