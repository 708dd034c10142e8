
#include "jpp_test_arena.h"


#define JPP_KIB    ((size_t) 1024)
#define JPP_MIB    (1024 * JPP_KIB)

/* a block, and what a mapping is a multiple of; the largest vector in one */
#define JPP_BLOCK  (2 * JPP_MIB)
#define JPP_SMALL  (640 * JPP_KIB)

/* the smallest piece */
#define JPP_PIECE  (16 + JPP_RED_ZONE)


static jpp_arena_t  arena;


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
jpp_is_all(const void *data, int byte, size_t len)
{
    size_t          i;
    const uint8_t  *p;

    p = data;

    for (i = 0; i < len && p[i] == byte; i++) { /* void */ }

    return i == len;
}


/* N bytes of VEC that are zero, and are filled. */

static bool
jpp_pushes(jpp_vec_t *vec, size_t n)
{
    void  *p;

    p = jpp_vec_push(vec, n);

    if (p == NULL || !jpp_is_all(p, 0, n)) {
        return false;
    }

    memset(p, 0x55, n);

    return true;
}


/* Every piece is filled: one that overlaps another is not zero. */

JPP_TEST(jpp_test_alloc)
{
    size_t       size, wrong;
    uint8_t     *p;

    jpp_arena_init(&arena, 16 * JPP_MIB);
    jpp_is_u64(arena.mapped, 0, "an arena starts with nothing mapped");

    jpp_ok(jpp_arena_alloc(&arena, 0) != NULL, "0 bytes are no failure");
    jpp_is_u64(arena.mapped, JPP_BLOCK, "a block is mapped");
    jpp_is_u64((uintptr_t) arena.blocks % JPP_BLOCK, 0, "and aligned");

    wrong = 0;

    for (size = 0; size < 3000; size++) {
        p = jpp_arena_alloc(&arena, size);

        if (p == NULL || (uintptr_t) p % 16 != 0 || !jpp_is_all(p, 0, size))
        {
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


/* Objects in pages of their own, which are given back. */

JPP_TEST(jpp_test_object)
{
    size_t    i, page, size, before, n_wrong;
    uint8_t  *p;

    page = (size_t) sysconf(_SC_PAGESIZE);
    before = jpp_process_size();
    n_wrong = 0;

    for (size = page - 32; size <= page + 32; size++) {

        p = jpp_arena_object(size);

        for (i = 0; i < size; i++) {
            n_wrong += p[i] != 0;
            p[i] = 1;
        }

        n_wrong += (uintptr_t) p % 16 != 0;

        jpp_arena_object_destroy(p);
    }

    jpp_is_u64(n_wrong, 0, "objects are zeroed and aligned");
    jpp_is_u64(jpp_process_size(), before, "and are given back");

    p = jpp_arena_object(64 << 20);
    jpp_ok(p != NULL && jpp_process_size() >= before + (64 << 20) / page,
           "a large one");
    jpp_arena_object_destroy(p);
    jpp_is_u64(jpp_process_size(), before, "is given back, too");

    jpp_ok(jpp_arena_object(SIZE_MAX) == NULL
           && jpp_arena_object(PTRDIFF_MAX) == NULL, "no object that large");

    jpp_arena_object_destroy(NULL);
}


/* Of the block in use and a new one the one with more room is used next. */

JPP_TEST(jpp_test_large)
{
    uint8_t     *small, *large, *next;

    jpp_arena_fresh(&arena, 16 * JPP_MIB);

    small = jpp_arena_alloc(&arena, 1);
    large = jpp_arena_alloc(&arena, 3 * JPP_MIB);
    next = jpp_arena_alloc(&arena, 1);

    jpp_ok(large != NULL && (uintptr_t) large % 16 == 0
           && jpp_is_all(large, 0, 3 * JPP_MIB),
           "a large piece is aligned and zero");
    memset(large, 0xff, 3 * JPP_MIB);

    jpp_is_u64(arena.mapped, 3 * JPP_BLOCK, "in a block of its own");
    jpp_is_u64((uintptr_t) arena.blocks % JPP_BLOCK, 0, "an aligned one");
    jpp_ok(next == small + JPP_PIECE, "an almost empty block stays in use");

    large = jpp_arena_alloc(&arena, JPP_BLOCK - JPP_PIECE);
    jpp_ok(large != NULL && jpp_is_all(large, 0, JPP_BLOCK - JPP_PIECE),
           "a piece that fills a block");
    memset(large, 0xff, JPP_BLOCK - JPP_PIECE);
    jpp_is_u64(arena.mapped, 4 * JPP_BLOCK, "takes just that");
    jpp_is_u64((uintptr_t) arena.blocks % JPP_BLOCK, 0, "and is aligned");

    next = jpp_arena_alloc(&arena, 3 * JPP_MIB / 2);
    jpp_ok(next == small + 2 * JPP_PIECE, "the first is still in use");

    large = jpp_arena_alloc(&arena, JPP_MIB);
    jpp_is_u64(arena.mapped, 5 * JPP_BLOCK, "until a piece does not fit");
    next = jpp_arena_alloc(&arena, 1);
    jpp_ok(next == large + JPP_MIB + JPP_RED_ZONE,
           "and the new block has more room");

    jpp_arena_fresh(&arena, 16 * JPP_MIB);
    large = jpp_arena_alloc(&arena, JPP_BLOCK);
    jpp_ok(large != NULL && jpp_is_all(large, 0, JPP_BLOCK),
           "a piece as large as a block");
    memset(large, 0xff, JPP_BLOCK);
    next = jpp_arena_alloc(&arena, 1);
    jpp_ok(next == large + JPP_BLOCK + JPP_RED_ZONE && *next == 0,
           "and one behind it");
}


JPP_TEST(jpp_test_strndup)
{
    char        *p;

    jpp_arena_fresh(&arena, JPP_MIB);

    p = jpp_arena_strndup(&arena, "worker process", 6);
    jpp_is_str(p, "worker", "a copy ends with a NUL");

    p = jpp_arena_strndup(&arena, NULL, 0);
    jpp_is_str(p, "", "a copy of nothing");

    p = jpp_arena_strndup(&arena, "a\0b", 3);
    jpp_is_mem(p, "a\0b", 4, "a copy with a NUL in it");
}


JPP_TEST(jpp_test_cap)
{
    size_t       n;

    jpp_arena_fresh(&arena, JPP_BLOCK);

    for (n = 0; jpp_arena_alloc(&arena, 16) != NULL; n++) { /* void */ }

    jpp_is_u64(n, (JPP_BLOCK - 16) / JPP_PIECE,
               "a cap of one block is used up");
    jpp_is_u64(arena.mapped, JPP_BLOCK, "and is what is mapped");

    jpp_arena_fresh(&arena, JPP_MIB);
    jpp_ok(jpp_arena_alloc(&arena, JPP_MIB - JPP_PIECE) != NULL, "at the cap");
    jpp_ok(jpp_arena_alloc(&arena, 1) == NULL, "one past it");

    jpp_arena_fresh(&arena, JPP_MIB);
    jpp_ok(jpp_arena_alloc(&arena, JPP_MIB - JPP_PIECE + 1) == NULL,
           "above the cap");
    jpp_ok(jpp_arena_alloc(&arena, JPP_MIB + 1) == NULL, "and more");
    jpp_ok(jpp_arena_alloc(&arena, SIZE_MAX - 7) == NULL, "almost SIZE_MAX");
    jpp_ok(jpp_arena_alloc(&arena, SIZE_MAX) == NULL, "SIZE_MAX");
    jpp_ok(jpp_arena_alloc(&arena, 1) != NULL, "and then one byte");

    jpp_arena_fresh(&arena, 0);
    jpp_ok(jpp_arena_alloc(&arena, 1) == NULL, "a cap of 0");
}


/* Where less than a block is left. */

JPP_TEST(jpp_test_cap_pages)
{
    size_t       n, page;

    page = (size_t) sysconf(_SC_PAGESIZE);

    jpp_arena_fresh(&arena, 16 * page);

    for (n = 0; jpp_arena_alloc(&arena, 16) != NULL; n++) { /* void */ }

    jpp_is_u64(n, 16 * ((page - 16) / JPP_PIECE),
               "a cap of 16 pages is used up");
    jpp_is_u64(arena.mapped, 16 * page, "and is what is mapped");

    jpp_arena_fresh(&arena, JPP_BLOCK + 2 * page);
    jpp_ok(jpp_arena_alloc(&arena, JPP_BLOCK - JPP_PIECE) != NULL,
           "a full block");
    jpp_ok(jpp_arena_alloc(&arena, 1) != NULL, "and a byte near the cap");
    jpp_is_u64(arena.mapped, JPP_BLOCK + page, "map a block and a page");
    jpp_ok(jpp_arena_alloc(&arena, page) == NULL, "more than what is left");
    jpp_ok(jpp_arena_alloc(&arena, page - JPP_PIECE) != NULL,
           "all that is left");
    jpp_is_u64(arena.mapped, arena.cap, "the cap is mapped");
    jpp_is_u64(arena.peak, arena.cap, "and the peak");

    jpp_arena_fresh(&arena, page - 1);
    jpp_ok(jpp_arena_alloc(&arena, 1) == NULL, "no page above the cap");
    jpp_is_u64(arena.mapped, 0, "and nothing mapped");
}


/* With a huge cap, no sum of sizes may wrap around. */

JPP_TEST(jpp_test_huge)
{
    size_t       i, k, size, wrong;
    jpp_vec_t   *vec;

    static const size_t  sizes[] = {
        SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX - 2 * 1024 * 1024,
        SIZE_MAX - 4 * 1024 * 1024, PTRDIFF_MAX,
        (size_t) PTRDIFF_MAX + 4096, PTRDIFF_MAX - 2 * 1024 * 1024
    };

    jpp_arena_fresh(&arena, SIZE_MAX);
    wrong = 0;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (k = 0; k < 64; k++) {
            size = sizes[i] - k;
            wrong += jpp_arena_alloc(&arena, size) != NULL;
            wrong += jpp_arena_strndup(&arena, "", size) != NULL;
        }
    }

    jpp_is_u64(wrong, 0, "no pieces of almost SIZE_MAX");
    jpp_is_u64(arena.mapped, 0, "and nothing mapped");

    vec = jpp_vec_create(&arena);
    *(uint8_t *) jpp_vec_push(vec, 1) = 1;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (k = 0; k < 64; k++) {
            wrong += jpp_vec_push(vec, sizes[i] - k) != NULL;
        }
    }

    jpp_is_u64(wrong, 0, "vectors refuse such sizes, too");
    jpp_ok(vec->len == 1 && vec->data[0] == 1, "what there is stays");
    jpp_is_u64(arena.mapped, JPP_BLOCK, "in the only block");
}


/* Two vectors in turns, so that they must move out of each other's way. */

JPP_TEST(jpp_test_vec)
{
    size_t       i, wrong;
    uint32_t    *a, *b;
    jpp_vec_t   *one, *two;

    enum { N = 600000 };

    jpp_arena_fresh(&arena, 16 * JPP_MIB);

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
    jpp_is_u64(arena.peak, arena.mapped, "and never was more");

    i = one->len;
    jpp_ok(jpp_vec_reserve(one, JPP_MIB) == one->data + i && one->len == i,
           "reserving leaves the length");
}


/* Pushes of all sizes, with dirty pieces of the same block in between. */

JPP_TEST(jpp_test_vec_steps)
{
    void        *p, *piece;
    size_t       size, n_moves, dirty, wrong;
    uint8_t     *data;
    jpp_vec_t   *vec;

    jpp_arena_fresh(&arena, 64 * JPP_MIB);

    vec = jpp_vec_create(&arena);
    data = NULL;
    n_moves = 0;
    dirty = 0;
    wrong = 0;

    for (size = 1; size < 4000; size++) {

        p = jpp_vec_push(vec, size);
        piece = jpp_arena_alloc(&arena, 100);

        if (p == NULL || piece == NULL) {
            wrong++;
            break;
        }

        dirty += !jpp_is_all(p, 0, size) || !jpp_is_all(piece, 0, 100);
        memset(p, 0xff, size);
        memset(piece, 0x55, 100);

        if (vec->data == data) {
            continue;
        }

        data = vec->data;
        n_moves++;

        wrong += vec->is_mapped != (vec->len > JPP_SMALL);
        wrong += (uintptr_t) data % (vec->is_mapped ? JPP_BLOCK : 16) != 0;
        wrong += vec->is_mapped && vec->size % JPP_BLOCK != 0;
    }

    jpp_is_u64(wrong, 0, "small in blocks, then in aligned mappings");
    jpp_is_u64(dirty, 0, "all that is new is zero");
    jpp_ok(n_moves >= 9, "a vector moved %zu times", n_moves);
    jpp_ok(jpp_is_all(vec->data, 0xff, vec->len), "and kept its contents");
}


JPP_TEST(jpp_test_vec_threshold)
{
    jpp_vec_t  *vec;

    jpp_arena_fresh(&arena, 16 * JPP_MIB);

    vec = jpp_vec_create(&arena);
    jpp_ok(jpp_pushes(vec, JPP_SMALL) && !vec->is_mapped,
           "the largest vector in a block");
    jpp_is_u64(arena.mapped, JPP_BLOCK, "maps nothing");

    jpp_ok(jpp_pushes(vec, 1) && vec->is_mapped, "one more is mapped");
    jpp_is_u64(vec->size, JPP_BLOCK, "in a huge page");
    jpp_is_u64((uintptr_t) vec->data % JPP_BLOCK, 0, "aligned");
    jpp_is_u64(arena.mapped, 2 * JPP_BLOCK, "and counted");
    jpp_ok(jpp_is_all(vec->data, 0x55, JPP_SMALL), "with its contents");

    jpp_ok(jpp_pushes(vec, JPP_BLOCK - JPP_SMALL - 1)
           && vec->size == JPP_BLOCK, "it fills the page");

    jpp_ok(jpp_pushes(vec, 1), "and grows past it");
    jpp_is_u64(vec->size, 2 * JPP_BLOCK, "by another");
    jpp_is_u64((uintptr_t) vec->data % JPP_BLOCK, 0, "still aligned");
    jpp_is_u64(arena.mapped, 3 * JPP_BLOCK, "and counted");
    jpp_ok(jpp_is_all(vec->data, 0x55, JPP_BLOCK), "with its contents");
}


/* Room for one block and 1 MiB, which is less than another. */

JPP_TEST(jpp_test_vec_cap)
{
    jpp_vec_t  *vec;

    jpp_arena_fresh(&arena, JPP_BLOCK + JPP_MIB);
    vec = jpp_vec_create(&arena);

    jpp_ok(jpp_vec_push(vec, JPP_MIB) != NULL, "a vector at the cap");
    jpp_is_u64(arena.mapped, arena.cap, "the cap is mapped");
    jpp_is_u64(arena.peak, arena.cap, "and the peak");
    jpp_ok(jpp_vec_push(vec, 1) == NULL, "one past it");
    jpp_is_u64(vec->len, JPP_MIB, "a failure leaves the length");
    jpp_ok(jpp_vec_reserve(vec, SIZE_MAX) == NULL, "SIZE_MAX");

    jpp_arena_fresh(&arena, JPP_BLOCK + JPP_MIB);
    vec = jpp_vec_create(&arena);
    jpp_ok(jpp_vec_push(vec, JPP_MIB + 1) == NULL, "one past it at once");
    jpp_is_u64(arena.mapped, JPP_BLOCK, "maps nothing");

    /* a multiple of every page size, and one byte past it */

    jpp_ok(jpp_pushes(vec, 640 * JPP_KIB) && vec->size == 640 * JPP_KIB,
           "near the cap: what is needed");
    jpp_ok(jpp_pushes(vec, 1) && vec->size == 640 * JPP_KIB + arena.page,
           "rounded to pages");
    jpp_ok(jpp_pushes(vec, 384 * JPP_KIB - 1), "a vector grows to the cap");
    jpp_ok(jpp_is_all(vec->data, 0x55, 640 * JPP_KIB + 1),
           "and keeps its contents");
    jpp_is_u64(arena.mapped, arena.cap, "the cap is mapped");
    jpp_ok(jpp_vec_push(vec, 1) == NULL, "and it stops there");

    jpp_arena_fresh(&arena, 1);
    jpp_ok(jpp_vec_create(&arena) == NULL, "no vector without a block");
}


/* Four times as much is not to be had, what is asked for is. */

JPP_TEST(jpp_test_vec_cap_in_block)
{
    jpp_vec_t  *vec;

    jpp_arena_fresh(&arena, JPP_BLOCK);
    vec = jpp_vec_create(&arena);
    (void) jpp_pushes(vec, JPP_KIB);

    (void) jpp_arena_alloc(&arena, (size_t) (arena.end - arena.pos)
                                   - 2 * (JPP_KIB + JPP_RED_ZONE));

    jpp_ok(jpp_pushes(vec, JPP_KIB),
           "a vector grows to the end of the last block");
    jpp_ok(jpp_is_all(vec->data, 0x55, JPP_KIB), "and keeps its contents");
    jpp_ok(jpp_vec_push(vec, 1) == NULL, "and stops there");
    jpp_is_u64(vec->len, 2 * JPP_KIB, "with the length it had");
    jpp_is_u64(arena.mapped, arena.cap, "the cap is mapped");
}


/* From huge pages to huge pages and small ones behind them. */

JPP_TEST(jpp_test_vec_cap_moved)
{
    jpp_vec_t  *vec;

    jpp_arena_fresh(&arena, JPP_BLOCK + 5 * JPP_MIB);
    vec = jpp_vec_create(&arena);

    jpp_ok(jpp_pushes(vec, 3 * JPP_MIB) && vec->size == 2 * JPP_BLOCK,
           "a vector in huge pages");
    jpp_ok(jpp_pushes(vec, 3 * JPP_MIB / 2), "grows");
    jpp_is_u64(vec->size, 9 * JPP_MIB / 2, "by what is needed");
    jpp_is_u64((uintptr_t) vec->data % JPP_BLOCK, 0, "still aligned");

    jpp_ok(jpp_pushes(vec, JPP_MIB / 2), "and to the cap");
    jpp_is_u64((uintptr_t) vec->data % JPP_BLOCK, 0, "still aligned");
    jpp_is_u64(arena.mapped, arena.cap, "all of the cap is mapped");
    jpp_ok(jpp_is_all(vec->data, 0x55, 9 * JPP_MIB / 2),
           "and keeps its contents");
    jpp_ok(jpp_vec_push(vec, 1) == NULL, "and stops there");

    jpp_vec_release(vec);
    jpp_is_u64(arena.mapped, JPP_BLOCK, "all but the block");
}


/* The kernel says no. */

JPP_TEST(jpp_test_refused)
{
    void       *block, *first, *more;
    size_t      size;
    rlim_t      old;
    jpp_vec_t  *vec;

    jpp_arena_fresh(&arena, 64 * JPP_MIB);
    vec = jpp_vec_create(&arena);
    first = jpp_vec_push(vec, JPP_BLOCK);
    memset(first, 0x55, JPP_BLOCK);

    size = jpp_process_size();

    old = jpp_test_rlimit(RLIMIT_AS, size * arena.page + JPP_MIB);
    block = jpp_arena_alloc(&arena, JPP_BLOCK);
    more = jpp_vec_push(vec, 1);
    (void) jpp_test_rlimit(RLIMIT_AS, old);

    jpp_ok(block == NULL && more == NULL, "no address space");
    jpp_is_u64(jpp_process_size(), size, "a failure maps nothing");
    jpp_is_u64(arena.mapped, 2 * JPP_BLOCK, "and counts nothing");
    jpp_ok(vec->data == first && vec->len == JPP_BLOCK
           && jpp_is_all(first, 0x55, JPP_BLOCK), "the vector stays");

    more = jpp_vec_push(vec, 1);
    jpp_ok(more != NULL && jpp_is_all(vec->data, 0x55, JPP_BLOCK),
           "and grows when there is some");
}


JPP_TEST(jpp_test_release)
{
    size_t      size;
    jpp_vec_t  *one, *two, *three;

    jpp_arena_fresh(&arena, 16 * JPP_MIB);

    one = jpp_vec_create(&arena);
    two = jpp_vec_create(&arena);
    three = jpp_vec_create(&arena);

    *(uint8_t *) jpp_vec_push(one, 1) = 1;
    size = jpp_process_size();

    (void) jpp_pushes(two, JPP_MIB);
    *(uint8_t *) jpp_vec_push(three, 1) = 3;

    jpp_is_u64(arena.mapped, 2 * JPP_BLOCK, "a vector has a mapping");
    jpp_is_u64(jpp_process_size(), size + JPP_BLOCK / arena.page,
               "of just that size");

    jpp_vec_release(two);
    jpp_is_u64(arena.mapped, JPP_BLOCK, "it gives its memory back");
    jpp_is_u64(jpp_process_size(), size, "and the kernel has it");
    jpp_ok(one->data[0] == 1 && three->data[0] == 3, "the others stay");

    jpp_vec_release(two);
    jpp_vec_release(NULL);
    jpp_is_u64(arena.mapped, JPP_BLOCK, "a second time does no harm");

    jpp_ok(jpp_pushes(two, JPP_MIB), "it can be used again");
    jpp_ok(jpp_vec_push(two, 3 * JPP_MIB) != NULL, "and grow");
    jpp_is_u64(jpp_process_size(), size + two->size / arena.page,
               "moving leaves nothing behind");

    jpp_vec_release(two);
    jpp_is_u64(jpp_process_size(), size, "and the kernel has that too");

    jpp_vec_release(one);
    jpp_vec_release(three);
    jpp_is_u64(arena.mapped, JPP_BLOCK, "all but the block");
    jpp_is_u64(arena.peak, 4 * JPP_BLOCK, "the peak stays");

    jpp_ok(jpp_pushes(one, 100), "a small one, used again");

    (void) jpp_vec_push(two, JPP_MIB);
    (void) jpp_vec_push(three, JPP_MIB);
    jpp_ok(jpp_vec_last(&arena) == three, "the last one");
    jpp_vec_release_after(&arena, two);
    jpp_ok(three->size == 0 && two->size != 0 && one->len == 100,
           "those after another are released");
    jpp_vec_release_after(&arena, NULL);
    jpp_ok(two->size == 0 && one->size == 0, "and all");
}


/* A bit for every step that failed. */

static unsigned
jpp_script(void)
{
    unsigned    failed;
    jpp_vec_t  *vec;

    failed = 0;
    vec = jpp_vec_create(&arena);

    if (vec == NULL) {
        failed |= 1;
        vec = jpp_vec_create(&arena);
    }

    failed |= jpp_arena_alloc(&arena, 100) == NULL ? 2 : 0;
    failed |= jpp_vec_push(vec, 100) == NULL ? 4 : 0;
    failed |= jpp_vec_push(vec, 100000) == NULL ? 8 : 0;
    failed |= jpp_arena_alloc(&arena, 100000) == NULL ? 16 : 0;
    failed |= jpp_arena_strndup(&arena, "abc", 3) == NULL ? 32 : 0;
    failed |= jpp_vec_push(vec, 1000000) == NULL ? 64 : 0;
    failed |= jpp_vec_push(vec, 4000000) == NULL ? 128 : 0;

    return failed;
}


JPP_TEST(jpp_test_fail_at)
{
    uint64_t     n, n_calls;
    unsigned     failed;

    jpp_arena_fresh(&arena, 16 * JPP_MIB);
    jpp_is_u64(jpp_script(), 0, "nothing fails by itself");
    n_calls = arena.n_calls;
    jpp_is_u64(n_calls, 8, "every request is a call");

    for (n = 1; n <= n_calls; n++) {

        jpp_arena_fresh(&arena, 16 * JPP_MIB);
        arena.fail_at = n;
        failed = jpp_script();

        jpp_is_u64(failed, 1u << (n - 1), "call %" PRIu64 " fails alone", n);
    }
}


int
main(void)
{
    size_t  before;

    jpp_ok(true, "stdio has its buffer");

    before = jpp_process_size();

    jpp_tests_all();
    jpp_arena_destroy(&arena);

    jpp_is_u64(jpp_process_size(), before, "nothing is mapped any more");

    return jpp_done();
}
