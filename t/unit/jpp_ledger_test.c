
/*
 * The ledger: rows of a real nginx, of pages one by one, of sums between
 * bounds, and of input that cannot be.
 */


#include <stdlib.h>
#include <unistd.h>

#include "jpp_ledger_file.h"
#include "jpp_ledger_heap.h"
#include "jpp_memfd.h"
#include "jpp_pagemap.h"
#include "jpp_test_pools.h"


#define JPP_CAP   ((size_t) 64 << 20)
#define JPP_PAGE  4096
#define JPP_MIB   ((uint64_t) 1024 * 1024)


static void jpp_ledger_test_real(void);
static void jpp_ledger_test_kinds(void);
static void jpp_ledger_test_pages(void);
static void jpp_ledger_test_shared(uint64_t sharers, uint64_t least,
    uint64_t most, jpp_ledger_how_t how);
static void jpp_ledger_test_unpaged(void);
static void jpp_ledger_test_zones(void);
static void jpp_ledger_test_bounds(void);
static void jpp_ledger_test_dirty(void);
static void jpp_ledger_test_untouched(void);
static void jpp_ledger_test_unknown(void);
static void jpp_ledger_test_no_jemalloc(void);
static void jpp_ledger_test_unmarked(void);
static void jpp_ledger_test_hostile(void);
static void jpp_ledger_test_names(void);
static void jpp_ledger_test_memory(void);
static void jpp_ledger_test_file(void);
static void jpp_ledger_start(void);
static void jpp_ledger_range(jpp_ledger_kind_t kind, uint64_t start,
    uint64_t end, const char *name);
static void jpp_ledger_ready(void);
static const jpp_smaps_t *jpp_ledger_mapping(uint64_t start, uint64_t end,
    const char *name, uint64_t pss);
static bool jpp_ledger_heap(uint64_t held, uint64_t total, uint64_t inherited);
static const jpp_ledger_row_t *jpp_ledger_find(jpp_ledger_kind_t kind,
    const char *name);
static uint64_t jpp_ledger_bytes(jpp_ledger_kind_t kind, const char *name);
static uint64_t jpp_ledger_sum(void);


static jpp_arena_t        arena;
static jpp_vec_t         *ranges;
static jpp_ledger_t       ledger;
static jpp_pools_t        pools;
static jpp_stats_t        stats;
static jpp_ledger_heap_t  heap;


int
main(void)
{
    jpp_ledger_test_real();
    jpp_ledger_test_kinds();
    jpp_ledger_test_pages();
    jpp_ledger_test_shared(4, 8, 8, JPP_LEDGER_EXACT);
    jpp_ledger_test_shared(8, 4, 12, JPP_LEDGER_BOUND);
    jpp_ledger_test_shared(0, 0, 16, JPP_LEDGER_BOUND);
    jpp_ledger_test_unpaged();
    jpp_ledger_test_zones();
    jpp_ledger_test_bounds();
    jpp_ledger_test_dirty();
    jpp_ledger_test_untouched();
    jpp_ledger_test_unknown();
    jpp_ledger_test_no_jemalloc();
    jpp_ledger_test_unmarked();
    jpp_ledger_test_hostile();
    jpp_ledger_test_names();
    jpp_ledger_test_memory();
    jpp_ledger_test_file();

    return jpp_done();
}


static void
jpp_ledger_start(void)
{
    jpp_arena_init(&arena, JPP_CAP);

    memset(&heap, 0, sizeof(jpp_ledger_heap_t));
    memset(&stats, 0, sizeof(jpp_stats_t));

    ranges = jpp_vec_create(&arena);

    (void) jpp_pools_init(&pools, &arena, JPP_POOLS_NO_UNITS, 0);

    heap.pools = &pools;
    heap.stats = &stats;
    heap.is_marked = true;
}


