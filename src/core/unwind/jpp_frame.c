
/*
 * One frame of a stack that is being unwound, and the steps to its caller's
 * frame.
 */


#include "jpp_unwind.h"


/*
 * Expressions of call-frame information (DWARF 5, 2.5): the arithmetic over
 * registers and the stack that a PLT, a signal's frame, a realigned stack and
 * some of libcrypto's assembly need.
 *
 * [signal] No state, no lock, no memory; any thread.  No jumps, so no loops.
 */


/* far above what is written: a PLT needs 10 operations, 4 values at a time */
#define JPP_EXPR_MAX_STEPS  64
#define JPP_EXPR_MAX_DEPTH  16


#define JPP_OP_ADDR         0x03
#define JPP_OP_DEREF        0x06
#define JPP_OP_CONST1U      0x08
#define JPP_OP_CONST8S      0x0f
#define JPP_OP_CONSTU       0x10
#define JPP_OP_CONSTS       0x11
#define JPP_OP_DUP          0x12
#define JPP_OP_DROP         0x13
#define JPP_OP_OVER         0x14
#define JPP_OP_SWAP         0x16
#define JPP_OP_AND          0x1a
#define JPP_OP_MINUS        0x1c
#define JPP_OP_MUL          0x1e
#define JPP_OP_NEG          0x1f
#define JPP_OP_NOT          0x20
#define JPP_OP_OR           0x21
#define JPP_OP_PLUS         0x22
#define JPP_OP_PLUS_UCONST  0x23
#define JPP_OP_SHL          0x24
#define JPP_OP_SHR          0x25
#define JPP_OP_SHRA         0x26
#define JPP_OP_XOR          0x27
#define JPP_OP_EQ           0x29
#define JPP_OP_GE           0x2a
#define JPP_OP_GT           0x2b
#define JPP_OP_LE           0x2c
#define JPP_OP_LT           0x2d
#define JPP_OP_NE           0x2e
#define JPP_OP_LIT0         0x30
#define JPP_OP_LIT31        0x4f
#define JPP_OP_BREG0        0x70
#define JPP_OP_BREG31       0x8f
#define JPP_OP_BREGX        0x92
#define JPP_OP_NOP          0x96


typedef struct {
    const jpp_frame_t   *frame;
    jpp_cfi_bytes_t      b;
    uint32_t             n;
    uint64_t             values[JPP_EXPR_MAX_DEPTH];
    jpp_unwind_end_t     end;
} jpp_expr_t;


static void
jpp_expr_push(jpp_expr_t *e, uint64_t value)
{
    if (e->n == JPP_EXPR_MAX_DEPTH) {
        e->end = JPP_UNWIND_ODD;
        return;
    }

    e->values[e->n++] = value;
}


/* The PLT's expression asks for the low bits of the address too. */

static void
jpp_expr_register(jpp_expr_t *e, uint64_t n)
{
    uint64_t  offset;

    offset = (uint64_t) jpp_cfi_sleb(&e->b);

    if (n == JPP_CFI_RETURN) {
        jpp_expr_push(e, e->frame->at.pc + offset);

    } else if (jpp_frame_has(e->frame, n)) {
        jpp_expr_push(e, e->frame->at.registers[n] + offset);

    } else {
        e->end = JPP_UNWIND_ODD;
    }
}


static uint64_t
jpp_expr_pop(jpp_expr_t *e)
{
    if (e->n == 0) {
        e->end = e->end == JPP_UNWIND_ON ? JPP_UNWIND_ODD : e->end;
        return 0;
    }

    return e->values[--e->n];
}


static uint64_t
jpp_expr_compute(jpp_expr_t *e, uint8_t op, uint64_t a, uint64_t b)
{
    int64_t  x, y;

    x = (int64_t) a;
    y = (int64_t) b;

    switch (op) {

    case JPP_OP_AND:
        return a & b;

    case JPP_OP_MINUS:
        return a - b;

    case JPP_OP_MUL:
        return a * b;

    case JPP_OP_OR:
        return a | b;

    case JPP_OP_PLUS:
        return a + b;

    case JPP_OP_SHL:
        return b < 64 ? a << b : 0;

    case JPP_OP_SHR:
        return b < 64 ? a >> b : 0;

    case JPP_OP_SHRA:
        return (uint64_t) (x >> (b < 63 ? b : 63));

    case JPP_OP_XOR:
        return a ^ b;

    case JPP_OP_EQ:
        return a == b;

    case JPP_OP_GE:
        return x >= y;

    case JPP_OP_GT:
        return x > y;

    case JPP_OP_LE:
        return x <= y;

    case JPP_OP_LT:
        return x < y;

    case JPP_OP_NE:
        return a != b;
    }

    e->end = JPP_UNWIND_ODD;

    return 0;
}


