
#include "jpp_fuzz.h"
#include "jpp_proc.h"


/* The first byte says how the notes are aligned. */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpp_build_id_t  id;

    if (size != 0
        && jpp_build_id_note(data + 1, size - 1, data[0], &id)
        && (id.len == 0 || id.len > JPP_BUILD_ID_MAX))
    {
        __builtin_trap();
    }

    return 0;
}
