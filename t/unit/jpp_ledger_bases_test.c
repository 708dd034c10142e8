
/*
 * The blocks of jemalloc's metadata: found among everything else, by what they
 * begin with, and believed only as a whole.
 */


#include "jpp_test_main.h"
#include "jpp_ledger.h"
#include "jpp_test_arena.h"


#define JPP_MIB    ((uint64_t) 1024 * 1024)

/* where the fake process has its memory */
#define JPP_START  ((uint64_t) 0x7f0000200000)


typedef struct {
    uint64_t     words[JPP_LEDGER_BASE_WORDS];
    bool         is_there;
} jpp_bases_page_t;


static jpp_vec_t         *bases;
static uint64_t           sum;
static jpp_bases_page_t   pages[16];       /* each 2 MiB from JPP_START on */

static const char  anonymous[] =
    "7f0000200000-7f0002200000 rw-p 00000000 00:00 0 \n";


/* a block of SIZE bytes at the page I, of which USED are taken */

static void
jpp_bases_block(size_t i, uint64_t size, uint64_t used)
{
    uint64_t  address;

    address = JPP_START + i * 2 * JPP_MIB;

    pages[i].is_there = true;
    pages[i].words[0] = size;
    pages[i].words[1] = 0;
    pages[i].words[2] = 12345;
    pages[i].words[3] = address + used;
    pages[i].words[4] = size - used;
}


static bool
jpp_bases_read(void *ctx, uint64_t address,
    uint64_t words[JPP_LEDGER_BASE_WORDS])
{
    size_t  i;

    (void) ctx;

    i = (size_t) ((address - JPP_START) / (2 * JPP_MIB));

    if (address < JPP_START || i >= 16 || !pages[i].is_there) {
        return false;
    }

    memcpy(words, pages[i].words, sizeof(pages[i].words));

    return true;
}


/* how many there are in the maps TEXT */

static size_t
jpp_bases_find(const char *text)
{
    jpp_test_anew();

    bases = jpp_vec_create(&arena);

    if (!jpp_ledger_bases(bases, text, strlen(text), jpp_bases_read, NULL,
                          &sum))
    {
        return SIZE_MAX;
    }

    return jpp_vec_count(bases, jpp_ledger_range_t);
}


void
jpp_before_each(void)
{
    memset(pages, 0, sizeof(pages));
}


JPP_TEST(jpp_bases_test_blocks)
{
    const jpp_ledger_range_t  *base;

    jpp_bases_block(1, 2 * JPP_MIB, 100000);
    jpp_bases_block(4, 6 * JPP_MIB, 5 * JPP_MIB);

    /* memory of the second one, whatever it looks like */

    jpp_bases_block(5, 2 * JPP_MIB, 4096);

    jpp_is_u64(jpp_bases_find(anonymous), 2, "two blocks");

    base = jpp_vec_items(bases, jpp_ledger_range_t);

    jpp_is_u64(base[0].start, JPP_START + 2 * JPP_MIB, "the first one");
    jpp_is_u64(base[0].end, JPP_START + 4 * JPP_MIB, "its end");
    jpp_is_u64(base[1].kind, JPP_LEDGER_METADATA, "whose the other one is");
    jpp_is_u64(sum, 5 * JPP_MIB + 100000, "what both have given away");

    jpp_ok(jpp_ledger_bases_are_all(sum, 5 * JPP_MIB + 100000),
           "they have what jemalloc says");
    jpp_ok(jpp_ledger_bases_are_all(sum, 5 * JPP_MIB),
           "or little more, for alignment");
    jpp_ok(!jpp_ledger_bases_are_all(sum, 5 * JPP_MIB + 100001),
           "less: a block is missing");
    jpp_ok(!jpp_ledger_bases_are_all(sum, 4 * JPP_MIB),
           "much more: one is none");

    /* a fiftieth of 5100000, and 65536 */

    jpp_ok(jpp_ledger_bases_are_all(5100000 + 102000 + 65536, 5100000),
           "the most");
    jpp_ok(!jpp_ledger_bases_are_all(5100000 + 102000 + 65537, 5100000),
           "a byte too many");

    memset(pages, 0, sizeof(pages));
    jpp_bases_block(0, 2 * JPP_MIB, 2 * JPP_MIB);
    jpp_is_u64(jpp_bases_find(anonymous), 1, "one that is full");

    jpp_is_u64(jpp_bases_find(""), 0, "nothing is mapped");
    jpp_ok(!jpp_ledger_bases_are_all(sum, 0), "nothing is not all");
}


