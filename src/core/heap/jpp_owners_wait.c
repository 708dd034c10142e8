
/* MAP_ANONYMOUS */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <string.h>
#include <sys/mman.h>

#include "jpp_owner_labels.h"
#include "jpp_owners_wait.h"


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
    jpp_owners_kept.n_waited = 0;
}


void
jpp_owners_another(jpp_owners_slot_t *slot, uint64_t number)
{
    if (slot->number != JPP_SERVING_NEW
        || slot->generation != jpp_samples.generation)
    {
        slot->generation = jpp_samples.generation;
        slot->waiting = 0;
        slot->last = JPP_OWNER_NONE;
        slot->is_mixed = false;

        if (jpp_owners_last.slot == slot) {
            jpp_owners_last_forget();
        }
    }

    slot->number = number;
}


void
jpp_owners_give_all(jpp_owners_slot_t *slot, uintptr_t which, uint32_t owner)
{
    uint64_t              *at;
    jpp_owners_waiting_t  *waiting;

    at = &slot->waiting;

    while ((waiting = jpp_owners_waiting(*at)) != NULL) {

        if (waiting->which != which && waiting->which > JPP_SERVING_FIRST) {
            at = &waiting->next;
            continue;
        }

        *at = waiting->next;

        jpp_samples_give(&waiting->sample, owner);
    }

    *at = 0;

    slot->last = (uint16_t) owner;
    slot->is_mixed = slot->waiting != 0;
}
