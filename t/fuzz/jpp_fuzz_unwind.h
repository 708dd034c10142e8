
/*
 * What the fuzz target of the unwinder walks: bytes between guard pages, so
 * that reading past either end faults.
 *
 * One thread; at most JPP_FUZZ_GUARDED bytes.
 */


#ifndef _JPP_FUZZ_UNWIND_H_INCLUDED_
#define _JPP_FUZZ_UNWIND_H_INCLUDED_


#include "jpp_fuzz.h"
#include "jpp_test_cfi.h"
#include "jpp_unwind.h"


#define JPP_FUZZ_GUARDED  65536
#define JPP_FUZZ_PAGE     4096
#define JPP_FUZZ_STACK    256


/*
 * A copy of the SIZE bytes at DATA.  PAGES, a caller's static, keeps the
 * mapping.  AT_END: the copy ends before a guard page, else it starts behind
 * one.
 */
static inline uint8_t *
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
static inline void
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


#endif /* _JPP_FUZZ_UNWIND_H_INCLUDED_ */
