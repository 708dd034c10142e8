
#include "jpp_unwind.h"

#include <ucontext.h>


/* The caller's rsp is the CFA, and the return address lies below it. */

static uint32_t
jpp_rule_of(const jpp_cfi_row_t *row)
{
    int64_t  words, rbp;

    words = row->cfa_value / 8;
    rbp = row->values[JPP_CFI_RBP];

    if (row->cfa_register == JPP_CFI_RBP
        && row->cfa_value == 16
        && row->how[JPP_CFI_RBP] == JPP_CFI_AT
        && rbp == -16)
    {
        return jpp_rule_special(JPP_RULE_FRAME);
    }

    if (row->cfa_register != JPP_CFI_RSP
        || row->cfa_value % 8 != 0
        || words < 1
        || words > JPP_RULE_CFA_MAX)
    {
        return jpp_rule_special(JPP_RULE_COMPLETE);
    }

    if (row->how[JPP_CFI_RBP] == JPP_CFI_SAME) {
        return (uint32_t) words;
    }

    if (row->how[JPP_CFI_RBP] != JPP_CFI_AT
        || rbp % 8 != 0
        || rbp > -16
        || rbp <= -JPP_RULE_RBP_LOW)
    {
        return jpp_rule_special(JPP_RULE_COMPLETE);
    }

    /* what was stored below rsp is popped already */

    return (uint32_t) words
           | (rbp < -row->cfa_value
              ? 0 : (uint32_t) (rbp + JPP_RULE_RBP_LOW) / 8 << JPP_RULE_RBP);
}


uint32_t
jpp_rule_make(const jpp_mapped_code_t *object, uintptr_t address)
{
    jpp_cfi_row_t    row;
    jpp_cfi_entry_t  entry;

    if (!jpp_cfi_entry_find(object, address, &entry)) {
        return jpp_rule_special(JPP_RULE_NONE);
    }

    if (entry.return_column != JPP_CFI_RETURN
        || !jpp_cfi_row_at(&entry, address, &row))
    {
        return jpp_rule_special(JPP_RULE_ODD);
    }

    if (row.how[JPP_CFI_RETURN] == JPP_CFI_UNDEFINED) {
        return jpp_rule_special(JPP_RULE_OUTERMOST);
    }

    if (entry.is_signal
        || row.is_cfa_expression
        || row.how[JPP_CFI_RETURN] != JPP_CFI_AT
        || row.values[JPP_CFI_RETURN] != -8
        || row.how[JPP_CFI_RSP] != JPP_CFI_IS
        || row.values[JPP_CFI_RSP] != 0)
    {
        return jpp_rule_special(JPP_RULE_COMPLETE);
    }

    return jpp_rule_of(&row);
}


/* what a special rule means */
static const jpp_unwind_end_t  jpp_unwind_reasons[JPP_RULE_KINDS] = {
    [JPP_RULE_FRAME]     = JPP_UNWIND_ON,
    [JPP_RULE_OUTERMOST] = JPP_UNWIND_OUTERMOST,
    [JPP_RULE_COMPLETE]  = JPP_UNWIND_ON,
    [JPP_RULE_NONE]      = JPP_UNWIND_RULE,
    [JPP_RULE_ODD]       = JPP_UNWIND_ODD,
    [JPP_RULE_OBJECT]    = JPP_UNWIND_OBJECT,
    [JPP_RULE_NOBODY]    = JPP_UNWIND_OUTERMOST
};


typedef struct {
    jpp_unwinder_t   *unwinder;
    uintptr_t        *pcs;
    int64_t           depth;

    /* the frame that is stored next; RBP_AT: where its rbp is, 0: nowhere */
    int64_t           n;
    uintptr_t         pc;
    uintptr_t         rsp;
    uintptr_t         rbp_at;

    /* that one, or one before it, with all registers */
    int64_t           n_complete;
    jpp_frame_t       complete;
} jpp_unwind_walk_t;


/*
 * The frames up to the one that was stored last, with all registers; and those
 * above it that a signal interrupted.
 */

static jpp_unwind_end_t
jpp_unwind_complete(jpp_unwind_walk_t *walk)
{
    jpp_unwind_end_t       end;
    jpp_unwind_context_t  *at;

    at = &walk->complete.at;

    do {

        if (walk->n_complete == walk->n) {

            if (walk->n == walk->depth) {
                return JPP_UNWIND_DEPTH;
            }

            walk->pcs[walk->n++] = at->pc;
        }

        end = jpp_complete_step(&walk->unwinder->mapped, &walk->complete);

        if (end != JPP_UNWIND_ON) {
            return end;
        }

        walk->n_complete++;

    } while (walk->n_complete < walk->n || at->is_exact);

    walk->pc = at->pc;
    walk->rsp = at->registers[JPP_CFI_RSP];
    walk->rbp_at = jpp_frame_has(&walk->complete, JPP_CFI_RBP)
                   ? (uintptr_t) &at->registers[JPP_CFI_RBP] : 0;

    return JPP_UNWIND_ON;
}