static void
jpp_ledger_range(jpp_ledger_kind_t kind, uint64_t start, uint64_t end,
    const char *name)
{
    jpp_ledger_range_t  *range;

    range = jpp_vec_push(ranges, sizeof(jpp_ledger_range_t));

    range->kind = kind;
    range->start = start;
    range->end = end;
    range->name = name;
    range->name_len = name != NULL ? strlen(name) : 0;
}


static void
jpp_ledger_ready(void)
{
    (void) jpp_ledger_init(&ledger, &arena, JPP_PAGE, ranges);
}


/* all of it private and anonymous, if it has no name */

static const jpp_smaps_t *
jpp_ledger_mapping(uint64_t start, uint64_t end, const char *name,
    uint64_t pss)
{
    static jpp_smaps_t  mapping;

    memset(&mapping, 0, sizeof(jpp_smaps_t));

    mapping.start = start;
    mapping.end = end;
    mapping.is_readable = true;
    mapping.inode = name[0] == '/';
    mapping.name_len = strlen(name);
    memcpy(mapping.name, name, mapping.name_len);
    mapping.rss = pss;
    mapping.pss = pss;
    mapping.private_clean = 0;
    mapping.private_dirty = pss;
    mapping.lazy_free = 0;
    mapping.swap_pss = JPP_NONE;

    return &mapping;
}


/* Requests hold HELD bytes; in all there are TOTAL, of them INHERITED.  The
   largest row is the first then, and each within its bounds. */

static bool
jpp_ledger_heap(uint64_t held, uint64_t total, uint64_t inherited)
{
    size_t                   i, wrong;
    const jpp_ledger_row_t  *rows;

    pools.facts.has_total = 1;
    pools.facts.total = total;
    pools.facts.outside_inherited = inherited;

    if (!jpp_pools_add(&pools, jpp_test_owner(&pools, JPP_POOLS_REQUEST,
                                              "a.example", "/", NULL),
                       JPP_POOLS_BLOCKS, 0, 1, held, 0)
        || !jpp_ledger_finish(&ledger, &heap))
    {
        return false;
    }

    rows = jpp_vec_items(ledger.rows, jpp_ledger_row_t);

    for (i = wrong = 0; i < jpp_vec_count(ledger.rows, jpp_ledger_row_t); i++) {
        wrong += i != 0 && rows[i].bytes > rows[i - 1].bytes;
        wrong += rows[i].bytes < rows[i].least || rows[i].bytes > rows[i].most;
    }

    return jpp_ok(wrong == 0, "%zu rows, %zu of which are wrong", i, wrong);
}


static const jpp_ledger_row_t *
jpp_ledger_find(jpp_ledger_kind_t kind, const char *name)
{
    size_t                   i, n;
    const jpp_ledger_row_t  *rows;

    rows = jpp_vec_items(ledger.rows, jpp_ledger_row_t);
    n = jpp_vec_count(ledger.rows, jpp_ledger_row_t);

    for (i = 0; i < n; i++) {
        if (rows[i].kind == (uint32_t) kind && rows[i].name_len == strlen(name)
            && memcmp(rows[i].name, name, rows[i].name_len) == 0)
        {
            return &rows[i];
        }
    }

    return NULL;
}


static uint64_t
jpp_ledger_bytes(jpp_ledger_kind_t kind, const char *name)
{
    const jpp_ledger_row_t  *row;

    row = jpp_ledger_find(kind, name);

    return row != NULL ? row->bytes : 0;
}


static uint64_t
jpp_ledger_sum(void)
{
    size_t                   i, n;
    uint64_t                 sum;
    const jpp_ledger_row_t  *rows;

    rows = jpp_vec_items(ledger.rows, jpp_ledger_row_t);
    n = jpp_vec_count(ledger.rows, jpp_ledger_row_t);

    for (i = 0, sum = 0; i < n; i++) {
        sum += rows[i].bytes;
    }

    return sum;
}


/* a worker of two, with 113 MiB in a table of Lua */

