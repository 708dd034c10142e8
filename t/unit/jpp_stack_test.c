
/*
 * The bounds of stacks, against /proc/self/maps: what is given is readable, is
 * one mapping, and has the frames that lie in it.
 */


#include "jpp_test.h"

#include <alloca.h>
#include <sys/auxv.h>

#include "jpp_test_unwind.h"


#if defined(__x86_64__)


#define JPP_DEEP   (100 * JPP_STACK_PAGE)
#define JPP_FRAME  2000
#define JPP_SMALL  (16 * JPP_STACK_PAGE)


typedef struct {
    const char   *name;
    uintptr_t     low;                 /* the truth; 0: a mapping's end */
    uintptr_t     high;
    bool          is_whole;
    bool          is_cut;              /* the walk ends with the stack */
} jpp_expect_t;


static jpp_stacks_t  jpp_stacks;
static ucontext_t    jpp_caller, jpp_callee;
static jpp_expect_t  jpp_expected;


/* The readable mapping that ADDRESS lies in, joined with its neighbours. */

static bool
jpp_mapping(uintptr_t address, uintptr_t *low, uintptr_t *high)
{
    char       line[512], r;
    FILE      *file;
    uint64_t   start, end;

    file = fopen("/proc/self/maps", "r");
    *low = *high = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &start, &end, &r) != 3
            || r != 'r')
        {
            continue;
        }

        if (start != *high) {

            if (address < *high) {
                break;
            }

            *low = start;
        }

        *high = end;
    }

    if (file != NULL) {
        fclose(file);
    }

    return address >= *low && address < *high;
}


/* Both from here: the bounds, and a walk that finds them itself. */

static __attribute__((noinline)) void
jpp_check(const jpp_expect_t *expect)
{
    bool                is_whole;
    uint32_t            n;
    uintptr_t           pcs[JPP_TEST_DEPTH], low, high, rsp;
    jpp_unwind_end_t    end;
    jpp_unwind_stack_t  stack;

    rsp = (uintptr_t) __builtin_frame_address(0) - 16;
    errno = 4711;
    is_whole = jpp_stack_bounds(&jpp_stacks, rsp, &stack);
    n = jpp_unwind_here(&jpp_test_unwinder, NULL, pcs, JPP_TEST_DEPTH, &end);
    jpp_is_u64(errno, 4711, "%s: errno stays", expect->name);

    jpp_ok(is_whole == expect->is_whole, "%s: its end is%s known",
           expect->name, expect->is_whole ? "" : " not");

    while (!is_whole && jpp_stack_more(&stack)) { /* void */ }

    jpp_ok(jpp_mapping(rsp, &low, &high), "%s: a mapping", expect->name);
    jpp_ok(stack.low <= rsp && stack.low >= low && stack.high > rsp
           && stack.high <= high, "%s: %zu bytes that are mapped",
           expect->name, (size_t) (stack.high - stack.low));

    if (expect->high != 0) {
        jpp_ok(stack.low >= expect->low && stack.high <= expect->high
               && stack.high > expect->high - JPP_STACK_PAGE,
               "%s: up to its end, %#" PRIxPTR " and %#" PRIxPTR,
               expect->name, stack.high, expect->high);
    }

    /* a coroutine of glibc starts before a function's first instruction */

    jpp_ok(expect->is_cut ? end == JPP_UNWIND_STACK
                          : end == JPP_UNWIND_OUTERMOST
                            || (!expect->is_whole && end == JPP_UNWIND_RULE),
           "%s: %u frames, %s", expect->name, n, jpp_unwind_end_name(end));
}


static __attribute__((noinline)) void
jpp_deep(size_t size, const jpp_expect_t *expect)
{
    volatile char  *frame;

    frame = alloca(JPP_FRAME);
    frame[0] = 1;
    __asm__ volatile ("" : : "r" (frame) : "memory");

    if (size < JPP_FRAME) {
        jpp_check(expect);

    } else {
        jpp_deep(size - JPP_FRAME, expect);
    }

    frame[1] = frame[0];
}


/* The kernel makes the main thread's stack larger as it is written. */

JPP_TEST(jpp_main_stack)
{
    uintptr_t  low, high, here;

    here = (uintptr_t) __builtin_frame_address(0);
    (void) jpp_mapping(here, &low, &high);

    jpp_expected = (jpp_expect_t) { "the main stack", 0, 0, true, false };
    jpp_check(&jpp_expected);

    jpp_expected.name = "the main stack, grown";
    jpp_deep(JPP_DEEP, &jpp_expected);
    jpp_ok(jpp_stacks.low < low, "it was proven below what was mapped before");

    low = jpp_stacks.low;
    jpp_expected.name = "the main stack, shallow again";
    jpp_check(&jpp_expected);
    jpp_is_u64(jpp_stacks.low, low, "what is proven stays proven");
}


