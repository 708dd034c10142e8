
/*
 * One frame of a stack that is being unwound: its address, its registers, its
 * stack.  It is the only way to memory: words between the frame's rsp and the
 * top of the stack, and the red zone below rsp where a function was
 * interrupted.
 *
 * [signal] No state, no lock, no memory; any thread.
 */


#ifndef _JPP_FRAME_H_INCLUDED_
#define _JPP_FRAME_H_INCLUDED_


#include "jpp_cfi.h"


#define JPP_FRAME_REGISTERS  JPP_CFI_RETURN

/* bytes below rsp that a function may use without a word */
#define JPP_FRAME_RED_ZONE   128


/* why a walk ended */
typedef enum {
    JPP_UNWIND_ON = 0,        /* it did not */
    JPP_UNWIND_OUTERMOST,     /* the stack is complete */
    JPP_UNWIND_DEPTH,         /* there is no room for more frames */
    JPP_UNWIND_OBJECT,        /* code of no known object: JIT, or new */
    JPP_UNWIND_RULE,          /* code of an object that has no rule for it */
    JPP_UNWIND_ODD,           /* a rule that cannot be followed */
    JPP_UNWIND_STACK,         /* the next frame lies outside the stack */
    JPP_UNWIND_ABSENT,        /* no unwinder for this machine */
    JPP_UNWIND_ENDS
} jpp_unwind_end_t;


/* a stack: addresses below HIGH, and not below LOW, are mapped */
typedef struct {
    uintptr_t         low;
    uintptr_t         high;
} jpp_unwind_stack_t;


/* where a walk starts; registers by their DWARF numbers */
typedef struct {
    uintptr_t         pc;
    uintptr_t         registers[JPP_FRAME_REGISTERS];
    uint32_t          known;       /* a bit for each register with a value */
    bool              is_exact;    /* pc is an instruction, no return address */
} jpp_unwind_context_t;


typedef struct {
    jpp_unwind_context_t   at;
    jpp_unwind_stack_t     stack;
} jpp_frame_t;


/* [signal] Is register N (any number) known? */
static inline bool
jpp_frame_has(const jpp_frame_t *frame, uint64_t n)
{
    return n < JPP_FRAME_REGISTERS && (frame->at.known >> n & 1) != 0;
}


/* [signal] Do the words of the stack from LOW to HIGH have one at ADDRESS? */
static inline bool
jpp_frame_holds(uintptr_t low, uintptr_t high, uintptr_t address)
{
    return address >= low
           && address < high
           && high - address >= sizeof(uintptr_t);
}


/* [signal] May FRAME's rules read the word at ADDRESS? */
static inline bool
jpp_frame_reads(const jpp_frame_t *frame, uintptr_t address)
{
    uintptr_t  low;

    low = frame->at.registers[JPP_CFI_RSP];

    if (frame->at.is_exact) {
        low -= jpp_smaller(low - frame->stack.low, JPP_FRAME_RED_ZONE);
    }

    return jpp_frame_holds(low, frame->stack.high, address);
}


/* [signal] The word at ADDRESS, which the stack holds: foreign frames have
   red zones of a sanitizer. */
static inline uintptr_t __attribute__((no_sanitize("address")))
jpp_frame_word(uintptr_t address)
{
    typedef uintptr_t __attribute__((aligned(1), may_alias))  jpp_word_t;

    return *(const jpp_word_t *) address;
}


/* [signal] FRAME becomes its caller; any result but JPP_UNWIND_ON: it cannot,
   and is what it was. */
jpp_unwind_end_t jpp_complete_step(const jpp_mapped_t *objects,
    jpp_frame_t *frame);

/*
 * [signal] The value of the expression whose length is at AT (its bytes were
 * checked when the row was made), over FRAME; it starts with CFA on its stack
 * where HAS_CFA.  JPP_UNWIND_ODD: an operation or a register that is not
 * known; JPP_UNWIND_STACK: it reads outside the stack.
 */
jpp_unwind_end_t jpp_cfi_expr_value(int64_t at, const jpp_frame_t *frame,
    bool has_cfa, uintptr_t cfa, uintptr_t *value);


#endif /* _JPP_FRAME_H_INCLUDED_ */