static uint32_t
jpp_unwind_rule(jpp_unwinder_t *unwinder, uintptr_t pc)
{
    uint32_t                  rule;
    const jpp_mapped_code_t  *code;

    if (pc == 0) {
        return jpp_rule_special(JPP_RULE_NOBODY);
    }

    rule = jpp_rules_get(&unwinder->rules, pc);

    if (rule != 0) {
        return rule;
    }

    code = jpp_mapped_find(&unwinder->mapped, pc - 1);

    if (code == NULL) {
        return jpp_rule_special(JPP_RULE_OBJECT);
    }

    rule = jpp_rule_make(code, pc - 1);
    jpp_rules_put(&unwinder->rules, pc, rule);

    return rule;
}


/*
 * With a frame pointer, rbp is where the caller's rbp is.  False: RULE is
 * another one, or rbp lies outside the stack, as END says.
 */

static inline bool
jpp_unwind_special(uint64_t rule, uintptr_t rsp, uintptr_t high,
    uintptr_t *rbp_at, jpp_unwind_end_t *end)
{
    if (jpp_rule_kind(rule) != JPP_RULE_FRAME || *rbp_at == 0) {
        *end = jpp_unwind_reasons[jpp_rule_kind(rule)];
        return false;
    }

    *rbp_at = jpp_frame_word(*rbp_at);

    if (*rbp_at < rsp || *rbp_at > high) {
        *end = JPP_UNWIND_STACK;
        return false;
    }

    return true;
}


/*
 * From frame to frame by rsp and rbp.  JPP_UNWIND_ON: the frame that was
 * stored last needs more than that.
 */

static jpp_unwind_end_t
jpp_unwind_fast(jpp_unwind_walk_t *walk)
{
    int64_t             n, depth;
    uint64_t            rule;
    uintptr_t           pc, rsp, cfa, rbp_at, high, *pcs;
    jpp_unwind_end_t    end;
    const jpp_rules_t  *rules;

    rules = &walk->unwinder->rules;
    pcs = walk->pcs;
    depth = walk->depth;
    high = walk->complete.stack.high;
    pc = walk->pc;
    rsp = walk->rsp;
    rbp_at = walk->rbp_at;
    end = JPP_UNWIND_DEPTH;

    for (n = walk->n; n < depth; n++) {
        pcs[n] = pc;
        rule = jpp_rules_word(rules, pc);

        if (!jpp_rules_is_for(rule, pc)) {
            rule = jpp_unwind_rule(walk->unwinder, pc);
        }

        cfa = rsp + jpp_rule_cfa(rule);

        if (jpp_rule_is_special(rule)) {

            if (!jpp_unwind_special(rule, rsp, high, &rbp_at, &end)) {
                break;
            }

            cfa = rbp_at + 16;

        } else if (jpp_rule_has_rbp(rule)) {
            rbp_at = cfa - JPP_RULE_RBP_LOW + jpp_rule_rbp(rule);
        }

        if (cfa > high) {
            end = JPP_UNWIND_STACK;
            break;
        }

        pc = jpp_frame_word(cfa - 8);
        rsp = cfa;
    }

    walk->n = n + (end != JPP_UNWIND_DEPTH && pc != 0);

    return pc == 0 ? JPP_UNWIND_OUTERMOST : end;
}


static uint32_t
jpp_unwind_bounded(jpp_unwind_walk_t *walk, const jpp_unwind_stack_t *stack,
    jpp_unwind_end_t *end)
{
    if (!jpp_frame_holds(stack->low, stack->high, walk->rsp)) {
        *end = JPP_UNWIND_STACK;
        return 0;
    }

    walk->complete.stack = *stack;

    /* the cache knows return addresses only */

    *end = walk->complete.at.is_exact ? jpp_unwind_complete(walk)
                                      : JPP_UNWIND_ON;

    while (*end == JPP_UNWIND_ON) {
        *end = jpp_unwind_fast(walk);

        if (*end == JPP_UNWIND_ON) {
            *end = jpp_unwind_complete(walk);
        }
    }

    return (uint32_t) walk->n;
}


/* Where nobody knows where the stack ends, as much of it is proven as WALK
   needs. */

static uint32_t
jpp_unwind_run(jpp_unwind_walk_t *walk, const jpp_unwind_stack_t *stack,
    jpp_unwind_end_t *end)
{
    uint32_t            n;
    jpp_unwind_walk_t   again;
    jpp_unwind_stack_t  bounds;

    if (!JPP_UNWIND_IS_HERE) {
        *end = JPP_UNWIND_ABSENT;
        return 0;
    }

    if (stack != NULL) {
        return jpp_unwind_bounded(walk, stack, end);
    }

    if (jpp_stack_bounds(&walk->unwinder->stacks, walk->rsp, &bounds)) {
        return jpp_unwind_bounded(walk, &bounds, end);
    }

    do {
        again = *walk;
        n = jpp_unwind_bounded(&again, &bounds, end);

    } while (*end == JPP_UNWIND_STACK && jpp_stack_more(&bounds));

    return n;
}