/* What was proven once needs no proof, unless it is another thread's. */

static void
jpp_kept(void)
{
    size_t              i;
    uintptr_t           rsp, pointer;
    jpp_stacks_t        kept;
    jpp_unwind_stack_t  stack;

    __asm__ ("movq %%fs:0, %0" : "=r" (pointer));

    rsp = (uintptr_t) __builtin_frame_address(0) - JPP_DEEP / 8;
    kept = jpp_stacks;
    kept.proof = JPP_STACK_NO_PROOF;

    jpp_ok(jpp_stack_bounds(&kept, rsp, &stack) && stack.low <= rsp
           && stack.high == pointer, "what was proven is kept");

    for (i = 0; i < JPP_STACK_THREADS; i++) {
        kept.threads[i] ^= JPP_STACK_PAGE;
    }

    jpp_ok(jpp_stack_bounds(&kept, rsp, &stack)
           && stack.high - stack.low <= JPP_STACK_PAGE,
           "but for no other thread");
    jpp_ok(jpp_stack_bounds(&kept, pointer, &stack)
           && stack.high % JPP_STACK_PAGE == 0,
           "nor for what begins where a stack ends");
}


static void *
jpp_thread_main(void *data)
{
    const char *const *name = data;

    uintptr_t           low, high;
    jpp_stacks_t        stacks = { 0 };
    jpp_unwind_stack_t  bounds, stack;

    bounds = jpp_test_bounds();
    jpp_expected = (jpp_expect_t) { *name, bounds.low, 0, true, false };
    jpp_check(&jpp_expected);
    jpp_deep(JPP_DEEP / 4, &jpp_expected);
    jpp_check(&jpp_expected);
    jpp_kept();

    if (!jpp_mapping(bounds.low - 8, &low, &high)) {
        jpp_ok(!jpp_stack_bounds(&stacks, bounds.low - 8, &stack),
               "%s: its guard is not its stack", *name);
    }

    return NULL;
}


JPP_TEST(jpp_thread_stacks)
{
    void            *stack;
    pthread_t        thread;
    pthread_attr_t   attr;

    static const char  *names[] = { "a thread",
                                    "a thread on memory of malloc()" };

    pthread_create(&thread, NULL, jpp_thread_main, &names[0]);
    pthread_join(thread, NULL);

    stack = aligned_alloc(JPP_STACK_PAGE, JPP_DEEP);
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, stack, JPP_DEEP);
    pthread_create(&thread, &attr, jpp_thread_main, &names[1]);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    free(stack);
}


static void
jpp_coroutine_main(void)
{
    jpp_deep(jpp_expected.high == 0 ? JPP_DEEP / 4 : JPP_SMALL / 2,
             &jpp_expected);
}


static void
jpp_run(void *stack, size_t size)
{
    jpp_test_switch(&jpp_callee, &jpp_caller, stack, size, jpp_coroutine_main);
}


/* The second lies where a larger one was, which nothing may remember. */

JPP_TEST(jpp_coroutines)
{
    char    *place;
    size_t   size;
    void    *stack;

    stack = malloc(JPP_DEEP);
    jpp_expected = (jpp_expect_t) { "a coroutine on memory of malloc()", 0, 0,
                                    false, false };
    jpp_run(stack, JPP_DEEP);
    free(stack);

    place = mmap(NULL, 8 * JPP_SMALL, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS,
                 -1, 0);
    if (!jpp_ok(place != MAP_FAILED, "a place for coroutines")) {
        return;
    }

    for (size = 4 * JPP_SMALL; size >= JPP_SMALL; size /= 2) {
        (void) mprotect(place, 8 * JPP_SMALL, PROT_NONE);
        (void) mprotect(place + JPP_STACK_PAGE, size, PROT_READ|PROT_WRITE);

        jpp_expected = (jpp_expect_t) {
            "a coroutine between guard pages",
            (uintptr_t) place + JPP_STACK_PAGE,
            (uintptr_t) place + JPP_STACK_PAGE + size, false, false };
        jpp_run(place + JPP_STACK_PAGE, size);
    }

    (void) munmap(place, 8 * JPP_SMALL);
}


/* Memory right below the main thread's pointer is not its stack. */

