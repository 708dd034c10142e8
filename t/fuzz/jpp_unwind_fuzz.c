
/*
 * Walks bytes between guard pages, so that reading past either end faults.
 */

#include "jpp_fuzz.h"
#include "jpp_test_cfi.h"
#include "jpp_test_complete.h"


#define JPP_FUZZ_GUARDED  65536
#define JPP_FUZZ_PAGE     4096
#define JPP_FUZZ_STACK    256


/*
 * A copy of the SIZE bytes at DATA.  PAGES, a caller's static, keeps the
 * mapping.  AT_END: the copy ends before a guard page, else it starts behind
 * one.
 */
static uint8_t *
jpp_fuzz_guard(uint8_t **pages, const uint8_t *data, size_t size, int at_end)
{
    uint8_t  *copy;

    if (*pages == NULL) {
        *pages = mmap(NULL, JPP_FUZZ_GUARDED + 2 * JPP_FUZZ_PAGE, PROT_NONE,
                      MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);
        (void) mprotect(*pages + JPP_FUZZ_PAGE, JPP_FUZZ_GUARDED,
                        PROT_READ|PROT_WRITE);
    }

    copy = *pages + JPP_FUZZ_PAGE;
    copy += at_end ? JPP_FUZZ_GUARDED - size : 0;
    memcpy(copy, data, size);

    return copy;
}


/*
 * A stack of the first JPP_FUZZ_STACK bytes of DATA, whose small words are
 * addresses in the code behind IMAGE; AT starts at its bottom.
 */
static void
jpp_fuzz_context(const uint8_t *data, const uint8_t *image,
    jpp_unwind_context_t *at, jpp_unwind_stack_t *stack)
{
    size_t            i;
    uintptr_t        *words;
    static uint8_t   *pages;

    words = (void *) jpp_fuzz_guard(&pages, data, JPP_FUZZ_STACK,
                                    data[0] & 2);

    for (i = 0; i < JPP_FUZZ_STACK / sizeof(uintptr_t); i++) {
        words[i] += words[i] < 1 << 20 ? (uintptr_t) image : 0;
        at->registers[i % JPP_FRAME_REGISTERS] = (uintptr_t) words
                                                 + words[i] % 1024;
    }

    stack->low = (uintptr_t) words;
    stack->high = stack->low + JPP_FUZZ_STACK;

    at->pc = words[0];
    at->registers[JPP_CFI_RSP] = stack->low;
    at->known = 0xffff;
    at->is_exact = true;
}


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
