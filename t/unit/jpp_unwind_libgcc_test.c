
/*
 * The same stacks as libgcc's unwinder sees, frame by frame, at every single
 * instruction: the processor's trap flag raises SIGTRAP after each, and the
 * handler walks from what was interrupted with both.
 *
 * JPP_SOAK=N repeats the workloads until N instructions were compared.
 */


#include "jpp_test.h"

#include <alloca.h>
#include <setjmp.h>
#include <wchar.h>

#include "jpp_test_unwind.h"


#if defined(__x86_64__)


#define JPP_TRAP_STACK    (256 * 1024)


typedef struct {
    const char   *name;
    void        (*run)(void);
} jpp_trap_work_t;


static void jpp_trap(int signo, siginfo_t *info, void *ucontext);
static void jpp_fault(int signo);
static void jpp_trap_compare(void *ucontext);


static jpp_unwind_stack_t  jpp_trap_bounds;
static sigjmp_buf          jpp_trap_out;
static volatile sig_atomic_t  jpp_trap_in_libgcc;
static unsigned long       jpp_trap_frames, jpp_trap_same, jpp_trap_cut;
static unsigned long       jpp_trap_wrong, jpp_trap_crashed;
static unsigned long       jpp_trap_changed_errno;
static uintptr_t           jpp_trap_pc;
static jpp_unwind_end_t    jpp_trap_end;


static void
jpp_trap(int signo, siginfo_t *info, void *ucontext)
{
    int  saved;

    (void) signo;
    (void) info;

    saved = errno;
    jpp_trap_compare(ucontext);
    errno = saved;
}


static void
jpp_trap_compare(void *ucontext)
{
    bool                  is_same;
    uint32_t              n;
    jpp_unwind_end_t      end;
    jpp_unwind_context_t  at;

    static uintptr_t         pcs[JPP_TEST_DEPTH];
    static jpp_test_stack_t  witness;

    errno = 4711;
    jpp_unwind_interrupted(&at, ucontext);
    n = jpp_unwind_walk(&jpp_test_unwinder, &at, &jpp_trap_bounds, pcs,
                        JPP_TEST_DEPTH, &end);
    jpp_trap_changed_errno += errno != 4711;

    /*
     * Wrong call-frame information makes libgcc read anywhere: at what turns
     * the flag on and off here, which pushes and says nothing of it.
     */

    if (sigsetjmp(jpp_trap_out, 1) != 0) {
        jpp_trap_crashed++;
        return;
    }

    jpp_trap_in_libgcc = 1;
    jpp_test_libgcc(&witness);
    jpp_trap_in_libgcc = 0;

    is_same = n == witness.n
              && memcmp(pcs, witness.pcs, n * sizeof(uintptr_t)) == 0;

    jpp_trap_frames += n;

    if (is_same) {
        jpp_trap_same++;
        return;
    }

    jpp_trap_pc = at.pc;
    jpp_trap_end = end;

    if (end != JPP_UNWIND_OUTERMOST) {
        jpp_trap_cut++;

    } else {
        jpp_trap_wrong++;
    }
}


static void
jpp_fault(int signo)
{
    if (jpp_trap_in_libgcc) {
        jpp_trap_in_libgcc = 0;
        siglongjmp(jpp_trap_out, 1);
    }

    signal(signo, SIG_DFL);
}


static __attribute__((noinline)) int
jpp_work_deep(int n)
{
    volatile int  more = n;

    return n == 0 ? 0 : jpp_work_deep(more - 1) + more;
}


static void
jpp_work_recursion(void)
{
    (void) jpp_work_deep(60);
}


static __attribute__((noinline)) int
jpp_work_alloca_of(size_t n)
{
    volatile char  *p;

    p = alloca(n);
    p[0] = 1;
    p[n - 1] = 1;

    return n < 64 ? p[0] : jpp_work_alloca_of(n / 2) + p[n - 1];
}


static void
jpp_work_alloca(void)
{
    (void) jpp_work_alloca_of(4000);
}


/* a realigned stack: the CFA is an expression of what rbp points at */

