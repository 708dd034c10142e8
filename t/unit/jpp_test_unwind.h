
/*
 * What the tests of the unwinder share: an unwinder that knows this process,
 * the bounds of a thread's stack, and libgcc as the second witness.
 */


#ifndef _JPP_TEST_UNWIND_H_INCLUDED_
#define _JPP_TEST_UNWIND_H_INCLUDED_


#include "jpp_proc.h"
#include "jpp_unwind.h"
#include "jpp_unwind_ends.h"

#include <pthread.h>
#include <unwind.h>


#define JPP_TEST_DEPTH  512


typedef struct {
    uint32_t    n;
    uint32_t    interrupted;       /* the first that a signal interrupted */
    uintptr_t   pcs[JPP_TEST_DEPTH];
} jpp_test_stack_t;


static jpp_unwinder_t  jpp_test_unwinder;


/* The bounds of this thread's stack. */
static inline jpp_unwind_stack_t
jpp_test_bounds(void)
{
    void                *low;
    size_t               size;
    pthread_attr_t       attr;
    jpp_unwind_stack_t   stack;

    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);

    stack.low = (uintptr_t) low;
    stack.high = (uintptr_t) low + size;

    return stack;
}


static inline _Unwind_Reason_Code
jpp_test_libgcc_frame(struct _Unwind_Context *context, void *data)
{
    jpp_test_stack_t *stack = data;

    int        is_exact;
    uintptr_t  pc;

    pc = (uintptr_t) _Unwind_GetIPInfo(context, &is_exact);

    if (is_exact && stack->interrupted == 0) {
        stack->interrupted = stack->n;
    }

    if (stack->n < JPP_TEST_DEPTH) {
        stack->pcs[stack->n++] = pc;
    }

    return _URC_NO_REASON;
}


/* What libgcc makes of the frames from the interrupted one on, or of all: a
   null at the end is no frame. */
static inline void
jpp_test_libgcc(jpp_test_stack_t *stack)
{
    stack->n = 0;
    stack->interrupted = 0;
    (void) _Unwind_Backtrace(jpp_test_libgcc_frame, stack);

    if (stack->n != 0 && stack->pcs[stack->n - 1] == 0) {
        stack->n--;
    }

    stack->n -= stack->interrupted;
    memmove(stack->pcs, stack->pcs + stack->interrupted,
            stack->n * sizeof(uintptr_t));
}


#endif /* _JPP_TEST_UNWIND_H_INCLUDED_ */