static void
jpp_ledger_test_real(void)
{
    const jpp_ledger_row_t     *row;
    static jpp_smaps_t          mapping;
    static jpp_smaps_reader_t   reader;

    jpp_ledger_start();
    jpp_ledger_ready();

    (void) jpp_smaps_open(&reader, "t/data/nginx-lua.smaps");

    while (jpp_smaps_next(&reader, &mapping)) {
        (void) jpp_ledger_map(&ledger, &mapping, NULL,
                              jpp_ledger_is_anonymous(&ledger, &mapping)
                              && mapping.is_unreserved);
    }

    jpp_smaps_close(&reader);

    stats.allocated = 3018752;
    stats.active = 3186688;
    stats.metadata = 2777856;
    stats.tcache = 517984;
    stats.dirty = 32768;

    jpp_ok(jpp_ledger_heap(3 * JPP_PAGE, 2480000, 900000), "a ledger");

    jpp_is_u64(ledger.sums.pss, 119119 * 1024, "Pss");
    jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "the rows are all of it");
    jpp_is_u64(ledger.rest.size, 13107200, "jemalloc's mappings");

    row = jpp_ledger_find(JPP_LEDGER_MAPS, "");

    jpp_ok(row != NULL && row->bytes / JPP_MIB == 112
           && row->how == JPP_LEDGER_EXACT, "LuaJIT's: %" PRIu64,
           row != NULL ? row->bytes : 0);
    jpp_ok(jpp_vec_items(ledger.rows, jpp_ledger_row_t) == row,
           "is the largest");
    jpp_ok(jpp_ledger_find(JPP_LEDGER_UNKNOWN, "") == NULL,
           "nothing is unknown");
    jpp_ok(jpp_ledger_bytes(JPP_LEDGER_FILE, "/usr/sbin/nginx") > 100 * 1024,
           "the program");
    jpp_is_u64(jpp_ledger_find(JPP_LEDGER_FILE, "/usr/sbin/nginx")->how,
               JPP_LEDGER_EXACT, "which is exact");
    jpp_ok(jpp_ledger_bytes(JPP_LEDGER_CODE, "") > 0, "code of LuaJIT");
    jpp_ok(jpp_ledger_bytes(JPP_LEDGER_STACKS, "") > 0, "stacks");
    jpp_ok(jpp_ledger_bytes(JPP_LEDGER_SHARED, "") > 0, "zones, without names");
    jpp_ok(jpp_ledger_bytes(JPP_LEDGER_METADATA, "") > 0, "metadata");

    jpp_arena_destroy(&arena);
}


