
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

        if (jpp_atomic_cmp_set(&jpp_own[i].start, &none, (uintptr_t) p)) {
            jpp_atomic_set(&jpp_own[i].size, size);
            return;
        }
    }
}


void
jpp_own_remove(const void *p)
{
    size_t  i;

    for (i = 0; i < JPP_OWN_MAPPINGS; i++) {
        if (jpp_atomic_get(&jpp_own[i].start) == (uintptr_t) p) {
            jpp_atomic_set(&jpp_own[i].size, 0);
            jpp_atomic_set(&jpp_own[i].start, 0);
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
        start = jpp_atomic_get(&jpp_own[i].start);
        size = jpp_atomic_get(&jpp_own[i].size);

        if (start != 0 && size != 0) {
            list[n].start = start;
            list[n++].size = size;
        }
    }

    return n;
}