JPP_TEST(jpp_below_main)
{
    void       *place;
    uintptr_t   pointer, low, high;

    __asm__ ("movq %%fs:0, %0" : "=r" (pointer));
    (void) jpp_mapping(pointer, &low, &high);

    place = mmap((void *) (low - 4 * JPP_SMALL), 4 * JPP_SMALL,
                 PROT_READ|PROT_WRITE,
                 MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0);

    if (place == MAP_FAILED || pointer - low > JPP_STACK_GROWN / 2) {
        jpp_diag("something else is below the main thread's pointer");
        return;
    }

    jpp_expected = (jpp_expect_t) {
        "a coroutine below the main thread's pointer", 0, 0, false, false };
    jpp_run(place, 4 * JPP_SMALL);

    (void) munmap(place, 4 * JPP_SMALL);
}


static void
jpp_handler(int signo)
{
    (void) signo;

    jpp_check(&jpp_expected);
}


/* The frame that was interrupted lies in another stack. */

JPP_TEST(jpp_alternate)
{
    stack_t           old;
    struct sigaction  sa = { .sa_handler = jpp_handler,
                             .sa_flags = SA_ONSTACK };

    const stack_t  alternate = { .ss_sp = malloc(JPP_SMALL),
                                 .ss_size = JPP_SMALL };

    sigaltstack(&alternate, &old);
    sigaction(SIGUSR1, &sa, NULL);

    jpp_expected = (jpp_expect_t) { "an alternate signal stack", 0, 0, false,
                                    true };
    raise(SIGUSR1);

    (void) sigaltstack(&old, NULL);
    free(alternate.ss_sp);
}


/* Without a proof there is the page that rsp lies in. */

JPP_TEST(jpp_emulated)
{
    uintptr_t           rsp;
    jpp_stacks_t        stacks = { 0 };
    jpp_unwind_stack_t  stack;

    stacks.proof = JPP_STACK_NO_PROOF;
    rsp = jpp_stacks.low + 40;

    jpp_ok(jpp_stack_bounds(&stacks, rsp, &stack)
           && stack.low == jpp_stacks.low
           && stack.high == jpp_stacks.low + JPP_STACK_PAGE,
           "without a proof a stack is a page");
    jpp_ok(jpp_stack_bounds(&stacks, jpp_stacks.low, &stack)
           && stack.low == stack.high, "or nothing, where that is in doubt");

    jpp_is_u64(jpp_stacks.top, getauxval(AT_RANDOM) / 8 * 8,
               "the words of the main stack end below the kernel's bytes");

    stacks = jpp_stacks;
    stacks.proof = JPP_STACK_NO_PROOF;
    jpp_ok(jpp_stack_is_main(&stacks, jpp_stacks.low, &stack)
           && jpp_stack_is_main(&stacks, jpp_stacks.top - 1, &stack)
           && !jpp_stack_is_main(&stacks, jpp_stacks.top, &stack),
           "and what is proven of it is from there to there");
}


/* Four times as much each time. */

JPP_TEST(jpp_more)
{
    char                text[64], *p, *place;
    jpp_unwind_stack_t  stack;

    place = mmap(NULL, 2 * JPP_STACK_MORE, PROT_READ,
                 MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);
    stack.low = stack.high = (uintptr_t) place;

    for (p = text; p < text + 40 && jpp_stack_more(&stack); /* void */ ) {
        p += sprintf(p, "%zu ", (size_t) (stack.high - stack.low)
                                / JPP_STACK_PAGE);
    }

    *p = '\0';
    jpp_is_str(text, "4 16 64 256 ", "pages of a stack without an end");
    (void) munmap(place, 2 * JPP_STACK_MORE);
}


/* Nothing lies there, and no frame is found. */

JPP_TEST(jpp_nowhere)
{
    uintptr_t              pc;
    jpp_unwind_end_t       end;
    jpp_unwind_stack_t     stack;
    jpp_unwind_context_t   at;

    static const uintptr_t  places[] = { 0, 4711, UINTPTR_MAX - 7,
                                         1ull << 47, 1ull << 63 };

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        (void) jpp_stack_bounds(&jpp_stacks, places[i], &stack);
        jpp_ok(stack.low == stack.high, "no stack at %#" PRIxPTR, places[i]);

        memset(&at, 0, sizeof(at));
        at.registers[JPP_CFI_RSP] = places[i];
        jpp_ok(jpp_unwind_walk(&jpp_test_unwinder, &at, NULL, &pc, 1, &end)
               == 0 && end == JPP_UNWIND_STACK, "and no frame");
    }
}


int
main(void)
{
    jpp_images_unwind(&jpp_test_unwinder.mapped);

    jpp_tests_all();

    return jpp_done();
}


#else


JPP_TEST_ONLY(!JPP_UNWIND_IS_HERE, "there is no unwinder for this machine")


#endif
