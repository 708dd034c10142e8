
/* Any bytes as the stalls of all workers, which lie in memory they share. */

#include "jpp_events.h"
#include "jpp_fuzz_parser.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_fuzz_parsed_t  parsed;

    if (jpp_fuzz_parse(&parsed, &jpp_parser_stalls, data, size,
                       (jpp_read_options_t) { .is_raw = false }))
    {
        jpp_stall_comments((const void *) parsed.data,
                           size / sizeof(jpp_stall_t), size % 3,
                           &parsed.profile);
        (void) jpp_pprof_pack(&parsed.profile, jpp_fuzz_sink());
    }

    jpp_arena_destroy(&parsed.arena);
    return 0;
}
