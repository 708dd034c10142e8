
/*
 * The rules of a walk, one by one: call-frame information written by hand over
 * stacks written by hand.  The walk with the cache and the complete one have
 * to agree wherever both can go.
 */


#include "jpp_test_cfi.h"
#include "jpp_test_complete.h"
#include "jpp_test_golden.h"
#include "jpp_test_unwind.h"


#if defined(__x86_64__)


#define JPP_WORDS    16

/* words of a stack that depend on where things lie: in the function that has
   no caller, in code without a function, in no object, at word N */
#define JPP_OUTER    0x201
#define JPP_HOLE     0x202
#define JPP_JIT      0x203
#define JPP_BASED    0x205          /* in a function whose CFA is rbp + 16 */
#define JPP_ENTRY    0x204         /* the first instruction of that function */
#define JPP_WORD(n)  (0x100 + (n))


typedef struct {
    const char         *name;
    const uint8_t      *instructions;    /* of the innermost function */
    size_t              len;
    uint64_t            words[8];
    uint64_t            rbp;
    uint64_t            r9;
    bool                is_signal;
} jpp_walk_case_t;


static const jpp_walk_case_t  jpp_walks[] = {
    { "a return address on top", JPP_BYTES(0), { JPP_OUTER }, 0, 0, false },
    { "an offset", JPP_BYTES(0x0e, 24), { 7, 7, JPP_OUTER }, 0, 0, false },
    { "no caller", JPP_BYTES(0x07, 16), { JPP_OUTER }, 0, 0, false },
    { "no return address", JPP_BYTES(0), { 0 }, 0, 0, false },
    { "code of no object", JPP_BYTES(0), { JPP_JIT }, 0, 0, false },
    { "an address beyond all code", JPP_BYTES(0), { UINT64_MAX - 99 }, 0, 0,
      false },
    { "code without a rule", JPP_BYTES(0), { JPP_HOLE }, 0, 0, false },
    { "an unknown instruction", JPP_BYTES(0x3f), { JPP_OUTER }, 0, 0, false },
    { "an instruction that is cut", JPP_BYTES(0, 0, 0, 0x0e, 0x80, 0x80, 0x80,
      0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80), { JPP_OUTER }, 0, 0,
      false },
    { "a frame above the stack", JPP_BYTES(0x0e, 0x88, 1), { JPP_OUTER }, 0, 0,
      false },
    { "a frame far above it", JPP_BYTES(0x0e, 0x80, 0x80, 0x80, 0x80, 0x20),
      { JPP_OUTER }, 0, 0, false },
    { "rbp as the base", JPP_BYTES(0x0c, 6, 16), { 7, 7, 7, JPP_OUTER },
      JPP_WORD(2), 0, false },
    { "a frame pointer", JPP_BYTES(0x0c, 6, 16, 0x86, 2), { 7, 7, JPP_WORD(5),
      JPP_BASED, 7, 7, JPP_OUTER }, JPP_WORD(2), 0, false },
    { "a frame pointer that leads nowhere", JPP_BYTES(0x0c, 6, 16, 0x86, 2),
      { 7, 7, 4711, JPP_BASED, 7, 7, JPP_OUTER }, JPP_WORD(2), 0, false },
    { "a frame pointer at the end of memory", JPP_BYTES(0x0c, 6, 16, 0x86, 2),
      { 7, 7, UINT64_MAX - 7, JPP_BASED, 7, 7, JPP_OUTER }, JPP_WORD(2), 0,
      false },
    { "rbp that is below rsp", JPP_BYTES(0x0c, 6, 16), { JPP_OUTER }, 4711, 0,
      false },
    { "rbp that was stored", JPP_BYTES(0x0e, 16, 0x86, 2), { JPP_WORD(3),
      JPP_BASED, 7, 7, JPP_OUTER }, 4711, 0, false },
    { "rbp that was popped again", JPP_BYTES(0x86, 2), { JPP_BASED, 7, 7,
      JPP_OUTER }, JPP_WORD(2), 0, false },
    { "rbp as the base, stored elsewhere", JPP_BYTES(0x0c, 6, 16, 0x86, 3),
      { 7, JPP_WORD(5), 7, JPP_BASED, 7, 7, JPP_OUTER }, JPP_WORD(2), 0,
      false },
    { "rbp as far away as a rule can say", JPP_BYTES(0x0e, 64, 0x86, 7), { 7,
      7, 7, 7, 7, 7, 7, JPP_OUTER }, 0, 0, false },
    { "and one word farther", JPP_BYTES(0x0e, 64, 0x86, 8), { 7, 7, 7, 7, 7,
      7, 7, JPP_OUTER }, 0, 0, false },
    { "rbp where the return address is", JPP_BYTES(0x0e, 16, 0x86, 1), { 7,
      JPP_OUTER }, 0, 0, false },
    { "a frame as large as a rule can say", JPP_BYTES(0x0e, 0xf8, 0xff, 3),
      { JPP_OUTER }, 0, 0, false },
    { "and one word larger", JPP_BYTES(0x0e, 0x80, 0x80, 4), { JPP_OUTER }, 0,
      0, false },
    { "a frame without a word", JPP_BYTES(0x0e, 0), { JPP_OUTER }, 0, 0,
      false },
    { "the caller's rsp is one word lower", JPP_BYTES(0x0e, 16, 0x14, 7, 1),
      { 7, JPP_OUTER }, 0, 0, false },
    { "the caller's rsp is stored", JPP_BYTES(0x0e, 16, 0x87, 2),
      { JPP_WORD(2), JPP_OUTER }, 0, 0, false },
    { "rows of other instructions", JPP_BYTES(0x41, 0x0e, 16, 0x02, 200, 0x0e,
      99), { 7, JPP_OUTER }, 0, 0, false },
    { "rows remembered", JPP_BYTES(0x0e, 16, 0x0a, 0x0e, 32, 0x0b), { 7,
      JPP_OUTER }, 0, 0, false },
    { "none remembered", JPP_BYTES(0x0b), { JPP_OUTER }, 0, 0, false },
    { "too many remembered", JPP_BYTES(0x0a, 0x0a, 0x0a, 0x0a, 0x0a),
      { JPP_OUTER }, 0, 0, false },
    { "libcrypto's CFA, *(rsp + 8 + 8 * r9) + 8", JPP_BYTES(0x0f, 10, 0x77, 8,
      0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8), { 7, 7, 7, JPP_WORD(4),
      JPP_OUTER }, 0, 2, false },
    { "the same, outside the stack", JPP_BYTES(0x0f, 10, 0x77, 8, 0x79, 0,
      0x38, 0x1e, 0x22, 0x06, 0x23, 8), { JPP_OUTER }, 0, 2000, false },
    { "a PLT's CFA, by the address", JPP_BYTES(0x0f, 11, 0x77, 8, 0x80, 0,
      0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), { 7, JPP_OUTER }, 0, 0,
      false },
    { "an expression that jumps", JPP_BYTES(0x0f, 3, 0x2f, 0xfd, 0xff),
      { JPP_OUTER }, 0, 0, false },
    { "an expression without a value", JPP_BYTES(0x0f, 1, 0x22), { JPP_OUTER },
      0, 0, false },
    { "an expression with too many", JPP_BYTES(0x0f, 17, 0x30, 0x30, 0x30,
      0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30,
      0x30, 0x30), { JPP_OUTER }, 0, 0, false },
    { "a return address in a register", JPP_BYTES(0x09, 16, 9), { JPP_OUTER },
      0, JPP_OUTER, false },
    { "a call as the last instruction", JPP_BYTES(0), { JPP_ENTRY }, 0, 0,
      false },
    { "a signal at the first instruction", JPP_BYTES(0), { JPP_ENTRY }, 0, 0,
      true },
};


