
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "jpp_arena.h"
#include "jpp_test.h"


#define JPP_KIB    ((size_t) 1024)
#define JPP_BLOCK  (64 * JPP_KIB)
#define JPP_MIB    (1024 * JPP_KIB)


static size_t jpp_process_size(void);
static bool jpp_is_zero(const void *data, size_t len);
static void jpp_test_alloc(void);
static void jpp_test_large(void);
static void jpp_test_strndup(void);
static void jpp_test_cap(void);
static void jpp_test_vec(void);
static void jpp_test_vec_cap(void);
static void jpp_test_release(void);
static unsigned jpp_script(jpp_arena_t *arena);
static void jpp_test_fail_at(void);


int
main(void)
{
    size_t  before;

    jpp_ok(true, "stdio has its buffer");

    before = jpp_process_size();

    jpp_test_alloc();
    jpp_test_large();
    jpp_test_strndup();
    jpp_test_cap();
    jpp_test_vec();
    jpp_test_vec_cap();
    jpp_test_release();
    jpp_test_fail_at();

    jpp_is_u64(jpp_process_size(), before, "nothing is mapped any more");

    return jpp_done();
}


/* Pages of address space.  No stdio: it may map a buffer. */

static size_t
jpp_process_size(void)
{
    int      fd;
    char     text[64];
    ssize_t  n;

    fd = open("/proc/self/statm", O_RDONLY);
    n = read(fd, text, sizeof(text) - 1);
    close(fd);

    text[n > 0 ? n : 0] = '\0';

    return strtoul(text, NULL, 10);
}


static bool
jpp_is_zero(const void *data, size_t len)
{
    size_t          i;
    const uint8_t  *p;

    p = data;

    for (i = 0; i < len && p[i] == 0; i++) { /* void */ }

    return i == len;
}


/* Every piece is filled: one that overlaps another is not zero. */

static void
jpp_test_alloc(void)
{
    size_t       size, wrong;
    uint8_t     *p;
    jpp_arena_t  arena;

    jpp_arena_init(&arena, 16 * JPP_MIB);
    jpp_is_u64(arena.mapped, 0, "an arena starts with nothing mapped");

    jpp_ok(jpp_arena_alloc(&arena, 0) != NULL, "0 bytes are no failure");

    wrong = 0;

    for (size = 0; size < 3000; size++) {
        p = jpp_arena_alloc(&arena, size);

        if (p == NULL || (uintptr_t) p % 16 != 0 || !jpp_is_zero(p, size)) {
            wrong++;
            continue;
        }

        memset(p, 0xff, size);
    }

    jpp_is_u64(wrong, 0, "0 to 2999 bytes: aligned, zero, apart");
    jpp_is_u64(arena.n_calls, 3001, "calls are counted");

    jpp_arena_destroy(&arena);
    jpp_is_u64(arena.mapped, 0, "nothing is mapped after destroy");
    jpp_ok(arena.peak >= 3000 * 2999 / 2, "the peak is remembered");

    jpp_arena_destroy(&arena);
    jpp_ok(true, "a second destroy does no harm");

    jpp_arena_init(&arena, JPP_MIB);
    jpp_ok(jpp_arena_alloc(&arena, 1) != NULL, "an arena can be used again");
    jpp_arena_destroy(&arena);
}


static void
jpp_test_large(void)
{
    uint8_t     *small, *large, *next;
    jpp_arena_t  arena;

    jpp_arena_init(&arena, 4 * JPP_MIB);

    small = jpp_arena_alloc(&arena, 1);
    large = jpp_arena_alloc(&arena, JPP_MIB + 1);
    next = jpp_arena_alloc(&arena, 1);

    jpp_ok(large != NULL && (uintptr_t) large % 16 == 0
           && jpp_is_zero(large, JPP_MIB + 1),
           "a large piece is aligned and zero");
    memset(large, 0xff, JPP_MIB + 1);

    jpp_ok(next == small + 16, "a large piece leaves the block in use");

    large = jpp_arena_alloc(&arena, JPP_BLOCK);
    jpp_ok(large != NULL && jpp_is_zero(large, JPP_BLOCK),
           "a piece as large as a block");
    memset(large, 0xff, JPP_BLOCK);

    jpp_arena_destroy(&arena);
}


