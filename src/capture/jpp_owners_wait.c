
/* MAP_ANONYMOUS */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <string.h>
#include <sys/mman.h>

#include "jpp_owner_labels.h"
#include "jpp_owners_wait.h"


static bool jpp_owners_wait_in_place(const jpp_samples_found_t *found,
    const jpp_sample_at_t *sample, uint32_t id) __attribute__((noinline));
static void jpp_owners_wait_no_more(jpp_owners_waiting_t *waiting,
    uint32_t id);


jpp_owners_wait_t  jpp_owners_waits;


bool
jpp_owners_wait_start(uint32_t n)
{
    size_t   size;
    void    *slots;

    size = sizeof(jpp_owners_slot_t) * n;
    slots = mmap(NULL, size != 0 ? size : 1, PROT_READ|PROT_WRITE,
                 MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0);

    if (slots == MAP_FAILED) {
        return false;
    }

    jpp_owners_waits.n = n;
    jpp_owners_waits.size = size;
    jpp_owners_waits.slots = slots;

    return true;
}


void
jpp_owners_wait_stop(void)
{
    if (jpp_owners_waits.slots != NULL) {
        (void) munmap(jpp_owners_waits.slots, jpp_owners_waits.size);
    }

    jpp_owners_waits.slots = NULL;
    jpp_owners_waits.n = 0;

    if (jpp_owners_waits.n_waited != 0) {
        memset(jpp_owners_waits.waiting, 0, sizeof(jpp_owners_waits.waiting));
    }

    jpp_owners_waits.n_waited = 0;
    jpp_owners_waits.n_settled = 0;
    jpp_owners_waits.n_due = 0;
}


/* What is rare comes last, so that the rest has no registers to save. */

bool
jpp_owners_wait_add(const jpp_samples_found_t *found,
    const jpp_sample_at_t *sample)
{
    uint32_t               id;
    jpp_owners_slot_t     *slot;
    jpp_owners_waiting_t  *waiting;

    id = (uint32_t) (jpp_owners_waits.n_waited % JPP_OWNERS_WAITING);
    waiting = &jpp_owners_waits.waiting[id];

    if (waiting->state != JPP_OWNERS_FREE) {
        return jpp_owners_wait_in_place(found, sample, id);
    }

    slot = &jpp_owners_waits.slots[found->index];

    waiting->sample = *sample;
    waiting->waits = found->waits;
    waiting->index = found->index;
    waiting->owner = (uint16_t) found->owner;
    waiting->next = slot->waiting;
    waiting->state = JPP_OWNERS_DUE;

    slot->waiting = (uint16_t) (id + 1);

    if (jpp_owners_waits.n_due == 0) {
        jpp_owners_waits.n_settled = jpp_owners_waits.n_waited;
    }

    jpp_owners_waits.n_waited++;

    return jpp_owners_waits.n_due++ == 0;
}


/* In the place ID of one that has waited for long. */

static bool
jpp_owners_wait_in_place(const jpp_samples_found_t *found,
    const jpp_sample_at_t *sample, uint32_t id)
{
    jpp_owners_wait_no_more(&jpp_owners_waits.waiting[id], id);

    return jpp_owners_wait_add(found, sample);
}


void
jpp_owners_another(jpp_owners_slot_t *slot, uint64_t number)
{
    if (slot->number != JPP_SERVING_NEW
        || slot->generation != jpp_samples.generation)
    {
        while (slot->waiting != 0) {
            jpp_owners_wait_no_more(
                &jpp_owners_waits.waiting[slot->waiting - 1],
                slot->waiting - 1u);
        }

        slot->generation = jpp_samples.generation;
        slot->last = JPP_OWNER_NONE;
    }

    slot->number = number;
}


/* WAITING, which is ID, waits no more. */

static void
jpp_owners_wait_no_more(jpp_owners_waiting_t *waiting, uint32_t id)
{
    uint16_t           *at;
    jpp_owners_slot_t  *slot;

    slot = &jpp_owners_waits.slots[waiting->index];

    for (at = &slot->waiting; *at != id + 1;
         at = &jpp_owners_waits.waiting[*at - 1].next)
    {
        /* void */
    }

    *at = waiting->next;

    jpp_owners_give(waiting, waiting->owner, JPP_OWNERS_FREE);
}


void
jpp_owners_give_all(jpp_owners_slot_t *slot, uintptr_t which, uint32_t owner)
{
    uint16_t              *at;
    jpp_owners_waiting_t  *waiting;

    slot->last = (uint16_t) owner;

    for (at = &slot->waiting; *at != 0; /* void */ ) {
        waiting = &jpp_owners_waits.waiting[*at - 1];

        if (waiting->waits != which && waiting->waits > JPP_SERVING_FIRST) {
            at = &waiting->next;
            continue;
        }

        *at = waiting->next;

        jpp_owners_give(waiting, owner, JPP_OWNERS_FREE);
    }
}


void
jpp_owners_give(jpp_owners_waiting_t *waiting, uint32_t owner,
    jpp_owners_state_t state)
{
    jpp_owners_waits.n_due -= waiting->state == JPP_OWNERS_DUE;
    waiting->state = state;

    if (waiting->owner != owner) {
        waiting->owner = (uint16_t) owner;
        jpp_samples_give(&waiting->sample, owner);
    }
}
