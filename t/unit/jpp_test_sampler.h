
/*
 * For the tests of jpp_sampler.h, a program for each subject, in which a whole
 * process is sampled.
 *
 * Every case is a process of its own, because the allocator is decided before
 * main(): libc's, a preloaded libjemalloc, and, in programs that are made of
 * the same source, a jemalloc that is linked in, and a program at a fixed
 * address.  Such a process plays a part, and prints a line for each check; the
 * first one compares.
 *
 * To be included once.
 */


#ifndef _JPP_TEST_SAMPLER_H_INCLUDED_
#define _JPP_TEST_SAMPLER_H_INCLUDED_


#include "jpp_sampler.h"
#include "jpp_samples.h"
#include "jpp_test.h"


/* what was freed is looked up by its address */

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic ignored "-Wuse-after-free"
#endif

#define JPP_JEMALLOC      "libjemalloc.so.2"

/* so large that it is always sampled at the finest rate */
#define JPP_BLOCK         (64 * 1024)
#define JPP_FINE          JPP_SAMPLER_LG_MIN

#define JPP_THREADS       4
#define JPP_HELD          64


typedef struct {
    const char   *name;
    void        (*play)(void);
    bool          is_for_slots;    /* nothing for a malloc() without */
    uint32_t      lg;              /* its rate; 0: it is switched on in it */
} jpp_part_t;


/* a program, and what is preloaded into it */
typedef struct {
    const char   *what;
    const char   *suffix;
    const char   *preload;
    bool          has_slots;
} jpp_program_t;


typedef void *(*jpp_malloc_pt)(size_t size);


static bool jpp_check(bool held, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));


/* The line of a check; the first process reads it. */

static inline bool
jpp_check(bool held, const char *fmt, ...)
{
    char     line[512];
    int      n;
    va_list  args;

    va_start(args, fmt);
    n = vsnprintf(line + 2, sizeof(line) - 3, fmt, args);
    va_end(args);

    line[0] = held ? '+' : '-';
    line[1] = ' ';
    line[2 + n] = '\n';

    (void) !write(1, line, (size_t) n + 3);

    return held;
}


static inline void *
jpp_use(void *p)
{
    __asm__ volatile ("" : "+r" (p) : : "memory");

    return p;
}


/* The sample of P: its size, 0 for none. */

static inline uint64_t
jpp_sample(const void *p)
{
    uint64_t  object;

    if (!jpp_live_take(&jpp_samples.live, (uintptr_t) p, &object)) {
        return 0;
    }

    (void) jpp_live_add(&jpp_samples.live, (uintptr_t) p, object);

    return jpp_live_size(object);
}


static inline bool
jpp_on(uint32_t lg)
{
    jpp_err_t  err = { 0 };

    return jpp_check(jpp_sampler_on(lg, &err) == JPP_OK && jpp_sampler_is_on(),
                     "on at lg %u %s", lg, err.text);
}


static inline void
jpp_off(void)
{
    jpp_err_t            err = { 0 };
    jpp_sampler_state_t  state;

    jpp_check(jpp_sampler_off(&err) == JPP_OK, "off %s", err.text);

    jpp_sampler_state(&state);
    jpp_check(!state.is_on && state.slots == 0 && state.live == 0,
              "nothing is patched or sampled any more");
}


/* A sampled block of SIZE bytes by the call NAME, which must not fail. */

static inline void
jpp_allocated(const char *name, void *p, size_t size)
{
    jpp_check(p != NULL && jpp_sample(p) == size,
              "%s has a sample of %zu bytes (%zu)", name, size,
              (size_t) jpp_sample(p));
}


static inline void
jpp_freed(const char *name, const void *p)
{
    jpp_check(jpp_sample(p) == 0, "%s takes it out", name);
}


static inline void *
jpp_library(const char *name)
{
    char   path[4096];
    void  *handle;

    handle = dlopen(jpp_beside(name, path), RTLD_NOW);
    jpp_check(handle != NULL, "%s is loaded", name);

    return handle;
}


/* Blocks change hands, so that a thread frees what another has allocated. */

static void *volatile  jpp_shared[JPP_HELD];
static volatile bool   jpp_is_over;