static jpp_cfi_image_t      jpp_image __attribute__((aligned(16)));
static uintptr_t            jpp_words[JPP_WORDS];
static jpp_unwind_stack_t   jpp_bounds;
static jpp_unwinder_t       jpp_unwinder;


static jpp_unwind_end_t  end;


static uintptr_t
jpp_place(uint64_t value)
{
    const uintptr_t  code = (uintptr_t) jpp_image.data;

    switch (value) {

    case JPP_OUTER:
        return code + 2 * JPP_CFI_CODE + 5;

    case JPP_ENTRY:
        return code + 2 * JPP_CFI_CODE;

    case JPP_BASED:
        return code + 3 * JPP_CFI_CODE + 5;

    case JPP_HOLE:
        return code + 4 * JPP_CFI_CODE + 5;

    case JPP_JIT:
        return code + 64 * JPP_CFI_CODE;
    }

    return value >= JPP_WORD(0) && value < JPP_WORD(JPP_WORDS)
           ? (uintptr_t) &jpp_words[value - JPP_WORD(0)] : value;
}


static void
jpp_prepare(const jpp_walk_case_t *walk, jpp_unwind_context_t *at)
{
    size_t               i;
    jpp_mapped_object_t  object;

    jpp_cfi_image(&jpp_image);

    if (walk->is_signal) {
        jpp_cfi_cie(&jpp_image, true);
    }

    jpp_cfi_function(&jpp_image, walk->instructions, walk->len);
    jpp_cfi_cie(&jpp_image, false);
    jpp_cfi_function(&jpp_image, JPP_BYTES(0x07, 16));
    jpp_cfi_function(&jpp_image, JPP_BYTES(0x0c, 6, 16, 0x86, 2));

    memset(&jpp_unwinder, 0, sizeof(jpp_unwinder));
    jpp_cfi_object(jpp_image.data, jpp_image.n, &object);
    (void) jpp_mapped_add(&jpp_unwinder.mapped, &object);

    for (i = 0; i < JPP_WORDS; i++) {
        jpp_words[i] = i < 8 ? jpp_place(walk->words[i]) : 0;
    }

    jpp_bounds.low = (uintptr_t) jpp_words;
    jpp_bounds.high = (uintptr_t) (jpp_words + JPP_WORDS);

    memset(at, 0, sizeof(*at));
    at->pc = (uintptr_t) jpp_image.data + JPP_CFI_CODE + 59;
    at->registers[JPP_CFI_RBP] = jpp_place(walk->rbp);
    at->registers[JPP_CFI_RSP] = (uintptr_t) jpp_words;
    at->registers[9] = jpp_place(walk->r9);
    at->known = 0xffff;
}