/* The operations that have a number of their own. */

static void
jpp_expr_operation(jpp_expr_t *e, uint8_t op)
{
    uint64_t  a, b;

    switch (op) {

    case JPP_OP_NOP:
        break;

    case JPP_OP_ADDR:
        jpp_expr_push(e, jpp_cfi_uint(&e->b, 8));
        break;

    case JPP_OP_CONSTU:
        jpp_expr_push(e, jpp_cfi_uleb(&e->b));
        break;

    case JPP_OP_CONSTS:
        jpp_expr_push(e, (uint64_t) jpp_cfi_sleb(&e->b));
        break;

    case JPP_OP_BREGX:
        jpp_expr_register(e, jpp_cfi_uleb(&e->b));
        break;

    case JPP_OP_DEREF:
        a = jpp_expr_pop(e);

        if (e->end == JPP_UNWIND_ON && !jpp_frame_reads(e->frame, a)) {
            e->end = JPP_UNWIND_STACK;
        }

        jpp_expr_push(e, e->end == JPP_UNWIND_ON ? jpp_frame_word(a) : 0);
        break;

    case JPP_OP_DUP:
        a = jpp_expr_pop(e);
        jpp_expr_push(e, a);
        jpp_expr_push(e, a);
        break;

    case JPP_OP_DROP:
        (void) jpp_expr_pop(e);
        break;

    case JPP_OP_OVER:
    case JPP_OP_SWAP:
        b = jpp_expr_pop(e);
        a = jpp_expr_pop(e);

        if (op == JPP_OP_OVER) {
            jpp_expr_push(e, a);
        }

        jpp_expr_push(e, b);
        jpp_expr_push(e, a);
        break;

    case JPP_OP_NEG:
        jpp_expr_push(e, 0 - jpp_expr_pop(e));
        break;

    case JPP_OP_NOT:
        jpp_expr_push(e, ~jpp_expr_pop(e));
        break;

    case JPP_OP_PLUS_UCONST:
        a = jpp_expr_pop(e);
        jpp_expr_push(e, a + jpp_cfi_uleb(&e->b));
        break;

    default:
        b = jpp_expr_pop(e);
        a = jpp_expr_pop(e);
        jpp_expr_push(e, jpp_expr_compute(e, op, a, b));
    }
}


static void
jpp_expr_step(jpp_expr_t *e, uint8_t op)
{
    uint32_t  size;

    if (op >= JPP_OP_LIT0 && op <= JPP_OP_LIT31) {
        jpp_expr_push(e, op - JPP_OP_LIT0);

    } else if (op >= JPP_OP_BREG0 && op <= JPP_OP_BREG31) {
        jpp_expr_register(e, op - JPP_OP_BREG0);

    } else if (op >= JPP_OP_CONST1U && op <= JPP_OP_CONST8S) {

        /* 1u 1s 2u 2s 4u 4s 8u 8s */

        size = 1u << ((op - JPP_OP_CONST1U) / 2);
        jpp_expr_push(e, (op & 1) != 0 ? (uint64_t) jpp_cfi_sint(&e->b, size)
                                       : jpp_cfi_uint(&e->b, size));

    } else {
        jpp_expr_operation(e, op);
    }
}


