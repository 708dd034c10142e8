
/* Unwinds the calling or the interrupted stack for samplers. */


#include "jpp_cut.h"
#include "jpp_proc.h"


/* that of jpp_backtrace(), and that of its caller */
#define JPP_BACKTRACE_OWN    2

/* most stacks end within this much */
#define JPP_BACKTRACE_PART   (8 * 1024)


/* the last frame of a walk that ended so; 0: it has none */
static const uintptr_t  jpp_backtrace_cuts[JPP_UNWIND_ENDS] = {
    [JPP_UNWIND_OBJECT] = JPP_CUT_FRAME + JPP_CUT_CODE,
    [JPP_UNWIND_RULE]   = JPP_CUT_FRAME + JPP_CUT_RULE,
    [JPP_UNWIND_ODD]    = JPP_CUT_FRAME + JPP_CUT_ODD,
    [JPP_UNWIND_STACK]  = JPP_CUT_FRAME + JPP_CUT_STACK
};


static jpp_unwinder_t          jpp_backtrace_unwinder;
static uint64_t                jpp_backtrace_loads;
static bool                    jpp_backtrace_is_started;
static bool                    jpp_backtrace_is_busy;
static jpp_backtrace_counts_t  jpp_backtrace_counts;


bool
jpp_backtrace_start(void)
{
    uintptr_t  pcs[JPP_BACKTRACE_MIN];

    if (!JPP_UNWIND_IS_HERE) {
        return false;
    }

    jpp_backtrace_refresh();

    if (!jpp_backtrace_is_started) {
        jpp_backtrace_is_started = true;

        (void) jpp_backtrace(pcs, JPP_BACKTRACE_MIN);

        memset(&jpp_backtrace_counts, 0, sizeof(jpp_backtrace_counts));
    }

    return true;
}


void
jpp_backtrace_refresh(void)
{
    if (__atomic_exchange_n(&jpp_backtrace_is_busy, true, __ATOMIC_ACQUIRE)) {
        return;
    }

    if (jpp_images_is_new(&jpp_backtrace_loads)) {
        jpp_images_unwind(&jpp_backtrace_unwinder.mapped);
    }

    jpp_atomic_set(&jpp_backtrace_is_busy, false);
}


/*
 * The stack of N frames at PCS, whose walk has ended so, with a last frame that
 * says why, if it is not complete.
 *
 * Nobody called the start of a function: makecontext() put it there.  An
 * address in code of a JIT compiler names nothing, and there are thousands: the
 * last frame takes its place.
 */

static inline uint32_t
jpp_backtrace_end(uintptr_t *pcs, uint32_t n, uint32_t depth,
    jpp_unwind_end_t end)
{
    uintptr_t  cut;

    if (n == 0) {
        end = JPP_UNWIND_STACK;

    } else if (end == JPP_UNWIND_RULE
               && jpp_backtrace_function(pcs[n - 1]) == pcs[n - 1])
    {
        end = JPP_UNWIND_OUTERMOST;
    }

    cut = jpp_backtrace_cuts[end];

    if (cut == 0) {
        return n;
    }

    if (n == depth || end == JPP_UNWIND_OBJECT) {
        n--;
    }

    pcs[n++] = cut;

    return n;
}


static uint32_t
jpp_backtrace_counted(uintptr_t *pcs, uint32_t n, uint32_t depth,
    jpp_unwind_end_t end)
{
    n = jpp_backtrace_end(pcs, n, depth, end);

    jpp_atomic_add(&jpp_backtrace_counts.n, 1);

    if (jpp_cut_name(pcs[n - 1]) != NULL) {
        jpp_atomic_add(&jpp_backtrace_counts.n_cut, 1);
    }

    return n;
}


uint32_t __attribute__((noinline))
jpp_backtrace(uintptr_t *pcs, uint32_t depth)
{
    uint32_t          n;
    jpp_unwind_end_t  end;

    n = jpp_unwind_here(&jpp_backtrace_unwinder, NULL, pcs, depth, &end);

    if (n > JPP_BACKTRACE_OWN) {
        n -= JPP_BACKTRACE_OWN;
        memmove(pcs, pcs + JPP_BACKTRACE_OWN, n * sizeof(uintptr_t));

    } else {
        n = 0;
    }

    return jpp_backtrace_counted(pcs, n, depth, end);
}


