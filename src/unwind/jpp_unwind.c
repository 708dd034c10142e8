
/* the registers of an interrupted context */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stddef.h>
#include <ucontext.h>

#include "jpp_complete.h"
#include "jpp_unwind.h"


static const char *const  jpp_unwind_ends[JPP_UNWIND_ENDS] = {
    [JPP_UNWIND_ON]        = "going on",
    [JPP_UNWIND_OUTERMOST] = "outermost frame",
    [JPP_UNWIND_DEPTH]     = "too deep",
    [JPP_UNWIND_OBJECT]    = "JIT or unknown code",
    [JPP_UNWIND_RULE]      = "no call-frame information",
    [JPP_UNWIND_ODD]       = "unknown call-frame information",
    [JPP_UNWIND_STACK]     = "outside the stack",
    [JPP_UNWIND_ABSENT]    = "no unwinder for this machine"
};


const char *
jpp_unwind_end_name(jpp_unwind_end_t end)
{
    return (unsigned) end < JPP_UNWIND_ENDS ? jpp_unwind_ends[end] : "";
}


#if defined(__x86_64__) && defined(__LP64__)


/* what a rule that is not plain means */
static const jpp_unwind_end_t  jpp_unwind_reasons[JPP_RULE_KINDS] = {
    [JPP_RULE_EMPTY]     = JPP_UNWIND_OBJECT,
    [JPP_RULE_OUTERMOST] = JPP_UNWIND_OUTERMOST,
    [JPP_RULE_COMPLETE]  = JPP_UNWIND_ON,
    [JPP_RULE_NONE]      = JPP_UNWIND_RULE,
    [JPP_RULE_ODD]       = JPP_UNWIND_ODD
};


static uint64_t jpp_unwind_rule(jpp_unwinder_t *unwinder, uintptr_t address,
    bool is_kept) __attribute__((noinline));
static uint32_t jpp_unwind_count(int64_t n, uintptr_t address,
    jpp_unwind_end_t *end);
static uint32_t jpp_unwind_fast(jpp_unwinder_t *unwinder,
    const jpp_unwind_context_t *at, const jpp_unwind_stack_t *stack,
    uint32_t skip, uintptr_t *pcs, uint32_t depth, jpp_unwind_end_t *end);
static uint32_t jpp_unwind_skip(jpp_unwinder_t *unwinder,
    const jpp_unwind_context_t *at, const jpp_unwind_stack_t *stack,
    uint32_t skip, uintptr_t *pcs, uint32_t depth, jpp_unwind_end_t *end);
static uint32_t jpp_unwind_both(jpp_unwinder_t *unwinder,
    const jpp_unwind_context_t *at, const jpp_unwind_stack_t *stack,
    uint32_t skip, uintptr_t *pcs, uint32_t depth, jpp_unwind_end_t *end);


bool
jpp_unwind_is_here(void)
{
    return true;
}


uint32_t
jpp_unwind_walk(jpp_unwinder_t *unwinder, const jpp_unwind_context_t *at,
    const jpp_unwind_stack_t *stack, uintptr_t *pcs, uint32_t depth,
    jpp_unwind_end_t *end)
{
    return jpp_unwind_skip(unwinder, at, stack, 0, pcs, depth, end);
}


/*
 * The registers are those of this function, so its own frame is walked and not
 * stored.  The address is taken as a return address: behind the last
 * instruction that was in this frame.
 */

uint32_t __attribute__((noinline))
jpp_unwind_here(jpp_unwinder_t *unwinder, const jpp_unwind_stack_t *stack,
    uintptr_t *pcs, uint32_t depth, jpp_unwind_end_t *end)
{
    jpp_unwind_context_t  at;

    at.is_exact = false;
    at.known = 1u << 3 | 1u << JPP_CFI_RBP | 1u << JPP_CFI_RSP
               | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 15;

    __asm__ volatile (
        "movq %%rbx, 3*8(%[r])\n\t"
        "movq %%rbp, 6*8(%[r])\n\t"
        "movq %%rsp, 7*8(%[r])\n\t"
        "movq %%r12, 12*8(%[r])\n\t"
        "movq %%r13, 13*8(%[r])\n\t"
        "movq %%r14, 14*8(%[r])\n\t"
        "movq %%r15, 15*8(%[r])\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "movq %%rax, (%[pc])\n"
        "1:"
        : : [r] "r" (at.registers), [pc] "r" (&at.pc) : "rax", "memory");

    return jpp_unwind_skip(unwinder, &at, stack, 1, pcs, depth, end);
}