jpp_unwind_end_t
jpp_cfi_expr_value(int64_t at, const jpp_frame_t *frame, bool has_cfa,
    uintptr_t cfa, uintptr_t *value)
{
    uint32_t    steps;
    uint64_t    len;
    jpp_expr_t  e;

    e.frame = frame;
    e.n = 0;
    e.end = JPP_UNWIND_ON;

    /* ten bytes are the longest length; the row has checked what it has */

    e.b.pos = (const uint8_t *) (uintptr_t) at;
    e.b.end = e.b.pos + 10;
    e.b.is_damaged = false;
    e.b.is_short = false;

    len = jpp_cfi_uleb(&e.b);
    e.b.end = e.b.pos + len;

    if (has_cfa) {
        jpp_expr_push(&e, cfa);
    }

    for (steps = 0; e.b.pos != e.b.end && e.end == JPP_UNWIND_ON; steps++) {

        if (steps == JPP_EXPR_MAX_STEPS) {
            return JPP_UNWIND_ODD;
        }

        jpp_expr_step(&e, (uint8_t) jpp_cfi_uint(&e.b, 1));
    }

    *value = (uintptr_t) jpp_expr_pop(&e);

    return e.b.is_damaged && e.end == JPP_UNWIND_ON ? JPP_UNWIND_ODD : e.end;
}


/*
 * The complete step: all registers, and every rule that call-frame information
 * can express.  The rare and slow half of jpp_unwind.h.
 *
 * [signal] No state, no lock, no memory; any thread.
 */


/*
 * At a return the frame is the return address, whatever is said of it: in
 * OpenSSL 3.0 that of x25519's functions is wrong.
 */

static const jpp_cfi_row_t  jpp_complete_return = {
    .how = { [JPP_CFI_RSP] = JPP_CFI_IS, [JPP_CFI_RETURN] = JPP_CFI_AT },
    .values = { [JPP_CFI_RETURN] = -8 },
    .cfa_register = JPP_CFI_RSP,
    .cfa_value = 8
};


static jpp_unwind_end_t
jpp_complete_row(const jpp_mapped_t *objects, const jpp_unwind_context_t *at,
    jpp_cfi_row_t *row, bool *is_signal)
{
    uintptr_t                 address;
    jpp_cfi_entry_t           entry;
    const jpp_mapped_code_t  *code;

    address = at->pc - !at->is_exact;
    *is_signal = false;

    code = jpp_mapped_find(objects, address);
    if (code == NULL) {
        return JPP_UNWIND_OBJECT;
    }

    if (at->is_exact && jpp_mapped_returns(code, address)) {
        *row = jpp_complete_return;
        return JPP_UNWIND_ON;
    }

    if (!jpp_cfi_entry_find(code, address, &entry)) {
        return JPP_UNWIND_RULE;
    }

    *is_signal = entry.is_signal;

    if (entry.return_column != JPP_CFI_RETURN
        || !jpp_cfi_row_at(&entry, address, row))
    {
        return JPP_UNWIND_ODD;
    }

    return row->how[JPP_CFI_RETURN] == JPP_CFI_UNDEFINED
           ? JPP_UNWIND_OUTERMOST : JPP_UNWIND_ON;
}


/* It may lie anywhere, as in longjmp(): what is read by it is checked. */

static jpp_unwind_end_t
jpp_complete_cfa(const jpp_frame_t *frame, const jpp_cfi_row_t *row,
    uintptr_t *cfa)
{
    if (row->is_cfa_expression) {
        return jpp_cfi_expr_value(row->cfa_value, frame, false, 0, cfa);
    }

    if (!jpp_frame_has(frame, row->cfa_register)) {
        return JPP_UNWIND_ODD;
    }

    *cfa = frame->at.registers[row->cfa_register] + (uintptr_t) row->cfa_value;

    return JPP_UNWIND_ON;
}


/* COLUMN of the CALLER is VALUE. */

static void
jpp_complete_is(jpp_frame_t *caller, uint32_t column, uintptr_t value)
{
    if (column == JPP_CFI_RETURN) {
        caller->at.pc = value;

    } else {
        caller->at.registers[column] = value;
    }

    caller->at.known |= 1u << column;
}


/* What is in register N, if it is known. */

static void
jpp_complete_same(const jpp_frame_t *frame, uint64_t n, jpp_frame_t *caller,
    uint32_t column)
{
    if (jpp_frame_has(frame, n)) {
        jpp_complete_is(caller, column, frame->at.registers[n]);
    }
}


/*
 * A place below rsp has been popped already, and the register has the value
 * again: epilogues do not always say so.  What lies outside the stack is not
 * known; most often nobody asks for it.
 */