static void
jpp_ledger_test_kinds(void)
{
    jpp_smaps_t  mapping;

    jpp_ledger_start();
    jpp_ledger_ready();

    /* a stack lies behind pages that nobody may touch */

    mapping = *jpp_ledger_mapping(0x1000, 0x2000, "", 0);
    mapping.is_readable = false;
    (void) jpp_ledger_map(&ledger, &mapping, NULL, false);

    mapping = *jpp_ledger_mapping(0x2000, 0x9000, "", 100);
    jpp_ok(!jpp_ledger_is_anonymous(&ledger, &mapping), "not malloc's");
    (void) jpp_ledger_map(&ledger, &mapping, NULL, false);

    mapping = *jpp_ledger_mapping(0x9000, 0xa000, "[stack]", 11);
    (void) jpp_ledger_map(&ledger, &mapping, NULL, false);

    mapping = *jpp_ledger_mapping(0xb000, 0xc000, "", 200);
    mapping.is_executable = true;
    (void) jpp_ledger_map(&ledger, &mapping, NULL, false);

    mapping = *jpp_ledger_mapping(0xc000, 0xd000, "[vdso]", 300);
    mapping.is_executable = true;
    (void) jpp_ledger_map(&ledger, &mapping, NULL, false);

    mapping = *jpp_ledger_mapping(0xd000, 0xe000, "[heap]", 400);
    jpp_ok(jpp_ledger_is_anonymous(&ledger, &mapping), "it may be malloc's");
    (void) jpp_ledger_map(&ledger, &mapping, NULL, false);

    mapping = *jpp_ledger_mapping(0xe000, 0xf000, "[anon:js]", 4);
    (void) jpp_ledger_map(&ledger, &mapping, NULL, false);

    mapping = *jpp_ledger_mapping(0xf000, 0x10000,
                                  "/memfd:jemalloc-pprof (deleted)", 500);
    (void) jpp_ledger_map(&ledger, &mapping, NULL, false);

    mapping = *jpp_ledger_mapping(0x10000, 0x11000, "/SYSV00000000", 600);
    mapping.is_shared = true;
    mapping.swap_pss = 7;
    (void) jpp_ledger_map(&ledger, &mapping, NULL, false);

    jpp_ok(jpp_ledger_finish(&ledger, &heap), "mappings of all sorts");

    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_STACKS, ""), 111, "stacks");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_CODE, ""), 200, "code");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_KERNEL, ""), 300, "the kernel's");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_MAPS, "[heap]"), 400, "others'");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_MAPS, "[anon:js]"), 4,
               "by the names that they have given to it");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_OWN, ""), 500, "the module's");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_SHARED, ""), 600, "shared");
    jpp_is_u64(ledger.sums.anonymous, 111 + 200 + 404 + 500, "anonymous");
    jpp_is_u64(ledger.sums.swap, 7, "in swap");
    jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "the rows are all of it");

    jpp_arena_destroy(&arena);
}


/*
 * Eight pages: two requests and a connection, one of them half in a page that
 * is shared by four processes, one in a page that was never touched.
 */

static void
jpp_ledger_test_pages(void)
{
    jpp_smaps_t               mapping;
    const jpp_ledger_row_t   *row;

    static const uint8_t      pages[8] = { 2, 2, 1, 0, 2, 2, 1, 2 };

    jpp_ledger_start();

    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x101800, 0x102800, NULL);
    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x103000, 0x105000, NULL);
    jpp_ledger_range(JPP_LEDGER_CONNECTIONS, 0x105000, 0x105200, NULL);
    jpp_ledger_range(JPP_LEDGER_OWN, 0x107000, 0x108000, NULL);
    jpp_ledger_range(JPP_LEDGER_OWN, 0x208000, 0x209000, NULL);
    jpp_ledger_ready();

    mapping = *jpp_ledger_mapping(0x100000, 0x108000, "", 5 * JPP_PAGE);
    mapping.rss = 7 * JPP_PAGE;
    mapping.pss = 5 * JPP_PAGE + 2 * JPP_PAGE / 4;

    jpp_ok(jpp_ledger_needs_pages(&ledger, &mapping), "pages have to be known");
    jpp_ok(jpp_ledger_map(&ledger, &mapping, pages, true), "are");

    jpp_is_u64(ledger.sums.n_unpaged, 0, "none is unknown");
    jpp_is_u64(ledger.rest.size, 7 * JPP_PAGE, "the module's is not malloc's");
    jpp_is_u64(ledger.rest.shared_rss, 2 * JPP_PAGE - 0x800,
               "what is left of the shared ones");

    stats.active = stats.allocated = 8 * JPP_PAGE;
    stats.dirty = 100 * JPP_PAGE;

    jpp_ok(jpp_ledger_heap(0x3000, 0x3200, 0), "a ledger");

    row = jpp_ledger_find(JPP_LEDGER_REQUESTS, "");

    jpp_is_u64(row->bytes, 0x800 + 0x800 / 4 + JPP_PAGE, "of requests");
    jpp_is_u64(row->held, 0x3000, "which have set aside more");
    jpp_is_u64(row->how, JPP_LEDGER_EXACT, "to less than a page");
    jpp_is_u64(row->least, JPP_PAGE + 0x800, "or nothing of the shared one");
    jpp_is_u64(row->most, JPP_PAGE + 0x800 + 0x400, "or half of its part");

    row = jpp_ledger_find(JPP_LEDGER_CONNECTIONS, "");

    jpp_is_u64(row->bytes, 0x200, "of a connection");
    jpp_is_u64(row->how, JPP_LEDGER_EXACT, "which is exact");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_OWN, ""), JPP_PAGE, "of the module");
    jpp_is_u64(jpp_ledger_sum(), mapping.pss, "the rows are all of it");

    jpp_arena_destroy(&arena);
}


