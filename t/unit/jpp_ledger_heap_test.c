
/*
 * What is left of the allocator's mappings: shared out between bounds, with
 * what is known of each part.
 */


#include "jpp_test_ledger.h"
#include "jpp_test_main.h"


static const jpp_ledger_row_t  *row;


/*
 * 1000 KiB, of which 400 are held outside of pools: the rest is 600, of at most
 * 100 in thread caches, 400 of fragmentation and 300 of metadata.
 */

JPP_TEST(jpp_ledger_test_bounds)
{
    jpp_ledger_start();
    jpp_ledger_ready();

    (void) jpp_ledger_take(0x100000, 0x300000, "", 1000 * 1024, true);

    stats.allocated = 500 * 1024;
    stats.tcache = 100 * 1024;
    stats.active = 900 * 1024;
    stats.metadata = 300 * 1024;

    (void) jpp_ledger_heap(0, 400 * 1024, 150 * 1024);

    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_INHERITED, ""), 150 * 1024,
               "outside of pools, inherited");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_SINCE, ""), 250 * 1024, "and since");
    jpp_is_u64(jpp_ledger_find(JPP_LEDGER_SINCE, "")->how, JPP_LEDGER_EXACT,
               "which is exact");

    row = jpp_ledger_find(JPP_LEDGER_FRAGMENTATION, "");

    jpp_is_u64(row->bytes, 300 * 1024, "fragmentation: six eighths of 400");
    jpp_is_u64(row->least, 200 * 1024, "at least what the others cannot be");
    jpp_is_u64(row->most, 400 * 1024, "at most what jemalloc counts");
    jpp_is_u64(row->how, JPP_LEDGER_BOUND, "between bounds");

    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_TCACHE, ""), 75 * 1024, "caches");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_METADATA, ""), 225 * 1024,
               "metadata");
    jpp_ok(jpp_ledger_find(JPP_LEDGER_SAMPLED, "") == NULL
           && jpp_ledger_find(JPP_LEDGER_DIRTY, "") == NULL,
           "no row of nothing");
    jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "the rows are all of it");
}


/*
 * Each part there is, in KiB: 96 that are certain, and 600 more at most, of
 * which there are 150, a quarter.
 */

JPP_TEST(jpp_ledger_test_parts)
{
    size_t       i;
    jpp_smaps_t  mapping;

    static const struct {
        jpp_ledger_kind_t  kind;
        uint64_t           bytes;
        uint64_t           least;
        uint64_t           most;
        uint64_t           held;
    } rows[] = {
        { JPP_LEDGER_REQUESTS, 4096, 4096, 4096, 4096 },
        { JPP_LEDGER_CACHES, 8192, 8192, 8192, 8192 },
        { JPP_LEDGER_INHERITED, 30720, 30720, 30720, 30720 },
        { JPP_LEDGER_SINCE, 59392, 59392, 59392, 59392 },
        { JPP_LEDGER_TCACHE, 2560, 0, 10240, JPP_NONE },
        { JPP_LEDGER_SAMPLED, 5120, 0, 20480, JPP_NONE },
        { JPP_LEDGER_FRAGMENTATION, 10240, 0, 40960, JPP_NONE },
        { JPP_LEDGER_INTERNAL, 1536, 0, 6144, JPP_NONE },
        { JPP_LEDGER_METADATA, 11264, 0, 45056, JPP_NONE },
        { JPP_LEDGER_DIRTY, 5120, 0, 20480, JPP_NONE },
        { JPP_LEDGER_MUZZY, 15360, 0, 61440, JPP_NONE },
        { JPP_LEDGER_MAPS, 102400, 0, 153600, JPP_NONE }
    };

    jpp_ledger_start();
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
    jpp_is_u64(jpp_vec_count(ledger.rows, jpp_ledger_row_t),
               sizeof(rows) / sizeof(rows[0]), "rows");

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        row = jpp_ledger_find(rows[i].kind, "");

        if (jpp_ok(row != NULL, "%s", jpp_ledger_kinds[rows[i].kind])) {
            jpp_is_u64(row->bytes, rows[i].bytes, "bytes");
            jpp_is_u64(row->least, rows[i].least, "at least");
            jpp_is_u64(row->most, rows[i].most, "at most");
            jpp_is_u64(row->held, rows[i].held, "set aside");
        }
    }
}