static void
jpp_test_strndup(void)
{
    char        *p;
    jpp_arena_t  arena;

    jpp_arena_init(&arena, JPP_MIB);

    p = jpp_arena_strndup(&arena, "worker process", 6);
    jpp_is_str(p, "worker", "a copy ends with a NUL");

    p = jpp_arena_strndup(&arena, NULL, 0);
    jpp_is_str(p, "", "a copy of nothing");

    p = jpp_arena_strndup(&arena, "a\0b", 3);
    jpp_is_mem(p, "a\0b", 4, "a copy with a NUL in it");

    jpp_arena_destroy(&arena);
}


static void
jpp_test_cap(void)
{
    size_t       n;
    jpp_arena_t  arena;

    jpp_arena_init(&arena, JPP_BLOCK);

    for (n = 0; jpp_arena_alloc(&arena, 16) != NULL; n++) { /* void */ }

    jpp_is_u64(n, JPP_BLOCK / 16 - 1, "a cap of one block is used up");
    jpp_is_u64(arena.mapped, JPP_BLOCK, "and is what is mapped");
    jpp_arena_destroy(&arena);

    jpp_arena_init(&arena, JPP_BLOCK - 1);
    jpp_ok(jpp_arena_alloc(&arena, 1) == NULL, "no block above the cap");
    jpp_is_u64(arena.mapped, 0, "and nothing mapped");
    jpp_arena_destroy(&arena);

    jpp_arena_init(&arena, JPP_MIB);
    jpp_ok(jpp_arena_alloc(&arena, JPP_MIB - 16) != NULL, "at the cap");
    jpp_ok(jpp_arena_alloc(&arena, 1) == NULL, "one past it");
    jpp_arena_destroy(&arena);

    jpp_arena_init(&arena, JPP_MIB);
    jpp_ok(jpp_arena_alloc(&arena, JPP_MIB - 15) == NULL, "above the cap");
    jpp_ok(jpp_arena_alloc(&arena, JPP_MIB + 1) == NULL, "and more");
    jpp_ok(jpp_arena_alloc(&arena, SIZE_MAX - 7) == NULL, "almost SIZE_MAX");
    jpp_ok(jpp_arena_alloc(&arena, SIZE_MAX) == NULL, "SIZE_MAX");
    jpp_ok(jpp_arena_alloc(&arena, 1) != NULL, "and then one byte");
    jpp_arena_destroy(&arena);

    jpp_arena_init(&arena, 0);
    jpp_ok(jpp_arena_alloc(&arena, 1) == NULL, "a cap of 0");
    jpp_arena_destroy(&arena);
}


/* Two vectors in turns, so that they must move out of each other's way. */

static void
jpp_test_vec(void)
{
    size_t       i, wrong;
    uint32_t    *a, *b;
    jpp_vec_t   *one, *two;
    jpp_arena_t  arena;

    enum { N = 600000 };

    jpp_arena_init(&arena, 16 * JPP_MIB);

    one = jpp_vec_create(&arena);
    two = jpp_vec_create(&arena);
    wrong = 0;

    for (i = 0; i < N; i++) {
        a = jpp_vec_push(one, sizeof(uint32_t));
        b = jpp_vec_push(two, sizeof(uint32_t));

        if (a == NULL || b == NULL || *a != 0 || *b != 0) {
            wrong++;
            break;
        }

        *a = (uint32_t) i;
        *b = ~(uint32_t) i;
    }

    jpp_is_u64(wrong, 0, "what is pushed is zero");
    jpp_is_u64(jpp_vec_count(one, uint32_t), N, "the count of elements");

    for (i = 0; i < N; i++) {
        wrong += jpp_vec_items(one, uint32_t)[i] != (uint32_t) i;
        wrong += jpp_vec_items(two, uint32_t)[i] != ~(uint32_t) i;
    }

    jpp_is_u64(wrong, 0, "growing keeps the contents");
    jpp_is_u64(arena.mapped, one->size + two->size + JPP_BLOCK,
               "what is mapped is counted");

    i = one->len;
    jpp_ok(jpp_vec_reserve(one, JPP_MIB) == one->data + i && one->len == i,
           "reserving leaves the length");

    jpp_arena_destroy(&arena);
}


