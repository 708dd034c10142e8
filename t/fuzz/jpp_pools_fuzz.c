
#include "jpp_fuzz_parser.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_fuzz_parsed_t  parsed;

    if (jpp_fuzz_parse(&parsed, &jpp_parser_pools, data, size,
                       (jpp_read_options_t) { .is_base = size & 1 }))
    {
        jpp_pools_write(parsed.dump.opened, jpp_fuzz_sink());
    }

    jpp_arena_destroy(&parsed.arena);
    return 0;
}
