
#include "jpp_fuzz_parser.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_view_t         view = { 0 };
    jpp_fuzz_parsed_t  parsed;

    if (jpp_fuzz_parse(&parsed, &jpp_parser_heap, data, size,
                       (jpp_read_options_t) { .is_raw = size & 1,
                                              .has_owners = size & 2,
                                              .has_ages = size & 4 }))
    {
        view.profile = &parsed.profile;

        (void) jpp_roots_add(&parsed.profile, JPP_BY_SERVER - size % 2);
        (void) jpp_text_write(&view, jpp_fuzz_sink());
        (void) jpp_pprof_pack(&parsed.profile, jpp_fuzz_sink());
    }

    jpp_arena_destroy(&parsed.arena);
    return 0;
}