static void
jpp_complete_load(const jpp_frame_t *frame, uintptr_t address,
    jpp_frame_t *caller, uint32_t column)
{
    uintptr_t  rsp;

    rsp = frame->at.registers[JPP_CFI_RSP];

    if (jpp_frame_holds(rsp, frame->stack.high, address)) {
        jpp_complete_is(caller, column, jpp_frame_word(address));

    } else if (address < rsp) {
        jpp_complete_same(frame, column, caller, column);
    }
}


static jpp_unwind_end_t
jpp_complete_column(const jpp_frame_t *frame, const jpp_cfi_row_t *row,
    uintptr_t cfa, jpp_frame_t *caller, uint32_t column)
{
    int64_t           rule;
    uintptr_t         value;
    jpp_cfi_how_t     how;
    jpp_unwind_end_t  end;

    rule = row->values[column];
    how = (jpp_cfi_how_t) row->how[column];
    value = cfa + (uintptr_t) rule;

    if (how == JPP_CFI_AT_EXPRESSION || how == JPP_CFI_IS_EXPRESSION) {
        end = jpp_cfi_expr_value(rule, frame, true, cfa, &value);

        if (end != JPP_UNWIND_ON) {
            return end;
        }
    }

    switch (how) {

    case JPP_CFI_UNDEFINED:
        break;

    case JPP_CFI_SAME:
        jpp_complete_same(frame, column, caller, column);
        break;

    case JPP_CFI_REGISTER:
        jpp_complete_same(frame, (uint64_t) rule, caller, column);
        break;

    case JPP_CFI_AT:
    case JPP_CFI_AT_EXPRESSION:
        jpp_complete_load(frame, value, caller, column);
        break;

    case JPP_CFI_IS:
    case JPP_CFI_IS_EXPRESSION:
        jpp_complete_is(caller, column, value);
        break;
    }

    return JPP_UNWIND_ON;
}


static jpp_unwind_end_t
jpp_complete_caller(const jpp_frame_t *frame, const jpp_cfi_row_t *row,
    uintptr_t cfa, jpp_frame_t *caller)
{
    uint32_t          i;
    uintptr_t         rsp, low;
    jpp_unwind_end_t  end;

    memset(caller, 0, sizeof(jpp_frame_t));
    caller->stack = frame->stack;

    for (i = 0; i < JPP_CFI_COLUMNS; i++) {
        end = jpp_complete_column(frame, row, cfa, caller, i);

        if (end != JPP_UNWIND_ON) {
            return end;
        }
    }

    if ((caller->at.known >> JPP_CFI_RETURN & 1) == 0
        || !jpp_frame_has(caller, JPP_CFI_RSP))
    {
        return JPP_UNWIND_STACK;
    }

    /*
     * Callers lie above, so that a walk ends; but longjmp() has its caller's
     * rsp before it jumps.
     */

    rsp = caller->at.registers[JPP_CFI_RSP];
    low = frame->at.registers[JPP_CFI_RSP] + !frame->at.is_exact;

    return rsp >= low && rsp <= frame->stack.high ? JPP_UNWIND_ON
                                                  : JPP_UNWIND_STACK;
}


jpp_unwind_end_t
jpp_complete_step(const jpp_mapped_t *objects, jpp_frame_t *frame)
{
    bool              is_signal;
    uintptr_t         cfa = 0;
    jpp_frame_t       caller;
    jpp_cfi_row_t     row;
    jpp_unwind_end_t  end;

    end = jpp_complete_row(objects, &frame->at, &row, &is_signal);

    if (end == JPP_UNWIND_ON) {
        end = jpp_complete_cfa(frame, &row, &cfa);
    }

    if (end == JPP_UNWIND_ON) {
        end = jpp_complete_caller(frame, &row, cfa, &caller);
    }

    if (end != JPP_UNWIND_ON) {
        return end;
    }

    if (caller.at.pc == 0) {
        return JPP_UNWIND_OUTERMOST;
    }

    /* what a signal interrupted may be any instruction */

    caller.at.is_exact = is_signal;
    *frame = caller;

    return JPP_UNWIND_ON;
}