uint32_t
jpp_unwind_walk(jpp_unwinder_t *unwinder, const jpp_unwind_context_t *at,
    const jpp_unwind_stack_t *stack, uintptr_t *pcs, uint32_t depth,
    jpp_unwind_end_t *end)
{
    jpp_unwind_walk_t  walk;

    walk.unwinder = unwinder;
    walk.pcs = pcs;
    walk.depth = depth;
    walk.n = 0;
    walk.pc = at->pc;
    walk.rsp = at->registers[JPP_CFI_RSP];
    walk.rbp_at = (uintptr_t) &at->registers[JPP_CFI_RBP];
    walk.n_complete = 0;
    walk.complete.at = *at;

    return jpp_unwind_run(&walk, stack, end);
}


uintptr_t
jpp_unwind_distance(jpp_unwinder_t *unwinder, uintptr_t pc)
{
    uint64_t  rule;

    rule = jpp_unwind_rule(unwinder, pc);

    if (!jpp_rule_is_special(rule)) {
        return jpp_rule_cfa(rule);
    }

    return jpp_rule_kind(rule) == JPP_RULE_OUTERMOST ? JPP_UNWIND_LAST : 0;
}


/*
 * All registers are those of this function, behind the last instruction that
 * was in its frame; so that is frame -1.  Its frame pointer leads to the
 * caller's pc, rsp and rbp.
 */

uint32_t __attribute__((noinline))
jpp_unwind_here(jpp_unwinder_t *unwinder, const jpp_unwind_stack_t *stack,
    uintptr_t *pcs, uint32_t depth, jpp_unwind_end_t *end)
{
    jpp_unwind_walk_t      walk;
    jpp_unwind_context_t  *at;

    at = &walk.complete.at;
    at->is_exact = false;
    at->known = 1u << 3 | 1u << JPP_CFI_RBP | 1u << JPP_CFI_RSP
                | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 15;

#if JPP_UNWIND_IS_HERE
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
        : : [r] "r" (at->registers), [pc] "r" (&at->pc) : "rax", "memory");
#endif

    walk.unwinder = unwinder;
    walk.pcs = pcs;
    walk.depth = depth;
    walk.n = 0;
    walk.pc = (uintptr_t) __builtin_return_address(0);
    walk.rbp_at = (uintptr_t) __builtin_frame_address(0);
    walk.rsp = walk.rbp_at + 16;
    walk.n_complete = -1;

    return jpp_unwind_run(&walk, stack, end);
}


void
jpp_unwind_interrupted(jpp_unwind_context_t *at, const void *ucontext)
{
#if JPP_UNWIND_IS_HERE
    uint32_t           i;
    const ucontext_t  *context = ucontext;

    static const uint8_t  registers[JPP_FRAME_REGISTERS] = {
        REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP,
        REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
        REG_R15
    };

    for (i = 0; i < JPP_FRAME_REGISTERS; i++) {
        at->registers[i] = (uintptr_t) context->uc_mcontext.gregs[registers[i]];
    }

    at->pc = (uintptr_t) context->uc_mcontext.gregs[REG_RIP];
    at->known = (1u << JPP_FRAME_REGISTERS) - 1;
    at->is_exact = true;
#else
    (void) ucontext;

    memset(at, 0, sizeof(jpp_unwind_context_t));
#endif
}


/* how far above rsp it is looked for, words; the frames that prove it; and
   those of all attempts */
#define JPP_UNWIND_RBP_WORDS  512
#define JPP_UNWIND_RBP_DEPTH  128
#define JPP_UNWIND_RBP_TRIED  4096


void
jpp_unwind_rbp_find(jpp_unwinder_t *unwinder, jpp_unwind_context_t *at,
    const jpp_unwind_stack_t *stack)
{
    uint32_t          i, n, tried;
    uintptr_t        *rbp, returns, pcs[JPP_UNWIND_RBP_DEPTH];
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

        /* a function that has one has its return address behind that */

        returns = *rbp + sizeof(uintptr_t);

        if (!jpp_frame_holds(stack->low, stack->high, returns)
            || jpp_mapped_find(&unwinder->mapped, jpp_frame_word(returns) - 1)
               == NULL)
        {
            continue;
        }

        n = jpp_unwind_walk(unwinder, at, stack, pcs, JPP_UNWIND_RBP_DEPTH,
                            &end);

        /* a return address of 0 may be any word; a walk that long is none by
           chance */

        if (end == JPP_UNWIND_DEPTH
            || (end == JPP_UNWIND_OUTERMOST
                && n != 0
                && jpp_unwind_distance(unwinder, pcs[n - 1])
                   == JPP_UNWIND_LAST))
        {
            return;
        }

        tried += n;
    }

    *rbp = 0;
}
