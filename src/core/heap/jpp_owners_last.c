
#include "jpp_owners_last.h"


static int  jpp_owners_closed = -1;

jpp_owners_kept_t  jpp_owners_kept;
jpp_owners_slot_t  jpp_owners_no_slot;

jpp_owners_last_t  jpp_owners_last = {
    .number = &jpp_owners_no_slot.number,
    .open = &jpp_owners_closed,
    .slot = &jpp_owners_no_slot
};


void
jpp_owners_last_clear(uintptr_t high)
{
    jpp_owners_last_forget();

    jpp_owners_last.outermost = high - sizeof(uintptr_t);
}


void
jpp_owners_last_forget(void)
{
    unsigned  i;

    for (i = 0; i <= JPP_SERVING_RANGES; i++) {
        jpp_owners_last.words[i] = (uintptr_t) &jpp_owners_last + 1;
    }

    jpp_owners_last.number = &jpp_owners_no_slot.number;
    jpp_owners_last.open = &jpp_owners_closed;
    jpp_owners_last.slot = &jpp_owners_no_slot;
}


void
jpp_owners_last_learn(const jpp_serving_t *serving, uint32_t index,
    jpp_owners_slot_t *slot)
{
    unsigned   i;
    uintptr_t  record;

    for (i = 0; i < JPP_SERVING_RANGES; i++) {
        jpp_owners_last.words[i + 1] = serving->ranges[i].start
                                       + (uintptr_t) serving->ranges[i].size
                                         * index;
    }

    record = jpp_owners_last.words[1];

    jpp_owners_last.number = (const uint64_t *) (record + serving->number_at);
    jpp_owners_last.open = (const int *) (record + serving->open_at);
    jpp_owners_last.slot = slot;
}
