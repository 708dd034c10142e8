
/* Any bytes as the heap of LuaJIT, written by a process that may be killed. */

#include "jpp_fuzz_parser.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_fuzz_parsed_t  parsed;

    (void) jpp_fuzz_parse(&parsed, &jpp_parser_lua, data, size,
                          (jpp_read_options_t) { .is_base = size % 2 != 0 });

    jpp_arena_destroy(&parsed.arena);
    return 0;
}