static __attribute__((noinline)) int
jpp_work_realign_to(size_t n)
{
    int             sum;
    volatile char  *p;
    volatile char   aligned[64] __attribute__((aligned(64)));

    p = alloca(n);
    p[0] = 1;
    aligned[0] = p[0];

    sum = aligned[0] + jpp_work_deep((int) n / 16);

#ifndef __OPTIMIZE__

    /* gcc does not say that rbp is restored by its last instruction: libgcc
       would miss the caller, whose frame is found by that */

    jpp_trap_off();

#endif

    return sum;
}


static void
jpp_work_realign(void)
{
    (void) jpp_work_realign_to(64);
}


/* a frame of more than the compact rule can say */

static __attribute__((noinline)) void
jpp_work_large(void)
{
    volatile char  buffer[100000];

    buffer[0] = 1;
    buffer[99999] = 1;
    (void) jpp_work_deep(1 + buffer[0]);
}


static int
jpp_work_compare(const void *one, const void *two)
{
    return *(const int *) one - *(const int *) two;
}


static void
jpp_work_qsort(void)
{
    int  i, numbers[40];

    for (i = 0; i < 40; i++) {
        numbers[i] = i * 7919 % 40;
    }

    qsort(numbers, 40, sizeof(int), jpp_work_compare);
}


static void
jpp_work_varargs(void)
{
    char  text[200];

    jpp_print(text, "%d %s %g %10.3f %lx", 4711, "text", 1.5, 2.25,
              0xdeadbeefL);
}


static void
jpp_work_memory(void)
{
    char   text[600];
    void  *p;

    /* clang leaves out what nobody looks at */

    p = malloc(3000);
    __asm__ volatile ("" : "+r" (p) : : "memory");
    memset(p, 1, 3000);
    memset(text, 'x', sizeof(text));
    text[599] = '\0';
    __asm__ volatile ("" : : "r" (text) : "memory");
    p = realloc(p, 90000 + strlen(text));
    __asm__ volatile ("" : "+r" (p) : : "memory");
    free(p);
}


/* each is called nowhere else: its first call binds it */

static void
jpp_work_binding(void)
{
    wchar_t  wide[20];

    (void) wcstol(L"12", NULL, 10);
    (void) wcscpy(wide, L"wide");
    (void) drand48();
    (void) lcong48;
    (void) strfry((char []) { "text" });
    (void) dlsym(RTLD_DEFAULT, "jpp_no_such_symbol");
}


static volatile sig_atomic_t  jpp_work_signals;

static void
jpp_work_handler(int signo)
{
    /* the kernel clears the flag, and the return sets it again */

    jpp_trap_on();
    jpp_work_signals += signo;
    (void) jpp_work_deep(3);
}


static void
jpp_work_raise(void)
{
    signal(SIGUSR1, jpp_work_handler);
    raise(SIGUSR1);
}


static void *
jpp_work_thread_main(void *data)
{
    (void) data;

    pthread_exit(NULL);
}


/* the end of a thread blocks signals, which a trap must not meet */

static void
jpp_work_stop(void *data)
{
    (void) data;

    jpp_trap_off();
}


/* forced unwinding, as an exception does it, seen from its own frames */

static void *
jpp_work_exits(void *data)
{
    jpp_trap_bounds = jpp_test_bounds();

    pthread_cleanup_push(jpp_work_stop, NULL);
    jpp_trap_on();
    (void) jpp_work_deep(5);
    jpp_work_thread_main(data);
    pthread_cleanup_pop(0);

    return NULL;
}


static void
jpp_work_forced(void)
{
    pthread_t           thread;
    jpp_unwind_stack_t  bounds;

    jpp_trap_off();
    bounds = jpp_trap_bounds;

    if (pthread_create(&thread, NULL, jpp_work_exits, NULL) == 0) {
        pthread_join(thread, NULL);
    }

    jpp_trap_bounds = bounds;
}


/* a coroutine: another stack, and a switch between two */

static ucontext_t  jpp_work_caller, jpp_work_callee;
static char        jpp_work_stack[JPP_TRAP_STACK];

