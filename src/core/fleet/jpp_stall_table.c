
#include <string.h>

#include "jpp_index.h"
#include "jpp_stall_table.h"


void
jpp_stall_table_put(jpp_stall_table_t *table, const jpp_stall_t *stall,
    uint64_t *id)
{
    jpp_stall_slot_t  *slot;

    slot = &table->slots[*id % JPP_STALLS];

    if (*id == 0 || __atomic_load_n(&slot->id, __ATOMIC_ACQUIRE) != *id) {
        *id = __atomic_add_fetch(&table->n, 1, __ATOMIC_RELAXED);
        slot = &table->slots[*id % JPP_STALLS];
    }

    __atomic_store_n(&slot->id, 0, __ATOMIC_SEQ_CST);

    slot->stall = *stall;
    slot->sum = jpp_hash_bytes(stall, sizeof(jpp_stall_t));

    __atomic_store_n(&slot->id, *id, __ATOMIC_SEQ_CST);
}


static bool
jpp_stall_table_get(const jpp_stall_slot_t *slot, uint64_t id,
    jpp_stall_t *stall)
{
    uint64_t  sum;

    if (__atomic_load_n(&slot->id, __ATOMIC_SEQ_CST) != id) {
        return false;
    }

    *stall = slot->stall;
    sum = slot->sum;

    return sum == jpp_hash_bytes(stall, sizeof(jpp_stall_t))
           && __atomic_load_n(&slot->id, __ATOMIC_SEQ_CST) == id;
}


size_t
jpp_stall_table_list(const jpp_stall_table_t *table,
    jpp_stall_t stalls[JPP_STALLS])
{
    size_t    n;
    uint64_t  id, newest;

    newest = __atomic_load_n(&table->n, __ATOMIC_RELAXED);

    for (n = 0, id = newest; id != 0 && newest - id < JPP_STALLS; id--) {

        if (jpp_stall_table_get(&table->slots[id % JPP_STALLS], id,
                                &stalls[n]))
        {
            n++;
        }
    }

    return n;
}


bool
jpp_stall_table_may_log(jpp_stall_table_t *table, uint64_t minute,
    uint64_t *silent)
{
    if (__atomic_exchange_n(&table->minute, minute, __ATOMIC_RELAXED)
        != minute)
    {
        __atomic_store_n(&table->n_lines, 0, __ATOMIC_RELAXED);
    }

    if (__atomic_add_fetch(&table->n_lines, 1, __ATOMIC_RELAXED)
        <= JPP_STALL_LINES)
    {
        *silent = __atomic_exchange_n(&table->n_silent, 0, __ATOMIC_RELAXED);
        return true;
    }

    (void) __atomic_add_fetch(&table->n_silent, 1, __ATOMIC_RELAXED);

    return false;
}
