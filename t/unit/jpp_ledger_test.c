
/*
 * The ledger: rows of a real nginx, of pages one by one, of sums between
 * bounds, and of input that cannot be.
 */


#include "jpp_test_main.h"
#include "jpp_ledger.h"
#include "jpp_proc.h"
#include "jpp_test_ledger.h"


/* a worker of two, with 113 MiB in a table of Lua */

JPP_TEST(jpp_ledger_test_real)
{
    static jpp_smaps_t          mapping;
    static jpp_smaps_parser_t   parser;

    (void) jpp_smaps_open(&parser, "t/data/nginx-lua.smaps");

    while (jpp_smaps_next(&parser, &mapping)) {
        (void) jpp_ledger_map(&ledger, &mapping, NULL,
                              jpp_ledger_is_anonymous(&ledger, &mapping)
                              && mapping.is_unreserved);
    }

    jpp_lines_close(&parser.lines);

    stats.allocated = 3018752;
    stats.active = 3186688;
    stats.metadata = 2777856;
    stats.tcache = 517984;
    stats.dirty = 32768;

    jpp_ok(jpp_ledger_heap(3 * JPP_PAGE, 2480000, 900000), "a ledger");

    jpp_ledger_shows("LuaJIT's mappings are the largest row; zones without "
                     "names, and nothing unknown");
}


JPP_TEST(jpp_ledger_test_kinds)
{
    jpp_smaps_t  mapping;

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

    jpp_ledger_shows("mappings of all sorts, some by the names that they have");
}


/*
 * Eight pages: two requests and a connection, one of them half in a page that
 * is shared by four processes, one in a page that was never touched.
 */

JPP_TEST(jpp_ledger_test_pages)
{
    jpp_smaps_t           mapping;

    static const uint8_t  pages[8] = { 2, 2, 1, 0, 2, 2, 1, 2 };

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

    stats.active = stats.allocated = 8 * JPP_PAGE;
    stats.dirty = 100 * JPP_PAGE;

    jpp_ok(jpp_ledger_heap(0x3000, 0x3200, 0), "a ledger");
    jpp_ledger_shows("requests to less than a page, with a quarter of half a "
                     "page; a connection; the module's is not malloc's");
}


/*
 * 64 pages that four processes have, and half of them are those of requests,
 * which get a quarter of the mean, as far as SHARERS of them tell.
 */

static void
jpp_ledger_test_shared(uint64_t sharers)
{
    uint8_t      pages[64];
    jpp_smaps_t  mapping;

    memset(pages, JPP_PAGE_SHARED, sizeof(pages));

    jpp_test_begin();
    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x100000, 0x120000, NULL);
    jpp_ledger_ready();
    ledger.sharers = sharers;

    mapping = *jpp_ledger_mapping(0x100000, 0x140000, "", 0);
    mapping.rss = 64 * JPP_PAGE;
    mapping.pss = 16 * JPP_PAGE;

    jpp_ok(jpp_ledger_map(&ledger, &mapping, pages, true)
           && jpp_ledger_heap(32 * JPP_PAGE, 32 * JPP_PAGE, 0), "a ledger");

    jpp_ledger_shows("%u processes share pages", (unsigned) sharers);
}


JPP_TEST(jpp_ledger_test_unpaged)
{
    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x100000, 0x140000, NULL);
    jpp_ledger_range(JPP_LEDGER_OWN, 0x300000, 0x301000, NULL);
    jpp_ledger_ready();

    (void) jpp_ledger_take(0x100000, 0x200000, "", 0x80000, true);
    (void) jpp_ledger_take(0x300000, 0x301000, "", 0x800, true);

    stats.active = stats.allocated = stats.dirty = JPP_MIB;
    (void) jpp_ledger_heap(0x40000, 0x40000, 0);

    jpp_ledger_shows("a mapping whose pages are missing: a quarter, an "
                     "estimate; what is all of a mapping is exact");
}


/* as much of its own as of others', too; and a kernel that does not say */

JPP_TEST(jpp_ledger_test_halves)
{
    size_t       i;
    jpp_smaps_t  mapping;

    static const struct {
        uint64_t     clean;
        uint64_t     dirty;
        uint64_t     shared;
        const char  *what;
    } rows[] = {
        { 400, 100, 500, "both" },
        { JPP_NONE, 100, 0, "no clean ones" },
        { 100, JPP_NONE, 0, "no dirty ones" }
    };

    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x100000, 0x108000, NULL);
    jpp_ledger_ready();

    mapping = *jpp_ledger_mapping(0x8000, 0x9000, "/a", 1000);
    mapping.rss = 2000;
    mapping.private_dirty = 500;
    (void) jpp_ledger_map(&ledger, &mapping, NULL, false);

    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_FILE, "/a"), 1000, "a file");

    mapping = *jpp_ledger_mapping(0x100000, 0x110000, "", 1000);
    mapping.rss = 2000;
    mapping.private_dirty = 500;
    (void) jpp_ledger_map(&ledger, &mapping, NULL, true);

    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_REQUESTS, ""), 500, "requests");
    jpp_is_u64(jpp_ledger_find(JPP_LEDGER_REQUESTS, "")->how,
               JPP_LEDGER_ESTIMATE, "are an estimate");
    jpp_is_u64(ledger.sums.rss, 4000, "Rss");

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        mapping = *jpp_ledger_mapping(0x200000 + i * 0x10000,
                                      0x210000 + i * 0x10000, "", 1000);
        mapping.private_clean = rows[i].clean;
        mapping.private_dirty = rows[i].dirty;
        ledger.rest.shared_pss = 0;
        (void) jpp_ledger_map(&ledger, &mapping, NULL, true);

        jpp_is_u64(ledger.rest.shared_pss, rows[i].shared, "%s", rows[i].what);
    }
}


