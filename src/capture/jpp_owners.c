
/* MAP_ANONYMOUS */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <string.h>
#include <sys/mman.h>

#include "jpp_backtrace.h"
#include "jpp_frame.h"
#include "jpp_heap_owners.h"
#include "jpp_owners.h"
#include "jpp_samples.h"


/* callee-saved registers, which unwinding finds below the frame's base */
#define JPP_OWNERS_SAVED   (5 * sizeof(uintptr_t))

/* bytes of the main stack: the least distance to what lies below it */
#define JPP_OWNERS_STACK   ((uintptr_t) 8 << 20)


/* a connection */
typedef struct {
    uint64_t              number;
    uint32_t              generation;    /* of the samples */
    uint16_t              owner;
    uint16_t              last;          /* the owner, also after its end */
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
    uint32_t              index;
    uint16_t              owner;
    uint16_t              next;          /* of the same connection, from 1 */
    jpp_owners_state_t    state;
} jpp_owners_waiting_t;


typedef struct {
    jpp_serving_t         serving;
    jpp_owners_slot_t    *slots;         /* NULL: nobody serves */
    size_t                size;          /* of these, in bytes */
    uintptr_t             high;          /* where the thread's stack ends */
    void                (*due)(void);

    uint64_t              n_waited;      /* ever */
    uint64_t              n_settled;     /* of these; all if none is due */
    uint32_t              n_due;
    bool                  is_busy;       /* a handler of a signal keeps out */
    jpp_owners_waiting_t  waiting[JPP_OWNERS_WAITING];
} jpp_owners_t;


static void jpp_owners_find(uint32_t *hint, jpp_samples_found_t *found)
    __attribute__((noinline));
static void jpp_owners_wait(const jpp_samples_found_t *found,
    const jpp_sample_at_t *sample);
static void jpp_owners_wait_in_place(const jpp_samples_found_t *found,
    const jpp_sample_at_t *sample, uint32_t id);
static uint32_t jpp_owners_scan(uintptr_t address, uint32_t n, uint32_t *hint,
    jpp_serving_one_t *one);
static inline uint32_t jpp_owners_of(const jpp_serving_one_t *one);
static inline jpp_owners_slot_t *jpp_owners_slot(uint32_t index,
    uint64_t number);
static void jpp_owners_another(jpp_owners_slot_t *slot, uint64_t number);
static void jpp_owners_leave(jpp_owners_waiting_t *waiting, uint32_t id);
static inline void jpp_owners_give(jpp_owners_waiting_t *waiting,
    uint32_t owner, jpp_owners_state_t state);


static const jpp_samples_owners_t  jpp_owners_asked = {
    jpp_owners_find, jpp_owners_wait
};


static jpp_owners_t  jpp_owners;


bool
jpp_owners_start(const jpp_serving_t *serving, void (*due)(void))
{
    size_t   size;
    void    *slots;

    jpp_owners_stop();

    size = sizeof(jpp_owners_slot_t) * serving->n;
    slots = mmap(NULL, size != 0 ? size : 1, PROT_READ|PROT_WRITE,
                 MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0);

    if (slots == MAP_FAILED) {
        return false;
    }

    jpp_owners.serving = *serving;
    jpp_owners.due = due;
    jpp_owners.size = size;
    jpp_owners.high = jpp_backtrace_high((uintptr_t) &slots);
    jpp_owners.slots = slots;

    jpp_samples_thread.is_serving = true;
    jpp_samples.owners = &jpp_owners_asked;

    return true;
}


void
jpp_owners_stop(void)
{
    jpp_samples_thread.is_serving = false;
    jpp_samples.owners = NULL;

    if (jpp_owners.slots != NULL) {
        (void) munmap(jpp_owners.slots, jpp_owners.size);
    }

    jpp_owners.slots = NULL;

    if (jpp_owners.n_waited != 0) {
        memset(jpp_owners.waiting, 0, sizeof(jpp_owners.waiting));
    }

    jpp_owners.n_waited = 0;
    jpp_owners.n_settled = 0;
    jpp_owners.n_due = 0;
}


void
jpp_owners_set(uint32_t index, uint64_t number, uint32_t owner)
{
    jpp_owners_slot_t     *slot;
    jpp_owners_waiting_t  *waiting;

    if (jpp_owners.slots == NULL || index >= jpp_owners.serving.n) {
        return;
    }

    jpp_owners.is_busy = true;

    slot = jpp_owners_slot(index, number);
    slot->owner = (uint16_t) owner;
    slot->last = (uint16_t) owner;

    while (slot->waiting != 0) {
        waiting = &jpp_owners.waiting[slot->waiting - 1];
        slot->waiting = waiting->next;

        jpp_owners_give(waiting, owner, JPP_OWNERS_FREE);
    }

    jpp_owners.is_busy = false;
}