static void
jpp_work_coroutine_main(void)
{
    jpp_trap_bounds.low = (uintptr_t) jpp_work_stack;
    jpp_trap_bounds.high = (uintptr_t) jpp_work_stack + JPP_TRAP_STACK;

    jpp_trap_on();
    (void) jpp_work_deep(10);
    jpp_work_qsort();
    jpp_trap_off();
}


static void
jpp_work_coroutine(void)
{
    jpp_unwind_stack_t  bounds;

    jpp_trap_off();
    bounds = jpp_trap_bounds;

    jpp_test_switch(&jpp_work_callee, &jpp_work_caller, jpp_work_stack,
                    JPP_TRAP_STACK, jpp_work_coroutine_main);

    jpp_trap_bounds = bounds;
}


static const jpp_trap_work_t  jpp_works[] = {
    { "lazy binding", jpp_work_binding },
    { "recursion", jpp_work_recursion },
    { "alloca", jpp_work_alloca },
    { "a realigned stack", jpp_work_realign },
    { "a large frame", jpp_work_large },
    { "callbacks of qsort()", jpp_work_qsort },
    { "variable arguments", jpp_work_varargs },
    { "malloc() and memset()", jpp_work_memory },
    { "a signal's handler", jpp_work_raise },
    { "forced unwinding", jpp_work_forced },
    { "a coroutine", jpp_work_coroutine },
};

#define JPP_WORKS  (sizeof(jpp_works) / sizeof(jpp_works[0]))


static void
jpp_trap_run(const jpp_trap_work_t *work, unsigned long *sum)
{
    jpp_trap_same = jpp_trap_cut = jpp_trap_wrong = jpp_trap_crashed = 0;

    jpp_trap_on();
    work->run();
    jpp_trap_off();

    sum[0] += jpp_trap_same;
    sum[1] += jpp_trap_cut;
    sum[2] += jpp_trap_wrong;
    sum[3] += jpp_trap_crashed;
}


int
main(void)
{
    size_t            i;
    unsigned long     soak, sum[4];
    const char       *value;
    jpp_test_stack_t  warm;
    struct sigaction  traps = { .sa_sigaction = jpp_trap,
                                .sa_flags = SA_SIGINFO };
    struct sigaction  faults = { .sa_handler = jpp_fault,
                                 .sa_flags = SA_NODEFER };

    jpp_images_unwind(&jpp_test_unwinder.mapped);
    jpp_trap_bounds = jpp_test_bounds();
    jpp_test_libgcc(&warm);

    sigaction(SIGTRAP, &traps, NULL);
    sigaction(SIGSEGV, &faults, NULL);
    sigaction(SIGBUS, &faults, NULL);

    memset(sum, 0, sizeof(sum));

    for (i = 0; i < JPP_WORKS; i++) {
        jpp_trap_run(&jpp_works[i], sum);

        jpp_ok(jpp_trap_same > 20, "%s: %lu instructions compared",
               jpp_works[i].name, jpp_trap_same);

        if (!jpp_ok(jpp_trap_cut + jpp_trap_wrong == 0,
                    "%s: every stack is as libgcc sees it",
                    jpp_works[i].name))
        {
            jpp_diag("cut %lu, wrong %lu, last at %#lx: %s", jpp_trap_cut,
                     jpp_trap_wrong, (unsigned long) jpp_trap_pc,
                     jpp_unwind_end_name(jpp_trap_end));
        }
    }

    value = getenv("JPP_SOAK");
    soak = value == NULL ? 0 : strtoul(value, NULL, 10);

    for (i = 0; sum[0] < soak; i++) {
        jpp_trap_run(&jpp_works[i % JPP_WORKS], sum);
    }

    jpp_ok((sum[1] + sum[2]) * 10000 <= sum[0],
           "%lu stacks, %lu frames: %lu cut, %lu wrong, libgcc crashed in %lu",
           sum[0] + sum[1] + sum[2], jpp_trap_frames, sum[1], sum[2], sum[3]);
    jpp_is_u64(jpp_trap_changed_errno, 0, "errno stays what it was");

    return jpp_done();
}


#else


JPP_TEST_ONLY(!JPP_UNWIND_IS_HERE, "there is no unwinder for this machine")


#endif