/* two zones side by side, data of a library in no file, a name of anything */

JPP_TEST(jpp_ledger_test_zones)
{
    jpp_smaps_t           mapping;

    static const uint8_t  pages[4] = { 2, 1, 0, 2 };

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

    (void) jpp_ledger_take(0x200000, 0x202000, "/lib/libx.so.1", 300, false);
    (void) jpp_ledger_take(0x202000, 0x203000, "", 40, false);
    (void) jpp_ledger_finish(&ledger, &heap);

    jpp_ledger_shows("zones by name, and a library with its zeroed data");
}


/* what is set aside, in any order, and which mappings lie in two */

JPP_TEST(jpp_ledger_test_ranges)
{
    jpp_smaps_t  mapping;
    size_t       i;

    static const struct {
        uint64_t     start;
        uint64_t     end;
        bool         is_needed;
        const char  *what;
    } rows[] = {
        { 0x8000, 0x9000, false, "before a range" },
        { 0x8000, 0xa000, false, "up to its start" },
        { 0x8000, 0xa001, true, "into it" },
        { 0xa000, 0xb000, false, "in it" },
        { 0xa000, 0xc000, false, "all of it" },
        { 0xa000, 0xc001, true, "and a byte more" },
        { 0xb000, 0xd000, true, "from its middle on" },
        { 0xc000, 0xd000, false, "from its end on" },
        { 0xe000, 0xf000, true, "the last" },
        { 0x10000, 0x11000, false, "behind all" },
        { 0xb000, 0xd000, true, "and back" }
    };

    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0xa000, 0xc000, NULL);
    jpp_ledger_range(JPP_LEDGER_SLOTS, 0xe000, 0xe800, NULL);
    jpp_ledger_range(JPP_LEDGER_HTTP2, 0xf000, 0xf000, NULL);
    jpp_ledger_range(JPP_LEDGER_SLOTS, 0x1000, 0x1100, NULL);
    jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x1080, 0x1200, NULL);
    jpp_ledger_ready();

    jpp_is_u64(ledger.ranged[JPP_LEDGER_REQUESTS], 0x2100, "of requests");
    jpp_is_u64(ledger.ranged[JPP_LEDGER_SLOTS], 0x900, "of slots");

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        mapping = *jpp_ledger_mapping(rows[i].start, rows[i].end, "", 100);

        jpp_is_u64(jpp_ledger_needs_pages(&ledger, &mapping),
                   rows[i].is_needed, "%s", rows[i].what);
    }

    mapping.rss = 0;
    jpp_ok(!jpp_ledger_needs_pages(&ledger, &mapping), "nothing in memory");

    (void) jpp_ledger_take(0xe000, 0xe800, "", 7, true);
    (void) jpp_ledger_take(0xa000, 0xc000, "", 5, true);

    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_SLOTS, ""), 7, "a range");
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_REQUESTS, ""), 5,
               "one before it, told later");

    jpp_ok(jpp_ledger_take(0xe800, 0x10000, "", 3, true),
           "a mapping around an empty one");
    jpp_is_u64(ledger.rest.pss, 3, "which gets nothing of it");
    jpp_ok(jpp_ledger_find(JPP_LEDGER_HTTP2, "") == NULL, "and has no row");
}


/* what cannot be: more Pss than Rss, owners in each other, any order */

JPP_TEST(jpp_ledger_test_hostile)
{
    size_t       i;
    jpp_smaps_t  mapping;

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
}


JPP_TEST(jpp_ledger_test_names)
{
    char      name[200];
    size_t    i;

    for (i = 0; i < 20000; i++) {
        jpp_print(name, "/%0150zu", i);
        (void) jpp_ledger_take(0x1000 * (i + 1), 0x1000 * (i + 2), name, 10,
                               false);
    }

    jpp_is_u64(jpp_vec_count(ledger.rows, jpp_ledger_row_t),
               JPP_LEDGER_ROWS + 1, "rows for some, and one for the rest");
    jpp_ok(ledger.sums.n_unnamed >= 20000 - JPP_LEDGER_ROWS, "which have none");
    jpp_is_u64(jpp_ledger_sum(), 200000, "the rows are all of it");

    jpp_print(name, "%096d", 7);
    jpp_is_u64(jpp_ledger_bytes(JPP_LEDGER_FILE, name), 10,
               "a name is the end of a path");
}


