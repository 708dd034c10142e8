
/*
 * Samples of memory that may get another owner than the one that they were
 * given to: the next that their connection is served for.
 *
 * As a rule the owner turns out to be the one that was presumed, and all of a
 * connection wait no more at once.  JPP_OWNERS_WAITING of them at most: older
 * ones keep what they have.
 *
 * One per process, for the thread that serves, and its handlers of signals:
 * they keep out where they have interrupted anything here.
 */


#ifndef _JPP_OWNERS_WAIT_H_INCLUDED_
#define _JPP_OWNERS_WAIT_H_INCLUDED_


#include "jpp_owners_last.h"
#include "jpp_samples.h"


typedef struct {
    jpp_owners_slot_t    *slots;         /* NULL: nobody serves */
    size_t                size;          /* of these, in bytes */
    uint32_t              n;
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
    jpp_owners_kept.is_busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}


static inline void
jpp_owners_leave(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    jpp_owners_kept.is_busy = false;
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


/* The one that ID links to; NULL: none is left. */
static inline jpp_owners_waiting_t *
jpp_owners_waiting(uint64_t id)
{
    return id != 0 && jpp_owners_kept.n_waited - id < JPP_OWNERS_WAITING
           ? &jpp_owners_kept.waiting[(id - 1) % JPP_OWNERS_WAITING] : NULL;
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
static inline void
jpp_owners_set(jpp_owners_slot_t *slot, uintptr_t which, uint32_t owner)
{
    if (jpp_owners_is_last(slot, slot->number, owner)) {
        return;
    }

    jpp_owners_enter();
    jpp_owners_give_all(slot, which, owner);
    jpp_owners_leave();
}


#endif /* _JPP_OWNERS_WAIT_H_INCLUDED_ */