/* without pages all bytes of a mapping have the same share */

/*
 * 64 pages that four processes have, and half of them are those of requests,
 * which get a quarter of the mean, as far as SHARERS of them tell.
 */

static void
jpp_ledger_test_shared(uint64_t sharers, uint64_t least, uint64_t most,
    jpp_ledger_how_t how)
{
    uint8_t                   pages[64];
    jpp_smaps_t               mapping;
    const jpp_ledger_row_t   *row;

    memset(pages, JPP_PAGE_SHARED, sizeof(pages));

    jpp_ledger_start();
    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x100000, 0x120000, NULL);
    jpp_ledger_ready();
    ledger.sharers = sharers;

    mapping = *jpp_ledger_mapping(0x100000, 0x140000, "", 0);
    mapping.rss = 64 * JPP_PAGE;
    mapping.pss = 16 * JPP_PAGE;

    jpp_ok(jpp_ledger_map(&ledger, &mapping, pages, true)
           && jpp_ledger_heap(32 * JPP_PAGE, 32 * JPP_PAGE, 0), "a ledger");

    row = jpp_ledger_find(JPP_LEDGER_REQUESTS, "");

    jpp_is_u64(row->bytes, 8 * JPP_PAGE, "the mean of a shared page");
    jpp_is_u64(row->least, least * JPP_PAGE, "%u processes: the least",
               (unsigned) sharers);
    jpp_is_u64(row->most, most * JPP_PAGE, "the most");
    jpp_is_u64(row->how, how, "how well it is known");

    jpp_arena_destroy(&arena);
}


static void
jpp_ledger_test_unpaged(void)
{
    jpp_ledger_start();

    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x100000, 0x140000, NULL);
    jpp_ledger_range(JPP_LEDGER_OWN, 0x300000, 0x301000, NULL);
    jpp_ledger_ready();

    (void) jpp_ledger_map(&ledger,
                          jpp_ledger_mapping(0x100000, 0x200000, "", 0x80000),
                          NULL, true);
    (void) jpp_ledger_map(&ledger,
                          jpp_ledger_mapping(0x300000, 0x301000, "", 0x800),
                          NULL, true);

    stats.active = stats.allocated = stats.dirty = JPP_MIB;
    (void) jpp_ledger_heap(0x40000, 0x40000, 0);

    jpp_is_u64(ledger.sums.n_unpaged, 1, "a mapping whose pages are missing");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_REQUESTS, ""), 0x20000, "a quarter");
    jpp_is_u64(jpp_ledger_find(JPP_LEDGER_REQUESTS, "")->how,
               JPP_LEDGER_ESTIMATE, "is an estimate");
    jpp_is_u64(jpp_ledger_find(JPP_LEDGER_OWN, "")->how, JPP_LEDGER_EXACT,
               "what is all of a mapping is not");
    jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "the rows are all of it");

    jpp_arena_destroy(&arena);
}


/* two zones side by side, data of a library in no file, a name of anything */

