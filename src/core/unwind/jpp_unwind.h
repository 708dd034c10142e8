
/*
 * Unwinds stacks of this process by the call-frame information of its loaded
 * objects, as libgcc's unwinder does, without its locks, its cost, and its
 * crashes.
 *
 * It reads .eh_frame of known objects, and words of the stack between rsp and
 * the top; never what a register or a return address points at elsewhere.  So
 * wrong call-frame information, code of a JIT compiler and an overwritten
 * stack give a short or a wrong stack, and no fault.  A walk that cannot go on
 * keeps what it has and says why.
 *
 * Nearly all frames need rsp and rbp only; their rules are cached as they are
 * met.  At one that needs more (a signal's, a realigned stack,
 * the dynamic linker's, some assembly) the frames up to it are stepped over
 * again, with all registers (jpp_frame.c); above it the walk goes on with
 * the cache.
 *
 * Who uses it brings the objects: jpp_mapped_add(), outside signals.  A stack
 * ends at the frame that a signal interrupted on another stack; with musl,
 * whose libc has no call-frame information, at the first frame in libc, be it
 * the one that has called main().  amd64 only.
 *
 * Everything marked [signal] is safe in a handler and in malloc() itself: no
 * lock, no memory, errno untouched; at most 3 KB of stack; no system call but
 * those that prove a page of a stack.  Walk once outside of a handler first,
 * so that lazy binding is done.
 */


#ifndef _JPP_UNWIND_H_INCLUDED_
#define _JPP_UNWIND_H_INCLUDED_


#include "jpp_elf.h"


/*
 * One frame of a stack that is being unwound, and the steps to its caller's
 * frame: the loaded object, its call-frame information, and the rules there.
 *
 * [signal] No state, no lock, no memory; any thread.
 */

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


/*
 * Compact rules, and the cache of them: what nearly every frame needs, in one
 * word, so that neither a thread nor a signal handler sees half an entry.
 *
 *     return address 48, where rbp is stored 3, CFA - rsp 13, in words
 *
 * The middle field is 0 where the caller's rbp is still in the register, and
 * otherwise its words above CFA - 64.  The last one is never 0, but in a
 * special rule, of which the middle one is the kind (jpp_rule_kind_t).
 *
 * Only frames that were left by a call are kept: there are few return
 * addresses, and an interrupted instruction does not come back soon.
 *
 * [signal] No lock, no memory but the table; parsers and writers in any
 * number.  Of two that store at once one may be lost.
 */


#define JPP_RULES_WORDS    8192

#define JPP_RULE_BITS      16
#define JPP_RULE_RBP       13
#define JPP_RULE_CFA_MAX   8191
#define JPP_RULE_RBP_LOW   64

#define jpp_rule_cfa(rule)      ((uintptr_t) ((rule) & JPP_RULE_CFA_MAX) * 8)
#define jpp_rule_has_rbp(rule)  (jpp_rule_kind(rule) != 0)
#define jpp_rule_rbp(rule)      (jpp_rule_kind(rule) * 8)

#define jpp_rule_special(kind)     ((uint32_t) (kind) << JPP_RULE_RBP)
#define jpp_rule_is_special(rule)  (((rule) & JPP_RULE_CFA_MAX) == 0)
#define jpp_rule_kind(rule)                                                   \
    ((rule) >> JPP_RULE_RBP & (JPP_RULE_KINDS - 1))


typedef enum {
    JPP_RULE_FRAME = 1,       /* rbp is at CFA - 16, and CFA is rbp + 16 */
    JPP_RULE_OUTERMOST,       /* there is no caller */
    JPP_RULE_COMPLETE,        /* needs all registers, or an expression */
    JPP_RULE_NONE,            /* the object does not say */
    JPP_RULE_ODD,             /* what it says cannot be read */
    JPP_RULE_OBJECT,          /* the address lies in no object: never kept */
    JPP_RULE_NOBODY,          /* an address of 0 is no frame: never kept */
    JPP_RULE_KINDS            /* what three bits can say */
} jpp_rule_kind_t;


typedef struct {
    uint64_t          words[JPP_RULES_WORDS];
} jpp_rules_t;


/* [signal] The rule for the instruction at ADDRESS of OBJECT, from its
   call-frame information; never 0.  That of a frame is the one before its
   return address. */
uint32_t jpp_rule_make(const jpp_mapped_code_t *object, uintptr_t address);


/* Inline, because only machines with an unwinder have words of 64 bits that
   are read and written at once. */

/* [signal] The word where the rule for PC is, if it is kept.  Low bits of code
   addresses are as good as any hash of them. */
static inline uint64_t
jpp_rules_word(const jpp_rules_t *rules, uintptr_t pc)
{
    return jpp_atomic_get(&rules->words[pc % JPP_RULES_WORDS]);
}


/* [signal] Does WORD have the rule for PC? */
static inline bool
jpp_rules_is_for(uint64_t word, uintptr_t pc)
{
    return (word ^ (uint64_t) pc << JPP_RULE_BITS) - 1
           < ((uint64_t) 1 << JPP_RULE_BITS) - 1;
}