static void
jpp_walk(const jpp_walk_case_t *walk)
{
    uint32_t              n;
    uintptr_t             pcs[8], again[8];
    jpp_unwind_end_t      first;
    jpp_unwind_context_t  at;

    jpp_prepare(walk, &at);

    /* the first fills the cache, the second is from it */

    errno = 4711;
    n = jpp_unwind_walk(&jpp_unwinder, &at, &jpp_bounds, pcs, 8, &first);
    jpp_note("%s: rule %#" PRIx32 ", distance %" PRIdPTR ", %u frames, %s",
             walk->name, jpp_rules_get(&jpp_unwinder.rules, at.pc),
             jpp_unwind_distance(&jpp_unwinder, at.pc), n,
             jpp_unwind_end_name(first));

    jpp_ok(jpp_unwind_walk(&jpp_unwinder, &at, &jpp_bounds, pcs, 8, &end) == n
           && end == first, "%s: the same again", walk->name);
    jpp_is_u64(errno, 4711, "%s: errno", walk->name);

    jpp_ok(jpp_test_complete(&jpp_unwinder, &at, &jpp_bounds, again, 8, &end)
           == n && end == first, "%s: and by the complete walk", walk->name);
    jpp_is_mem(again, pcs, n * sizeof(uintptr_t), "%s: the same frames",
               walk->name);

    /* no room for what was found */

    jpp_ok(jpp_unwind_walk(&jpp_unwinder, &at, &jpp_bounds, pcs, n - 1, &end)
           == n - 1 && end == JPP_UNWIND_DEPTH, "%s: too deep", walk->name);
}


