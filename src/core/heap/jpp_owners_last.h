
/*
 * The connection that a sample was last found to be for, and whether the next
 * one is for it, too: on a connection that is kept alive the next owner is that
 * of the last time, as a rule, and most samples of small requests are done with
 * here.  jpp_owners.h learns it, and does all the rest.
 *
 * And where samples are kept that may get another owner (jpp_owners.c): a
 * ring, in which those of a connection are linked.
 *
 * [signal] One per process, for the thread that serves.
 */


#ifndef _JPP_OWNERS_LAST_H_INCLUDED_
#define _JPP_OWNERS_LAST_H_INCLUDED_


#include "jpp_frame.h"
#include "jpp_samples_sites.h"
#include "jpp_serving.h"


/* a power of two */
#define JPP_OWNERS_WAITING  4096

/* callee-saved registers, which a function has pushed below its frame's base */
#define JPP_OWNERS_SAVED    (5 * sizeof(uintptr_t))

/* bytes of the main stack: the least distance to what lies below it */
#define JPP_OWNERS_STACK    ((uintptr_t) 8 << 20)


/* a sample: where it is live, if it is (place 0: it never was) */
typedef struct {
    uintptr_t           address;
    uint64_t            object;
    uint32_t            place;
} jpp_sample_at_t;


/* whom a sample belongs to */
typedef struct {
    jpp_sample_at_t    *waits;     /* NULL; or it is to be kept here, because */
                                   /*   it will have another */
    uint32_t            owner;     /* 0: none */
} jpp_samples_found_t;


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
    jpp_owners_slot_t    *slot;          /* the connection's */
} __attribute__((aligned(64))) jpp_owners_waiting_t;


typedef struct {
    jpp_owners_waiting_t  waiting[JPP_OWNERS_WAITING];
    uint64_t              n_waited;      /* ever */
    bool                  is_busy;       /* a handler of a signal keeps out */
} jpp_owners_kept_t;


/* The kind of a hint is the record that its word points at, from 1.  That of
   the first is 0 where samples of the stack are not for the next of their
   connection: somebody was served by then, or nobody knows. */
typedef struct {
    uintptr_t             words[JPP_SERVING_RANGES + 1];
                                         /* of its records; no word is like */
                                         /*   the first of these */
    uintptr_t             outermost;     /* the last word of the stack */
    const uint64_t       *number;
    const int            *open;
    jpp_owners_slot_t    *slot;
} jpp_owners_last_t;


extern jpp_owners_kept_t  jpp_owners_kept
    __attribute__((visibility("hidden")));
extern jpp_owners_last_t  jpp_owners_last
    __attribute__((visibility("hidden")));
extern jpp_owners_slot_t  jpp_owners_no_slot
    __attribute__((visibility("hidden")));


/* None is known; the main stack ends at HIGH. */
void jpp_owners_last_clear(uintptr_t high);

/* Nor is one any more. */
void jpp_owners_last_forget(void);

/* It is that of SLOT, the one with INDEX of SERVING. */
void jpp_owners_last_learn(const jpp_serving_t *serving, uint32_t index,
    jpp_owners_slot_t *slot);


/* Where a sample is to be kept that waits for WHICH of SLOT.  One that a
   handler keeps at the same moment may take its place. */
static inline jpp_sample_at_t *
jpp_owners_keep(jpp_owners_slot_t *slot, uintptr_t which)
{
    uint64_t               n;
    jpp_owners_waiting_t  *waiting;

    n = jpp_owners_kept.n_waited;
    waiting = &jpp_owners_kept.waiting[n % JPP_OWNERS_WAITING];

    waiting->which = which;
    waiting->slot = slot;
    waiting->next = slot->waiting;

    slot->waiting = n + 1;
    jpp_owners_kept.n_waited = n + 1;

    return &waiting->sample;
}


/* Is it that with the first of its records at WORD? */
static inline bool
jpp_owners_last_is(uintptr_t word)
{
    return word == jpp_owners_last.words[1];
}


/*
 * Is the sample whose stack has HINTS, from FRAME on, for the next of the same
 * connection?  It is FOUND then, or its owner is not known.
 *
 * The same stack has what it carries down at the same places.  Where a
 * connection that serves one at a time had nobody yet, it has none again, or
 * one that what waits will be given in any case.
 */
static inline bool
jpp_owners_last_again(const jpp_site_hints_t *hints, uintptr_t frame,
    jpp_samples_found_t *found)
{
    uintptr_t                 outer, inner;
    const jpp_owners_last_t  *last;

    last = &jpp_owners_last;
    outer = frame + hints->at[0] * sizeof(uintptr_t);
    inner = frame + hints->at[1] * sizeof(uintptr_t);

    if (last->outermost - outer > JPP_OWNERS_STACK
        || jpp_frame_word(outer) != last->words[hints->kinds[0]]
        || jpp_frame_word(inner) != last->words[hints->kinds[1]]
        || *last->number != last->slot->number
        || *last->open == -1
        || jpp_owners_kept.is_busy)
    {
        return false;
    }

    found->owner = last->slot->last;
    found->waits = jpp_owners_keep(last->slot, JPP_SERVING_NEXT);

    return true;
}


#endif /* _JPP_OWNERS_LAST_H_INCLUDED_ */
