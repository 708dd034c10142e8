
/*
 * The unit test harness: TAP on stdout, the plan last, the exit status.
 *
 *     int
 *     main(void)
 *     {
 *         jpp_ok(n > 0, "n is positive, got %d", n);
 *         jpp_is_u64(jpp_add(1, 2), 3, "add");
 *         jpp_is_str(name, "main", "name");
 *
 *         return jpp_done();
 *     }
 *
 * Where there are several tests, JPP_TEST() defines each, and the main() that
 * calls them is jpp_test_main.h's, unless there is more to do.
 *
 * Every check is one line, `ok 3 - file.c:12: message`, and evaluates to
 * whether it held.  Arguments are evaluated once.  A test that checks
 * something thousands of times counts the failures itself, reports each with
 * jpp_diag() and checks the count.
 *
 * One source file and one thread per test program.  This header, which others
 * include, brings what most tests call; a unit includes no header that another
 * of its headers brings, but for its subject.
 */


#ifndef _JPP_TEST_H_INCLUDED_
#define _JPP_TEST_H_INCLUDED_


#include "jpp_core.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>


/* Does CONDITION hold?  The rest is a message for printf(). */
#define jpp_ok(condition, ...)                                                \
    jpp_test_check((condition), __FILE__, __LINE__, __VA_ARGS__)

/* Are GOT and EXPECTED the same number (unsigned, signed)? */
#define jpp_is_u64(got, expected, ...)                                        \
    jpp_ok(jpp_test_u64((got), (expected)), __VA_ARGS__)

#define jpp_is_i64(got, expected, ...)                                        \
    jpp_ok(jpp_test_i64((got), (expected)), __VA_ARGS__)

/* Are GOT and EXPECTED the same string?  Either may be NULL. */
#define jpp_is_str(got, expected, ...)                                        \
    jpp_ok(jpp_test_str((got), (expected)), __VA_ARGS__)

/* Does TEXT have PART in it, or not? */
#define jpp_has(text, part, ...)                                              \
    jpp_ok(jpp_test_has((text), (part), true), __VA_ARGS__)

#define jpp_lacks(text, part, ...)                                            \
    jpp_ok(jpp_test_has((text), (part), false), __VA_ARGS__)

/* Are the N bytes at GOT and EXPECTED the same? */
#define jpp_is_mem(got, expected, n, ...)                                     \
    jpp_ok(jpp_test_mem((got), (expected), (n)), __VA_ARGS__)

/* Wait while CONDITION holds: what hangs is ended by an alarm. */
#define jpp_wait_while(condition)                                             \
    do {                                                                      \
        while (condition) {                                                   \
            (void) usleep(1000);                                              \
        }                                                                     \
    } while (0)

/*
 * Is the program built with a sanitizer of addresses or threads?  That has a
 * malloc() of its own, keeps vfork()'s return address elsewhere, and leaves
 * holes in frames.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define JPP_IS_SANITIZED  1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define JPP_IS_SANITIZED  1
#endif

#ifndef JPP_IS_SANITIZED
#define JPP_IS_SANITIZED  0
#endif

#define jpp_nelts(a)  (sizeof(a) / sizeof((a)[0]))

/* What comes behind raises SIGTRAP at each instruction, or not any more. */
#define jpp_trap_on()   JPP_TRAP_FLAG("orq $0x100")
#define jpp_trap_off()  JPP_TRAP_FLAG("andq $~0x100")

#define JPP_TRAP_FLAG(change)                                                 \
    __asm__ volatile ("lea -128(%%rsp), %%rsp; pushfq; " change ", (%%rsp); " \
                      "popfq; lea 128(%%rsp), %%rsp" : : : "memory", "cc")

/* The whole program where a unit has nothing else to test. */
#define JPP_TEST_ONLY(condition, what)                                        \
    int                                                                       \
    main(void)                                                                \
    {                                                                         \
        jpp_ok(condition, what);                                              \
                                                                              \
        return jpp_done();                                                    \
    }

/* Print the plan; the value for main() to return. */
#define jpp_done()  jpp_test_done()

/*
 * A test: a function that jpp_tests_all() calls, in the order of the file.
 *
 *     JPP_TEST(jpp_add_test_small)
 *     {
 *         jpp_is_u64(jpp_add(1, 2), 3, "small numbers");
 *     }
 */
#define JPP_TEST(name)                                                        \
    static void name(void);                                                   \
                                                                              \
    static void __attribute__((constructor))                                  \
    name##_is_a_test(void)                                                    \
    {                                                                         \
        static jpp_tests_t  test = { name, __LINE__, NULL };                  \
                                                                              \
        jpp_tests_add(&test);                                                 \
    }                                                                         \
                                                                              \
    static void                                                               \
    name(void)


typedef struct jpp_tests_s  jpp_tests_t;

struct jpp_tests_s {
    void        (*run)(void);
    int           line;
    jpp_tests_t  *next;
};


static unsigned  jpp_test_run;
static unsigned  jpp_test_failed;
static char      jpp_test_why[65536];   /* the next check does not hold */

