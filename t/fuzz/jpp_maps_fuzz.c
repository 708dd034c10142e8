
#include "jpp_fuzz.h"
#include "jpp_parsers.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t        address;
    jpp_vec_t      *maps;
    jpp_arena_t     arena;
    jpp_profile_t   profile;

    jpp_arena_init(&arena, JPP_FUZZ_MEMORY);
    (void) jpp_parser_init(&jpp_parser_heap, &profile, &arena);
    maps = jpp_vec_create(&arena);

    if (size != 0 && data[size - 1] == '\n') {
        (void) jpp_maps_read(&profile, (const char *) data, size,
                             "[vsyscall]", maps, NULL);
        memcpy(&address, data, size < 8 ? size : 8);
        (void) jpp_maps_find(maps, size < 8 ? 0 : address);
    }

    jpp_arena_destroy(&arena);
    return 0;
}
