
/*
 * The sampled objects that are live: from the address to where it was
 * allocated, and its size.
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


#ifndef _JPP_SAMPLES_LIVE_H_INCLUDED_
#define _JPP_SAMPLES_LIVE_H_INCLUDED_


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


/* the table of 2^lg places begins at place 2^lg */
#define JPP_LIVE_LG_MIN    12
#define JPP_LIVE_LG_MAX    17
#define JPP_LIVE_WINDOW    16
#define JPP_LIVE_PLACES    ((2u << JPP_LIVE_LG_MAX) + JPP_LIVE_WINDOW)

/* how many it takes: half of the places, so that few windows are full */
#define JPP_LIVE_MAX       (1u << JPP_LIVE_LG_MAX)

/* bytes of memory that it works in */
#define JPP_LIVE_MEMORY    (JPP_LIVE_PLACES * 2 * sizeof(uint64_t))

/* an object in a word: the size in 40 bits, larger ones cut; the site in 24 */
#define JPP_LIVE_SIZE      40
#define JPP_LIVE_SIZE_MAX  (((uint64_t) 1 << JPP_LIVE_SIZE) - 1)

#define jpp_live_site(object)  ((uint32_t) ((object) >> JPP_LIVE_SIZE))
#define jpp_live_size(object)  ((object) & JPP_LIVE_SIZE_MAX)


/* zeroed until jpp_live_init() */
typedef struct {
    uint8_t      filter[1 << 16];   /* how many of a hash; 192: or more */
    uint32_t     lg;                /* of the largest table in use */
    int64_t      n;                 /* less those that a clear overtook */
    uint64_t     n_dropped;
    uintptr_t   *addresses;         /* 0: free, 1: being filled */
    uint64_t    *objects;
} jpp_live_t;


/* Called for each object. */
typedef void (*jpp_live_visit_pt)(uint64_t object, void *data);


/* LIVE is empty, and works in the JPP_LIVE_MEMORY bytes at MEMORY. */
void jpp_live_init(jpp_live_t *live, void *memory);

/*
 * Forget all objects.  One that another thread adds meanwhile may stay, in a
 * table that is otherwise as new.
 */
void jpp_live_clear(jpp_live_t *live);

/*
 * Add OBJECT at ADDRESS; one that is there already was freed unseen, and is
 * replaced.  Returns its place; 0: there is no room, and it was dropped.
 */
uint32_t jpp_live_add(jpp_live_t *live, uintptr_t address, uint64_t object);

/* Take out what is at ADDRESS, whatever the filter says; false: nothing. */
bool jpp_live_take(jpp_live_t *live, uintptr_t address, uint64_t *object);

/* If what is at ADDRESS, in PLACE, is still OBJECT, it becomes NOW. */
void jpp_live_replace(jpp_live_t *live, uint32_t place, uintptr_t address,
    uint64_t object, uint64_t now);

/* Call VISIT with every object. */
void jpp_live_walk(const jpp_live_t *live, jpp_live_visit_pt visit,
    void *data);

/* How many objects there are. */
uint64_t jpp_live_count(const jpp_live_t *live);

/* Bytes of memory that are in use, as far as pages go. */
size_t jpp_live_bytes(const jpp_live_t *live);


static inline uint64_t
jpp_live_object(uint32_t site, uint64_t size)
{
    return (uint64_t) site << JPP_LIVE_SIZE
           | (size < JPP_LIVE_SIZE_MAX ? size : JPP_LIVE_SIZE_MAX);
}


static inline uint64_t
jpp_live_hash(uintptr_t address)
{
    return (uint64_t) address * 0x9e3779b97f4a7c15u;
}


/* False: ADDRESS is certainly not in LIVE. */
static inline bool
jpp_live_may_have(const jpp_live_t *live, uintptr_t address)
{
    return __atomic_load_n(&live->filter[jpp_live_hash(address) >> 48],
                           __ATOMIC_RELAXED)
           != 0;
}


#endif /* _JPP_SAMPLES_LIVE_H_INCLUDED_ */
