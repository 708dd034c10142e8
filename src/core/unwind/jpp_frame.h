
/*
 * One frame of a stack that is being unwound, and the steps to its caller's
 * frame: the loaded object, its call-frame information, and the rules there.
 *
 * [signal] No state, no lock, no memory; any thread.
 */


#ifndef _JPP_FRAME_H_INCLUDED_
#define _JPP_FRAME_H_INCLUDED_


#include "jpp_elf.h"


/* Is there an unwinder for this machine? */
#if defined(__x86_64__) && defined(__LP64__)
#define JPP_UNWIND_IS_HERE  1
#else
#define JPP_UNWIND_IS_HERE  0
#endif


/*
 * The loaded objects that can be unwound through: where their code lies, and
 * where their call-frame information is mapped.
 *
 * What is loaded comes from the caller (jpp_images_unwind() of src/core/process
 * fills the table by dl_iterate_phdr()).  An object that is in the table stays
 * in it, so the caller adds only what is never unmapped: it pins objects first.
 *
 * One writer at a time adds, outside signals; parsers in any thread and any
 * signal handler see an entry only when it is complete.  No lock, no memory
 * but the table itself.
 */

/* segments of code; an object has one, seldom two */
#define JPP_MAPPED_MAX     1024

/* segments of an object that are looked at */
#define JPP_MAPPED_SEGMENTS  16


typedef struct {
    uintptr_t         start;
    uintptr_t         end;
    bool              is_readable;
    bool              is_executable;
} jpp_segment_t;


/* an object as it is loaded */
typedef struct {
    jpp_segment_t     segments[JPP_MAPPED_SEGMENTS];
    uint32_t          n;
    uintptr_t         frames;      /* its .eh_frame_hdr, 0: it has none */
} jpp_mapped_object_t;


/* a segment of code, and the table of .eh_frame_hdr: pairs of start, FDE */
typedef struct {
    uintptr_t         start;
    uintptr_t         end;
    bool              is_readable;
    const uint8_t    *table;       /* in order of starts */
    uint64_t          count;       /* 0: no information */
    uintptr_t         base;        /* what the table's numbers are added to */
    const uint8_t    *low;         /* the segment that holds .eh_frame */
    const uint8_t    *high;
} jpp_mapped_code_t;


typedef struct {
    uint32_t            n;         /* the last to be stored */
    jpp_mapped_code_t   objects[JPP_MAPPED_MAX];
} jpp_mapped_t;


/* The segment of OBJECT that ADDRESS lies in, NULL: in none. */
const jpp_segment_t *jpp_mapped_segment(const jpp_mapped_object_t *object,
    uintptr_t address);

/*
 * Add OBJECT's segments of code; those that are known already are left as they
 * are.  Information that is not the sorted table every linker writes, or that
 * lies in no readable segment, is none: the code is known then, and has no
 * rules.  False: the table is full.
 */
bool jpp_mapped_add(jpp_mapped_t *objects, const jpp_mapped_object_t *object);

/* [signal] Does the instruction at ADDRESS of CODE return?  False where code
   cannot be read. */
bool jpp_mapped_returns(const jpp_mapped_code_t *code, uintptr_t address);

/* [signal] The code that ADDRESS lies in, NULL: in none that is known. */
const jpp_mapped_code_t *jpp_mapped_find(const jpp_mapped_t *objects,
    uintptr_t address);


/*
 * Finds the entry of .eh_frame that describes a function, by .eh_frame_hdr, and
 * parses it together with its CIE.
 *
 * Every byte is checked against the segment that holds the section: a hostile
 * one gives a wrong entry or none, and neither a loop nor a read outside.
 *
 * [signal] No state, no lock, no memory; any thread.
 */

/* [signal] The entry for the code at ADDRESS of OBJECT; false: none. */
bool jpp_cfi_entry_find(const jpp_mapped_code_t *object, uintptr_t address,
    jpp_cfi_entry_t *entry);

/* [signal] The entry of row I of OBJECT's table, for I below its count. */
bool jpp_cfi_entry_row(const jpp_mapped_code_t *object, uint64_t i,
    jpp_cfi_entry_t *entry);


/*
 * The rules that hold at one address of a function: call-frame instructions
 * (DWARF 5, 6.4.2) executed up to there.
 *
 * [signal] No state, no lock, no memory; any thread.  At most a kilobyte of
 * stack, and a bounded number of steps.
 */


/* columns of amd64: the registers by their DWARF numbers, the return address */
#define JPP_CFI_RBP       6
#define JPP_CFI_RSP       7
#define JPP_CFI_RETURN   16
#define JPP_CFI_COLUMNS  17


/* how the caller's value of a register is found */
typedef enum {
    JPP_CFI_SAME = 0,         /* it is still there */
    JPP_CFI_UNDEFINED,        /* it is lost */
    JPP_CFI_AT,               /* stored at CFA + value */
    JPP_CFI_IS,               /* it is CFA + value */
    JPP_CFI_REGISTER,         /* in register number value */
    JPP_CFI_AT_EXPRESSION,    /* stored where the expression says */
    JPP_CFI_IS_EXPRESSION     /* it is what the expression says */
} jpp_cfi_how_t;


/* VALUE of an expression is the address of its length, a LEB128 */
typedef struct {
    int64_t           values[JPP_CFI_COLUMNS];
    uint8_t           how[JPP_CFI_COLUMNS];     /* jpp_cfi_how_t */
    bool              is_cfa_expression;
    uint64_t          cfa_register;
    int64_t           cfa_value;                /* offset, or expression */
} jpp_cfi_row_t;


/*
 * [signal] ROW becomes what holds at ADDRESS, which lies in ENTRY.  False: the
 * instructions are damaged, not known, or too many.
 */
bool jpp_cfi_row_at(const jpp_cfi_entry_t *entry, uintptr_t address,
    jpp_cfi_row_t *row);


/*
 * One frame of a stack that is being unwound: its address, its registers, its
 * stack.  It is the only way to memory: words between the frame's rsp and the
 * top of the stack, and the red zone below rsp where a function was
 * interrupted.
 */

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
