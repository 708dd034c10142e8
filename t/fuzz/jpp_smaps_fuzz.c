
/* Any bytes as /proc/self/smaps, and the ledger of such a process. */

#include "jpp_fuzz.h"
#include "jpp_ledger.h"
#include "jpp_test_lines.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_vec_t                  *ranges;
    jpp_arena_t                 arena;
    jpp_pools_t                 pools;
    jpp_stats_t                 stats = { .dirty = 4096, .active = 100000 };
    jpp_ledger_t                ledger;
    jpp_ledger_heap_t           heap = { .pools = &pools, .stats = &stats };
    jpp_ledger_range_t         *range;
    static jpp_smaps_t          mapping;
    static jpp_smaps_parser_t   parser;

    jpp_arena_init(&arena, JPP_FUZZ_MEMORY);

    ranges = jpp_vec_create(&arena);
    range = jpp_vec_push(ranges, 2 * sizeof(jpp_ledger_range_t));
    range[0].start = 0x1000;
    range[0].end = 0x7f0000001000;
    range[1].start = 0x7f0000000800;
    range[1].end = 0x7f0000100000;
    range[1].kind = JPP_LEDGER_FILE;

    (void) jpp_pools_init(&pools, &arena, JPP_POOLS_NO_UNITS, 0);
    (void) jpp_ledger_init(&ledger, &arena, 4096, ranges);

    jpp_smaps_text(&parser, (const char *) data, size);

    while (jpp_smaps_next(&parser, &mapping)) {
        (void) jpp_ledger_needs_pages(&ledger, &mapping);
        (void) jpp_ledger_map(&ledger, &mapping, NULL, mapping.is_unreserved);
    }

    jpp_lines_close(&parser.lines);

    (void) jpp_ledger_finish(&ledger, &heap);

    jpp_arena_destroy(&arena);

    return 0;
}
