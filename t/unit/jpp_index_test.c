
#include "jpp_test_main.h"
#include "jpp_index.h"
#include "jpp_test_arena.h"


static jpp_index_t  ids;


void
jpp_before_each(void)
{
    jpp_index_init(&ids, &arena);
}


/* How many ids are there under HASH? */

static uint32_t
jpp_count(uint32_t hash)
{
    uint32_t  pos, n;

    pos = hash;

    for (n = 0; jpp_index_next(&ids, hash, &pos) != 0; n++) { /* void */ }

    return n;
}


static bool
jpp_holds(uint32_t hash, uint32_t id)
{
    uint32_t  pos, found;

    pos = hash;

    do {
        found = jpp_index_next(&ids, hash, &pos);
    } while (found != 0 && found != id);

    return found == id;
}


JPP_TEST(jpp_test_add)
{
    size_t       wrong;
    uint32_t     id;

    enum { N = 200000 };

    jpp_is_u64(jpp_count(0), 0, "an index holds nothing");
    jpp_is_u64(arena.n_calls, 0, "and needs no memory");

    for (id = 1, wrong = 0; id <= N; id++) {
        wrong += !jpp_index_add(&ids, (uint32_t) jpp_hash_u64(id), id);
    }

    jpp_is_u64(wrong, 0, "%d ids", N);
    jpp_is_u64(ids.n, N, "are counted");

    for (id = 1, wrong = 0; id <= N; id++) {
        wrong += !jpp_holds((uint32_t) jpp_hash_u64(id), id);
        wrong += jpp_holds((uint32_t) jpp_hash_u64(id), id + N);
    }

    jpp_is_u64(wrong, 0, "all ids are found, and no others");
    jpp_ok(arena.mapped < (size_t) N * sizeof(jpp_slot_t) * 4,
           "tables outgrown are given back");
}


/* Ids under one hash are found in the order of their insertion. */

JPP_TEST(jpp_test_collisions)
{
    size_t       k, wrong;
    uint32_t     id, pos;

    static const uint32_t  hashes[] = {
        0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff
    };

    for (k = 0; k < sizeof(hashes) / sizeof(hashes[0]); k++) {

        jpp_test_begin();
        wrong = !jpp_index_expect(&ids, 1000);

        for (id = 1; id <= 500; id++) {
            wrong += !jpp_index_add(&ids, hashes[k], id);
        }

        for (id = 1, pos = hashes[k]; id <= 500; id++) {
            wrong += jpp_index_next(&ids, hashes[k], &pos) != id;
        }

        wrong += jpp_index_next(&ids, hashes[k], &pos) != 0;

        jpp_is_u64(wrong, 0, "500 ids under hash 0x%x, in order", hashes[k]);
        jpp_is_u64(jpp_count(hashes[k] ^ 2), 0, "no id under another hash");

        for (id = 501; id <= 5000; id++) {
            wrong += !jpp_index_add(&ids, hashes[k], id);
        }

        jpp_is_u64(jpp_count(hashes[k]), 5000, "5000 after growing");
        jpp_is_u64(wrong, 0, "and no failure");
    }
}


JPP_TEST(jpp_test_room)
{
    size_t       k, wrong;
    uint32_t     id;
    uint64_t     n_calls;

    static const uint32_t  sizes[] = { 0, 1, 191, 192, 193, 384, 385, 100000 };

    for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {

        jpp_test_begin();
        wrong = !jpp_index_expect(&ids, sizes[k]);
        n_calls = arena.n_calls;

        for (id = 1; id <= sizes[k]; id++) {
            wrong += !jpp_index_add(&ids, id * 2654435761u, id);
        }

        jpp_ok(wrong == 0 && arena.n_calls == n_calls,
               "room for %u ids is room for them", sizes[k]);
    }

    jpp_test_begin();
    jpp_ok(!jpp_index_expect(&ids, UINT32_MAX), "too many for the cap");
}


/* A failure to grow leaves what is there, and the next try may succeed. */

JPP_TEST(jpp_test_fail_at)
{
    size_t       wrong;
    uint32_t     id;
    uint64_t     n, n_calls;

    n_calls = 1;

    for (n = 1; n <= n_calls; n++) {

        jpp_test_begin();
        arena.fail_at = n;

        for (id = 1, wrong = 0; id <= 2000; id++) {

            if (!jpp_index_add(&ids, id * 2654435761u, id)) {
                wrong++;
                wrong += jpp_holds(id * 2654435761u, id);
                wrong += !jpp_index_add(&ids, id * 2654435761u, id);
            }
        }

        jpp_is_u64(wrong, 1, "call %" PRIu64 ": one add fails", n);
        n_calls = arena.n_calls - 2;

        for (id = 1, wrong = 0; id <= 2000; id++) {
            wrong += !jpp_holds(id * 2654435761u, id);
        }

        jpp_is_u64(wrong, 0, "and nothing is lost");
    }
}


JPP_TEST(jpp_test_hash_bytes)
{
    size_t    i, len, wrong;
    uint32_t  hash;
    uint8_t   data[64], moved[80];

    for (i = 0; i < sizeof(data); i++) {
        data[i] = (uint8_t) (i * 7 + 3);
    }

    for (len = 0, wrong = 0; len <= sizeof(data); len++) {
        hash = jpp_hash_bytes(data, len);

        for (i = 0; i < 16; i++) {
            memcpy(moved + i, data, len);
            wrong += jpp_hash_bytes(moved + i, len) != hash;
        }

        for (i = 0; i < len; i++) {
            data[i] ^= 1;
            wrong += jpp_hash_bytes(data, len) == hash;
            data[i] ^= 1;
        }

        wrong += len != 0 && jpp_hash_bytes(data, len - 1) == hash;
    }

    jpp_is_u64(wrong, 0, "every byte and the length count, the place does not");

    memset(data, 0, sizeof(data));

    for (len = 1, wrong = 0; len <= sizeof(data); len++) {
        wrong += jpp_hash_bytes(data, len) == jpp_hash_bytes(data, len - 1);
    }

    jpp_is_u64(wrong, 0, "zeros of different lengths differ");
}


/* Addresses are multiples of 16: their hashes must fill low bits evenly. */

JPP_TEST(jpp_test_hash_u64)
{
    uint64_t         i;
    uint32_t         most;
    static uint32_t  buckets[4096];

    for (i = 0, most = 0; i < 10 * 4096; i++) {
        most = most > ++buckets[jpp_hash_u64(i * 16) & 4095]
               ? most : buckets[jpp_hash_u64(i * 16) & 4095];
    }

    /* a Poisson of mean 10 passes 35 once in 10^9 */

    jpp_ok(most < 35, "the fullest of 4096 buckets has %u of 40960", most);
}
