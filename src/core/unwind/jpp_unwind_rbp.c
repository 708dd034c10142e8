
#include "jpp_frame.h"
#include "jpp_mapped.h"
#include "jpp_unwind_rbp.h"


/* how far above rsp it is looked for, words; the frames that prove it; and
   those of all attempts */
#define JPP_UNWIND_RBP_WORDS  512
#define JPP_UNWIND_RBP_DEPTH  128
#define JPP_UNWIND_RBP_TRIED  4096


/* A function that has a frame pointer has its return address behind that. */

static bool
jpp_unwind_rbp_may_be(const jpp_unwinder_t *unwinder, uintptr_t rbp,
    const jpp_unwind_stack_t *stack)
{
    uintptr_t  at;

    at = rbp + sizeof(uintptr_t);

    return jpp_frame_holds(stack->low, stack->high, at)
           && jpp_mapped_find(&unwinder->mapped, jpp_frame_word(at) - 1)
              != NULL;
}


/* A return address of 0 may be any word; a walk that long is none by chance. */

static bool
jpp_unwind_rbp_is_proven(jpp_unwinder_t *unwinder, const uintptr_t *pcs,
    uint32_t n, jpp_unwind_end_t end)
{
    return end == JPP_UNWIND_DEPTH
           || (end == JPP_UNWIND_OUTERMOST && n != 0
               && jpp_unwind_distance(unwinder, pcs[n - 1])
                  == JPP_UNWIND_LAST);
}


void
jpp_unwind_rbp_find(jpp_unwinder_t *unwinder, jpp_unwind_context_t *at,
    const jpp_unwind_stack_t *stack)
{
    uint32_t          i, n, tried;
    uintptr_t        *rbp, pcs[JPP_UNWIND_RBP_DEPTH];
    jpp_unwind_end_t  end;

    tried = jpp_unwind_walk(unwinder, at, stack, pcs, JPP_UNWIND_RBP_DEPTH,
                            &end);

    if (end != JPP_UNWIND_STACK) {
        return;
    }

    rbp = &at->registers[JPP_CFI_RBP];

    for (i = 0;
         i < JPP_UNWIND_RBP_WORDS && tried < JPP_UNWIND_RBP_TRIED;
         i++)
    {
        *rbp = at->registers[JPP_CFI_RSP] + i * sizeof(uintptr_t);

        if (!jpp_unwind_rbp_may_be(unwinder, *rbp, stack)) {
            continue;
        }

        n = jpp_unwind_walk(unwinder, at, stack, pcs, JPP_UNWIND_RBP_DEPTH,
                            &end);

        if (jpp_unwind_rbp_is_proven(unwinder, pcs, n, end)) {
            return;
        }

        tried += n;
    }

    *rbp = 0;
}