static void
jpp_note_walk(const char *what, const jpp_unwind_context_t *at)
{
    uint32_t   n;
    uintptr_t  pcs[8];

    n = jpp_unwind_walk(&jpp_unwinder, at, &jpp_bounds, pcs, 8, &end);
    jpp_note("%s: %u frames, %s", what, n, jpp_unwind_end_name(end));
}


/* Where a function was interrupted, its red zone counts, if it is mapped: the
   CFA of libcrypto's SHA-512 is there. */

JPP_TEST(jpp_red_zone)
{
    size_t                i;
    jpp_unwind_context_t  at;

    const jpp_walk_case_t  walk = {
        "*(rsp - 8) + 8", JPP_BYTES(0x0f, 5, 0x77, 0x78, 0x06, 0x23, 8),
        { 7, JPP_WORD(4), 7, 7, JPP_OUTER }, 0, 0, false
    };

    static const struct {
        const char        *name;
        bool               is_exact;
        size_t             low;
    } cases[] = {
        { "interrupted", true, 0 },
        { "interrupted, and not mapped", true, 2 },
        { "called from", false, 0 },
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        jpp_prepare(&walk, &at);
        at.registers[JPP_CFI_RSP] = (uintptr_t) &jpp_words[2];
        at.is_exact = cases[i].is_exact;
        jpp_bounds.low = (uintptr_t) &jpp_words[cases[i].low];

        jpp_note_walk(cases[i].name, &at);
    }

    jpp_shows_notes("a CFA in the red zone");
}


/* Above a frame that needs all registers, the walk goes on with the cache. */

JPP_TEST(jpp_resumes)
{
    uint32_t              n;
    uintptr_t             pcs[8];
    jpp_unwind_context_t  at;

    const jpp_walk_case_t  walk = {
        "*(rsp + 8 + 8 * r9) + 8", JPP_BYTES(0x0f, 10, 0x77, 8, 0x79, 0, 0x38,
        0x1e, 0x22, 0x06, 0x23, 8), { 7, 7, 7, JPP_WORD(4), JPP_BASED, 7,
        JPP_OUTER }, JPP_WORD(5), 2, false
    };

    jpp_prepare(&walk, &at);
    n = jpp_unwind_walk(&jpp_unwinder, &at, &jpp_bounds, pcs, 8, &end);

    jpp_note("%u frames: %s", n, jpp_unwind_end_name(end));
    jpp_ok(jpp_rules_get(&jpp_unwinder.rules, pcs[0])
           == jpp_rule_special(JPP_RULE_COMPLETE)
           && jpp_rules_get(&jpp_unwinder.rules, pcs[1])
              == jpp_rule_special(JPP_RULE_FRAME)
           && jpp_rules_get(&jpp_unwinder.rules, pcs[2])
              == jpp_rule_special(JPP_RULE_OUTERMOST),
           "the first needs all, the next and the last are in the cache");
    jpp_shows_notes("frames that need less above one that needs all");
}


/* An instruction that returns has its caller on top, whatever is said of it;
   as the bytes of another one, or behind a call, it means nothing. */