JPP_TEST(jpp_bases_test_wrong)
{
    pages[0].is_there = true;
    jpp_is_u64(jpp_bases_find(anonymous), 0, "zeros");

    memset(pages[0].words, 0xff, sizeof(pages[0].words));
    jpp_is_u64(jpp_bases_find(anonymous), 0, "ones");

    memset(pages, 0, sizeof(pages));
    jpp_bases_block(0, 2 * JPP_MIB, 100);
    pages[0].words[0]++;
    jpp_is_u64(jpp_bases_find(anonymous), 0, "a size that is odd");

    jpp_bases_block(0, 2 * JPP_MIB, 100);
    pages[0].words[4]++;
    jpp_is_u64(jpp_bases_find(anonymous), 0, "an extent that ends elsewhere");

    jpp_bases_block(0, 2 * JPP_MIB, 0);
    jpp_is_u64(jpp_bases_find(anonymous), 0, "one that begins too early");

    jpp_bases_block(0, 0 - 2 * JPP_MIB, 100);
    jpp_is_u64(jpp_bases_find(anonymous), 0, "one around the end of memory");
}


JPP_TEST(jpp_bases_test_maps)
{
    size_t  i;

    static const char *const  others[] = {
        "7f0000200000-7f0002200000 r--p 00000000 00:00 0 \n",
        "7f0000200000-7f0002200000 rw-s 00000000 00:00 0 \n",
        "7f0000200000-7f0002200000 rw-p 00000000 08:01 77 /lib/x\n",
        "7f0000200000-7f0002200000 rw-p 00000000 00:00 0",
        "7f0000200000-7f0000200000 rw-p 00000000 00:00 0 \n",
        "7f0002200000-7f0000200000 rw-p 00000000 00:00 0 \n",
        "fffffffffffff000-ffffffffffffffff rw-p 00000000 00:00 0 \n",
        "7f0000200000 rw-p\n", "-\n", "\n", "rw-p", "7f0000200000-\n",
        "7f0000200000-7f0002200000 rw-p\n", "7f0000200000-7f0002200000 rw-p \n",
        "7f0000200000-7f0002200000 rw-p x x x\n"
    };

    jpp_bases_block(0, 2 * JPP_MIB, 100);

    jpp_is_u64(jpp_bases_find(anonymous), 1, "anonymous memory");

    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        jpp_is_u64(jpp_bases_find(others[i]), 0, "line %zu: not so", i);
    }
}


JPP_TEST(jpp_bases_test_memory)
{
    jpp_bases_block(0, 2 * JPP_MIB, 100);
    (void) jpp_bases_find("");

    arena.fail_at = arena.n_calls + 1;
    jpp_ok(!jpp_ledger_bases(bases, anonymous, strlen(anonymous),
                             jpp_bases_read, NULL, &sum), "no memory");
}


/* Without jemalloc nothing of the kind is found; t/nginx/ledger.t has one. */

JPP_TEST(jpp_bases_test_real)
{
    int         fd;
    jpp_vec_t  *ranges;

    ranges = jpp_vec_create(&arena);
    fd = jpp_pagemap_open(&err);

    jpp_ok(!jpp_ledger_bases_find(ranges, fd, 2 * JPP_MIB, &arena),
           "another allocator");
    jpp_ok(!jpp_ledger_bases_find(ranges, -1, 2 * JPP_MIB, &arena),
           "no page map");
    jpp_is_u64(ranges->len, 0, "nothing is claimed");

    (void) close(fd);}


/* A block that looks like one of jemalloc's. */

JPP_TEST(jpp_bases_test_found)
{
    int                        fd;
    bool                       is_found;
    char                      *map, *block;
    uint64_t                  *words;
    jpp_vec_t                 *ranges;
    const jpp_ledger_range_t  *range;

    map = mmap(NULL, 4 * JPP_MIB, PROT_READ|PROT_WRITE,
               MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);
    fd = jpp_pagemap_open(&err);

    if (!jpp_ok(map != MAP_FAILED && fd != -1, "memory, and its pages")) {
        return;
    }

    block = map + 2 * JPP_MIB - (uintptr_t) map % (2 * JPP_MIB);
    words = (uint64_t *) (void *) block;
    words[0] = 2 * JPP_MIB;
    words[3] = (uintptr_t) block + JPP_MIB;
    words[4] = JPP_MIB;

    jpp_denies(&arena, jpp_test_anew(); ranges = jpp_vec_create(&arena), 3,
               (is_found = jpp_ledger_bases_find(ranges, fd, JPP_MIB, &arena),
                ranges->len == (is_found ? sizeof(jpp_ledger_range_t) : 0)
                ? jpp_done_code(is_found) : JPP_ERR_ARG));

    range = jpp_vec_items(ranges, jpp_ledger_range_t);

    if (is_found) {
        jpp_is_u64(range->start, (uintptr_t) block, "where it begins");
        jpp_is_u64(range->end, (uintptr_t) block + 2 * JPP_MIB, "and ends");
        jpp_is_u64(range->kind, JPP_LEDGER_METADATA, "what it is");
    }

    ranges->len = 0;
    jpp_ok(!jpp_ledger_bases_find(ranges, fd, JPP_MIB + 1, &arena)
           && ranges->len == 0, "less than jemalloc says is not believed");

    (void) close(fd);
    (void) munmap(map, 4 * JPP_MIB);}
