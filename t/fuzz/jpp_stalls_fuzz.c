
/* Any bytes as the stalls of all workers, which lie in memory they share. */

#include "jpp_fuzz.h"
#include "jpp_parsers.h"
#include "jpp_stall_table.h"
#include "jpp_view.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char                *copy;
    jpp_arena_t          arena;
    jpp_dump_t           dump;
    jpp_profile_t        profile;
    jpp_read_options_t   options = { .is_raw = false };

    jpp_arena_init(&arena, JPP_FUZZ_MEMORY);

    copy = jpp_arena_alloc(&arena, size + 1);
    memcpy(copy, data, size);

    if (jpp_parser_init(&jpp_parser_stalls, &profile, &arena)
        && jpp_parser_stalls.open(&dump, &profile, copy, size, NULL,
                                  NULL) == JPP_OK
        && jpp_parser_stalls.read(&profile, &dump, &options, NULL) == JPP_OK)
    {
        jpp_parser_stalls.describe(&profile);
        jpp_stall_comments((const void *) copy, size / sizeof(jpp_stall_t),
                           size % 3, &profile);
        (void) jpp_pprof_pack(&profile, jpp_fuzz_sink());
    }

    jpp_arena_destroy(&arena);
    return 0;
}