static uint32_t
jpp_unwind_skip(jpp_unwinder_t *unwinder, const jpp_unwind_context_t *at,
    const jpp_unwind_stack_t *stack, uint32_t skip, uintptr_t *pcs,
    uint32_t depth, jpp_unwind_end_t *end)
{
    bool                is_whole;
    uint32_t            n;
    jpp_unwind_stack_t  bounds;

    if (stack != NULL) {
        return jpp_unwind_both(unwinder, at, stack, skip, pcs, depth, end);
    }

    is_whole = jpp_stack_bounds(&unwinder->stacks, at->registers[JPP_CFI_RSP],
                                &bounds);

    do {
        n = jpp_unwind_both(unwinder, at, &bounds, skip, pcs, depth, end);

    } while (*end == JPP_UNWIND_STACK && !is_whole
             && jpp_stack_more(&bounds));

    return n;
}


static uint32_t
jpp_unwind_both(jpp_unwinder_t *unwinder, const jpp_unwind_context_t *at,
    const jpp_unwind_stack_t *stack, uint32_t skip, uintptr_t *pcs,
    uint32_t depth, jpp_unwind_end_t *end)
{
    uint32_t  n;

    if (!jpp_frame_holds(stack->low, stack->high,
                         at->registers[JPP_CFI_RSP]))
    {
        *end = JPP_UNWIND_STACK;
        return 0;
    }

    n = jpp_unwind_fast(unwinder, at, stack, skip, pcs, depth, end);

    return *end != JPP_UNWIND_ON ? n
           : jpp_complete_walk(&unwinder->mapped, at, stack, skip, pcs, depth,
                               end);
}


/* Leaves END at JPP_UNWIND_ON where a frame needs the complete walk. */

static uint32_t
jpp_unwind_fast(jpp_unwinder_t *unwinder, const jpp_unwind_context_t *at,
    const jpp_unwind_stack_t *stack, uint32_t skip, uintptr_t *pcs,
    uint32_t depth, jpp_unwind_end_t *end)
{
    int64_t    n;
    uint64_t   rule;
    uintptr_t  pc, address, rsp, cfa, rbp_at, last;

    pc = at->pc;
    address = pc - !at->is_exact;
    rsp = at->registers[JPP_CFI_RSP];
    last = stack->high - sizeof(uintptr_t);

    /* rbp is loaded where it is needed only: seldom */

    rbp_at = (uintptr_t) &at->registers[JPP_CFI_RBP];
    *end = JPP_UNWIND_DEPTH;

    for (n = -(int64_t) skip; n < depth; n++) {

        if (n >= 0) {
            pcs[n] = pc;
        }

        if (address >> JPP_RULES_ADDRESSES != 0) {
            *end = JPP_UNWIND_OBJECT;
            break;
        }

        rule = jpp_rules_get(&unwinder->rules, address);

        if (jpp_rule_kind(rule) != JPP_RULE_PLAIN) {

            /* what a signal interrupts does not come back soon */

            rule = jpp_unwind_rule(unwinder, address, address != pc);

            if (jpp_rule_kind(rule) != JPP_RULE_PLAIN) {
                *end = jpp_unwind_reasons[jpp_rule_kind(rule)];
                break;
            }
        }

        cfa = jpp_rule_cfa(rule)
              + (jpp_rule_on_rbp(rule) ? jpp_frame_word(rbp_at) : rsp);

        if (cfa - sizeof(uintptr_t) < rsp || cfa - sizeof(uintptr_t) > last) {
            *end = JPP_UNWIND_STACK;
            break;
        }

        /* rbp that was stored below rsp is popped already */

        if (jpp_rule_rbp(rule) != 0 && cfa - jpp_rule_rbp(rule) >= rsp) {
            rbp_at = cfa - jpp_rule_rbp(rule);
        }

        pc = jpp_frame_word(cfa - sizeof(uintptr_t));
        address = pc - 1;
        rsp = cfa;
    }

    return jpp_unwind_count(n, address, end);
}


