
#include "jpp_archive.h"
#include "jpp_fuzz.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_err_t      err;
    jpp_arena_t    arena;
    const char    *text = (const char *) data;
    jpp_archive_t  archive;

    jpp_arena_init(&arena, JPP_FUZZ_MEMORY);

    if (jpp_archive_is(text, size, &arena)
        && jpp_archive_open(&archive, text, size, &arena, &err) == 0)
    {
        (void) jpp_archive_list(&archive, jpp_fuzz_sink(), &err);
        (void) jpp_archive_workers(&archive, &jpp_parser_heap,
                                   jpp_vec_create(&arena), &err);
    }

    jpp_arena_destroy(&arena);
    return 0;
}