JPP_TEST(jpp_returns)
{
    size_t                 i;
    uint32_t               n, m;
    uintptr_t              pcs[8], again[8];
    uint8_t               *code;
    jpp_unwind_end_t       other;
    jpp_mapped_object_t    object;
    jpp_unwind_context_t   at;

    static uint8_t  place[7 * JPP_CFI_CODE];

    const jpp_walk_case_t  walk = {
        "a return", JPP_BYTES(0x0e, 0xa8, 1), { JPP_OUTER }, 0, 0, false
    };

    static const struct {
        uint8_t   bytes[2];
        bool      is_exact;
        bool      is_readable;
        bool      is_right;
    } cases[] = {
        { { 0xc3, 0x90 }, true, true, true },
        { { 0xf3, 0xc3 }, true, true, true },
        { { 0xf2, 0xc3 }, true, true, true },
        { { 0xf3, 0x90 }, true, true, false },
        { { 0x90, 0xc3 }, true, true, false },
        { { 0xc3, 0x90 }, false, true, false },
        { { 0xc3, 0x90 }, true, false, false },
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        jpp_prepare(&walk, &at);

        /* the same object, where there is memory for its code */

        memcpy(place, jpp_image.data, jpp_image.n);
        jpp_cfi_object(place, jpp_image.n, &object);
        object.segments[1].is_readable = cases[i].is_readable;
        memset(&jpp_unwinder, 0, sizeof(jpp_unwinder));
        (void) jpp_mapped_add(&jpp_unwinder.mapped, &object);

        code = place + JPP_CFI_CODE + 59;
        memcpy(code, cases[i].bytes, 2);
        at.pc = (uintptr_t) code + !cases[i].is_exact;
        at.is_exact = cases[i].is_exact;
        jpp_words[0] = (uintptr_t) place + 2 * JPP_CFI_CODE + 5;

        n = jpp_unwind_walk(&jpp_unwinder, &at, &jpp_bounds, pcs, 8, &end);
        m = jpp_test_complete(&jpp_unwinder, &at, &jpp_bounds, again, 8,
                              &other);

        jpp_is_u64(n, cases[i].is_right ? 2 : 1, "bytes %02x %02x, %s",
                   cases[i].bytes[0], cases[i].bytes[1],
                   jpp_unwind_end_name(end));
        jpp_ok(n == m && end == other && pcs[n - 1] == again[n - 1],
               "and the complete walk agrees");
    }
}


/* What is not there: stacks, objects, tables. */

JPP_TEST(jpp_missing)
{
    uint32_t              count;
    jpp_mapped_object_t   object;
    jpp_unwind_context_t  at;

    jpp_prepare(&jpp_walks[0], &at);

    at.registers[JPP_CFI_RSP] = jpp_bounds.high;
    jpp_note_walk("rsp above the stack", &at);

    at.registers[JPP_CFI_RSP] = jpp_bounds.low - 8;
    jpp_note_walk("rsp below the stack", &at);

    at.registers[JPP_CFI_RSP] = jpp_bounds.low;
    at.pc = 0x1000;
    jpp_note_walk("interrupted code of no object: itself", &at);
    jpp_shows_notes("what is not there");

    jpp_cfi_object(jpp_image.data, jpp_image.n, &object);
    jpp_ok(jpp_mapped_add(&jpp_unwinder.mapped, &object)
           && jpp_unwinder.mapped.n == 1, "an object is added once");

    for (count = jpp_image.functions; count < 1000; count *= 4) {
        memset(&jpp_unwinder, 0, sizeof(jpp_unwinder));
        jpp_cfi_put(&jpp_image, 8, count);
        (void) jpp_mapped_add(&jpp_unwinder.mapped, &object);
        jpp_is_u64(jpp_unwinder.mapped.objects[0].count,
                   12 + 8 * count <= jpp_image.n ? count : 0,
                   "a table of %u rows in %zu bytes", count, jpp_image.n);
    }
}


JPP_TEST(jpp_full)
{
    uint32_t             i;
    jpp_mapped_object_t  object = { 0 };

    static jpp_mapped_t  mapped;

    object.n = 1;
    object.segments[0].is_executable = true;

    for (i = 1; i <= JPP_MAPPED_MAX; i++) {
        object.segments[0].start = i * 4096;
        object.segments[0].end = i * 4096 + 4096;

        if (!jpp_mapped_add(&mapped, &object)) {
            break;
        }
    }

    jpp_is_u64(i, JPP_MAPPED_MAX + 1, "the table takes what it promises");

    object.segments[0].start = i * 4096;
    object.segments[0].end = i * 4096 + 4096;
    jpp_ok(!jpp_mapped_add(&mapped, &object), "and no more");
    jpp_ok(jpp_mapped_find(&mapped, 4096 * 7) == &mapped.objects[6]
           && jpp_mapped_find(&mapped, 4096 * 8 - 1) == &mapped.objects[6]
           && jpp_mapped_find(&mapped, 4095) == NULL,
           "an address belongs to its code");
}


