
#include <stddef.h>
#include <string.h>

#include "jpp_backtrace.h"
#include "jpp_cfi_entry.h"
#include "jpp_cut.h"
#include "jpp_images.h"
#include "jpp_proc.h"
#include "jpp_unwind.h"


/* threads that are known at once; others are looked up each time */
#define JPP_BACKTRACE_THREADS  256
#define JPP_BACKTRACE_PROBES   8

/* that of jpp_backtrace(), and that of its caller */
#define JPP_BACKTRACE_OWN      2


/* The thread's own stack reaches from LOW up to its control block. */
typedef struct {
    uintptr_t              thread;     /* that block's address; 0: free */
    uintptr_t              low;        /* 0: not known yet */
} jpp_backtrace_thread_t;


static bool jpp_backtrace_stack(uintptr_t rsp, jpp_unwind_stack_t *stack);
static jpp_backtrace_thread_t *jpp_backtrace_find(uintptr_t thread);
static inline uintptr_t jpp_backtrace_thread(void);
static uint32_t jpp_backtrace_cut(uintptr_t *pcs, uint32_t n,
    uint32_t depth, jpp_unwind_end_t end);


/* the last frame of a walk that ended so; 0: it has none */
static const uintptr_t  jpp_backtrace_cuts[JPP_UNWIND_ENDS] = {
    [JPP_UNWIND_OBJECT] = JPP_CUT_FRAME + JPP_CUT_CODE,
    [JPP_UNWIND_RULE]   = JPP_CUT_FRAME + JPP_CUT_RULE,
    [JPP_UNWIND_ODD]    = JPP_CUT_FRAME + JPP_CUT_ODD,
    [JPP_UNWIND_STACK]  = JPP_CUT_FRAME + JPP_CUT_STACK
};


static jpp_unwinder_t          jpp_backtrace_unwinder;
static jpp_unwind_stack_t      jpp_backtrace_main;
static uint64_t                jpp_backtrace_loads;
static bool                    jpp_backtrace_is_started;
static bool                    jpp_backtrace_is_busy;
static jpp_backtrace_counts_t  jpp_backtrace_counts;
static jpp_backtrace_thread_t  jpp_backtrace_threads[JPP_BACKTRACE_THREADS];


bool
jpp_backtrace_start(void)
{
    uintptr_t  low, high, pcs[JPP_BACKTRACE_MIN];

    if (!jpp_unwind_is_here()) {
        return false;
    }

    if (jpp_backtrace_is_started) {
        jpp_backtrace_refresh();

        return true;
    }

    jpp_backtrace_is_started = true;

    /* without /proc every stack has but a frame, and says why */

    if (jpp_proc_mapping((uintptr_t) __builtin_frame_address(0), &low, &high))
    {
        jpp_backtrace_main.low = low;
        jpp_backtrace_main.high = high;
    }

    jpp_backtrace_refresh();

    (void) jpp_backtrace(pcs, JPP_BACKTRACE_MIN);

    jpp_backtrace_counts.n = 0;
    jpp_backtrace_counts.n_cut = 0;

    return true;
}


void
jpp_backtrace_refresh(void)
{
    uint64_t  loads;

    if (__atomic_exchange_n(&jpp_backtrace_is_busy, true, __ATOMIC_ACQUIRE)) {
        return;
    }

    loads = jpp_images_loads();

    if (loads != jpp_backtrace_loads) {
        (void) jpp_images_unwind(&jpp_backtrace_unwinder.mapped);

        jpp_backtrace_loads = loads;
    }

    __atomic_store_n(&jpp_backtrace_is_busy, false, __ATOMIC_RELEASE);
}


uint32_t __attribute__((noinline))
jpp_backtrace(uintptr_t *pcs, uint32_t depth)
{
    uint32_t             n;
    jpp_unwind_end_t     end;
    jpp_unwind_stack_t   stack;

    n = 0;
    end = JPP_UNWIND_STACK;

    if (jpp_backtrace_stack((uintptr_t) __builtin_frame_address(0), &stack)) {
        n = jpp_unwind_here(&jpp_backtrace_unwinder, &stack, pcs, depth, &end);
    }

    /* nobody called the start of a function: makecontext() put it there */

    if (end == JPP_UNWIND_RULE
        && n != 0
        && jpp_backtrace_function(pcs[n - 1]) == pcs[n - 1])
    {
        end = JPP_UNWIND_OUTERMOST;
    }

    if (n > JPP_BACKTRACE_OWN) {
        n -= JPP_BACKTRACE_OWN;
        memmove(pcs, pcs + JPP_BACKTRACE_OWN, n * sizeof(uintptr_t));

    } else {
        n = 0;
    }

    (void) __atomic_fetch_add(&jpp_backtrace_counts.n, 1, __ATOMIC_RELAXED);

    return jpp_backtrace_cuts[end] == 0 && n != 0
           ? n : jpp_backtrace_cut(pcs, n, depth, end);
}


