
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
    uint16_t              waiting;       /* the first that waits, from 1; 0 */
} jpp_owners_slot_t;


typedef struct {
    jpp_sample_at_t       sample;
    uint64_t              number;
    uint32_t              generation;
    uint32_t              index;
    uint16_t              next;          /* of the same connection, from 1 */
    bool                  is_waiting;
} jpp_owners_waiting_t;


typedef struct {
    jpp_serving_t         serving;
    jpp_owners_slot_t    *slots;         /* NULL: nobody serves */
    size_t                size;          /* of these, in bytes */
    uintptr_t             high;          /* where the thread's stack ends */
    void                (*due)(void);

    uint64_t              n_waited;      /* ever */
    uint64_t              n_settled;
    bool                  is_busy;       /* a handler of a signal keeps out */
    jpp_owners_waiting_t  waiting[JPP_OWNERS_WAITING];
} jpp_owners_t;


static void jpp_owners_find(uint32_t *hint, jpp_samples_found_t *found)
    __attribute__((noinline));
static void jpp_owners_wait(const jpp_samples_found_t *found,
    const jpp_sample_at_t *sample);
static inline uint32_t jpp_owners_scan(uintptr_t address, uint32_t *hint,
    jpp_serving_one_t *one);
static inline uint32_t jpp_owners_of(const jpp_serving_one_t *one);
static jpp_owners_slot_t *jpp_owners_slot(uint32_t index, uint64_t number);
static void jpp_owners_number(jpp_owners_slot_t *slot, uint64_t number);
static void jpp_owners_leave(jpp_owners_waiting_t *waiting, uint32_t id);


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
}


void
jpp_owners_set(uint32_t index, uint64_t number, uint32_t owner)
{
    uint32_t               id;
    jpp_owners_slot_t     *slot;
    jpp_owners_waiting_t  *waiting;

    if (jpp_owners.slots == NULL || index >= jpp_owners.serving.n) {
        return;
    }

    jpp_owners.is_busy = true;

    slot = jpp_owners_slot(index, number);
    slot->owner = (uint16_t) owner;

    while (slot->waiting != 0) {
        id = slot->waiting - 1u;
        waiting = &jpp_owners.waiting[id];

        slot->waiting = waiting->next;
        waiting->is_waiting = false;

        jpp_samples_give(&waiting->sample, owner);
    }

    jpp_owners.is_busy = false;
}


void
jpp_owners_clear(uint32_t index)
{
    if (jpp_owners.slots != NULL && index < jpp_owners.serving.n) {
        jpp_owners.slots[index].owner = JPP_OWNER_NONE;
    }
}


uint32_t
jpp_owners_get(uint32_t index, uint64_t number)
{
    jpp_serving_one_t  one = { number, index };

    return jpp_owners.slots != NULL && index < jpp_owners.serving.n
           ? jpp_owners_of(&one) : JPP_OWNER_NONE;
}


/* That of the connection NUMBER; what belonged to one before it stays there. */

static jpp_owners_slot_t *
jpp_owners_slot(uint32_t index, uint64_t number)
{
    jpp_owners_slot_t  *slot;

    slot = &jpp_owners.slots[index];

    if (slot->number == JPP_SERVING_NEW && number != JPP_SERVING_NEW) {
        jpp_owners_number(slot, number);
    }

    if (slot->number != number
        || slot->generation != jpp_samples.generation)
    {
        while (slot->waiting != 0) {
            jpp_owners_leave(&jpp_owners.waiting[slot->waiting - 1],
                             slot->waiting - 1u);
        }

        slot->number = number;
        slot->generation = jpp_samples.generation;
        slot->owner = JPP_OWNER_NONE;
    }

    return slot;
}


/* The connection of SLOT has got its NUMBER. */

static void
jpp_owners_number(jpp_owners_slot_t *slot, uint64_t number)
{
    uint16_t  id;

    slot->number = number;

    for (id = slot->waiting; id != 0; id = jpp_owners.waiting[id - 1].next) {
        jpp_owners.waiting[id - 1].number = number;
    }
}


/* WAITING, which is ID, waits no more. */

static void
jpp_owners_leave(jpp_owners_waiting_t *waiting, uint32_t id)
{
    uint16_t  *at;

    waiting->is_waiting = false;

    for (at = &jpp_owners.slots[waiting->index].waiting;
         *at != 0;
         at = &jpp_owners.waiting[*at - 1].next)
    {
        if (*at == id + 1) {
            *at = waiting->next;
            return;
        }
    }
}


bool
jpp_owners_is_due(void)
{
    return jpp_owners.n_settled != jpp_owners.n_waited;
}


void
jpp_owners_settle(uint32_t n, jpp_owners_ask_pt ask, void *data)
{
    uint32_t               owner;
    uint64_t               number;
    jpp_owners_waiting_t  *waiting;

    jpp_owners.is_busy = true;

    if (jpp_owners.n_waited - jpp_owners.n_settled > JPP_OWNERS_WAITING) {
        jpp_owners.n_settled = jpp_owners.n_waited - JPP_OWNERS_WAITING;
    }

    for ( /* void */ ;
         n != 0 && jpp_owners.n_settled != jpp_owners.n_waited;
         n--, jpp_owners.n_settled++)
    {
        waiting = &jpp_owners.waiting[jpp_owners.n_settled
                                      % JPP_OWNERS_WAITING];

        if (!waiting->is_waiting
            || waiting->generation != jpp_samples.generation)
        {
            continue;
        }

        number = jpp_owners.serving.number(waiting->index);

        if (number != 0) {
            (void) jpp_owners_slot(waiting->index, number);
        }

        owner = ask(waiting->index, waiting->number, data);

        if (owner != JPP_OWNER_NONE) {
            jpp_samples_give(&waiting->sample, owner);
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
    uintptr_t  address;

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

    found->owner = jpp_owners_scan(address, hint, &found->one);
}


/*
 * The same stack has what it carries down at the same place: so it is looked
 * for where it was the last time.  Otherwise it is the innermost that has an
 * owner (an upstream's has none, its client may), or the innermost.
 */

static inline uint32_t
jpp_owners_scan(uintptr_t address, uint32_t *hint, jpp_serving_one_t *one)
{
    uint32_t            i, n, read, word, owner;
    jpp_serving_one_t   next;

    n = (uint32_t) ((jpp_owners.high - address) / sizeof(uintptr_t));
    word = *hint;

    if (word != 0 && word <= n
        && jpp_serving_is(&jpp_owners.serving,
                          jpp_frame_word(address + (word - 1)
                                                   * sizeof(uintptr_t)), one))
    {
        return jpp_owners_of(one);
    }

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
        one->number = 0;
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

    jpp_owners.is_busy = true;

    id = (uint32_t) (jpp_owners.n_waited % JPP_OWNERS_WAITING);
    waiting = &jpp_owners.waiting[id];

    if (waiting->is_waiting) {
        jpp_owners_leave(waiting, id);
    }

    slot = jpp_owners_slot(found->one.index, found->one.number);

    waiting->sample = *sample;
    waiting->number = found->one.number;
    waiting->generation = slot->generation;
    waiting->index = found->one.index;
    waiting->next = slot->waiting;
    waiting->is_waiting = true;

    slot->waiting = (uint16_t) (id + 1);
    jpp_owners.n_waited++;

    jpp_owners.is_busy = false;

    jpp_owners.due();
}