/* by line */
static jpp_tests_t  *jpp_tests_there;


/* Print one line of diagnostics. */
static inline void __attribute__((format(printf, 1, 2)))
jpp_diag(const char *fmt, ...)
{
    va_list  args;

    printf("# ");

    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);

    printf("\n");
}


static inline bool __attribute__((format(printf, 4, 5)))
jpp_test_check(bool held, const char *file, int line, const char *fmt, ...)
{
    va_list  args;

    jpp_test_run++;
    jpp_test_failed += !held;

    printf("%s %u - %s:%d: ", held ? "ok" : "not ok", jpp_test_run, file, line);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n%s", held ? "" : jpp_test_why);
    jpp_test_why[0] = '\0';

    /* a crash must not swallow the lines before it */

    fflush(stdout);

    return held;
}


/* The result of a comparison: HELD, or the rest is what a check says. */
#define jpp_test_held(held, ...)                                              \
    ((held) || (jpp_print(jpp_test_why, __VA_ARGS__), false))


static inline bool
jpp_test_u64(uint64_t got, uint64_t expected)
{
    return jpp_test_held(got == expected, "#      got: %" PRIu64 " (0x%" PRIx64
                         ")\n# expected: %" PRIu64 " (0x%" PRIx64 ")\n", got,
                         got, expected, expected);
}


static inline bool
jpp_test_i64(int64_t got, int64_t expected)
{
    return jpp_test_held(got == expected, "#      got: %" PRId64
                         "\n# expected: %" PRId64 "\n", got, expected);
}


static inline bool
jpp_test_str(const char *got, const char *expected)
{
    return jpp_test_held(got == expected
                         || (got != NULL && expected != NULL
                             && strcmp(got, expected) == 0),
                         "#      got: %.9999s\n# expected: %.9999s\n",
                         got != NULL ? got : "(null)",
                         expected != NULL ? expected : "(null)");
}


static inline bool
jpp_test_has(const char *text, const char *part, bool is_there)
{
    return jpp_test_held((strstr(text, part) != NULL) == is_there,
                         "# %s: %.9999s\n# in: %.9999s\n",
                         is_there ? "lacks" : "has", part, text);
}


static inline bool
jpp_test_mem(const void *got, const void *expected, size_t n)
{
    size_t          i;
    const uint8_t  *a = got, *b = expected;

    for (i = 0; i < n && a[i] == b[i]; i++) { /* void */ }

    return jpp_test_held(i == n, "# at byte %zu: got 0x%02x, expected 0x%02x\n",
                         i, a[i], b[i]);
}


static inline int
jpp_test_done(void)
{
    printf("1..%u\n", jpp_test_run);

    if (jpp_test_failed != 0) {
        jpp_diag("%u of %u failed", jpp_test_failed, jpp_test_run);
    }

    return jpp_test_failed == 0 ? 0 : 1;
}


/* Constructors may run in any order. */
static inline void
jpp_tests_add(jpp_tests_t *test)
{
    jpp_tests_t  **p = &jpp_tests_there;

    while (*p != NULL && (*p)->line < test->line) {
        p = &(*p)->next;
    }

    test->next = *p;
    *p = test;
}


/* Where NAME lies that is built beside this program: in PATH. */
static inline const char *
jpp_beside(const char *name, char path[4096])
{
    ssize_t  n;

    n = readlink("/proc/self/exe", path, 4000);
    path[n > 0 ? n : 0] = '\0';
    strcpy(strrchr(path, '/') + 1, name);

    return path;
}


/* Set a soft limit of this process; the one before. */
static inline rlim_t
jpp_test_rlimit(int resource, rlim_t value)
{
    rlim_t         old;
    struct rlimit  limit;

    (void) getrlimit(resource, &limit);
    old = limit.rlim_cur;
    limit.rlim_cur = value;
    (void) setrlimit(resource, &limit);

    return old;
}


/* CALLEE runs MAIN on SIZE bytes of STACK, until that ends or switches back to
   CALLER, which is here. */
static inline void
jpp_test_switch(ucontext_t *callee, ucontext_t *caller, void *stack,
    size_t size, void (*main_function)(void))
{
    getcontext(callee);
    callee->uc_stack.ss_sp = stack;
    callee->uc_stack.ss_size = size;
    callee->uc_link = caller;
    makecontext(callee, main_function, 0);
    swapcontext(caller, callee);
}


/* What each test begins with, where a header or a unit has it. */
void jpp_test_anew(void) __attribute__((weak));
void jpp_before_each(void) __attribute__((weak));


static inline void
jpp_test_begin(void)
{
    if (jpp_test_anew != NULL) {
        jpp_test_anew();
    }

    if (jpp_before_each != NULL) {
        jpp_before_each();
    }
}


static inline void
jpp_tests_all(void)
{
    const jpp_tests_t  *test;

    for (test = jpp_tests_there; test != NULL; test = test->next) {
        jpp_test_begin();
        test->run();
    }
}


#endif /* _JPP_TEST_H_INCLUDED_ */