/*
 * The frame that a walk ended at counts, unless it is none: a return address
 * of 0 is the outermost end that threads and coroutines have.  Frames that
 * are skipped have negative numbers.
 */

static uint32_t
jpp_unwind_count(int64_t n, uintptr_t address, jpp_unwind_end_t *end)
{
    if (address == UINTPTR_MAX) {
        *end = JPP_UNWIND_OUTERMOST;

    } else {
        n += *end != JPP_UNWIND_DEPTH;
    }

    return n < 0 ? 0 : (uint32_t) n;
}


/* The rule of any kind; JPP_RULE_EMPTY: the address lies in no object. */

static uint64_t
jpp_unwind_rule(jpp_unwinder_t *unwinder, uintptr_t address, bool is_kept)
{
    uint64_t                  rule;
    const jpp_mapped_code_t  *code;

    rule = jpp_rules_get(&unwinder->rules, address);

    /* a rule of another address has bits above those of rules */

    if (jpp_rule_kind(rule) < JPP_RULE_KINDS
        && jpp_rule_kind(rule) != JPP_RULE_EMPTY)
    {
        return rule;
    }

    code = jpp_mapped_find(&unwinder->mapped, address);
    if (code == NULL) {
        return JPP_RULE_EMPTY;
    }

    if (is_kept) {
        rule = jpp_rule_make(code, address);
        jpp_rules_put(&unwinder->rules, address, (uint32_t) rule);
        return rule;
    }

    return jpp_mapped_returns(code, address) ? JPP_RULE_RETURN
                                             : jpp_rule_make(code, address);
}


void
jpp_unwind_interrupted(jpp_unwind_context_t *at, const void *ucontext)
{
    uint32_t           i;
    const ucontext_t  *context = ucontext;

    static const uint8_t  registers[JPP_FRAME_REGISTERS] = {
        REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP,
        REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
        REG_R15
    };

    for (i = 0; i < JPP_FRAME_REGISTERS; i++) {
        at->registers[i] = (uintptr_t)
                           context->uc_mcontext.gregs[registers[i]];
    }

    at->pc = (uintptr_t) context->uc_mcontext.gregs[REG_RIP];
    at->known = (1u << JPP_FRAME_REGISTERS) - 1;
    at->is_exact = true;
}


#else


bool
jpp_unwind_is_here(void)
{
    return false;
}


uint32_t
jpp_unwind_walk(jpp_unwinder_t *unwinder, const jpp_unwind_context_t *at,
    const jpp_unwind_stack_t *stack, uintptr_t *pcs, uint32_t depth,
    jpp_unwind_end_t *end)
{
    (void) unwinder;
    (void) at;
    (void) stack;
    (void) pcs;
    (void) depth;

    *end = JPP_UNWIND_ABSENT;

    return 0;
}


uint32_t
jpp_unwind_here(jpp_unwinder_t *unwinder, const jpp_unwind_stack_t *stack,
    uintptr_t *pcs, uint32_t depth, jpp_unwind_end_t *end)
{
    jpp_unwind_context_t  nowhere;

    memset(&nowhere, 0, sizeof(nowhere));

    return jpp_unwind_walk(unwinder, &nowhere, stack, pcs, depth, end);
}


void
jpp_unwind_interrupted(jpp_unwind_context_t *at, const void *ucontext)
{
    (void) ucontext;

    memset(at, 0, sizeof(jpp_unwind_context_t));
}


#endif
