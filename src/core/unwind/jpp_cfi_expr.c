
#include "jpp_cfi_expr.h"


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


static bool
jpp_expr_constant(jpp_expr_t *e, uint8_t op)
{
    uint32_t  size;

    if (op >= JPP_OP_CONST1U && op <= JPP_OP_CONST8S) {

        /* 1u 1s 2u 2s 4u 4s 8u 8s */

        size = 1u << ((op - JPP_OP_CONST1U) / 2);
        jpp_expr_push(e, (op & 1) != 0 ? (uint64_t) jpp_cfi_sint(&e->b, size)
                                       : jpp_cfi_uint(&e->b, size));
        return true;
    }

    switch (op) {

    case JPP_OP_ADDR:
        jpp_expr_push(e, jpp_cfi_uint(&e->b, 8));
        return true;

    case JPP_OP_CONSTU:
        jpp_expr_push(e, jpp_cfi_uleb(&e->b));
        return true;

    case JPP_OP_CONSTS:
        jpp_expr_push(e, (uint64_t) jpp_cfi_sleb(&e->b));
        return true;
    }

    return false;
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


static bool
jpp_expr_stack(jpp_expr_t *e, uint8_t op)
{
    uint64_t  a, b;

    switch (op) {

    case JPP_OP_DUP:
        a = jpp_expr_pop(e);
        jpp_expr_push(e, a);
        jpp_expr_push(e, a);
        return true;

    case JPP_OP_DROP:
        (void) jpp_expr_pop(e);
        return true;

    case JPP_OP_OVER:
        b = jpp_expr_pop(e);
        a = jpp_expr_pop(e);
        jpp_expr_push(e, a);
        jpp_expr_push(e, b);
        jpp_expr_push(e, a);
        return true;

    case JPP_OP_SWAP:
        b = jpp_expr_pop(e);
        a = jpp_expr_pop(e);
        jpp_expr_push(e, b);
        jpp_expr_push(e, a);
        return true;
    }

    return false;
}


static bool
jpp_expr_unary(jpp_expr_t *e, uint8_t op)
{
    uint64_t  a;

    switch (op) {

    case JPP_OP_DEREF:
        a = jpp_expr_pop(e);

        if (e->end != JPP_UNWIND_ON) {
            return true;
        }

        if (!jpp_frame_reads(e->frame, (uintptr_t) a)) {
            e->end = JPP_UNWIND_STACK;
            return true;
        }

        jpp_expr_push(e, jpp_frame_word((uintptr_t) a));
        return true;

    case JPP_OP_NEG:
        jpp_expr_push(e, 0 - jpp_expr_pop(e));
        return true;

    case JPP_OP_NOT:
        jpp_expr_push(e, ~jpp_expr_pop(e));
        return true;

    case JPP_OP_PLUS_UCONST:
        a = jpp_expr_pop(e);
        jpp_expr_push(e, a + jpp_cfi_uleb(&e->b));
        return true;
    }

    return false;
}


static uint64_t
jpp_expr_compute(uint8_t op, uint64_t a, uint64_t b)
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

    default:
        return a != b;
    }
}


static bool
jpp_expr_binary(jpp_expr_t *e, uint8_t op)
{
    uint64_t  a, b;

    if (op < JPP_OP_AND
        || op > JPP_OP_NE
        || op == JPP_OP_AND + 1
        || op == JPP_OP_MINUS + 1
        || op == JPP_OP_XOR + 1)
    {
        return false;
    }

    b = jpp_expr_pop(e);
    a = jpp_expr_pop(e);
    jpp_expr_push(e, jpp_expr_compute(op, a, b));

    return true;
}


static void
jpp_expr_step(jpp_expr_t *e, uint8_t op)
{
    if (op >= JPP_OP_LIT0 && op <= JPP_OP_LIT31) {
        jpp_expr_push(e, op - JPP_OP_LIT0);

    } else if (op >= JPP_OP_BREG0 && op <= JPP_OP_BREG31) {
        jpp_expr_register(e, op - JPP_OP_BREG0);

    } else if (op == JPP_OP_BREGX) {
        jpp_expr_register(e, jpp_cfi_uleb(&e->b));

    } else if (op != JPP_OP_NOP
               && !jpp_expr_constant(e, op)
               && !jpp_expr_stack(e, op)
               && !jpp_expr_unary(e, op)
               && !jpp_expr_binary(e, op))
    {
        e->end = JPP_UNWIND_ODD;
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