static void
jpp_ledger_test_zones(void)
{
    jpp_smaps_t           mapping;

    static const uint8_t  pages[4] = { 2, 1, 0, 2 };

    jpp_ledger_start();

    jpp_ledger_range(JPP_LEDGER_ZONE, 0x102000, 0x104000, "two\n\xff\"");
    jpp_ledger_range(JPP_LEDGER_ZONE, 0x100000, 0x102000, "one");
    jpp_ledger_range(JPP_LEDGER_FILE, 0x202000, 0x203000, NULL);
    jpp_ledger_ready();

    mapping = *jpp_ledger_mapping(0x100000, 0x104000, "/dev/zero (deleted)",
                                  2 * JPP_PAGE);
    mapping.is_shared = true;
    mapping.rss = 3 * JPP_PAGE;
    mapping.pss = 2 * JPP_PAGE + JPP_PAGE / 2;

    jpp_ok(jpp_ledger_needs_pages(&ledger, &mapping), "two zones in one");
    (void) jpp_ledger_map(&ledger, &mapping, pages, false);

    (void) jpp_ledger_map(&ledger,
                          jpp_ledger_mapping(0x200000, 0x202000,
                                             "/lib/libx.so.1", 300),
                          NULL, false);
    (void) jpp_ledger_map(&ledger,
                          jpp_ledger_mapping(0x202000, 0x203000, "", 40),
                          NULL, false);
    (void) jpp_ledger_finish(&ledger, &heap);

    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_ZONE, "one"),
               JPP_PAGE + JPP_PAGE / 2, "one");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_ZONE, "two\n\xff\""), JPP_PAGE,
               "two");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_FILE, "/lib/libx.so.1"), 340,
               "a library with its zeroed data");
    jpp_is_u64(ledger.sums.anonymous, 0, "which is in the row of a file");
    jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "the rows are all of it");

    jpp_arena_destroy(&arena);
}


/*
 * 1000 KiB, of which 400 are held outside of pools: the rest is 600, of at most
 * 100 in thread caches, 400 of fragmentation and 300 of metadata.
 */

static void
jpp_ledger_test_bounds(void)
{
    const jpp_ledger_row_t  *row;

    jpp_ledger_start();
    jpp_ledger_ready();

    (void) jpp_ledger_map(&ledger,
                          jpp_ledger_mapping(0x100000, 0x300000, "",
                                             1000 * 1024), NULL, true);

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

    jpp_arena_destroy(&arena);
}


/* after a burst there is hardly anything else that it can be */

static void
jpp_ledger_test_dirty(void)
{
    jpp_smaps_t              mapping;
    const jpp_ledger_row_t  *row;

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

    jpp_arena_destroy(&arena);
}


/* who holds a megabyte has touched a quarter */

static void
jpp_ledger_test_untouched(void)
{
    jpp_ledger_start();
    jpp_ledger_ready();

    (void) jpp_ledger_map(&ledger,
                          jpp_ledger_mapping(0x100000, 0x300000, "",
                                             256 * 1024), NULL, true);
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

    jpp_arena_destroy(&arena);
}


static void
jpp_ledger_test_unknown(void)
{
    jpp_ledger_start();
    jpp_ledger_ready();

    (void) jpp_ledger_map(&ledger,
                          jpp_ledger_mapping(0x100000, 0x300000, "", JPP_MIB),
                          NULL, true);
    stats.dirty = JPP_MIB / 4;
    (void) jpp_ledger_heap(0, JPP_MIB / 4, 0);

    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_UNKNOWN, ""), JPP_MIB / 2,
               "what nobody counts is unknown");
    jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "the rows are all of it");

    jpp_arena_destroy(&arena);
}


static void
jpp_ledger_test_no_jemalloc(void)
{
    jpp_ledger_start();
    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x100000, 0x200000, NULL);
    jpp_ledger_ready();

    heap.stats = NULL;

    (void) jpp_ledger_map(&ledger,
                          jpp_ledger_mapping(0x100000, 0x200000, "[heap]",
                                             JPP_MIB), NULL, true);
    (void) jpp_ledger_map(&ledger,
                          jpp_ledger_mapping(0x400000, 0x500000, "",
                                             JPP_MIB), NULL, true);

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

    jpp_arena_destroy(&arena);
}