static void
jpp_test_vec_cap(void)
{
    void        *p;
    jpp_vec_t   *vec;
    jpp_arena_t  arena;

    /* room for one block and eight pages */

    jpp_arena_init(&arena, JPP_BLOCK + 32 * JPP_KIB);
    vec = jpp_vec_create(&arena);

    jpp_ok(jpp_vec_push(vec, 32 * JPP_KIB) != NULL, "a vector at the cap");
    jpp_is_u64(arena.mapped, arena.cap, "the cap is mapped");
    jpp_ok(jpp_vec_push(vec, 1) == NULL, "one past it");
    jpp_is_u64(vec->len, 32 * JPP_KIB, "a failure leaves the length");
    jpp_ok(jpp_vec_reserve(vec, SIZE_MAX) == NULL, "SIZE_MAX");
    jpp_arena_destroy(&arena);

    /* doubling does not fit, what is asked for does */

    jpp_arena_init(&arena, JPP_BLOCK + 32 * JPP_KIB);
    vec = jpp_vec_create(&arena);

    p = jpp_vec_push(vec, 20 * JPP_KIB);
    memset(p, 0x55, 20 * JPP_KIB);

    p = jpp_vec_push(vec, 12 * JPP_KIB);

    jpp_ok(p != NULL && jpp_is_zero(p, 12 * JPP_KIB),
           "a vector grows to the cap where doubling would pass it");
    jpp_ok(vec->data[0] == 0x55 && vec->data[20 * JPP_KIB - 1] == 0x55,
           "and keeps its contents");
    jpp_ok(jpp_vec_push(vec, 1) == NULL, "and stops there");
    jpp_arena_destroy(&arena);

    jpp_arena_init(&arena, JPP_BLOCK - 1);
    jpp_ok(jpp_vec_create(&arena) == NULL, "no vector without a block");
    jpp_arena_destroy(&arena);
}


static void
jpp_test_release(void)
{
    size_t       mapped, size;
    jpp_vec_t   *one, *two, *three;
    jpp_arena_t  arena;

    jpp_arena_init(&arena, 16 * JPP_MIB);

    one = jpp_vec_create(&arena);
    two = jpp_vec_create(&arena);
    three = jpp_vec_create(&arena);

    *(uint8_t *) jpp_vec_push(one, 1) = 1;
    mapped = arena.mapped;
    size = jpp_process_size();

    (void) jpp_vec_push(two, JPP_MIB);
    *(uint8_t *) jpp_vec_push(three, 1) = 3;

    jpp_vec_release(two);
    jpp_is_u64(arena.mapped, mapped + 4096, "a vector gives its memory back");
    jpp_is_u64(jpp_process_size(), size + 1, "and the kernel has it");
    jpp_ok(one->data[0] == 1 && three->data[0] == 3, "the others stay");

    jpp_vec_release(two);
    jpp_vec_release(NULL);
    jpp_is_u64(arena.mapped, mapped + 4096, "a second time does no harm");

    jpp_vec_release(one);
    jpp_vec_release(three);
    jpp_is_u64(arena.mapped, JPP_BLOCK, "all but the block");
    jpp_ok(arena.peak >= JPP_MIB + JPP_BLOCK, "the peak stays");

    jpp_arena_destroy(&arena);
}


/* A bit for every step that failed. */

static unsigned
jpp_script(jpp_arena_t *arena)
{
    unsigned    failed;
    jpp_vec_t  *vec;

    failed = 0;
    vec = jpp_vec_create(arena);

    if (vec == NULL) {
        failed |= 1;
        vec = jpp_vec_create(arena);
    }

    failed |= jpp_arena_alloc(arena, 100) == NULL ? 2 : 0;
    failed |= jpp_vec_push(vec, 100) == NULL ? 4 : 0;
    failed |= jpp_vec_push(vec, 100000) == NULL ? 8 : 0;
    failed |= jpp_arena_alloc(arena, 100000) == NULL ? 16 : 0;
    failed |= jpp_arena_strndup(arena, "abc", 3) == NULL ? 32 : 0;
    failed |= jpp_vec_push(vec, 1000000) == NULL ? 64 : 0;

    return failed;
}


static void
jpp_test_fail_at(void)
{
    uint64_t     n, n_calls;
    unsigned     failed;
    jpp_arena_t  arena;

    jpp_arena_init(&arena, 16 * JPP_MIB);
    jpp_is_u64(jpp_script(&arena), 0, "nothing fails by itself");
    n_calls = arena.n_calls;
    jpp_is_u64(n_calls, 7, "every request is a call");
    jpp_arena_destroy(&arena);

    for (n = 1; n <= n_calls; n++) {

        jpp_arena_init(&arena, 16 * JPP_MIB);
        arena.fail_at = n;
        failed = jpp_script(&arena);

        jpp_is_u64(failed, 1u << (n - 1), "call %" PRIu64 " fails alone", n);
        jpp_arena_destroy(&arena);
    }
}