/*
 * An address in code of a JIT compiler names nothing, and there are thousands:
 * the last frame takes its place.
 */

static uint32_t
jpp_backtrace_cut(uintptr_t *pcs, uint32_t n, uint32_t depth,
    jpp_unwind_end_t end)
{
    (void) __atomic_fetch_add(&jpp_backtrace_counts.n_cut, 1,
                              __ATOMIC_RELAXED);

    if (n == depth || (n != 0 && end == JPP_UNWIND_OBJECT)) {
        n--;
    }

    pcs[n++] = jpp_backtrace_cuts[end] != 0 ? jpp_backtrace_cuts[end]
                                            : jpp_cut_frame(JPP_CUT_STACK);

    return n;
}


static bool
jpp_backtrace_stack(uintptr_t rsp, jpp_unwind_stack_t *stack)
{
    uintptr_t                thread, low;
    jpp_backtrace_thread_t  *known;

    stack->low = __atomic_load_n(&jpp_backtrace_main.low, __ATOMIC_RELAXED);
    stack->high = jpp_backtrace_main.high;

    if (rsp >= stack->low && rsp < stack->high) {
        return true;
    }

    thread = jpp_backtrace_thread();
    known = jpp_backtrace_find(thread);

    if (known != NULL) {
        low = __atomic_load_n(&known->low, __ATOMIC_RELAXED);

        if (low != 0 && rsp >= low && rsp < thread) {
            stack->low = low;
            stack->high = thread;

            return true;
        }
    }

    if (!jpp_proc_mapping(rsp, &stack->low, &stack->high)) {
        return false;
    }

    /* the main stack has grown; or a thread's, which has its block on top */

    if (stack->high == jpp_backtrace_main.high) {
        __atomic_store_n(&jpp_backtrace_main.low, stack->low,
                         __ATOMIC_RELAXED);

    } else if (known != NULL && rsp < thread && thread < stack->high) {
        __atomic_store_n(&known->low, stack->low, __ATOMIC_RELAXED);
    }

    return true;
}


/*
 * The place of THREAD, NULL: there is none left.  It keeps it for ever, so
 * nobody else ever writes there; a later thread may have the same block.
 */

static jpp_backtrace_thread_t *
jpp_backtrace_find(uintptr_t thread)
{
    uintptr_t                free, hash;
    uint32_t                 i;
    jpp_backtrace_thread_t  *known;

    hash = thread * 0x9e3779b97f4a7c15u >> 32;

    for (i = 0; i < JPP_BACKTRACE_PROBES; i++) {
        known = &jpp_backtrace_threads[(hash + i) % JPP_BACKTRACE_THREADS];
        free = 0;

        if (__atomic_load_n(&known->thread, __ATOMIC_RELAXED) == thread
            || __atomic_compare_exchange_n(&known->thread, &free, thread,
                                           false, __ATOMIC_RELAXED,
                                           __ATOMIC_RELAXED))
        {
            return known;
        }
    }

    return NULL;
}


/*
 * Not by a variable of the thread: a module that is loaded late has its own
 * from malloc(), or not at all.
 */

static inline uintptr_t
jpp_backtrace_thread(void)
{
#if defined(__x86_64__) && defined(__LP64__)

    uintptr_t  thread;

    __asm__ ("movq %%fs:0, %0" : "=r" (thread));

    return thread;

#else

    return 0;

#endif
}


uintptr_t
jpp_backtrace_function(uintptr_t address)
{
    jpp_cfi_entry_t           entry;
    const jpp_mapped_code_t  *code;

    code = jpp_mapped_find(&jpp_backtrace_unwinder.mapped, address);

    return code != NULL && jpp_cfi_entry_find(code, address, &entry)
           ? entry.start : 0;
}


void
jpp_backtrace_count(jpp_backtrace_counts_t *counts)
{
    counts->n = __atomic_load_n(&jpp_backtrace_counts.n, __ATOMIC_RELAXED);
    counts->n_cut = __atomic_load_n(&jpp_backtrace_counts.n_cut,
                                    __ATOMIC_RELAXED);
}
