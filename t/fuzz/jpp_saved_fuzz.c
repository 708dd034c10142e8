
#include "jpp_fuzz_parser.h"
#include "jpp_saved.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_fuzz_parsed_t  parsed;

    if (jpp_fuzz_parse(&parsed, jpp_saved_parser(), data, size,
                       (jpp_read_options_t) { .is_base = size & 1 }))
    {
        (void) jpp_roots_add(&parsed.profile, JPP_BY_SERVER - size % 2);
        (void) jpp_pprof_pack(&parsed.profile, jpp_fuzz_sink());
    }

    jpp_arena_destroy(&parsed.arena);
    return 0;
}
