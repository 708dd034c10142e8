
#include "jpp_fuzz.h"
#include "jpp_report.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_err_t       err;
    jpp_arena_t     arena;
    jpp_symbols_t   symbols;

    static const char  maps[] =
        "0-a0 r-xp 0 8:1 11 /usr/sbin/prog\n"
        "b0-ffffffffffffffff r-xp 0 8:1 12 /lib/libc.so.6\n";

    jpp_arena_init(&arena, JPP_FUZZ_MEMORY);
    jpp_symbols_init(&symbols, JPP_FUZZ_MEMORY);
    (void) jpp_lookup(&arena, &symbols, maps, sizeof(maps) - 1,
                      (const char *) data, size, jpp_fuzz_sink(), &err);
    jpp_symbols_destroy(&symbols);
    jpp_arena_destroy(&arena);
    return 0;
}