uint32_t
jpp_backtrace_from(const jpp_backtrace_frame_t *frame, uintptr_t *pcs,
    uint32_t depth)
{
    uint32_t              n;
    jpp_unwind_end_t      end;
    jpp_unwind_context_t  at;

    at.pc = frame->pc;
    at.registers[JPP_CFI_RSP] = frame->rsp;
    at.registers[JPP_CFI_RBP] = frame->rbp;
    at.known = 1u << JPP_CFI_RSP | 1u << JPP_CFI_RBP;
    at.is_exact = false;

    n = jpp_unwind_walk(&jpp_backtrace_unwinder, &at, NULL, pcs, depth, &end);

    /* perhaps for want of a register */

    return end != JPP_UNWIND_ODD ? jpp_backtrace_counted(pcs, n, depth, end)
                                 : 0;
}


/* That of an instruction, not of a call; not among what is counted. */

static uint32_t
jpp_backtrace_exact(uintptr_t *pcs, uint32_t n, uint32_t depth,
    jpp_unwind_end_t end)
{
    n = jpp_backtrace_end(pcs, n, depth, end);

    pcs[0] += jpp_cut_name(pcs[0]) == NULL;

    return n;
}


uint32_t
jpp_backtrace_interrupted(const void *ucontext, uintptr_t *pcs,
    uint32_t depth)
{
    uint32_t              n;
    jpp_unwind_end_t      end;
    jpp_unwind_context_t  at;

    jpp_unwind_interrupted(&at, ucontext);

    n = jpp_unwind_walk(&jpp_backtrace_unwinder, &at, NULL, pcs, depth, &end);

    return jpp_backtrace_exact(pcs, n, depth, end);
}


/* Arguments begin where a stack ends that is about to be called from. */

uint32_t
jpp_backtrace_arguments(const void *ucontext, uintptr_t *arguments, uint32_t n)
{
    uint32_t     i;
    uintptr_t    rsp;
    jpp_frame_t  frame;

    jpp_unwind_interrupted(&frame.at, ucontext);

    (void) jpp_stack_bounds(&jpp_backtrace_unwinder.stacks,
                            frame.at.registers[JPP_CFI_RSP], &frame.stack);

    for (i = 0; i < n; i++) {

        if (jpp_complete_step(&jpp_backtrace_unwinder.mapped, &frame)
            != JPP_UNWIND_ON)
        {
            break;
        }

        rsp = frame.at.registers[JPP_CFI_RSP];

        if (!jpp_frame_reads(&frame, rsp)) {
            break;
        }

        arguments[i] = jpp_frame_word(rsp);
    }

    return i;
}


/* AT becomes its caller, if it has pushed nothing. */

static bool
jpp_backtrace_step_call(jpp_unwind_context_t *at,
    const jpp_unwind_stack_t *stack)
{
    uintptr_t  *rsp;

    rsp = &at->registers[JPP_CFI_RSP];

    if (!jpp_frame_holds(stack->low, stack->high, *rsp)) {
        return false;
    }

    at->pc = jpp_frame_word(*rsp);
    at->is_exact = false;
    *rsp += sizeof(uintptr_t);

    return jpp_mapped_find(&jpp_backtrace_unwinder.mapped, at->pc - 1) != NULL;
}


/* The stack of a BLOCKED thread, whose RSP and what lies above are in STACK. */