/* a machine that reserves all: jemalloc's cannot be told from others' */

static void
jpp_ledger_test_unmarked(void)
{
    const jpp_ledger_row_t  *row;

    jpp_ledger_start();
    jpp_ledger_ready();

    heap.is_marked = false;
    stats.mapped = JPP_MIB;
    stats.retained = JPP_MIB;
    stats.dirty = JPP_MIB / 2;

    (void) jpp_ledger_map(&ledger,
                          jpp_ledger_mapping(0x100000, 0x100000 + 5 * JPP_MIB,
                                             "", 3 * JPP_MIB), NULL, true);
    (void) jpp_ledger_heap(0, JPP_MIB / 4, 0);

    row = jpp_ledger_find(JPP_LEDGER_MAPS, "");

    jpp_ok(row != NULL && row->most == 11 * JPP_MIB / 4
           && row->least == 9 * JPP_MIB / 4
           && row->how == JPP_LEDGER_BOUND,
           "what cannot be jemalloc's has bounds");
    jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "the rows are all of it");

    jpp_arena_destroy(&arena);
}


/* what cannot be: more Pss than Rss, owners in each other, any order */

static void
jpp_ledger_test_hostile(void)
{
    size_t       i;
    jpp_smaps_t  mapping;

    jpp_ledger_start();

    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0, UINT64_MAX, NULL);
    jpp_ledger_range(JPP_LEDGER_OWN, 0x1000, 0x3000, NULL);
    jpp_ledger_range(JPP_LEDGER_ZONE, 0x2000, 0x1000, "backwards");
    jpp_ledger_range(JPP_LEDGER_FILE, UINT64_MAX, UINT64_MAX, NULL);
    jpp_ledger_ready();

    for (i = 1000; i > 0; i--) {
        mapping = *jpp_ledger_mapping(i << 12, (i + i % 7 + 1) << 12,
                                      i % 3 == 0 ? "/a" : "", i << 20);
        mapping.pss = i % 5 == 0 ? UINT64_MAX / 4096 : mapping.pss;
        mapping.private_dirty = i % 4 == 0 ? UINT64_MAX : 0;
        mapping.lazy_free = UINT64_MAX / 1000;

        if (!jpp_ledger_map(&ledger, &mapping, NULL, i % 2 == 0)) {
            break;
        }
    }

    stats.tcache = stats.dirty = JPP_NONE;
    stats.active = UINT64_MAX / 2;

    jpp_ok(i == 0 && jpp_ledger_heap(UINT64_MAX / 2, UINT64_MAX / 2, 1),
           "numbers that cannot be");
    jpp_is_u64(jpp_ledger_sum(), ledger.sums.pss, "add up all the same");

    jpp_arena_destroy(&arena);
}


static void
jpp_ledger_test_names(void)
{
    char      name[200];
    size_t    i;

    jpp_ledger_start();
    jpp_ledger_ready();

    for (i = 0; i < 20000; i++) {
        (void) snprintf(name, sizeof(name), "/%0150zu", i);
        (void) jpp_ledger_map(&ledger,
                              jpp_ledger_mapping(0x1000 * (i + 1),
                                                 0x1000 * (i + 2), name, 10),
                              NULL, false);
    }

    jpp_is_u64(jpp_vec_count(ledger.rows, jpp_ledger_row_t),
               JPP_LEDGER_ROWS + 1, "rows for some, and one for the rest");
    jpp_ok(ledger.sums.n_unnamed >= 20000 - JPP_LEDGER_ROWS, "which have none");
    jpp_is_u64(jpp_ledger_sum(), 200000, "the rows are all of it");

    (void) snprintf(name, sizeof(name), "%096d", 7);
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_FILE, name), 10,
               "a name is the end of a path");

    jpp_arena_destroy(&arena);
}


