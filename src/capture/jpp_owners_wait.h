
/*
 * Samples of memory that may get another owner than the one that they were
 * given to: the next that their connection is served for.
 *
 * Each is kept in a ring, and linked to those of its connection; as a rule the
 * owner turns out to be the one that was presumed, and all of a connection wait
 * no more at once.  JPP_OWNERS_WAITING of them at most: older ones keep what
 * they have.
 *
 * One per process, for the thread that serves, and its handlers of signals:
 * they keep out where they have interrupted anything here.
 */


#ifndef _JPP_OWNERS_WAIT_H_INCLUDED_
#define _JPP_OWNERS_WAIT_H_INCLUDED_


#include "jpp_samples.h"
#include "jpp_serving.h"


/* a power of two */
#define JPP_OWNERS_WAITING  4096


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


/* a line of a cache, whose place is found by a shift */
typedef struct {
    jpp_sample_at_t       sample;
    uintptr_t             which;         /* of its connection */
    uint64_t              next;          /* as above */
    uint32_t              index;         /* of the connection */
} __attribute__((aligned(64))) jpp_owners_waiting_t;


typedef struct {
    jpp_owners_slot_t    *slots;         /* NULL: nobody serves */
    size_t                size;          /* of these, in bytes */
    uint32_t              n;

    bool                  is_busy;       /* a handler of a signal keeps out */
    uint64_t              n_waited;      /* ever */
    jpp_owners_waiting_t  waiting[JPP_OWNERS_WAITING];
} jpp_owners_wait_t;


extern jpp_owners_wait_t  jpp_owners_waits
    __attribute__((visibility("hidden")));


/* Nothing waits for any of N connections; false: no memory. */
bool jpp_owners_wait_start(uint32_t n);

/* There are no connections. */
void jpp_owners_wait_stop(void);

/* The slot becomes that of another connection, NUMBER. */
void jpp_owners_another(jpp_owners_slot_t *slot, uint64_t number);

/* All that waits for SLOT, for WHICH of it or just the next, is OWNER's, and
   waits no more. */
void jpp_owners_give_all(jpp_owners_slot_t *slot, uintptr_t which,
    uint32_t owner);


/* What is between these keeps handlers of signals out. */

static inline void
jpp_owners_enter(void)
{
    jpp_owners_waits.is_busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}


static inline void
jpp_owners_leave(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    jpp_owners_waits.is_busy = false;
}


/* That of the connection INDEX with NUMBER; what belonged to one before it
   stays there. */
static inline jpp_owners_slot_t *
jpp_owners_slot(uint32_t index, uint64_t number)
{
    jpp_owners_slot_t  *slot;

    slot = &jpp_owners_waits.slots[index];

    if (slot->number != number
        || slot->generation != jpp_samples.generation)
    {
        jpp_owners_another(slot, number);
    }

    return slot;
}


/* Where a sample is to be kept that waits for WHICH of SLOT, which is INDEX.
   One that a handler keeps at the same moment may take its place. */
static inline jpp_sample_at_t *
jpp_owners_keep(jpp_owners_slot_t *slot, uint32_t index, uintptr_t which)
{
    uint64_t               n;
    jpp_owners_waiting_t  *waiting;

    n = jpp_owners_waits.n_waited;
    waiting = &jpp_owners_waits.waiting[n % JPP_OWNERS_WAITING];

    waiting->which = which;
    waiting->index = index;
    waiting->next = slot->waiting;

    slot->waiting = n + 1;
    jpp_owners_waits.n_waited = n + 1;

    return &waiting->sample;
}


/* The one that ID links to; NULL: none is left. */
static inline jpp_owners_waiting_t *
jpp_owners_waiting(uint64_t id)
{
    return id != 0 && jpp_owners_waits.n_waited - id < JPP_OWNERS_WAITING
           ? &jpp_owners_waits.waiting[(id - 1) % JPP_OWNERS_WAITING] : NULL;
}


/* The slot of the connection INDEX with NUMBER; NULL: nothing waits for it. */
static inline jpp_owners_slot_t *
jpp_owners_wanted(uint32_t index, uint64_t number)
{
    return index < jpp_owners_waits.n
           && jpp_owners_waits.slots[index].waiting != 0
           ? jpp_owners_slot(index, number) : NULL;
}


/* What waits for SLOT was served for OWNER: for WHICH of several, or
   JPP_SERVING_NEXT. */
static inline void
jpp_owners_set(jpp_owners_slot_t *slot, uintptr_t which, uint32_t owner)
{
    if (owner == slot->last && !slot->is_mixed) {
        slot->waiting = 0;
        return;
    }

    jpp_owners_enter();
    jpp_owners_give_all(slot, which, owner);
    jpp_owners_leave();
}


#endif /* _JPP_OWNERS_WAIT_H_INCLUDED_ */
