
/*
 * Attributes samples to owners: the server and location on whose behalf memory
 * was allocated, or CPU time was used.
 *
 * An owner is the number of some names (jpp_owner_names.h).  The event loop
 * tells which connection its event is of, and the server's own structures say
 * whom that is served for: it looks there when a sample is taken.  Where an
 * event is of none, the words of the sample's stack name one (jpp_serving.c).
 *
 * What is sampled before that is known has what its connection had last, or the
 * best that is known, and waits for better if it is memory.
 *
 * One per process, for the thread that serves: jpp_owners_start() makes the
 * calling one that.  Samples of other threads belong to JPP_OWNER_THREADS, and
 * those on another stack (a coroutine) to nobody.  jpp_samples.h asks here,
 * under its own rules.
 */


#ifndef _JPP_OWNERS_H_INCLUDED_
#define _JPP_OWNERS_H_INCLUDED_


#include "jpp_samples.h"


/*
 * Which connection a server is serving, as the words of a stack say: handlers
 * carry it down, so that some words point at it.  Others may be left over from
 * earlier calls.
 *
 * A connection has a record in each of several arrays, at the same index.  A
 * word that points at the start of a record names the connection, if that has
 * a number: what a free record is, and the caller knows nothing else of it.
 * Nothing is followed: only the words are read.
 *
 * [signal] No lock, no memory; any thread.
 */

#define JPP_SERVING_RANGES  3

/* the number of a connection that has none yet */
#define JPP_SERVING_NEW     UINT64_MAX

/* what a connection serves: one at a time, the next; or the first of several */
#define JPP_SERVING_NEXT    1
#define JPP_SERVING_FIRST   2

/* or nobody: it accepts others */
#define JPP_SERVING_OTHERS  3

/* words of a stack that are looked at */
#define JPP_SERVING_WORDS   1024


typedef struct {
    uintptr_t              start;
    uint32_t               size;       /* of a record, in bytes */
} jpp_serving_range_t;


/* zeroed, there are no connections */
typedef struct {
    jpp_serving_range_t    ranges[JPP_SERVING_RANGES];
    uint32_t               n;          /* records of each */

    /* what tells a connection from those that had its record before; 0: there
       is none, or none that serves anybody */
    uint64_t             (*number)(uint32_t index);

    uintptr_t              low;        /* of all ranges: */
    uintptr_t              span;       /*   jpp_serving_init() */
} jpp_serving_t;


typedef struct {
    uint64_t               number;
    uint32_t               index;
} jpp_serving_one_t;


/* The caller has set the ranges of SERVING, N and NUMBER. */
void jpp_serving_init(jpp_serving_t *serving);

/* Does WORD name a connection, which becomes ONE? */
bool jpp_serving_is(const jpp_serving_t *serving, uintptr_t word,
    jpp_serving_one_t *one);

/*
 * The outermost of the N words at ADDRESS, of which the last JPP_SERVING_WORDS
 * are looked at, that names a connection: returns its place, from 1; 0: there
 * is none.
 */
uint32_t jpp_serving_find(const jpp_serving_t *serving, uintptr_t address,
    uint32_t n, jpp_serving_one_t *one);


/* told instead of a connection: no event is handled; or one of no connection,
   whose handler may serve some */
#define JPP_OWNERS_UNTOLD   UINT32_MAX
#define JPP_OWNERS_ELSE     (UINT32_MAX - 1)

/* samples that wait, at most: a power of two */
#define JPP_OWNERS_WAITING  4096


/* What the server knows; all of it [signal]. */
typedef struct {
    /*
     * Whom the connection INDEX is served for: an owner, or JPP_OWNER_NONE.  If
     * it will have another, or one at all, WAITS becomes JPP_SERVING_NEXT or
     * _FIRST, or what the server calls that of several that it serves at once;
     * or JPP_SERVING_OTHERS.
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


/* Handlers are called from BASE on, an address of the stack. */
void jpp_owners_base(uintptr_t base);

/* The thread that serves is busy for the connection INDEX from now on, or for
   JPP_OWNERS_...: at first it is UNTOLD.  Returns what was told before. */
uint32_t jpp_owners_tell(uint32_t index);

/*
 * Whom this thread is busy for in this call, which cannot be changed
 * later.
 */
uint32_t jpp_owners_here(void) __attribute__((noinline));

/* Whom this thread, which a signal has interrupted, is busy for. */
uint32_t jpp_owners_interrupted(const void *ucontext);

/*
 * Samples of memory that may get another owner than the one that they were
 * given to: the next that their connection is served for.
 *
 * As a rule the owner turns out to be the one that was presumed, and all of a
 * connection wait no more at once.  JPP_OWNERS_WAITING of them at most: older
 * ones keep what they have.
 *
 * For the thread that serves, and its handlers of signals: they keep out where
 * they have interrupted anything here.
 */

/* a connection */
typedef struct {
    uint64_t              number;
    uint64_t              waiting;       /* the last that waits, from 1; 0: */
                                         /*   none; it may be gone */
    uint32_t              generation;    /* of the samples */
    uint32_t              settled;       /* the last time that it was */
    uint16_t              last;          /* the owner that it had */
    bool                  is_mixed;      /* some wait that are not LAST's, or */
                                         /*   not for JPP_SERVING_NEXT */
} jpp_owners_slot_t;


typedef struct {
    jpp_owners_slot_t    *slots;         /* NULL: nobody serves */
    uint32_t              n;
} jpp_owners_wait_t;


extern jpp_owners_wait_t  jpp_owners_waits
    __attribute__((visibility("hidden")));
extern jpp_owners_slot_t  jpp_owners_no_slot
    __attribute__((visibility("hidden")));


/* The slot becomes that of another connection, NUMBER. */
void jpp_owners_another(jpp_owners_slot_t *slot, uint64_t number);

/* That of the connection INDEX with NUMBER; what belonged to one before it
   stays there. */
static inline jpp_owners_slot_t *
jpp_owners_slot(uint32_t index, uint64_t number)
{
    jpp_owners_slot_t  *slot;

    slot = &jpp_owners_waits.slots[index];

    if (slot->number != number || slot->generation != jpp_samples.generation) {
        jpp_owners_another(slot, number);
    }

    return slot;
}


/* The slot of INDEX, which may still be that of a connection before; where
   there is none, one for which nothing waits. */
static inline jpp_owners_slot_t *
jpp_owners_slot_at(uint32_t index)
{
    return index < jpp_owners_waits.n ? &jpp_owners_waits.slots[index]
                                      : &jpp_owners_no_slot;
}


/* Was what waits for SLOT, and something does, presumed to be OWNER's, the next
   one of the connection NUMBER?  Then it is, and waits no more. */
static inline bool
jpp_owners_is_last(jpp_owners_slot_t *slot, uint64_t number, uint32_t owner)
{
    if (owner != slot->last || slot->number != number || slot->is_mixed) {
        return false;
    }

    slot->waiting = 0;

    return true;
}


/* What waits for SLOT was served for OWNER: for WHICH of several, or
   JPP_SERVING_NEXT. */
void jpp_owners_set(jpp_owners_slot_t *slot, uintptr_t which, uint32_t owner);

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