uint32_t
jpp_owners_clear(uint32_t index, uint64_t number)
{
    uint32_t           owner;
    jpp_serving_one_t  one = { number, index };

    if (jpp_owners.slots == NULL || index >= jpp_owners.serving.n) {
        return JPP_OWNER_NONE;
    }

    owner = jpp_owners_of(&one);

    if (owner != JPP_OWNER_NONE) {
        jpp_owners.slots[index].owner = JPP_OWNER_NONE;
    }

    return owner;
}


uint32_t
jpp_owners_get(uint32_t index, uint64_t number)
{
    jpp_serving_one_t  one = { number, index };

    return jpp_owners.slots != NULL && index < jpp_owners.serving.n
           ? jpp_owners_of(&one) : JPP_OWNER_NONE;
}


/* That of the connection NUMBER; what belonged to one before it stays there. */

static inline jpp_owners_slot_t *
jpp_owners_slot(uint32_t index, uint64_t number)
{
    jpp_owners_slot_t  *slot;

    slot = &jpp_owners.slots[index];

    if (slot->number != number || slot->generation != jpp_samples.generation) {
        jpp_owners_another(slot, number);
    }

    return slot;
}


static __attribute__((noinline)) void
jpp_owners_another(jpp_owners_slot_t *slot, uint64_t number)
{
    if (slot->number != JPP_SERVING_NEW
        || slot->generation != jpp_samples.generation)
    {
        while (slot->waiting != 0) {
            jpp_owners_leave(&jpp_owners.waiting[slot->waiting - 1],
                             slot->waiting - 1u);
        }

        slot->generation = jpp_samples.generation;
        slot->owner = JPP_OWNER_NONE;
        slot->last = JPP_OWNER_NONE;
    }

    slot->number = number;
}


/* WAITING, which is ID, waits no more; what it was given to was a guess. */

static void
jpp_owners_leave(jpp_owners_waiting_t *waiting, uint32_t id)
{
    uint16_t           *at;
    jpp_owners_slot_t  *slot;

    slot = &jpp_owners.slots[waiting->index];

    for (at = &slot->waiting; *at != id + 1;
         at = &jpp_owners.waiting[*at - 1].next)
    {
        /* void */
    }

    *at = waiting->next;

    jpp_owners_give(waiting,
                    waiting->state == JPP_OWNERS_DUE
                    && slot->generation == jpp_samples.generation
                    ? JPP_OWNER_NONE : waiting->owner, JPP_OWNERS_FREE);
}


static inline void
jpp_owners_give(jpp_owners_waiting_t *waiting, uint32_t owner,
    jpp_owners_state_t state)
{
    jpp_owners.n_due -= waiting->state == JPP_OWNERS_DUE;
    waiting->state = state;

    if (waiting->owner != owner) {
        waiting->owner = (uint16_t) owner;
        jpp_samples_give(&waiting->sample, owner);
    }
}


bool
jpp_owners_is_due(void)
{
    return jpp_owners.n_due != 0;
}


void
jpp_owners_settle(uint32_t n, jpp_owners_ask_pt ask, void *data)
{
    uint64_t               number;
    jpp_owners_slot_t     *slot;
    jpp_owners_waiting_t  *waiting;

    jpp_owners.is_busy = true;

    if (jpp_owners.n_waited - jpp_owners.n_settled > JPP_OWNERS_WAITING) {
        jpp_owners.n_settled = jpp_owners.n_waited - JPP_OWNERS_WAITING;
    }

    for ( /* void */ ; n != 0 && jpp_owners.n_due != 0;
         n--, jpp_owners.n_settled++)
    {
        waiting = &jpp_owners.waiting[jpp_owners.n_settled
                                      % JPP_OWNERS_WAITING];

        if (waiting->state != JPP_OWNERS_DUE) {
            continue;
        }

        slot = &jpp_owners.slots[waiting->index];
        number = jpp_owners.serving.number(waiting->index);

        (void) jpp_owners_slot(waiting->index,
                               number != 0 ? number : slot->number);

        if (waiting->state == JPP_OWNERS_DUE) {
            jpp_owners_give(waiting, ask(waiting->index, slot->number, data),
                            JPP_OWNERS_SETTLED);
        }
    }

    jpp_owners.is_busy = false;
}


/*
 * What the caller and those before it had in registers is on the stack by the
 * builtin, if it was not before.  The rest is that of whoever allocates.
 */