/*
 * PSS MiB where 400 are held, and at most 200 are in thread caches and 200
 * dirty: of the latter there are between LEAST and MOST.
 */

static void
jpp_ledger_test_edges(uint64_t pss, uint64_t least, uint64_t most,
    jpp_ledger_how_t how)
{
    jpp_ledger_start();
    jpp_ledger_ready();

    (void) jpp_ledger_take(0x100000, 0x100000 + JPP_MIB * pss, "",
                           pss * JPP_MIB, true);

    stats.tcache = 200 * JPP_MIB;
    stats.dirty = 200 * JPP_MIB;

    (void) jpp_ledger_heap(0, 400 * JPP_MIB, 0);

    row = jpp_ledger_find(JPP_LEDGER_DIRTY, "");

    jpp_is_u64(row->least, least * JPP_MIB, "%u MiB: at least",
               (unsigned) pss);
    jpp_is_u64(row->most, most * JPP_MIB, "at most");
    jpp_is_u64(row->how, how, "how well it is known");
    jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "the rows are all of it");
}


/* PSS bytes, of which TCACHE at most are in thread caches, the others dirty */

static void
jpp_ledger_test_exact(uint64_t pss, uint64_t tcache, jpp_ledger_kind_t kind,
    jpp_ledger_how_t how)
{
    jpp_ledger_start();
    jpp_ledger_ready();

    (void) jpp_ledger_take(0x100000, 0x300000, "", pss, true);

    stats.tcache = tcache;
    stats.dirty = 100 * 8192;

    (void) jpp_ledger_heap(0, 0, 0);

    jpp_is_u64(jpp_ledger_find(kind, "")->how, how,
               "%u of %u: how well it is known", (unsigned) tcache,
               (unsigned) pss);
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

    jpp_ledger_start();
    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x100000, 0x120000, NULL);
    jpp_ledger_ready();
    ledger.sharers = 8;

    mapping = *jpp_ledger_mapping(0x100000, 0x140000, "", 0);
    mapping.rss = 64 * JPP_PAGE;
    mapping.pss = 16 * JPP_PAGE;

    (void) jpp_ledger_map(&ledger, &mapping, pages, true);
    (void) jpp_ledger_take(0x200000, 0x300000, "", 100 * JPP_PAGE, true);

    jpp_is_u64(ledger.rest.shared_rss, 32 * JPP_PAGE, "shared pages");
    jpp_is_u64(ledger.rest.shared_pss, 8 * JPP_PAGE, "its part of them");
    jpp_is_u64(ledger.rest.slack, 8 * JPP_PAGE, "more or less");

    stats.tcache = 10 * JPP_PAGE;
    stats.dirty = 120 * JPP_PAGE;

    (void) jpp_ledger_heap(32 * JPP_PAGE, 32 * JPP_PAGE, 0);

    row = jpp_ledger_find(JPP_LEDGER_DIRTY, "");

    jpp_is_u64(row->least, 90 * JPP_PAGE, "dirty pages: at least");
    jpp_is_u64(row->most, 116 * JPP_PAGE, "at most");
}


/* after a burst there is hardly anything else that it can be */

JPP_TEST(jpp_ledger_test_dirty)
{
    jpp_smaps_t  mapping;

    jpp_ledger_start();
    jpp_ledger_ready();

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

    row = jpp_ledger_find(JPP_LEDGER_DIRTY, "");

    jpp_ok(row->least >= 177 * JPP_MIB && row->most == 180 * JPP_MIB,
           "dirty pages: %" PRIu64, row->bytes);
    jpp_ok(jpp_ledger_bytes(JPP_LEDGER_MUZZY, "") > 19 * JPP_MIB
           && jpp_ledger_bytes(JPP_LEDGER_MUZZY, "") <= 20 * JPP_MIB,
           "muzzy ones");
    jpp_ok(jpp_ledger_find(JPP_LEDGER_SAMPLED, "") == NULL,
           "stats.allocated is explained");
    jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "the rows are all of it");
}