static void
jpp_ledger_test_memory(void)
{
    bool         is_done, is_whole;
    uint64_t     n, sum, least;
    jpp_smaps_t  mapping;

    sum = 0;
    least = UINT64_MAX;

    for (n = 1, is_whole = false; n < 100 && !is_whole; n++) {
        jpp_ledger_start();
        jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x1000, 0x2000, NULL);
        arena.fail_at = arena.n_calls + n;

        mapping = *jpp_ledger_mapping(0x1000, 0x4000, "/a", 100);

        is_done = jpp_ledger_init(&ledger, &arena, JPP_PAGE, ranges)
                  && jpp_ledger_map(&ledger, &mapping, NULL, false)
                  && jpp_ledger_heap(100, 200, 10);
        is_whole = arena.n_calls < arena.fail_at;

        if (is_done) {
            sum = jpp_ledger_sum();
            least = sum < least ? sum : least;
        }

        jpp_arena_destroy(&arena);
    }

    jpp_ok(n > 5 && n < 100, "each allocation failed once: %" PRIu64, n);
    jpp_ok(sum != 0 && least == sum, "names are missed at most, not bytes");
}


static void
jpp_ledger_test_file(void)
{
    size_t               i, wrong;
    uint64_t             body[4096];
    char                *data;
    ssize_t              len;
    jpp_err_t            err;
    jpp_memfd_t          file;
    jpp_ledger_read_t    read_back;
    jpp_ledger_facts_t   facts;

    jpp_ledger_start();
    jpp_ledger_ready();

    (void) jpp_ledger_map(&ledger, jpp_ledger_mapping(0x1000, 0x2000, "/a", 9),
                          NULL, false);
    (void) jpp_ledger_heap(100, 200, 10);

    memset(&facts, 0, sizeof(jpp_ledger_facts_t));
    facts.sums = ledger.sums;
    facts.sockets = 123;

    jpp_memfd_init(&file);

    jpp_ok(jpp_memfd_open(&file, NULL, &err) == JPP_OK
           && jpp_ledger_save(&ledger, &facts, file.fd, &err) == JPP_OK,
           "a file");

    len = pread(file.fd, body, sizeof(body), 0);
    data = (char *) body;

    jpp_ok(jpp_ledger_load(&read_back, data, (size_t) len, &err) == JPP_OK
           && read_back.n == jpp_vec_count(ledger.rows, jpp_ledger_row_t)
           && read_back.facts.sums.pss == ledger.sums.pss
           && read_back.facts.sockets == 123
           && memcmp(read_back.rows, ledger.rows->data, ledger.rows->len) == 0,
           "and back");

    for (i = 0, wrong = 0; i < (size_t) len; i++) {
        wrong += jpp_ledger_load(&read_back, data, i, &err) == JPP_OK
                 && read_back.n * sizeof(jpp_ledger_row_t)
                    + sizeof(jpp_ledger_facts_t) + 8 != i;
    }

    jpp_is_u64(wrong, 0, "cut at every byte");

    ((jpp_ledger_row_t *) (void *) (data + 8 + sizeof(jpp_ledger_facts_t)))
        ->name_len = JPP_LEDGER_NAME + 1;
    jpp_ok(jpp_ledger_load(&read_back, data, (size_t) len, &err) != JPP_OK
           && read_back.n == 0, "a name without end");
    jpp_is_str(err.text, "its ledger has a row that cannot be", "why");

    data[0] = 'x';
    jpp_ok(jpp_ledger_load(&read_back, data, (size_t) len, &err) != JPP_OK,
           "another version");

    jpp_ok(jpp_ledger_save(&ledger, &facts, -1, &err) == JPP_ERR_SYS,
           "no file");
    jpp_is_str(err.text, "cannot write its ledger: Bad file descriptor",
               "why");

    jpp_memfd_close(&file);
    jpp_arena_destroy(&arena);
}
