
#include "jpp_fuzz.h"
#include "jpp_heap.h"
#include "jpp_parsers.h"
#include "jpp_profile.h"
#include "jpp_view.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_arena_t          arena;
    jpp_dump_t           dump;
    jpp_view_t           view = { 0 };
    jpp_profile_t        profile;
    jpp_read_options_t   options = { .is_raw = size & 1,
                                     .has_owners = size & 2 };

    jpp_arena_init(&arena, JPP_FUZZ_MEMORY);

    if (jpp_parser_init(&jpp_parser_heap, &profile, &arena)
        && jpp_parser_heap.open(&dump, &profile, (const char *) data, size,
                                NULL, NULL)
           == JPP_OK
        && jpp_parser_heap.read(&profile, &dump, &options, NULL) == JPP_OK)
    {
        view.profile = &profile;

        (void) jpp_roots_add(&profile, JPP_BY_SERVER - size % 2);

        (void) jpp_text_write(&view, jpp_fuzz_sink());
        (void) jpp_pprof_pack(&profile, jpp_fuzz_sink());
    }

    jpp_arena_destroy(&arena);
    return 0;
}