static inline void *
jpp_thread(void *data)
{
    void      *p;
    uint64_t   random;

    for (random = (uintptr_t) data; !jpp_is_over; random++) {
        p = jpp_use(malloc(1 + jpp_hash_u64(random) % 20000));

        if (random % 8 == 0) {
            p = jpp_use(realloc(p, 1 + jpp_hash_u64(random) % 9000));
        }

        p = __atomic_exchange_n(&jpp_shared[random % JPP_HELD], p,
                                __ATOMIC_ACQ_REL);
        free(p);
    }

    return NULL;
}


static inline void
jpp_threads_start(pthread_t *threads)
{
    uintptr_t  i;

    jpp_is_over = false;

    for (i = 0; i < JPP_THREADS; i++) {
        pthread_create(&threads[i], NULL, jpp_thread, (void *) (i << 40));
    }
}


static inline void
jpp_threads_end(const pthread_t *threads)
{
    unsigned  i;

    jpp_is_over = true;

    for (i = 0; i < JPP_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }

    for (i = 0; i < JPP_HELD; i++) {
        free(jpp_shared[i]);
        jpp_shared[i] = NULL;
    }
}


static const jpp_program_t  jpp_programs[] = {
    { "libc's malloc",      "",        NULL,         true },
    { "jemalloc",           "",        JPP_JEMALLOC, true },
    { "jemalloc linked in", "_static", NULL,         false },
    { "at a fixed address", "_fixed",  NULL,         true }
};


/* Play PART in PROGRAM, and check the lines of it. */

static void
jpp_run(const jpp_program_t *program, const char *part)
{
    char    path[4096], command[5000], line[512];
    FILE   *lines;

    jpp_print(command, "exec env -u LD_PRELOAD %s%s %s%s '%s'",
              program->preload != NULL ? "LD_PRELOAD=" : "",
              program->preload != NULL ? program->preload : "",
              jpp_beside(program_invocation_short_name, path),
              program->suffix, part);

    lines = popen(command, "r");

    if (lines == NULL) {
        jpp_ok(false, "%s: no child", part);
        return;
    }

    while (fgets(line, sizeof(line), lines) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        jpp_ok(line[0] == '+', "%s, %s: %s", program->what, part, line + 2);
    }

    jpp_is_i64(pclose(lines), 0, "%s, %s: its end", program->what, part);
}


/* A program of these N parts; of a sanitizer it only plays REFUSED, if any. */

static int
jpp_play(int argc, char **argv, const jpp_part_t *parts, size_t n,
    const char *refused)
{
    size_t  i, j;

    for (i = 0; argc == 2 && i < n; i++) {
        if (strcmp(argv[1], parts[i].name) == 0) {

            /* what hangs has failed, and what is only slow has not */

            alarm(600);

            if (parts[i].lg == 0 || jpp_on(parts[i].lg)) {
                parts[i].play();
            }

            /* by the destructors */

            return 0;
        }
    }

    if (JPP_IS_SANITIZED) {
        jpp_ok(true, "the sampler # SKIP a sanitizer brings its own malloc");

        if (refused != NULL) {
            jpp_run(&jpp_programs[0], refused);
        }

        return jpp_done();
    }

    for (i = 0; i < sizeof(jpp_programs) / sizeof(jpp_programs[0]); i++) {
        for (j = 0; j < n; j++) {
            if ((jpp_programs[i].has_slots || !parts[j].is_for_slots)
                && (refused == NULL || strcmp(parts[j].name, refused) != 0))
            {
                jpp_run(&jpp_programs[i], parts[j].name);
            }
        }
    }

    return jpp_done();
}


#if defined(__x86_64__) && defined(__LP64__)

/* The main() of a program that plays PARTS. */

#define JPP_PLAYS(parts, refused)                                             \
    int                                                                       \
    main(int argc, char **argv)                                               \
    {                                                                         \
        return jpp_play(argc, argv, (parts),                                  \
                        sizeof(parts) / sizeof((parts)[0]), (refused));       \
    }

#else

int
main(void)
{
    jpp_ok(true, "the sampler # SKIP not on this machine");

    return jpp_done();
}

#endif


#endif /* _JPP_TEST_SAMPLER_H_INCLUDED_ */