/* What the unwinder knows is never unmapped. */

JPP_TEST(jpp_pinned)
{
    void  *handle;
    void  *function;

    handle = dlopen("libresolv.so.2", RTLD_LAZY);
    function = handle == NULL ? NULL : dlsym(handle, "ns_initparse");

    if (!jpp_ok(function != NULL, "a library that nobody else uses")) {
        return;
    }

    jpp_ok(jpp_mapped_find(&jpp_test_unwinder.mapped, (uintptr_t) function)
           == NULL, "loaded later, it is not known");
    jpp_images_unwind(&jpp_test_unwinder.mapped);
    jpp_ok(jpp_mapped_find(&jpp_test_unwinder.mapped, (uintptr_t) function)
           != NULL, "the next look finds it");

    (void) dlclose(handle);
    handle = dlopen("libresolv.so.2", RTLD_LAZY|RTLD_NOLOAD);
    jpp_ok(handle != NULL, "and it stays when it is closed");
}


/* The walk from here, in a real process. */

JPP_TEST(jpp_here)
{
    uint32_t            i, n;
    uintptr_t           pcs[JPP_TEST_DEPTH];
    jpp_test_stack_t    witness;
    jpp_unwind_stack_t  bounds;

    jpp_images_unwind(&jpp_test_unwinder.mapped);
    n = jpp_test_unwinder.mapped.n;
    jpp_images_unwind(&jpp_test_unwinder.mapped);
    jpp_ok(n > 2 && n == jpp_test_unwinder.mapped.n,
           "what is loaded, and again: nothing is new");

    bounds = jpp_test_bounds();

    for (i = 0; i < 2; i++) {
        n = jpp_unwind_here(&jpp_test_unwinder, &bounds, pcs, JPP_TEST_DEPTH,
                            &end);
        jpp_test_libgcc(&witness);
    }

    jpp_is_u64(end, JPP_UNWIND_OUTERMOST, "the stack from here is complete");

    /* the witness may stand in a frame of its own */

    jpp_ok(n > 2 && (witness.n == n || witness.n == n + 1),
           "and has libgcc's frames, %u of %u", n, witness.n);
    jpp_is_mem(pcs + 1, witness.pcs + witness.n - (n - 1),
               (n - 1) * sizeof(uintptr_t), "which are the same");

    n = jpp_unwind_here(&jpp_test_unwinder, &bounds, pcs, 1, &end);
    jpp_ok(n == 1 && end == JPP_UNWIND_DEPTH, "or the innermost only");

    n = jpp_unwind_here(&jpp_test_unwinder, &bounds, pcs, 0, &end);
    jpp_ok(n == 0 && end == JPP_UNWIND_DEPTH, "or none");
}


int
main(void)
{
    size_t  i;

    for (i = 0; i < sizeof(jpp_walks) / sizeof(jpp_walks[0]); i++) {
        jpp_walk(&jpp_walks[i]);
    }

    jpp_shows_notes("walks");
    jpp_tests_all();

    return jpp_done();
}


#else


int
main(void)
{
    uintptr_t           pc;
    jpp_unwind_stack_t  bounds = { 0 };

    jpp_ok(!JPP_UNWIND_IS_HERE, "there is no unwinder for this machine");
    jpp_is_u64(jpp_unwind_here(&jpp_test_unwinder, &bounds, &pc, 1, &end), 0,
               "and no frame");
    jpp_is_u64(end, JPP_UNWIND_ABSENT, "which it says");

    return jpp_done();
}


#endif
