
/*
 * The live sampled objects: a map from an address to the allocation site, the
 * size, and the second of the allocation.
 *
 * A filter of one byte for each of 65,536 hashes says that an address is not
 * there, which is all that most calls of free() take.  Otherwise an object lies
 * in one of several tables, each twice as large as the one before it, somewhere
 * in a window of sixteen places that starts where the hash of the address says.
 * The next table is used where windows of the others are full.  No object is
 * ever moved, and no two depend on each other, so that each operation is one
 * compare-and-swap: there is no lock to be held by a thread that a signal, a
 * fork or a debugger has stopped.
 *
 * Everything but jpp_live_init() is [signal], and for any thread.  Memory is
 * the caller's, zeroed pages of which only those in use are touched.
 */


#include "jpp_samples.h"


/* no address of an object */
#define JPP_LIVE_FREE    0
#define JPP_LIVE_FILLED  1

/* not counted any further, far from where as many threads as there are could
   make a byte overflow at once */
#define JPP_LIVE_MANY    192


void
jpp_live_init(jpp_live_t *live, void *memory)
{
    live->addresses = memory;
    live->objects = (uint64_t *) memory + JPP_LIVE_PLACES;
    live->births = (uint32_t *) (live->objects + JPP_LIVE_PLACES);
    live->lg = JPP_LIVE_LG_MIN;
}


/*
 * Pages that are given back are zeros when they are touched again.  Tables in
 * use remain so: a thread may be about to add to one.
 */

void
jpp_live_clear(jpp_live_t *live)
{
    if (madvise(live->addresses, JPP_LIVE_MEMORY, MADV_DONTNEED) == -1) {
        memset(live->addresses, 0, JPP_LIVE_MEMORY);
    }

    memset(live->filter, 0, sizeof(live->filter));

    jpp_atomic_set(&live->n, 0);
    jpp_atomic_set(&live->n_dropped, 0);
}


/*
 * Objects of an array have addresses in steps, some of which a multiplication
 * puts side by side: good enough for the filter, but not here.
 */

static inline uintptr_t *
jpp_live_window(const jpp_live_t *live, uintptr_t address, uint32_t lg)
{
    return live->addresses + ((size_t) 1 << lg)
           + (jpp_hash_u64(address) >> (64 - lg));
}


static uintptr_t *
jpp_live_find(const jpp_live_t *live, uintptr_t address)
{
    uint32_t    i, lg, max;
    uintptr_t  *window;

    max = jpp_atomic_get(&live->lg);

    for (lg = JPP_LIVE_LG_MIN; lg <= max; lg++) {
        window = jpp_live_window(live, address, lg);

        for (i = 0; i < JPP_LIVE_WINDOW; i++) {
            if (jpp_atomic_get(&window[i]) == address) {
                return &window[i];
            }
        }
    }

    return NULL;
}


/* A free place of the address's windows, which is ours from now on. */

static uintptr_t *
jpp_live_place(jpp_live_t *live, uintptr_t address)
{
    uint32_t    i, lg, before;
    uintptr_t   free, *window;

    if (jpp_atomic_get(&live->n) >= JPP_LIVE_MAX) {
        return NULL;
    }

    for (lg = JPP_LIVE_LG_MIN; lg <= JPP_LIVE_LG_MAX; lg++) {

        /* before it is used, so that a search looks there */

        before = lg - 1;
        (void) jpp_atomic_cmp_set(&live->lg, &before, lg);

        window = jpp_live_window(live, address, lg);

        for (i = 0; i < JPP_LIVE_WINDOW; i++) {
            free = JPP_LIVE_FREE;

            if (jpp_atomic_get(&window[i]) == free
                && jpp_atomic_cmp_set(&window[i], &free, JPP_LIVE_FILLED))
            {
                return &window[i];
            }
        }
    }

    return NULL;
}


static inline uint32_t
jpp_live_fill(jpp_live_t *live, const uintptr_t *place, uint64_t object)
{
    size_t  i;

    i = (size_t) (place - live->addresses);

    jpp_atomic_set(&live->objects[i], object);
    jpp_atomic_set(&live->births[i], jpp_atomic_get(&live->now));

    return (uint32_t) i;
}


/* Where so many objects share a hash, it is looked for them ever after. */

static inline void
jpp_live_counted(jpp_live_t *live, uintptr_t address, int change)
{
    uint8_t  now, *count;

    count = &live->filter[jpp_live_hash(address) >> 48];
    now = jpp_atomic_get(count);

    if (now < JPP_LIVE_MANY && (now != 0 || change > 0)) {
        jpp_atomic_add(count, (uint8_t) change);
    }

    jpp_atomic_add(&live->n, change);
}


uint32_t
jpp_live_add(jpp_live_t *live, uintptr_t address, uint64_t object)
{
    uint32_t    i;
    uintptr_t  *place;

    if (jpp_live_may_have(live, address)) {
        place = jpp_live_find(live, address);

        if (place != NULL) {
            return jpp_live_fill(live, place, object);
        }
    }

    place = jpp_live_place(live, address);

    if (place == NULL) {
        jpp_atomic_add(&live->n_dropped, 1);
        return 0;
    }

    i = jpp_live_fill(live, place, object);

    jpp_live_counted(live, address, 1);

    jpp_atomic_set(place, address);

    return i;
}


bool
jpp_live_take(jpp_live_t *live, uintptr_t address, uint64_t *object)
{
    uintptr_t  *place;

    if (address <= JPP_LIVE_FILLED) {
        return false;
    }

    place = jpp_live_find(live, address);

    if (place == NULL) {
        return false;
    }

    *object = jpp_atomic_get(&live->objects[place - live->addresses]);

    if (!jpp_atomic_cmp_set(place, &address, JPP_LIVE_FREE)) {
        return false;
    }

    jpp_live_counted(live, address, -1);

    return true;
}


void
jpp_live_replace(jpp_live_t *live, uint32_t place, uintptr_t address,
    uint64_t object, uint64_t now)
{
    if (jpp_atomic_get(&live->addresses[place]) == address) {
        (void) jpp_atomic_cmp_set(&live->objects[place], &object, now);
    }
}


void
jpp_live_walk(const jpp_live_t *live, jpp_live_visit_pt visit, void *data)
{
    size_t  i, n;

    n = ((size_t) 2 << jpp_atomic_get(&live->lg)) + JPP_LIVE_WINDOW;

    for (i = (size_t) 1 << JPP_LIVE_LG_MIN; i < n; i++) {
        if (jpp_atomic_get(&live->addresses[i]) > JPP_LIVE_FILLED) {
            visit(jpp_atomic_get(&live->objects[i]),
                  jpp_atomic_get(&live->births[i]), data);
        }
    }
}


uint64_t
jpp_live_count(const jpp_live_t *live)
{
    int64_t  n;

    n = jpp_atomic_get(&live->n);

    return n > 0 ? (uint64_t) n : 0;
}


size_t
jpp_live_bytes(const jpp_live_t *live)
{
    return sizeof(live->filter)
           + (((size_t) 2 << jpp_atomic_get(&live->lg))
              + JPP_LIVE_WINDOW - ((size_t) 1 << JPP_LIVE_LG_MIN))
             * JPP_LIVE_PLACE;
}