/* with any number of rows before, so that each is the one that is too many */

JPP_TEST(jpp_ledger_test_memory)
{
    char         name[8];
    bool         is_done, is_whole;
    size_t       i, n_rows, wrong;
    uint64_t     n, failed;
    jpp_smaps_t  mapping;

    wrong = 0;
    failed = 0;

    for (n_rows = 0; n_rows < 40; n_rows++) {
        for (n = 1, is_whole = false; n < 100 && !is_whole; n++) {
            jpp_test_begin();
            jpp_ledger_range(JPP_LEDGER_REQUESTS, 0x1000, 0x2000, NULL);
            (void) jpp_test_holds(&pools, JPP_POOLS_REQUEST, "a.example", "/",
                                  NULL, 100);
            (void) jpp_pools_add(&pools,
                                 jpp_test_owner(&pools, JPP_POOLS_RESOLVER,
                                                NULL, NULL, NULL),
                                 JPP_POOLS_OTHER, 0, 1, 100, 0);
            pools.facts.has_total = 1;
            pools.facts.total = 500;
            stats.dirty = 1000;
            arena.fail_at = arena.n_calls + n;

            is_done = jpp_ledger_init(&ledger, &arena, JPP_PAGE, ranges);

            for (i = 0; is_done && i < n_rows; i++) {
                jpp_print(name, "/%zu", i);
                is_done = jpp_ledger_take(0x10000, 0x11000, name, 7, false);
            }

            mapping = *jpp_ledger_mapping(0x1000, 0x4000, "", 3000);

            is_done = is_done
                      && jpp_ledger_map(&ledger, &mapping, NULL, true)
                      && jpp_ledger_finish(&ledger, &heap);
            is_whole = arena.n_calls < arena.fail_at;
            failed += !is_done;

            wrong += is_whole && !is_done;
            wrong += is_done && jpp_ledger_sum() != ledger.sums.pss;
        }

        wrong += !is_whole;
    }

    jpp_ok(failed > 40, "allocations failed: %" PRIu64, failed);
    jpp_is_u64(wrong, 0, "names are missed at most, not bytes");
}


/* what the first row of the file at DATA may be, and what not */

static void
jpp_ledger_test_rows(char *data, size_t len)
{
    size_t               i;
    jpp_ledger_row_t    *row;
    jpp_ledger_read_t    read_back;

    static const struct {
        uint32_t         kind;
        uint32_t         how;
        uint32_t         name_len;
        jpp_code_t       code;
    } rows[] = {
        { JPP_LEDGER_KINDS - 1, 0, 0, JPP_OK },
        { JPP_LEDGER_KINDS, 0, 0, JPP_ERR_INPUT },
        { 0, JPP_LEDGER_HOWS - 1, 0, JPP_OK },
        { 0, JPP_LEDGER_HOWS, 0, JPP_ERR_INPUT },
        { 0, 0, JPP_LEDGER_NAME, JPP_OK },
        { 0, 0, JPP_LEDGER_NAME + 1, JPP_ERR_INPUT }
    };

    row = (jpp_ledger_row_t *) (void *) (data + 8
                                         + sizeof(jpp_ledger_facts_t));

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        row->kind = rows[i].kind;
        row->how = rows[i].how;
        row->name_len = rows[i].name_len;

        jpp_is_u64(jpp_ledger_load(&read_back, data, len, &err), rows[i].code,
                   "kind %u, how %u, a name of %u", rows[i].kind, rows[i].how,
                   rows[i].name_len);
    }
}


JPP_TEST(jpp_ledger_test_file)
{
    size_t               i, wrong;
    uint64_t             body[4096];
    char                *data;
    ssize_t              len;
    jpp_memfd_t          file;
    jpp_ledger_read_t    read_back;
    jpp_ledger_facts_t   facts = { 0 };

    (void) jpp_ledger_take(0x1000, 0x2000, "/a", 9, false);
    (void) jpp_ledger_heap(100, 200, 10);

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

    jpp_ledger_test_rows(data, (size_t) len);

    memset(data + 8, 'w', sizeof(jpp_ledger_facts_t));
    jpp_ok(jpp_ledger_load(&read_back, data, 8 + sizeof(jpp_ledger_facts_t),
                           &err) == JPP_OK && read_back.n == 0, "no row");
    jpp_is_u64(strlen(read_back.facts.why), JPP_LEDGER_WHY - 1,
               "a reason without end");

    data[0] = 'x';
    jpp_ok(jpp_ledger_load(&read_back, data, (size_t) len, &err) != JPP_OK,
           "another version");

    jpp_ok(jpp_ledger_save(&ledger, &facts, -1, &err) == JPP_ERR_SYS,
           "no file");
    jpp_is_str(err.text, "cannot write its ledger: Bad file descriptor", "why");

    jpp_memfd_close(&file);
}


JPP_TEST(jpp_ledger_test)
{
    jpp_ledger_test_shared(4);
    jpp_ledger_test_shared(8);
    jpp_ledger_test_shared(0);
}