/* [signal] The rule for PC, 0: it is not there. */
static inline uint32_t
jpp_rules_get(const jpp_rules_t *rules, uintptr_t pc)
{
    uint64_t  word;

    word = jpp_rules_word(rules, pc);

    if (!jpp_rules_is_for(word, pc)) {
        word = jpp_rules_word(rules, pc ^ 1);
    }

    return jpp_rules_is_for(word, pc)
           ? (uint32_t) word & ((1u << JPP_RULE_BITS) - 1) : 0;
}


/* [signal] Keep RULE for PC, which has 48 bits; what had its place moves to
   the one beside it. */
static inline void
jpp_rules_put(jpp_rules_t *rules, uintptr_t pc, uint32_t rule)
{
    uint64_t  word;

    word = (uint64_t) pc << JPP_RULE_BITS | rule;

    jpp_atomic_set(&rules->words[(pc ^ 1) % JPP_RULES_WORDS],
                   jpp_rules_word(rules, pc));
    jpp_atomic_set(&rules->words[pc % JPP_RULES_WORDS], word);
}


/* Where stacks end: jpp_stack.c. */


#define JPP_STACK_PAGE      4096

/* by how much a stack may be found to have grown: far more lies elsewhere */
#define JPP_STACK_GROWN     (2048 * JPP_STACK_PAGE)

/* what is proven of a stack whose end is not known: at first, and at most */
#define JPP_STACK_FIRST     (4 * JPP_STACK_PAGE)
#define JPP_STACK_MORE      (256 * JPP_STACK_PAGE)

/* threads whose proven pages are kept; of two that share a place one is proven
   anew each time */
#define JPP_STACK_THREADS   256


typedef enum {
    JPP_STACK_UNTRIED = 0,
    JPP_STACK_PROVES,
    JPP_STACK_NO_PROOF        /* the system call does not read */
} jpp_stack_proof_t;


/* zeroed, nothing is proven yet */
typedef struct {
    uint32_t          proof;  /* jpp_stack_proof_t */
    uintptr_t         top;    /* of the main thread's stack; 0: not known */
    uintptr_t         low;    /* and its lowest page that is proven */

    /* thread pointer, and above 47 bits the pages proven below its own */
    uint64_t          threads[JPP_STACK_THREADS];
} jpp_stacks_t;


/*
 * [signal] STACK becomes the bounds around RSP, which lies in the stack that
 * this thread runs on.  False: more of it may be had
 * from jpp_stack_more(), because nobody knows where it ends.
 */
bool jpp_stack_bounds(jpp_stacks_t *stacks, uintptr_t rsp,
    jpp_unwind_stack_t *stack);

/* [signal] The same if that is the main thread's; false: it is not.  Any
   thread of the process. */
bool jpp_stack_is_main(jpp_stacks_t *stacks, uintptr_t rsp,
    jpp_unwind_stack_t *stack);

/* [signal] Four times as much of such a stack; false: that was all of it, or
   JPP_STACK_MORE bytes. */
bool jpp_stack_more(jpp_unwind_stack_t *stack);


/* zeroed, it is an unwinder that knows nothing; about 130 KB */
typedef struct {
    jpp_mapped_t      mapped;
    jpp_rules_t       rules;
    jpp_stacks_t      stacks;
} jpp_unwinder_t;


#define JPP_UNWIND_LAST  UINTPTR_MAX


/*
 * [signal] Walk from AT, which knows rsp and rbp at least, and store at most
 * DEPTH addresses, innermost first: at PCS[0] that of AT, then return
 * addresses.  Returns their number; END becomes the reason why there are no
 * more.  STACK is what may be read; NULL: the bounds around AT's rsp are found
 * (jpp_stack.c).
 *
 * An address in no known object is stored, and ends the walk.
 */
uint32_t jpp_unwind_walk(jpp_unwinder_t *unwinder,
    const jpp_unwind_context_t *at, const jpp_unwind_stack_t *stack,
    uintptr_t *pcs, uint32_t depth, jpp_unwind_end_t *end);

/* [signal] The same from the caller of this function: PCS[0] lies in it. */
uint32_t jpp_unwind_here(jpp_unwinder_t *unwinder,
    const jpp_unwind_stack_t *stack, uintptr_t *pcs, uint32_t depth,
    jpp_unwind_end_t *end);

/*
 * [signal] How far the caller's rsp lies above rsp where a call returns to PC:
 * bytes, the same each time; 0: that depends on more than PC, or is not known.
 * JPP_UNWIND_LAST: nobody is the caller.
 */
uintptr_t jpp_unwind_distance(jpp_unwinder_t *unwinder, uintptr_t pc);

/*
 * [signal] AT becomes what a signal has interrupted: UCONTEXT is the third
 * argument of its handler.
 */
void jpp_unwind_interrupted(jpp_unwind_context_t *at, const void *ucontext);


/*
 * A frame pointer that nobody says, looked for on the stack.
 *
 * Of a thread that sleeps the kernel knows the program counter and the stack
 * pointer only.  Code that is compiled with frame pointers cannot be walked
 * without one; it has stored it close by, and no wrong one leads to the
 * outermost frame.
 *
 * [signal] No lock, no memory; any thread.
 */


/*
 * Set rbp in AT, if the walk from there through STACK needs it and it is found:
 * after 4,096 frames in all attempts it is not.
 */
void jpp_unwind_rbp_find(jpp_unwinder_t *unwinder, jpp_unwind_context_t *at,
    const jpp_unwind_stack_t *stack);


#endif /* _JPP_UNWIND_H_INCLUDED_ */