static uint32_t
jpp_backtrace_memory(const jpp_blocked_t *blocked, uintptr_t rsp,
    const jpp_unwind_stack_t *stack, uintptr_t *pcs, uint32_t depth)
{
    uint32_t              i, n;
    jpp_unwind_end_t      end;
    jpp_unwind_context_t  at;

    /* those of the arguments: rdi, rsi, rdx, r10, r8, r9 */

    static const uint8_t  registers[JPP_BLOCKED_ARGS] = { 5, 4, 1, 10, 8, 9 };

    memset(&at, 0, sizeof(jpp_unwind_context_t));

    at.pc = blocked->pc;
    at.registers[JPP_CFI_RSP] = rsp;
    at.known = 1u << JPP_CFI_RSP | 1u << JPP_CFI_RBP;
    at.is_exact = true;

    /* vfork() has its return address in one of them */

    for (i = 0; blocked->call != -1 && i < JPP_BLOCKED_ARGS; i++) {
        at.registers[registers[i]] = blocked->args[i];
        at.known |= 1u << registers[i];
    }

    jpp_unwind_rbp_find(&jpp_backtrace_unwinder, &at, stack);

    n = jpp_unwind_walk(&jpp_backtrace_unwinder, &at, stack, pcs, depth, &end);

    /* libc says nothing of clone() where a child may be, too */

    if (end == JPP_UNWIND_RULE && n == 1 && depth > 1
        && jpp_backtrace_step_call(&at, stack))
    {
        jpp_unwind_rbp_find(&jpp_backtrace_unwinder, &at, stack);

        n += jpp_unwind_walk(&jpp_backtrace_unwinder, &at, stack, pcs + 1,
                             depth - 1, &end);
    }

    return jpp_backtrace_exact(pcs, n, depth, end);
}


uint32_t
jpp_backtrace_blocked(const jpp_blocked_t *blocked, uintptr_t *pcs,
    uint32_t depth)
{
    jpp_unwind_stack_t  stack;

    return jpp_stack_is_main(&jpp_backtrace_unwinder.stacks, blocked->rsp,
                             &stack)
           ? jpp_backtrace_memory(blocked, blocked->rsp, &stack, pcs, depth)
           : 0;
}


/* What of SIZE bytes is mapped, in words; it returns bytes. */

static size_t
jpp_backtrace_copy(int fd, uint8_t *copy, uintptr_t from, size_t size)
{
    size_t     i;
    ssize_t    n;
    uintptr_t  word;

    n = pread(fd, copy, size, (off_t) from);
    size = n != -1 ? (size_t) n & ~(sizeof(uintptr_t) - 1) : 0;

    /* what points into the stack, like a frame pointer, moves along */

    for (i = 0; i < size; i += sizeof(uintptr_t)) {

        memcpy(&word, copy + i, sizeof(uintptr_t));

        if (word - from < size) {
            word += (uintptr_t) copy - from;
            memcpy(copy + i, &word, sizeof(uintptr_t));
        }
    }

    return size;
}


uint32_t
jpp_backtrace_copied(const jpp_blocked_t *blocked, uint8_t *copy,
    uintptr_t *pcs, uint32_t depth)
{
    int                 fd;
    uint32_t            n;
    uintptr_t           from;
    const size_t       *size;
    jpp_unwind_stack_t  stack;

    static const size_t  sizes[] = { JPP_BACKTRACE_PART, JPP_BACKTRACE_COPY };

    fd = open("/proc/self/mem", O_RDONLY|O_CLOEXEC);

    from = blocked->rsp - JPP_FRAME_RED_ZONE;
    stack.low = (uintptr_t) copy;
    n = 0;

    jpp_each_of(size, sizes) {
        stack.high = stack.low + jpp_backtrace_copy(fd, copy, from, *size);

        n = jpp_backtrace_memory(blocked, stack.low + JPP_FRAME_RED_ZONE,
                                 &stack, pcs, depth);

        if (pcs[n - 1] != jpp_cut_frame(JPP_CUT_STACK)) {
            break;
        }
    }

    (void) close(fd);

    return n;
}


uintptr_t
jpp_backtrace_top(uintptr_t rsp)
{
    jpp_unwind_stack_t  stack;

    return jpp_stack_is_main(&jpp_backtrace_unwinder.stacks, rsp, &stack)
           ? stack.high : 0;
}


uintptr_t
jpp_backtrace_distance(uintptr_t pc)
{
    return jpp_unwind_distance(&jpp_backtrace_unwinder, pc);
}


bool
jpp_backtrace_holds(uintptr_t rsp, size_t size)
{
    jpp_unwind_stack_t  stack;

    return jpp_stack_bounds(&jpp_backtrace_unwinder.stacks, rsp, &stack)
           && stack.high - rsp >= size;
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
    counts->n = jpp_atomic_get(&jpp_backtrace_counts.n);
    counts->n_cut = jpp_atomic_get(&jpp_backtrace_counts.n_cut);
}
