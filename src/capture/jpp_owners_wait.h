
/*
 * Samples of memory that will have another owner than the one that they were
 * given to: the next that their connection is served for.
 *
 * JPP_OWNERS_WAITING of them at most; older ones keep what they have.  One per
 * process, for the thread that serves, and its handlers of signals: they keep
 * out where they have interrupted anything here.
 */


#ifndef _JPP_OWNERS_WAIT_H_INCLUDED_
#define _JPP_OWNERS_WAIT_H_INCLUDED_


#include "jpp_samples.h"
#include "jpp_serving.h"


#define JPP_OWNERS_WAITING  4096


/* a connection */
typedef struct {
    uint64_t              number;
    uint32_t              generation;    /* of the samples */
    uint16_t              last;          /* the owner that it had */
    uint16_t              waiting;       /* the first that waits, from 1; 0 */
} jpp_owners_slot_t;


typedef enum {
    JPP_OWNERS_FREE = 0,
    JPP_OWNERS_DUE,
    JPP_OWNERS_SETTLED
} jpp_owners_state_t;


/* a sample that waits, and whom it is given to until then */
typedef struct {
    jpp_sample_at_t       sample;
    uintptr_t             waits;         /* for which of its connection */
    uint32_t              index;
    uint16_t              owner;
    uint16_t              next;          /* of the same connection, from 1 */
    jpp_owners_state_t    state;
} jpp_owners_waiting_t;


typedef struct {
    jpp_owners_slot_t    *slots;         /* NULL: nobody serves */
    size_t                size;          /* of these, in bytes */
    uint32_t              n;

    uint64_t              n_waited;      /* ever */
    uint64_t              n_settled;     /* of these; all if none is due */
    uint32_t              n_due;
    bool                  is_busy;       /* a handler of a signal keeps out */
    jpp_owners_waiting_t  waiting[JPP_OWNERS_WAITING];
} jpp_owners_wait_t;


extern jpp_owners_wait_t  jpp_owners_waits;


/* Nothing waits for any of N connections; false: no memory. */
bool jpp_owners_wait_start(uint32_t n);

/* There are no connections. */
void jpp_owners_wait_stop(void);

/* SAMPLE waits as FOUND says.  True: nothing else is due. */
bool jpp_owners_wait_add(const jpp_samples_found_t *found,
    const jpp_sample_at_t *sample);

/* The slot becomes that of another connection, NUMBER. */
void jpp_owners_another(jpp_owners_slot_t *slot, uint64_t number);

/* All that waits for SLOT, for WHICH of it or just the next, is OWNER's, and
   waits no more. */
void jpp_owners_give_all(jpp_owners_slot_t *slot, uintptr_t which,
    uint32_t owner);

/* WAITING is OWNER's. */
void jpp_owners_give(jpp_owners_waiting_t *waiting, uint32_t owner,
    jpp_owners_state_t state);


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


#endif /* _JPP_OWNERS_WAIT_H_INCLUDED_ */
