
/*
 * Preloaded into a program: every stack is walked by our unwinder and by
 * libgcc's, and the frames are compared.  What came of it is printed to
 * JPP_EQUAL_REPORT as the program ends, with all processes it has forked.
 *
 *     JPP_EQUAL=hook     the samples of jemalloc's heap profiler, by its
 *                        experimental.hooks.prof_backtrace
 *     JPP_EQUAL=signal   SIGPROF 10,000 times a second, by the clock, in every
 *                        process that is forked: at any instruction
 *
 * Of the stacks that differ the first JPP_EQUAL_SHOWN are printed, the
 * addresses of both side by side.  A walk that stops before libgcc's does, and
 * says why, is a cut; anything else is wrong.
 */


#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "jpp_test_unwind.h"


#define JPP_EQUAL_SHOWN   12
#define JPP_EQUAL_PERIOD  100000       /* nanoseconds */
#define JPP_EQUAL_WAITS   2            /* bytes of a system call */


typedef int  (*jpp_equal_mallctl_pt)(const char *, void *, size_t *, void *,
    size_t);
typedef void  (*jpp_equal_hook_pt)(void **, unsigned *, unsigned);
typedef void *(*jpp_equal_dlopen_pt)(const char *, int);


typedef enum {
    JPP_EQUAL_SAME = 0,
    JPP_EQUAL_CUT,              /* ours stops, and says so */
    JPP_EQUAL_LOADING,          /* so it does: the object is not known yet */
    JPP_EQUAL_SHORT,            /* libgcc's stops before ours */
    JPP_EQUAL_WRONG,
    JPP_EQUAL_CRASH,            /* libgcc's read where nothing is */
    JPP_EQUAL_IDLE,             /* waiting for the kernel: not compared */
    JPP_EQUAL_RESULTS
} jpp_equal_result_t;


/* what all processes share */
typedef struct {
    pid_t         pid;
    char          report[4096];       /* nginx changes its environment */
    uint64_t      results[JPP_EQUAL_RESULTS];
    uint64_t      cuts[JPP_UNWIND_ENDS];
    uint64_t      frames;
    uint64_t      deepest;
    uint32_t      shown;
    struct {
        uint32_t          result;
        jpp_unwind_end_t  end;
        uint32_t          own;
        uint32_t          other;
        uintptr_t         pcs[2][JPP_TEST_DEPTH];
    } stacks[JPP_EQUAL_SHOWN];
} jpp_equal_shared_t;


static void jpp_equal_hook(void **vec, unsigned *len, unsigned max);
static void jpp_equal_signal(int signo, siginfo_t *info, void *ucontext);
static void jpp_equal_fault(int signo);
static void jpp_equal_timer(void);
static void jpp_equal_compare(const uintptr_t *pcs, uint32_t n,
    jpp_unwind_end_t end, const uintptr_t *others, uint32_t m);
static void jpp_equal_count(jpp_equal_result_t result, jpp_unwind_end_t end,
    const uintptr_t *pcs, uint32_t n, const uintptr_t *others, uint32_t m);
static void jpp_equal_show(FILE *file, uint32_t i);


static const char *const  jpp_equal_results[JPP_EQUAL_RESULTS] = {
    [JPP_EQUAL_SAME]  = "equal",
    [JPP_EQUAL_CUT]   = "cut",
    [JPP_EQUAL_LOADING] = "cut while an object is loaded",
    [JPP_EQUAL_SHORT] = "longer than libgcc's",
    [JPP_EQUAL_WRONG] = "different",
    [JPP_EQUAL_CRASH] = "libgcc would crash",
    [JPP_EQUAL_IDLE]  = "waiting, not compared"
};


static jpp_equal_shared_t     *jpp_equal;
static __thread volatile int   jpp_equal_in_libgcc;
static __thread uint32_t       jpp_equal_is_loading;
static __thread sigjmp_buf     jpp_equal_out;


static void __attribute__((constructor))
jpp_equal_start(void)
{
    const char            *mode, *report;
    struct sigaction       sa;
    jpp_test_stack_t       warm;
    jpp_equal_hook_pt      hook;
    jpp_equal_mallctl_pt   mallctl;

    mode = getenv("JPP_EQUAL");
    report = getenv("JPP_EQUAL_REPORT");

    if (mode == NULL || report == NULL) {
        return;
    }

    jpp_equal = mmap(NULL, sizeof(jpp_equal_shared_t), PROT_READ|PROT_WRITE,
                     MAP_SHARED|MAP_ANONYMOUS, -1, 0);
    jpp_equal->pid = getpid();
    snprintf(jpp_equal->report, sizeof(jpp_equal->report), "%s", report);
    jpp_images_unwind(&jpp_test_unwinder.mapped);
    jpp_test_libgcc(&warm);

    memset(&sa, 0, sizeof(sa));
    sa.sa_flags = SA_NODEFER;
    sa.sa_handler = jpp_equal_fault;
    sigaction(SIGSEGV, &sa, NULL);
    sigaction(SIGBUS, &sa, NULL);

    if (*mode == 's') {
        sa.sa_flags = SA_SIGINFO|SA_RESTART;
        sa.sa_sigaction = jpp_equal_signal;
        sigaction(SIGPROF, &sa, NULL);
        (void) pthread_atfork(NULL, NULL, jpp_equal_timer);
        return;
    }

    hook = jpp_equal_hook;
    mallctl = (jpp_equal_mallctl_pt) dlsym(RTLD_DEFAULT, "mallctl");

    if (mallctl == NULL
        || mallctl("experimental.hooks.prof_backtrace", NULL, NULL, &hook,
                   sizeof(hook)) != 0)
    {
        fprintf(stderr, "jpp_equal: this jemalloc has no such hook\n");
        _exit(1);
    }
}