static void
jpp_owners_find(uint32_t *hint, jpp_samples_found_t *found)
{
    uint32_t            n;
    uintptr_t           address;
    jpp_owners_slot_t  *slot;
    jpp_serving_one_t   one;

    __builtin_unwind_init();

    address = (uintptr_t) __builtin_frame_address(0) - JPP_OWNERS_SAVED;

    if (!jpp_samples_thread.is_serving) {
        found->owner = JPP_OWNER_THREADS;
        return;
    }

    if (address >= jpp_owners.high
        || jpp_owners.high - address > JPP_OWNERS_STACK)
    {
        return;
    }

    n = (uint32_t) ((jpp_owners.high - address) / sizeof(uintptr_t));

    /* the same stack has what it carries down at the same place */

    found->owner = *hint != 0 && *hint <= n
                   && jpp_serving_is_again(&jpp_owners.serving,
                          jpp_frame_word(address + (*hint - 1)
                                                   * sizeof(uintptr_t)), &one)
                   ? jpp_owners_of(&one)
                   : jpp_owners_scan(address, n, hint, &one);

    if (found->owner != JPP_OWNER_NONE || jpp_owners.is_busy) {
        return;
    }

    jpp_owners.is_busy = true;

    slot = jpp_owners_slot(one.index, one.number);

    jpp_owners.is_busy = false;

    found->owner = slot->last;
    found->index = one.index;
    found->waits = true;
}


/*
 * The innermost that has an owner (an upstream's has none, its client may), or
 * the innermost.
 */

static __attribute__((noinline)) uint32_t
jpp_owners_scan(uintptr_t address, uint32_t n, uint32_t *hint,
    jpp_serving_one_t *one)
{
    uint32_t            i, read, word, owner;
    jpp_serving_one_t   next;

    owner = JPP_OWNER_NONE;
    word = 0;
    n = n < JPP_SERVING_WORDS ? n : JPP_SERVING_WORDS;

    for (i = 0; owner == JPP_OWNER_NONE && i < n; /* void */ ) {

        read = jpp_serving_find(&jpp_owners.serving,
                                address + i * sizeof(uintptr_t), n - i, &next);
        if (read == 0) {
            break;
        }

        i += read;
        owner = jpp_owners_of(&next);

        if (word == 0 || owner != JPP_OWNER_NONE) {
            word = i;
            *one = next;
        }
    }

    if (word == 0) {
        return JPP_OWNER_LOOP;
    }

    *hint = word;

    return owner;
}


static inline uint32_t
jpp_owners_of(const jpp_serving_one_t *one)
{
    const jpp_owners_slot_t  *slot;

    slot = &jpp_owners.slots[one->index];

    return slot->number == one->number
           && slot->generation == jpp_samples.generation
           ? slot->owner : JPP_OWNER_NONE;
}


/* What is rare comes last, so that the rest has no registers to save. */

static void
jpp_owners_wait(const jpp_samples_found_t *found,
    const jpp_sample_at_t *sample)
{
    uint32_t               id;
    jpp_owners_slot_t     *slot;
    jpp_owners_waiting_t  *waiting;

    if (jpp_owners.is_busy) {
        return;
    }

    id = (uint32_t) (jpp_owners.n_waited % JPP_OWNERS_WAITING);
    waiting = &jpp_owners.waiting[id];

    if (waiting->state != JPP_OWNERS_FREE) {
        jpp_owners_wait_in_place(found, sample, id);
        return;
    }

    jpp_owners.is_busy = true;

    slot = &jpp_owners.slots[found->index];

    waiting->sample = *sample;
    waiting->index = found->index;
    waiting->owner = (uint16_t) found->owner;
    waiting->next = slot->waiting;
    waiting->state = JPP_OWNERS_DUE;

    slot->waiting = (uint16_t) (id + 1);

    if (jpp_owners.n_due == 0) {
        jpp_owners.n_settled = jpp_owners.n_waited;
    }

    jpp_owners.n_waited++;
    jpp_owners.n_due++;

    jpp_owners.is_busy = false;

    if (jpp_owners.n_due == 1) {
        jpp_owners.due();
    }
}


/* In the place ID of one that has waited for long. */

static __attribute__((noinline)) void
jpp_owners_wait_in_place(const jpp_samples_found_t *found,
    const jpp_sample_at_t *sample, uint32_t id)
{
    jpp_owners.is_busy = true;

    jpp_owners_leave(&jpp_owners.waiting[id], id);

    jpp_owners.is_busy = false;

    jpp_owners_wait(found, sample);
}