/* who holds a megabyte has touched a quarter */

JPP_TEST(jpp_ledger_test_untouched)
{
    jpp_ledger_start();
    jpp_ledger_ready();

    (void) jpp_ledger_take(0x100000, 0x300000, "", 256 * 1024, true);
    stats.dirty = JPP_MIB;
    (void) jpp_ledger_heap(0, JPP_MIB, 0);

    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_SINCE, ""), 256 * 1024,
               "no more than there is");
    jpp_is_u64(jpp_ledger_find(JPP_LEDGER_SINCE, "")->held, JPP_MIB,
               "of what it has set aside");
    jpp_is_u64(jpp_ledger_find(JPP_LEDGER_SINCE, "")->how, JPP_LEDGER_ESTIMATE,
               "an estimate");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_DIRTY, ""), 0, "nothing is left");
    jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "the rows are all of it");
}


JPP_TEST(jpp_ledger_test_unknown)
{
    jpp_ledger_start();
    jpp_ledger_ready();

    (void) jpp_ledger_take(0x100000, 0x300000, "", JPP_MIB, true);
    stats.dirty = JPP_MIB / 4;
    (void) jpp_ledger_heap(0, JPP_MIB / 4, 0);

    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_UNKNOWN, ""), JPP_MIB / 2,
               "what nobody counts is unknown");
    jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "the rows are all of it");
}


JPP_TEST(jpp_ledger_test_no_jemalloc)
{
    jpp_ledger_start();
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

    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_REQUESTS, ""), JPP_MIB, "requests");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_MALLOC, ""), JPP_MIB, "the rest");
    jpp_is_u64(jpp_ledger_find(JPP_LEDGER_MALLOC, "")->how,
               JPP_LEDGER_ESTIMATE, "is an estimate");
    jpp_ok(jpp_ledger_find(JPP_LEDGER_UNKNOWN, "") == NULL, "no more");
}


/* a machine that reserves all: jemalloc's cannot be told from others' */

JPP_TEST(jpp_ledger_test_unmarked)
{
    jpp_ledger_start();
    jpp_ledger_ready();

    heap.is_marked = false;
    stats.mapped = JPP_MIB;
    stats.retained = JPP_MIB;
    stats.dirty = JPP_MIB / 2;

    (void) jpp_ledger_take(0x100000, 0x100000 + 5 * JPP_MIB, "", 3 * JPP_MIB,
                           true);
    (void) jpp_ledger_heap(0, JPP_MIB / 4, 0);

    row = jpp_ledger_find(JPP_LEDGER_MAPS, "");

    jpp_ok(row != NULL && row->most == 11 * JPP_MIB / 4
           && row->least == 9 * JPP_MIB / 4
           && row->how == JPP_LEDGER_BOUND,
           "what cannot be jemalloc's has bounds");
    jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "the rows are all of it");
}


JPP_TEST(jpp_ledger_heap_test)
{
    jpp_ledger_test_edges(399, 0, 200, JPP_LEDGER_ESTIMATE);
    jpp_ledger_test_edges(400, 0, 200, JPP_LEDGER_ESTIMATE);
    jpp_ledger_test_edges(401, 0, 1, JPP_LEDGER_BOUND);
    jpp_ledger_test_edges(799, 199, 200, JPP_LEDGER_EXACT);
    jpp_ledger_test_edges(800, 0, 200, JPP_LEDGER_ESTIMATE);
    jpp_ledger_test_edges(801, 0, 200, JPP_LEDGER_ESTIMATE);
    jpp_ledger_test_exact(400000, 4096, JPP_LEDGER_TCACHE, JPP_LEDGER_EXACT);
    jpp_ledger_test_exact(400000, 4097, JPP_LEDGER_TCACHE, JPP_LEDGER_BOUND);
    jpp_ledger_test_exact(413696, 8192, JPP_LEDGER_DIRTY, JPP_LEDGER_EXACT);
    jpp_ledger_test_exact(413694, 8192, JPP_LEDGER_DIRTY, JPP_LEDGER_BOUND);
}
