
/*
 * What is left of the allocator's mappings: shared out between bounds, with
 * what is known of each part.
 */


#include "jpp_test_ledger.h"
#include "jpp_test_main.h"


/*
 * 1000 KiB, of which 400 are held outside of pools: the rest is 600, of at most
 * 100 in thread caches, 400 of fragmentation and 300 of metadata.
 */

JPP_TEST(jpp_ledger_test_bounds)
{
    (void) jpp_ledger_take(0x100000, 0x300000, "", 1000 * 1024, true);

    stats.allocated = 500 * 1024;
    stats.tcache = 100 * 1024;
    stats.active = 900 * 1024;
    stats.metadata = 300 * 1024;

    (void) jpp_ledger_heap(0, 400 * 1024, 150 * 1024);

    jpp_ledger_shows("of 400 KiB of fragmentation six eighths, at least what "
                     "the others cannot be; no row of nothing");
}


/*
 * Each part there is, in KiB: 96 that are certain, and 600 more at most, of
 * which there are 150, a quarter.
 */

JPP_TEST(jpp_ledger_test_parts)
{
    jpp_smaps_t  mapping;

    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x10000, 0x11000, NULL);
    jpp_ledger_ready();

    (void) jpp_ledger_take(0x10000, 0x11000, "", 4096, true);

    mapping = *jpp_ledger_mapping(0x100000, 0x100000 + JPP_MIB, "",
                                  246 * 1024);
    mapping.lazy_free = 60 * 1024;
    (void) jpp_ledger_map(&ledger, &mapping, NULL, true);

    (void) jpp_pools_add(&pools, jpp_test_owner(&pools, JPP_POOLS_OPEN_FILES,
                                                NULL, NULL, NULL),
                         JPP_POOLS_OTHER, 0, 1, 8192, 0);

    stats.tcache = 10 * 1024;
    stats.allocated = 136 * 1024;
    stats.active = 176 * 1024;
    stats.metadata = 50 * 1024;
    stats.dirty = 20 * 1024;
    stats.mapped = 300 * 1024;
    stats.retained = 328 * 1024;
    heap.internal = 6 * 1024;
    heap.is_sampled = true;
    heap.is_marked = false;

    jpp_ok(jpp_ledger_heap(4096, 100 * 1024, 30 * 1024), "a ledger");
    jpp_ledger_shows("each part there is");
}


/*
 * PSS MiB where 400 are held, and at most 200 are in thread caches and 200
 * dirty.
 */

static void
jpp_ledger_test_edges(uint64_t pss)
{
    jpp_test_begin();

    (void) jpp_ledger_take(0x100000, 0x100000 + JPP_MIB * pss, "",
                           pss * JPP_MIB, true);

    stats.tcache = 200 * JPP_MIB;
    stats.dirty = 200 * JPP_MIB;

    (void) jpp_ledger_heap(0, 400 * JPP_MIB, 0);

    jpp_ledger_shows("%u MiB", (unsigned) pss);
}


/* PSS bytes, of which TCACHE at most are in thread caches, the others dirty */

static void
jpp_ledger_test_exact(uint64_t pss, uint64_t tcache)
{
    jpp_test_begin();

    (void) jpp_ledger_take(0x100000, 0x300000, "", pss, true);

    stats.tcache = tcache;
    stats.dirty = 100 * 8192;

    (void) jpp_ledger_heap(0, 0, 0);

    jpp_ledger_shows("thread caches may have %u of %u bytes",
                     (unsigned) tcache, (unsigned) pss);
}


/*
 * 100 pages of its own, and 8 of others, too, which may be 4 or 12: what may
 * be in thread caches and dirty has that much more room.
 */

