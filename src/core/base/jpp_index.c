
#include "jpp_index.h"
#include "jpp_units.h"


#define JPP_INDEX_MIN  256


void
jpp_index_init(jpp_index_t *index, jpp_arena_t *arena)
{
    static const jpp_slot_t  free_slot;

    index->arena = arena;
    index->vec = NULL;
    index->slots = &free_slot;
    index->mask = 0;
    index->n = 0;
}


static void
jpp_index_put(jpp_slot_t *slots, uint32_t mask, uint32_t hash, uint32_t id)
{
    uint32_t  i;

    for (i = hash & mask; slots[i].id != 0; i = (i + 1) & mask) { /* void */ }

    slots[i].hash = hash;
    slots[i].id = id;
}


static bool
jpp_index_resize(jpp_index_t *index, size_t size)
{
    size_t       i;
    jpp_vec_t   *vec;
    jpp_slot_t  *slots;

    vec = jpp_vec_create(index->arena);
    slots = vec != NULL ? jpp_vec_push(vec, size * sizeof(jpp_slot_t)) : NULL;

    if (slots == NULL) {
        return false;
    }

    for (i = 0; i <= index->mask; i++) {
        if (index->slots[i].id != 0) {
            jpp_index_put(slots, (uint32_t) (size - 1), index->slots[i].hash,
                          index->slots[i].id);
        }
    }

    jpp_vec_release(index->vec);

    index->vec = vec;
    index->slots = slots;
    index->mask = (uint32_t) (size - 1);

    return true;
}


bool
jpp_index_expect(jpp_index_t *index, uint64_t n)
{
    size_t  size;

    for (size = jpp_larger(JPP_INDEX_MIN, (uint64_t) index->mask + 1);
         size / 4 * 3 < n && size <= UINT32_MAX / 2;
         size *= 2)
    {
        /* void */
    }

    return size == (size_t) index->mask + 1 || jpp_index_resize(index, size);
}


bool
jpp_index_add(jpp_index_t *index, uint32_t hash, uint32_t id)
{
    if (!jpp_index_expect(index, (uint64_t) index->n + 1)) {
        return false;
    }

    jpp_index_put(jpp_vec_items(index->vec, jpp_slot_t), index->mask, hash, id);
    index->n++;

    return true;
}


uint32_t
jpp_hash_bytes(const void *data, size_t len)
{
    uint64_t        a, b, word[2];
    const uint8_t  *p;

    /* two chains of multiplications, as each waits for its own last result */

    a = 0x9e3779b97f4a7c15ULL ^ (uint64_t) len << 32;
    b = 0;

    for (p = data; len >= 16; p += 16, len -= 16) {
        memcpy(word, p, 16);

        a = (a ^ word[0]) * 0xff51afd7ed558ccdULL;
        b = (b ^ word[1]) * 0xc4ceb9fe1a85ec53ULL;
        a ^= a >> 32;
        b ^= b >> 32;
    }

    /* the rest, in words of which some may have been hashed already */

    if (p != data) {
        memcpy(word, p + len - 16, 16);

    } else {
        word[0] = 0;
        word[1] = 0;
        memcpy(word, p, len);
    }

    return (uint32_t) jpp_hash_u64((a ^ word[0]) + jpp_hash_u64(b ^ word[1]));
}