/* What is loaded now is known to the unwinder when dlopen() returns. */

void *
dlopen(const char *name, int flags)
{
    void                        *handle;
    static jpp_equal_dlopen_pt   next;

    if (next == NULL) {
        next = (jpp_equal_dlopen_pt) dlsym(RTLD_NEXT, "dlopen");
    }

    jpp_equal_is_loading++;
    handle = next(name, flags);
    jpp_equal_is_loading--;

    if (jpp_equal != NULL && (flags & RTLD_NOLOAD) == 0) {
        jpp_images_unwind(&jpp_test_unwinder.mapped);
    }

    return handle;
}


static void __attribute__((noinline))
jpp_equal_hook(void **vec, unsigned *len, unsigned max)
{
    int                saved;
    uint32_t           i, n, skip;
    uintptr_t          pcs[JPP_TEST_DEPTH];
    jpp_unwind_end_t   end;
    jpp_test_stack_t   witness;

    saved = errno;
    n = jpp_unwind_here(&jpp_test_unwinder, NULL, pcs, JPP_TEST_DEPTH, &end);

    if (errno != saved) {
        abort();
    }

    if (sigsetjmp(jpp_equal_out, 1) == 0) {
        jpp_equal_in_libgcc = 1;
        jpp_test_libgcc(&witness);
        jpp_equal_in_libgcc = 0;

        /* both were called from here; the witness may have frames of its own */

        for (skip = 1; skip < 3 && n > 1 && skip < witness.n; skip++) {
            if (witness.pcs[skip] == pcs[1]) {
                break;
            }
        }

        jpp_equal_compare(pcs + 1, n - 1, end, witness.pcs + skip,
                          witness.n - skip);

    } else {
        jpp_equal_count(JPP_EQUAL_CRASH, end, pcs, n, NULL, 0);
    }

    *len = 0;

    for (i = 1; i < n && *len < max; i++) {
        vec[(*len)++] = (void *) pcs[i];
    }

    errno = saved;
}


static void
jpp_equal_signal(int signo, siginfo_t *info, void *ucontext)
{
    int                     saved;
    uint32_t                n;
    uintptr_t               pcs[JPP_TEST_DEPTH];
    const uint8_t          *before;
    jpp_unwind_end_t        end;
    jpp_test_stack_t        witness;
    jpp_unwind_context_t    at;

    (void) signo;
    (void) info;

    saved = errno;
    jpp_unwind_interrupted(&at, ucontext);
    n = jpp_unwind_walk(&jpp_test_unwinder, &at, NULL, pcs, JPP_TEST_DEPTH,
                        &end);

    if (errno != saved) {
        abort();
    }

    /* a process that waits is interrupted at one place only */

    before = (const uint8_t *) at.pc - JPP_EQUAL_WAITS;

    if (jpp_mapped_find(&jpp_test_unwinder.mapped, (uintptr_t) before) != NULL
        && before[0] == 0x0f && before[1] == 0x05)
    {
        jpp_equal_count(JPP_EQUAL_IDLE, end, pcs, n, NULL, 0);

    } else if (sigsetjmp(jpp_equal_out, 1) == 0) {
        jpp_equal_in_libgcc = 1;
        jpp_test_libgcc(&witness);
        jpp_equal_in_libgcc = 0;

        jpp_equal_compare(pcs, n, end, witness.pcs, witness.n);

    } else {
        jpp_equal_count(JPP_EQUAL_CRASH, end, pcs, n, NULL, 0);
    }

    errno = saved;
}


static void
jpp_equal_fault(int signo)
{
    if (jpp_equal_in_libgcc) {
        jpp_equal_in_libgcc = 0;
        siglongjmp(jpp_equal_out, 1);
    }

    signal(signo, SIG_DFL);
}


/* in a child: timers are not inherited */

static void
jpp_equal_timer(void)
{
    timer_t            timer;
    struct sigevent    event;
    struct itimerspec  spec;

    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGPROF;

    memset(&spec, 0, sizeof(spec));
    spec.it_interval.tv_nsec = JPP_EQUAL_PERIOD;
    spec.it_value.tv_nsec = JPP_EQUAL_PERIOD;

    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) {
        (void) timer_settime(timer, 0, &spec, NULL);
    }
}