JPP_TEST(jpp_ledger_test_slack)
{
    uint8_t      pages[64];
    jpp_smaps_t  mapping;

    memset(pages, JPP_PAGE_SHARED, sizeof(pages));

    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x100000, 0x120000, NULL);
    jpp_ledger_ready();
    ledger.sharers = 8;

    mapping = *jpp_ledger_mapping(0x100000, 0x140000, "", 0);
    mapping.rss = 64 * JPP_PAGE;
    mapping.pss = 16 * JPP_PAGE;

    (void) jpp_ledger_map(&ledger, &mapping, pages, true);
    (void) jpp_ledger_take(0x200000, 0x300000, "", 100 * JPP_PAGE, true);

    stats.tcache = 10 * JPP_PAGE;
    stats.dirty = 120 * JPP_PAGE;

    (void) jpp_ledger_heap(32 * JPP_PAGE, 32 * JPP_PAGE, 0);

    jpp_ledger_shows("more or less, of shared pages");
}


/* after a burst there is hardly anything else that it can be */

JPP_TEST(jpp_ledger_test_dirty)
{
    jpp_smaps_t  mapping;

    mapping = *jpp_ledger_mapping(0x100000, 0x100000 + 300 * JPP_MIB, "",
                                  200 * JPP_MIB);
    mapping.lazy_free = 20 * JPP_MIB;

    (void) jpp_ledger_map(&ledger, &mapping, NULL, true);

    stats.allocated = JPP_MIB;
    stats.active = JPP_MIB;
    stats.tcache = JPP_MIB;
    stats.dirty = 180 * JPP_MIB;
    stats.metadata = 3 * JPP_MIB / 2;
    heap.is_sampled = true;
    heap.internal = 0;

    (void) jpp_ledger_heap(0, 0, 0);

    jpp_ledger_shows("dirty pages, and muzzy ones; stats.allocated is "
                     "explained");
}


/* who holds a megabyte has touched a quarter */

JPP_TEST(jpp_ledger_test_untouched)
{
    (void) jpp_ledger_take(0x100000, 0x300000, "", 256 * 1024, true);
    stats.dirty = JPP_MIB;
    (void) jpp_ledger_heap(0, JPP_MIB, 0);

    jpp_ledger_shows("no more than there is; nothing is left");
}


JPP_TEST(jpp_ledger_test_unknown)
{
    (void) jpp_ledger_take(0x100000, 0x300000, "", JPP_MIB, true);
    stats.dirty = JPP_MIB / 4;
    (void) jpp_ledger_heap(0, JPP_MIB / 4, 0);

    jpp_ledger_shows("what nobody counts is unknown");
}


JPP_TEST(jpp_ledger_test_no_jemalloc)
{
    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x100000, 0x200000, NULL);
    jpp_ledger_ready();

    heap.stats = NULL;

    (void) jpp_ledger_take(0x100000, 0x200000, "[heap]", JPP_MIB, true);
    (void) jpp_ledger_take(0x400000, 0x500000, "", JPP_MIB, true);

    jpp_ok(jpp_pools_add(&pools, jpp_test_owner(&pools, JPP_POOLS_REQUEST,
                                                "a.example", "/", NULL),
                         JPP_POOLS_BLOCKS, 0, 1, JPP_MIB, 0)
           && jpp_ledger_finish(&ledger, &heap), "a malloc that counts "
           "nothing");

    jpp_ledger_shows("requests, and an estimate of the rest");
}


/* a machine that reserves all: jemalloc's cannot be told from others' */

JPP_TEST(jpp_ledger_test_unmarked)
{
    heap.is_marked = false;
    stats.mapped = JPP_MIB;
    stats.retained = JPP_MIB;
    stats.dirty = JPP_MIB / 2;

    (void) jpp_ledger_take(0x100000, 0x100000 + 5 * JPP_MIB, "", 3 * JPP_MIB,
                           true);
    (void) jpp_ledger_heap(0, JPP_MIB / 4, 0);

    jpp_ledger_shows("what cannot be jemalloc's has bounds");
}


JPP_TEST(jpp_ledger_heap_test)
{
    size_t  i;

    static const uint64_t  edges[] = { 399, 400, 401, 799, 800, 801 };

    for (i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
        jpp_ledger_test_edges(edges[i]);
    }

    jpp_ledger_test_exact(400000, 4096);
    jpp_ledger_test_exact(400000, 4097);
    jpp_ledger_test_exact(413696, 8192);
    jpp_ledger_test_exact(413694, 8192);
}
