
#include "jpp_fuzz.h"
#include "jpp_pools_table.h"
#include "jpp_parsers.h"
#include "jpp_view.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_arena_t          arena;
    jpp_dump_t           dump;
    jpp_profile_t        profile;
    jpp_read_options_t   options = { .is_base = size & 1 };

    jpp_arena_init(&arena, JPP_FUZZ_MEMORY);

    if (jpp_parser_init(&jpp_parser_pools, &profile, &arena)
        && jpp_parser_pools.open(&dump, &profile, (const char *) data, size,
                                 NULL, NULL)
           == JPP_OK
        && jpp_parser_pools.read(&profile, &dump, &options, NULL) == JPP_OK)
    {
        jpp_parser_pools.describe(&profile);
        (void) jpp_pprof_pack(&profile, jpp_fuzz_sink());
        jpp_pools_write(dump.opened, jpp_fuzz_sink());
    }

    jpp_arena_destroy(&arena);
    return 0;
}