static void
jpp_equal_compare(const uintptr_t *pcs, uint32_t n, jpp_unwind_end_t end,
    const uintptr_t *others, uint32_t m)
{
    uint32_t            least;
    jpp_equal_result_t  result;

    least = n < m ? n : m;

    if (memcmp(pcs, others, least * sizeof(uintptr_t)) != 0) {
        result = JPP_EQUAL_WRONG;

    } else if (n == m) {
        result = JPP_EQUAL_SAME;

    } else if (n > m) {
        result = JPP_EQUAL_SHORT;

    } else {
        result = end == JPP_UNWIND_OUTERMOST ? JPP_EQUAL_WRONG
                 : jpp_equal_is_loading ? JPP_EQUAL_LOADING : JPP_EQUAL_CUT;
    }

    jpp_equal_count(result, end, pcs, n, others, m);
}


static void
jpp_equal_count(jpp_equal_result_t result, jpp_unwind_end_t end,
    const uintptr_t *pcs, uint32_t n, const uintptr_t *others, uint32_t m)
{
    uint32_t  i;

    __atomic_fetch_add(&jpp_equal->results[result], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&jpp_equal->frames, n, __ATOMIC_RELAXED);

    if (n > jpp_equal->deepest) {
        jpp_equal->deepest = n;
    }

    if (result == JPP_EQUAL_SAME || result == JPP_EQUAL_IDLE) {
        return;
    }

    __atomic_fetch_add(&jpp_equal->cuts[end], 1, __ATOMIC_RELAXED);

    if (jpp_equal->shown >= JPP_EQUAL_SHOWN) {
        return;
    }

    i = __atomic_fetch_add(&jpp_equal->shown, 1, __ATOMIC_RELAXED);

    if (i < JPP_EQUAL_SHOWN) {
        jpp_equal->stacks[i].result = result;
        jpp_equal->stacks[i].end = end;
        jpp_equal->stacks[i].own = n;
        jpp_equal->stacks[i].other = m;
        memcpy(jpp_equal->stacks[i].pcs[0], pcs, n * sizeof(uintptr_t));

        if (m != 0) {
            memcpy(jpp_equal->stacks[i].pcs[1], others, m * sizeof(uintptr_t));
        }
    }
}


static void __attribute__((destructor))
jpp_equal_end(void)
{
    FILE      *file;
    uint32_t   i;

    if (jpp_equal == NULL || jpp_equal->pid != getpid()) {
        return;
    }

    file = fopen(jpp_equal->report, "w");
    if (file == NULL) {
        return;
    }

    for (i = 0; i < JPP_EQUAL_RESULTS; i++) {
        fprintf(file, "%s: %llu\n", jpp_equal_results[i],
                (unsigned long long) jpp_equal->results[i]);
    }

    fprintf(file, "frames: %llu\ndeepest: %llu\n",
            (unsigned long long) jpp_equal->frames,
            (unsigned long long) jpp_equal->deepest);

    for (i = 0; i < JPP_UNWIND_ENDS; i++) {
        if (jpp_equal->cuts[i] != 0) {
            fprintf(file, "not equal, ours ended by \"%s\": %llu\n",
                    jpp_unwind_end_name((jpp_unwind_end_t) i),
                    (unsigned long long) jpp_equal->cuts[i]);
        }
    }

    for (i = 0; i < jpp_equal->shown && i < JPP_EQUAL_SHOWN; i++) {
        jpp_equal_show(file, i);
    }

    (void) fclose(file);
}


static void
jpp_equal_show(FILE *file, uint32_t i)
{
    Dl_info      at;
    uint32_t     j, k, n[2];

    n[0] = jpp_equal->stacks[i].own;
    n[1] = jpp_equal->stacks[i].other;

    fprintf(file, "\n%s (%s)\n",
            jpp_equal_results[jpp_equal->stacks[i].result],
            jpp_unwind_end_name(jpp_equal->stacks[i].end));

    for (j = 0; j < n[0] || j < n[1]; j++) {
        for (k = 0; k < 2; k++) {

            memset(&at, 0, sizeof(at));

            if (j < n[k]
                && dladdr((void *) jpp_equal->stacks[i].pcs[k][j], &at) != 0)
            {
                fprintf(file, "  %s+%#llx %s", strrchr(at.dli_fname, '/') + 1,
                        (unsigned long long) (jpp_equal->stacks[i].pcs[k][j]
                                           - (uintptr_t) at.dli_fbase),
                        at.dli_sname != NULL ? at.dli_sname : "");

            } else {
                fprintf(file, "  %#llx", j < n[k]
                        ? (unsigned long long) jpp_equal->stacks[i].pcs[k][j]
                        : 0);
            }
        }

        fprintf(file, "\n");
    }
}
