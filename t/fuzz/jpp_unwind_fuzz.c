
#include "jpp_fuzz_unwind.h"
#include "jpp_test_complete.h"


/* a stack, then call-frame information */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t               *image;
    uintptr_t              pcs[32];
    jpp_unwind_end_t       end;
    jpp_unwind_stack_t     stack;
    jpp_mapped_object_t    object;
    jpp_unwind_context_t   at;
    static uint8_t        *pages;
    static jpp_unwinder_t  unwinder;

    if (size < JPP_FUZZ_STACK || size > JPP_FUZZ_GUARDED) {
        return 0;
    }

    image = jpp_fuzz_guard(&pages, data + JPP_FUZZ_STACK,
                           size - JPP_FUZZ_STACK, data[0] & 1);
    memset(&unwinder, 0, sizeof(unwinder));
    jpp_cfi_object(image, size - JPP_FUZZ_STACK, &object);
    (void) jpp_mapped_add(&unwinder.mapped, &object);

    jpp_fuzz_context(data, image, &at, &stack);
    (void) jpp_unwind_walk(&unwinder, &at, &stack, pcs, 32, &end);
    (void) jpp_test_complete(&unwinder, &at, &stack, pcs, 32, &end);
    return 0;
}
