
/* The set of addresses that this module has mapped itself. */


#include "jpp_arena.h"


/* a start of 0: free; a size of 0: being filled */
static jpp_own_t  jpp_own[JPP_OWN_MAPPINGS];


void
jpp_own_add(const void *p, size_t size)
{
    size_t     i;
    uintptr_t  none;

    for (i = 0; i < JPP_OWN_MAPPINGS; i++) {
        none = 0;

        if (__atomic_compare_exchange_n(&jpp_own[i].start, &none,
                                        (uintptr_t) p, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        {
            __atomic_store_n(&jpp_own[i].size, size, __ATOMIC_RELEASE);
            return;
        }
    }
}


void
jpp_own_remove(const void *p)
{
    size_t  i;

    for (i = 0; i < JPP_OWN_MAPPINGS; i++) {

        if (__atomic_load_n(&jpp_own[i].start, __ATOMIC_ACQUIRE)
            == (uintptr_t) p)
        {
            __atomic_store_n(&jpp_own[i].size, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&jpp_own[i].start, 0, __ATOMIC_RELEASE);
            return;
        }
    }
}


size_t
jpp_own_list(jpp_own_t list[JPP_OWN_MAPPINGS])
{
    size_t     i, n, size;
    uintptr_t  start;

    for (i = 0, n = 0; i < JPP_OWN_MAPPINGS; i++) {
        start = __atomic_load_n(&jpp_own[i].start, __ATOMIC_ACQUIRE);
        size = __atomic_load_n(&jpp_own[i].size, __ATOMIC_ACQUIRE);

        if (start != 0 && size != 0) {
            list[n].start = start;
            list[n++].size = size;
        }
    }

    return n;
}
