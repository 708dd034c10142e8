
/*
 * A hash index of items stored elsewhere: slots of (hash, id), open addressing,
 * ids from 1.  The caller keeps the items, computes the hashes and compares;
 * the index only narrows the search.  It never reads an item, so it can grow
 * without the caller.
 *
 *     pos = hash;
 *     while ((id = jpp_index_next(index, hash, &pos)) != 0) {
 *         if (equal(id, what)) { return id; }
 *     }
 *
 * One thread at a time; memory from the arena.
 */


#ifndef _JPP_INDEX_H_INCLUDED_
#define _JPP_INDEX_H_INCLUDED_


#include "jpp_arena.h"


typedef struct {
    uint32_t       hash;
    uint32_t       id;             /* 0: free */
} jpp_slot_t;


typedef struct {
    jpp_arena_t       *arena;
    jpp_vec_t         *vec;
    const jpp_slot_t  *slots;      /* those of VEC, or a free one */
    uint32_t           mask;
    uint32_t           n;
} jpp_index_t;


/* An empty index.  Takes memory when something is added. */
void jpp_index_init(jpp_index_t *index, jpp_arena_t *arena);

/*
 * Make room for N ids at once, to avoid growing step by step; false: no
 * memory.
 */
bool jpp_index_expect(jpp_index_t *index, uint64_t n);

/* Add ID under HASH, even if it is there already; false: no memory. */
bool jpp_index_add(jpp_index_t *index, uint32_t hash, uint32_t id);


/* The next id stored under HASH, or 0; *POS starts as HASH. */
static inline uint32_t
jpp_index_next(const jpp_index_t *index, uint32_t hash, uint32_t *pos)
{
    const jpp_slot_t  *slot;

    for ( ;; ) {
        slot = &index->slots[(*pos)++ & index->mask];

        if (slot->id == 0 || slot->hash == hash) {
            return slot->id;
        }
    }
}


/* Prefetch the first slot of a search for HASH. */
static inline void
jpp_index_prefetch(const jpp_index_t *index, uint32_t hash)
{
    __builtin_prefetch(&index->slots[hash & index->mask], 1);
}


/* Mixes 64 bits so that every bit of the result depends on every input bit. */
static inline uint64_t
jpp_hash_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xe9846af9b1a615dULL;
    x ^= x >> 32;
    x *= 0xe9846af9b1a615dULL;
    x ^= x >> 28;

    return x;
}


/* The hash of LEN bytes. */
uint32_t jpp_hash_bytes(const void *data, size_t len);

/* The same of the few bytes of a key, whose LEN is a constant. */
static inline uint32_t
jpp_hash_key(const void *key, size_t len)
{
    uint64_t  words[2] = { 0, 0 };

    if (len > sizeof(words)) {
        return jpp_hash_bytes(key, len);
    }

    memcpy(words, key, len);

    return (uint32_t) jpp_hash_u64(words[0] + words[1] * 0x9e3779b97f4a7c15u);
}


/*
 * For items of SIZE bytes in a vector, which are told apart by their first KEY
 * bytes, both constants: the id of the one that is like ITEM, its place from 1.
 * 0: there is none.
 */
static inline uint32_t
jpp_index_find(const jpp_index_t *index, const jpp_vec_t *items,
    const void *item, size_t size, size_t key)
{
    uint32_t  id, hash, pos;

    hash = jpp_hash_key(item, key);
    pos = hash;

    while ((id = jpp_index_next(index, hash, &pos)) != 0) {
        if (memcmp(items->data + (id - 1) * size, item, key) == 0) {
            break;
        }
    }

    return id;
}


/* The same; where there is none, ITEM becomes one.  0: no memory. */
static inline uint32_t
jpp_index_intern(jpp_index_t *index, jpp_vec_t *items, const void *item,
    size_t size, size_t key)
{
    void      *p;
    uint32_t   id;

    id = jpp_index_find(index, items, item, size, key);
    if (id != 0) {
        return id;
    }

    p = jpp_vec_push(items, size);
    if (p == NULL) {
        return 0;
    }

    memcpy(p, item, size);
    id = (uint32_t) (items->len / size);

    return jpp_index_add(index, jpp_hash_key(item, key), id) ? id : 0;
}


/*
 * Sorts in place.  For large arrays libc's qsort() calls malloc(), whose heap
 * is being measured.
 */

/* < 0, 0, > 0: A belongs before, beside or after B. */
typedef int (*jpp_sort_cmp_pt)(const void *a, const void *b, void *ctx);

/*
 * Sort N elements of SIZE bytes at BASE.  The order of equal ones is
 * undefined.
 */
void jpp_sort(void *base, size_t n, size_t size, jpp_sort_cmp_pt cmp,
    void *ctx);


/* For comparisons: the smaller of two numbers is the first. */
static inline int
jpp_sort_order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}


static inline int
jpp_sort_order_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}


#endif /* _JPP_INDEX_H_INCLUDED_ */
