
/*
 * The sampler in a whole process: every function that it stands for, threads,
 * forks, handlers of signals, libraries that come and go, and what it makes of
 * known heaps.
 *
 * Every case is a process of its own, because the allocator is decided before
 * main(): libc's, a preloaded libjemalloc, and, in programs that are made of
 * the same source, a jemalloc that is linked in, and a program at a fixed
 * address.  Such a process plays a part, and prints a line for each check; the
 * first one compares.
 */


#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "jpp_backtrace.h"
#include "jpp_got_read.h"
#include "jpp_index.h"
#include "jpp_heap.h"
#include "jpp_heap_file.h"
#include "jpp_heap_stacks.h"
#include "jpp_memfd.h"
#include "jpp_proc.h"
#include "jpp_sampler.h"
#include "jpp_sampler_calls.h"
#include "jpp_samples.h"
#include "jpp_test.h"


#if defined(__x86_64__) && defined(__LP64__)


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
#define JPP_SWITCHES      1000
#define JPP_FORKS         40
#ifndef JPP_SEEDS
#define JPP_SEEDS         60
#endif
#define JPP_SITES         5
#define JPP_SITE_BYTES    (1024 * 1024)
#define JPP_LEAKED        2000


typedef struct {
    const char   *name;
    void        (*play)(void);
    bool          is_for_slots;    /* nothing for a malloc() without */
} jpp_part_t;


/* a program, and what is preloaded into it */
typedef struct {
    const char   *what;
    const char   *suffix;
    const char   *preload;
    bool          has_slots;
} jpp_program_t;


typedef void *(*jpp_new_pt)(unsigned i, size_t size);
typedef void (*jpp_delete_pt)(unsigned i, void *p, size_t size);
typedef void *(*jpp_malloc_pt)(size_t size);


static bool jpp_check(bool held, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));


/* The line of a check; the first process reads it. */

static bool
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


static void *
jpp_use(void *p)
{
    __asm__ volatile ("" : "+r" (p) : : "memory");

    return p;
}


/* The sample of P: its size, 0 for none. */

static uint64_t
jpp_sample(const void *p)
{
    uint64_t  object;

    if (!jpp_live_take(&jpp_samples.live, (uintptr_t) p, &object)) {
        return 0;
    }

    (void) jpp_live_add(&jpp_samples.live, (uintptr_t) p, object);

    return jpp_live_size(object);
}


static bool
jpp_on(uint32_t lg)
{
    jpp_err_t  err = { 0 };

    return jpp_check(jpp_sampler_on(lg, &err) == JPP_OK, "on at lg %u %s", lg,
                     err.text);
}


static void
jpp_off(void)
{
    jpp_err_t            err = { 0 };
    jpp_sampler_state_t  state;

    jpp_check(jpp_sampler_off(&err) == JPP_OK, "off %s", err.text);

    jpp_sampler_state(&state);
    jpp_check(!state.is_on && state.slots == 0 && state.live == 0
              && state.kept == 0, "nothing is patched or sampled any more");
}


/* A sampled block of SIZE bytes by the call NAME, which must not fail. */

static void
jpp_allocated(const char *name, void *p, size_t size)
{
    jpp_check(p != NULL && jpp_sample(p) == size,
              "%s has a sample of %zu bytes (%zu)", name, size,
              (size_t) jpp_sample(p));
}


static void
jpp_freed(const char *name, const void *p)
{
    jpp_check(jpp_sample(p) == 0, "%s takes it out", name);
}


/* of all addresses; compilers know what cannot be */
static volatile size_t  jpp_half = SIZE_MAX / 2;

static void
jpp_play_functions(void)
{
    char    text[JPP_BLOCK];
    void   *p, *q;
    int     rc;

    if (!jpp_on(JPP_FINE)) {
        return;
    }

    p = jpp_use(malloc(JPP_BLOCK));
    jpp_allocated("malloc()", p, JPP_BLOCK);
    free(p);
    jpp_freed("free()", p);

    p = jpp_use(calloc(16, JPP_BLOCK / 16));
    jpp_allocated("calloc()", p, JPP_BLOCK);
    jpp_check(*(char *) p == 0, "of zeros");

    q = jpp_use(realloc(p, 16 * JPP_BLOCK));
    jpp_allocated("realloc()", q, 16 * JPP_BLOCK);
    jpp_check(q == p || jpp_sample(p) == 0, "what it was is gone");

    p = jpp_use(realloc(q, JPP_BLOCK));
    jpp_allocated("a realloc() to less", p, JPP_BLOCK);

    q = realloc(p, (size_t) PTRDIFF_MAX - JPP_BLOCK);
    jpp_check(q == NULL, "a realloc() that fails");
    jpp_allocated("what it was", p, JPP_BLOCK);

    q = jpp_use(reallocarray(p, 4, JPP_BLOCK));
    jpp_allocated("reallocarray()", q, 4 * JPP_BLOCK);

    errno = 0;
    p = reallocarray(q, jpp_half, 4);
    jpp_check(p == NULL && errno == ENOMEM, "a reallocarray() that fails");
    jpp_allocated("what it was", q, 4 * JPP_BLOCK);

    p = realloc(q, 0);
    jpp_freed("a realloc() to nothing", q);
    free(p);

    p = jpp_use(realloc(NULL, JPP_BLOCK));
    jpp_allocated("a realloc() of nothing", p, JPP_BLOCK);
    free(p);

    rc = posix_memalign(&p, 4096, JPP_BLOCK);
    jpp_check(rc == 0 && (uintptr_t) jpp_use(p) % 4096 == 0, "aligned");
    jpp_allocated("posix_memalign()", p, JPP_BLOCK);
    free(p);

    jpp_check(posix_memalign(&p, 3, JPP_BLOCK) == EINVAL,
              "a posix_memalign() that fails");

    p = jpp_use(aligned_alloc(4096, JPP_BLOCK));
    jpp_allocated("aligned_alloc()", p, JPP_BLOCK);
    free(p);

    p = jpp_use(memalign(4096, JPP_BLOCK));
    jpp_allocated("memalign()", p, JPP_BLOCK);
    free(p);
    jpp_freed("free()", p);

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';

    p = jpp_use(strdup(text));
    jpp_allocated("strdup(), which is libc's call,", p, JPP_BLOCK);
    free(p);

    jpp_check(jpp_use(malloc((size_t) PTRDIFF_MAX - JPP_BLOCK)) == NULL
              && errno == ENOMEM, "a malloc() that fails");
    jpp_check(jpp_use(calloc(jpp_half, 4)) == NULL,
              "a calloc() that fails");
    free(NULL);

    p = jpp_use(malloc(0));
    jpp_check(jpp_sample(p) == 0, "nothing is not sampled");
    free(p);

    (void) jpp_sampler_sample_thread(false);
    p = jpp_use(malloc(JPP_BLOCK));
    q = jpp_use(malloc(JPP_BLOCK));
    jpp_check(jpp_sample(p) == 0 && jpp_sample(q) == 0,
              "a thread that is not sampled");
    jpp_check(!jpp_sampler_sample_thread(true), "until it is again");
    free(p);
    free(q);

    p = jpp_use(malloc(JPP_BLOCK));
    jpp_allocated("malloc() again", p, JPP_BLOCK);
    jpp_off();
    free(p);
}


static void *
jpp_library(const char *name)
{
    char   path[4096], *slash;
    void  *handle;

    memset(path, 0, sizeof(path));
    (void) !readlink("/proc/self/exe", path, sizeof(path) - 64);
    slash = strrchr(path, '/');
    strcpy(slash + 1, name);

    handle = dlopen(path, RTLD_NOW);
    jpp_check(handle != NULL, "%s is loaded", name);

    return handle;
}


static void
jpp_play_operators(void)
{
    void           *p, *handle;
    unsigned        i;
    jpp_new_pt      new;
    jpp_delete_pt   delete;

    handle = jpp_library("jpp_operators.so");
    *(void **) &new = dlsym(handle, "jpp_operator_new");
    *(void **) &delete = dlsym(handle, "jpp_operator_delete");

    if (!jpp_on(JPP_FINE)) {
        return;
    }

    for (i = 0; i < 12; i++) {
        p = new(i < 8 ? i : 4 + i % 4, JPP_BLOCK);

        if (i < 4) {
            jpp_allocated("operator new", p, JPP_BLOCK);
            delete(i, p, JPP_BLOCK);

        } else if (i < 8) {

            /* libstdc++ rounds such a size up to its alignment */

            jpp_allocated("operator new, aligned,", p, JPP_BLOCK);
            delete(i + 2, p, JPP_BLOCK);

        } else {
            delete(i, p, JPP_BLOCK);
        }

        jpp_check(jpp_sample(p) == 0, "operator delete %u", i);
    }

    for (i = 4; i < 6; i++) {
        p = new(i - 4, JPP_BLOCK);
        delete(i, p, JPP_BLOCK);
        jpp_check(jpp_sample(p) == 0, "operator delete %u", i);
    }

    jpp_off();
}


/* Loaded after the sampler was switched on. */

static void
jpp_play_late(void)
{
    void                 *p, *handle;
    jpp_err_t             err = { 0 };
    jpp_malloc_pt         late;
    jpp_sampler_state_t   before, after;

    void                (*late_free)(void *p);

    if (!jpp_on(JPP_FINE)) {
        return;
    }

    jpp_check(jpp_sampler_rescan(&err) == JPP_OK, "nothing new");
    jpp_sampler_state(&before);

    handle = jpp_library("jpp_operators.so");
    *(void **) &late = dlsym(handle, "jpp_operator_malloc");
    *(void **) &late_free = dlsym(handle, "jpp_operator_free");

    p = late(JPP_BLOCK);
    jpp_check(jpp_sample(p) == 0, "a library that is new is not seen yet");
    late_free(p);

    p = jpp_use(malloc(JPP_BLOCK));
    late_free(p);
    jpp_check(jpp_sample(p) == JPP_BLOCK, "nor what it frees");
    p = jpp_use(malloc(JPP_BLOCK));
    free(p);
    jpp_check(jpp_sample(p) == 0, "until the address is freed again");

    jpp_check(jpp_sampler_rescan(&err) == JPP_OK, "rescan %s", err.text);
    jpp_sampler_state(&after);
    jpp_check(after.slots > before.slots && after.objects > before.objects,
              "it has slots: %u, then %u", before.slots, after.slots);

    p = late(JPP_BLOCK);
    jpp_allocated("its malloc()", p, JPP_BLOCK);
    late_free(p);
    jpp_freed("its free()", p);

    dlclose(handle);
    p = late(JPP_BLOCK);
    jpp_allocated("what stays loaded", p, JPP_BLOCK);
    free(p);

    jpp_off();
    late_free(late(100));

    /* destructors, with the sampler on */

    jpp_on(JPP_FINE);
}


/* What a site is estimated to have, by the reader of dumps. */
typedef struct {
    int64_t   inuse[2];            /* objects, bytes */
    int64_t   allocated[2];
} jpp_estimate_t;


/* apart from each other, so that an address tells which it is */

#define JPP_SITE(name)                                                        \
                                                                              \
static void * __attribute__((noinline, aligned(64)))                          \
name(size_t size)                                                             \
{                                                                             \
    return jpp_use(malloc(size));                                             \
}

JPP_SITE(jpp_site_one)
JPP_SITE(jpp_site_two)
JPP_SITE(jpp_site_three)
JPP_SITE(jpp_site_four)
JPP_SITE(jpp_site_any)


static const jpp_malloc_pt  jpp_sites[JPP_SITES] = {
    jpp_site_one, jpp_site_two, jpp_site_three, jpp_site_four, jpp_site_any
};


/* The site that SAMPLE's stack passes through, JPP_SITES: none. */

static unsigned
jpp_site_of(const jpp_profile_t *profile, const jpp_sample_t *sample)
{
    uint32_t        id;
    unsigned        i;
    uint64_t        address;
    const uint8_t  *pos;

    for (pos = sample->stack; pos < sample->stack + sample->stack_len; /**/) {
        pos = jpp_stack_next(pos, &id);
        address = jpp_profile_location_at(profile, id)->address;

        for (i = 0; i < JPP_SITES; i++) {
            if (address - (uintptr_t) jpp_sites[i] < 64) {
                return i;
            }
        }
    }

    return JPP_SITES;
}


static void
jpp_sum(const jpp_profile_t *profile, jpp_estimate_t *estimates)
{
    uint32_t         i;
    jpp_sample_t     sample;
    jpp_estimate_t  *estimate;

    memset(estimates, 0, (JPP_SITES + 1) * sizeof(jpp_estimate_t));

    for (i = 0; i < profile->n_samples; i++) {
        jpp_profile_sample(profile, i, &sample);
        estimate = &estimates[jpp_site_of(profile, &sample)];

        estimate->inuse[0] += sample.values[JPP_HEAP_INUSE_OBJECTS];
        estimate->inuse[1] += sample.values[JPP_HEAP_INUSE_SPACE];
        estimate->allocated[0] += sample.values[JPP_HEAP_ALLOC_OBJECTS];
        estimate->allocated[1] += sample.values[JPP_HEAP_ALLOC_SPACE];
    }
}


/* Dump, and read that: as every reader of dumps does. */

static bool
jpp_read(jpp_estimate_t *estimates, jpp_sampler_state_t *state)
{
    bool                 is_read;
    jpp_err_t            err = { 0 };
    jpp_dump_t           dump;
    jpp_vec_t           *maps;
    const char          *tail;
    jpp_memfd_t          memfd;
    jpp_arena_t          arena;
    jpp_profile_t        profile;
    jpp_read_options_t   options = { 0 };

    jpp_arena_init(&arena, 256 << 20);
    maps = jpp_vec_create(&arena);
    jpp_heap_init(&profile, &arena);

    is_read = jpp_memfd_open(&memfd, NULL, &err) == JPP_OK
              && jpp_sampler_dump(memfd.fd, state, &err) == JPP_OK
              && jpp_memfd_map(&memfd, 64 << 20, &err) == JPP_OK
              && jpp_proc_maps(maps, &err) == JPP_OK;

    tail = is_read ? jpp_proc_tail((char *) maps->data, maps->len, &arena)
                   : NULL;

    is_read = is_read
              && jpp_heap_open(&dump, &profile, memfd.data, memfd.len, tail,
                               &err) == JPP_OK
              && jpp_heap_read(&profile, &dump, &options, &err) == JPP_OK;

    if (is_read) {
        jpp_sum(&profile, estimates);
    }

    jpp_memfd_close(&memfd);
    jpp_arena_destroy(&arena);

    return is_read || !jpp_check(false, "the dump: %s", err.text);
}


/* Nothing else allocates meanwhile: a seed always draws the same. */

static void
jpp_hold(uint64_t seed, void **held, jpp_estimate_t *truth)
{
    size_t    size;
    unsigned  i, j, n;
    uint64_t  random;

    static const size_t  sizes[JPP_SITES - 1] = { 64, 700, 8192, 65536 };

    memset(truth, 0, JPP_SITES * sizeof(jpp_estimate_t));
    jpp_samples_start(JPP_SAMPLER_LG_DEFAULT, seed * 1000033);
    random = seed;

    for (i = 0, n = 0; i < JPP_SITES; i++) {
        for (j = 0; truth[i].inuse[1] < JPP_SITE_BYTES; j++) {

            /* the last has sizes from 64 to 65,536, small ones more often */

            size = i < JPP_SITES - 1 ? sizes[i]
                   : (size_t) (64 * exp2((double) (jpp_hash_u64(random + j)
                                                   >> 11) * 0x1p-53 * 10));

            held[n] = jpp_sites[i](size);

            /* a part of it is freed again */

            truth[i].allocated[0]++;
            truth[i].allocated[1] += (int64_t) size;

            if (j % 4 == 3) {
                free(held[n]);

            } else {
                truth[i].inuse[0]++;
                truth[i].inuse[1] += (int64_t) size;
                n++;
            }
        }
    }

    held[n] = NULL;
}


/* How many standard errors the mean of N ratios is from 1. */

static double
jpp_off_by(const double *ratios, unsigned n, double *mean)
{
    double    sum, squares;
    unsigned  i;

    for (i = 0, sum = 0; i < n; i++) {
        sum += ratios[i];
    }

    *mean = sum / n;

    for (i = 0, squares = 0; i < n; i++) {
        squares += (ratios[i] - *mean) * (ratios[i] - *mean);
    }

    return fabs(*mean - 1) / sqrt(squares / (n - 1) / n + 1e-9);
}


static void
jpp_play_estimates(void)
{
    double          mean, errors;
    unsigned        seed, i, j, k;
    jpp_estimate_t  estimates[JPP_SITES + 1], truth[JPP_SITES];

    static void         *held[40000];
    static double        ratios[JPP_SITES][4][JPP_SEEDS];
    static const char *const  values[4] = {
        "live objects", "live bytes", "allocated objects", "allocated bytes"
    };

    if (!jpp_on(JPP_SAMPLER_LG_DEFAULT)) {
        return;
    }

    for (seed = 0; seed < JPP_SEEDS; seed++) {
        jpp_hold(seed, held, truth);

        if (!jpp_read(estimates, NULL)) {
            return;
        }

        for (i = 0; i < JPP_SITES; i++) {
            for (j = 0; j < 2; j++) {
                ratios[i][j][seed] = (double) estimates[i].inuse[j]
                                     / (double) truth[i].inuse[j];
                ratios[i][2 + j][seed] = (double) estimates[i].allocated[j]
                                         / (double) truth[i].allocated[j];
            }
        }

        for (k = 0; held[k] != NULL; k++) {
            free(held[k]);
        }
    }

    for (i = 0; i < JPP_SITES; i++) {
        for (j = 0; j < 4; j++) {
            errors = jpp_off_by(ratios[i][j], JPP_SEEDS, &mean);

            jpp_check(errors < 2, "site %u, %s: %.4f of the truth, %.1f "
                      "standard errors off", i, values[j], mean, errors);
        }
    }

    jpp_off();
}


/* What was there before is not seen, and what leaks from now on is. */

static void
jpp_play_leak(void)
{
    int                   i;
    int64_t               bytes;
    jpp_err_t             err = { 0 };
    jpp_estimate_t        estimates[JPP_SITES + 1];
    jpp_sampler_state_t   state;

    static void  *before[JPP_LEAKED], *held[JPP_LEAKED];

    for (i = 0; i < JPP_LEAKED; i++) {
        before[i] = jpp_site_one(3000);
    }

    if (!jpp_on(JPP_SAMPLER_LG_DEFAULT)) {
        return;
    }

    for (i = 0; i < JPP_LEAKED; i++) {
        held[i] = jpp_site_two(3000);
        free(jpp_site_three(3000));
        free(before[i]);
    }

    if (!jpp_read(estimates, &state)) {
        return;
    }

    bytes = JPP_LEAKED * 3000;

    jpp_check(estimates[0].inuse[1] == 0 && estimates[0].allocated[1] == 0,
              "what was allocated before is not there");
    jpp_check(llabs(estimates[1].inuse[1] - bytes) < bytes / 5,
              "%lld of %lld bytes of the leak, with its stack",
              (long long) estimates[1].inuse[1], (long long) bytes);
    jpp_check(estimates[2].inuse[1] == 0, "what was freed is not there");
    jpp_check(llabs(estimates[2].allocated[1] - bytes) < bytes / 5,
              "but was allocated");
    jpp_check(estimates[1].inuse[1] == estimates[1].allocated[1],
              "what leaks was allocated");

    jpp_check(state.is_on && state.lg_sample == JPP_SAMPLER_LG_DEFAULT
              && state.since != 0, "the state goes with the dump");
    /* 2,080 and 1,040 are to be expected, give or take 31 and 22 */

    jpp_check(state.samples > 1900 && state.live > 900
              && state.samples > state.live && state.sites >= 2,
              "%u samples, %u live, %u sites", (unsigned) state.samples,
              (unsigned) state.live, (unsigned) state.sites);
    jpp_check(state.bytes > 0 && state.bytes < 1 << 20
              && state.bytes < state.bytes_max && state.cut == 0
              && state.dropped_live == 0 && state.dropped_sites == 0,
              "%u bytes, nothing cut or dropped", (unsigned) state.bytes);

    jpp_check(jpp_sampler_on(JPP_SAMPLER_LG_DEFAULT, &err) == JPP_OK
              && jpp_samples.live.n == (int64_t) state.live,
              "on, when it is on already, changes nothing");
    jpp_on(16);
    (void) jpp_read(estimates, &state);
    jpp_check(state.lg_sample == 16 && state.live == 0
              && estimates[1].inuse[1] == 0,
              "another rate begins anew");

    jpp_check(jpp_sampler_on(JPP_SAMPLER_LG_MIN - 1, &err) == JPP_ERR_ARG
              && strstr(err.text, "8 to 24 are allowed") != NULL,
              "a rate that is too fine: %s", err.text);
    jpp_check(jpp_sampler_on(JPP_SAMPLER_LG_MAX + 1, &err) == JPP_ERR_ARG,
              "a rate that is too coarse");

    jpp_off();
    jpp_check(jpp_sampler_off(&err) == JPP_OK, "off once more");
    jpp_check(jpp_sampler_dump(1, NULL, &err) == JPP_ERR_STATE
              && strstr(err.text, "is off") != NULL, "a dump: %s", err.text);
    jpp_check(jpp_sampler_rescan(&err) == JPP_OK, "a rescan");

    for (i = 0; i < JPP_LEAKED; i++) {
        free(held[i]);
    }

    jpp_on(JPP_SAMPLER_LG_DEFAULT);
    jpp_check(jpp_sampler_dump(-1, NULL, &err) == JPP_ERR_WRITE
              && strstr(err.text, "cannot write the dump") != NULL,
              "a dump that nobody takes: %s", err.text);
    jpp_off();
}


/*
 * Ways through three functions, one of which has a frame whose size depends on
 * more than its code: at each end what the sampler has found, by a walk or
 * without one, has to be what a walk finds.
 */

static unsigned long  jpp_ways, jpp_ways_wrong;

static __attribute__((noinline)) void
jpp_way_end(const void *p)
{
    uint32_t           n;
    uint64_t           object;
    uintptr_t          pcs[JPP_SITES_DEPTH + 2];
    const jpp_site_t  *site;

    jpp_ways++;

    /* from this function on; the sampler's are from its caller on */

    n = jpp_backtrace(pcs, JPP_SITES_DEPTH + 2);

    if (!jpp_live_take(&jpp_samples.live, (uintptr_t) p, &object)) {
        jpp_ways_wrong++;
        return;
    }

    site = jpp_sites_at(&jpp_samples.sites, jpp_live_site(object));

    jpp_ways_wrong += site->n != n
                      || memcmp(&site->pcs[1], &pcs[1],
                                (n - 1) * sizeof(uintptr_t)) != 0;
}


static void jpp_way(uint64_t turns, unsigned depth);

static __attribute__((noinline)) void
jpp_way_short(uint64_t turns, unsigned depth)
{
    jpp_way(turns, depth);
    __asm__ volatile ("" : : : "memory");
}


static __attribute__((noinline)) void
jpp_way_wide(uint64_t turns, unsigned depth)
{
    volatile char  room[500];

    room[0] = 1;
    jpp_way(turns, depth);
    room[1] = room[0];
}


static __attribute__((noinline)) void
jpp_way_varies(uint64_t turns, unsigned depth)
{
    volatile char  *room;

    room = __builtin_alloca(16 + turns % 300);
    room[0] = 1;
    jpp_way(turns, depth);
    room[1] = room[0];
}


static __attribute__((noinline)) void
jpp_way(uint64_t turns, unsigned depth)
{
    void  *p;

    if (depth == 0) {
        p = jpp_use(malloc(JPP_BLOCK));
        jpp_way_end(p);
        free(p);

    } else if (turns % 8 == 7) {
        jpp_way_varies(turns / 8, depth - 1);

    } else if (turns % 2 == 0) {
        jpp_way_short(turns / 2, depth - 1);

    } else {
        jpp_way_wide(turns / 2, depth - 1);
    }

    __asm__ volatile ("" : : : "memory");
}


static void *
jpp_way_thread(void *data)
{
    unsigned  i;

    (void) data;

    for (i = 0; i < 200; i++) {
        jpp_way(0x1234, 10);
    }

    return NULL;
}


static void
jpp_play_ways(void)
{
    unsigned                 i;
    uint64_t                 random;
    pthread_t                thread;
    jpp_backtrace_counts_t   before, after;

    if (!jpp_on(JPP_FINE)) {
        return;
    }

    for (i = 0; i < 20000; i++) {
        random = jpp_hash_u64(i % 3000);
        jpp_way(random >> 8, random % 8);
    }

    pthread_create(&thread, NULL, jpp_way_thread, NULL);
    pthread_join(thread, NULL);

    jpp_check(jpp_ways == 20200 && jpp_ways_wrong == 0,
              "%lu of %lu stacks are not what a walk finds", jpp_ways_wrong,
              jpp_ways);

    /* each end walks once itself */

    jpp_backtrace_count(&before);

    for (i = 0; i < 1000; i++) {
        jpp_way(0x1234, 10);
    }

    jpp_backtrace_count(&after);

    jpp_check(after.n - before.n < 1010 && jpp_ways_wrong == 0,
              "a thousand from one site: %u walks",
              (unsigned) (after.n - before.n - 1000));
    jpp_off();
}


/* Blocks change hands, so that a thread frees what another has allocated. */

static void *volatile  jpp_shared[JPP_HELD];
static volatile bool   jpp_is_over;

static void *
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


static void
jpp_threads_start(pthread_t *threads)
{
    uintptr_t  i;

    jpp_is_over = false;

    for (i = 0; i < JPP_THREADS; i++) {
        pthread_create(&threads[i], NULL, jpp_thread, (void *) (i << 40));
    }
}


static void
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


static void
jpp_play_threads(void)
{
    int                   i;
    pthread_t             threads[JPP_THREADS];
    jpp_estimate_t        estimates[JPP_SITES + 1];
    jpp_sampler_state_t   state;

    if (!jpp_on(JPP_FINE)) {
        return;
    }

    jpp_threads_start(threads);

    for (i = 0; i < 30; i++) {
        if (!jpp_read(estimates, &state)) {
            break;
        }

        usleep(1000);
    }

    jpp_check(i == 30, "dumps while samples are taken");
    jpp_threads_end(threads);

    /* libc keeps something for the next thread, which jemalloc itself sees */

    jpp_sampler_state(&state);
    jpp_check(state.samples > 1000, "%u samples of %d threads",
              (unsigned) state.samples, JPP_THREADS);
    jpp_check(state.live <= (state.is_hooked ? JPP_THREADS : 0),
              "%u live when everything is freed", (unsigned) state.live);
    jpp_check(state.cut == 0 && state.dropped_live == 0
              && state.dropped_sites == 0, "nothing cut or dropped");
    jpp_off();
}


/* The places of what is patched, and how their pages are protected. */

typedef struct {
    uintptr_t   *at;
    uintptr_t    value;
    int          protection;
} jpp_place_t;

static jpp_place_t  jpp_places[4096];
static size_t       jpp_places_n;
static jpp_vec_t   *jpp_maps;

static bool
jpp_place(const jpp_got_reloc_t *reloc, void *data)
{
    uint32_t                    i, n;
    jpp_place_t                *place;
    const jpp_got_function_t   *functions;

    (void) data;

    functions = jpp_calls_functions(&n);

    for (i = 0; i < n; i++) {
        if (strcmp(reloc->name, functions[i].name) == 0) {
            place = &jpp_places[jpp_places_n++ % 4096];
            place->at = reloc->at;
            place->value = *reloc->at;
            place->protection = jpp_proc_protection((char *) jpp_maps->data,
                                                    jpp_maps->len,
                                                    (uintptr_t) reloc->at);
        }
    }

    return true;
}


static bool
jpp_object(const jpp_images_object_t *object, void *data)
{
    jpp_got_read(object, jpp_place, data);

    return true;
}


/* They now, in the same order as always; returns a number for them all. */

static uint64_t
jpp_look(void)
{
    size_t       i;
    uint64_t     hash;
    jpp_arena_t  arena;

    jpp_arena_init(&arena, 64 << 20);
    jpp_maps = jpp_vec_create(&arena);
    (void) jpp_proc_maps(jpp_maps, NULL);

    jpp_places_n = 0;
    jpp_images_pinned(jpp_object, NULL);
    jpp_arena_destroy(&arena);

    for (i = 0, hash = jpp_places_n; i < jpp_places_n; i++) {
        hash = jpp_hash_u64(hash ^ (uintptr_t) jpp_places[i].at
                            ^ jpp_hash_u64(jpp_places[i].value)
                            ^ (uint64_t) jpp_places[i].protection << 56);
    }

    return hash;
}


static void
jpp_play_switches(void)
{
    int                   i, bad;
    uint64_t              before, on;
    pthread_t             threads[JPP_THREADS];
    jpp_sampler_state_t   state;

    /* whatever is bound late is bound by then */

    jpp_on(JPP_FINE);
    jpp_off();
    free(jpp_use(realloc(jpp_use(malloc(1)), 2)));

    before = jpp_look();
    jpp_threads_start(threads);

    for (i = 0, bad = 0; i < JPP_SWITCHES; i++) {
        bad += jpp_sampler_on(i % 2 == 0 ? JPP_FINE : 10, NULL) != JPP_OK;
        free(jpp_use(malloc(JPP_BLOCK)));
        bad += jpp_sampler_off(NULL) != JPP_OK;
    }

    jpp_check(bad == 0, "%d times on and off while %d threads allocate",
              JPP_SWITCHES, JPP_THREADS);
    jpp_check(jpp_places_n > 4 && jpp_look() == before,
              "%zu slots and their pages are what they were", jpp_places_n);

    jpp_on(JPP_FINE);
    on = jpp_look();
    jpp_check(on != before, "which they are not while it is on");
    jpp_threads_end(threads);

    jpp_sampler_state(&state);
    jpp_check(state.live == 0, "%u live when everything is freed",
              (unsigned) state.live);
    jpp_off();
    jpp_check(jpp_look() == before, "nor after that");
}


/* A child of a process with threads: whatever they were in, it goes on. */

static int
jpp_forked(const void *held)
{
    int                   i;
    void                 *p;
    jpp_estimate_t        estimates[JPP_SITES + 1];
    jpp_sampler_state_t   state;

    alarm(60);

    for (i = 0; i < 200; i++) {
        p = jpp_use(malloc(JPP_BLOCK));

        if (jpp_sample(p) != JPP_BLOCK) {
            return 1;
        }

        free(p);

        if (jpp_sample(p) != 0) {
            return 2;
        }
    }

    return !jpp_read(estimates, &state) ? 3
           : state.live == 0 || jpp_sample(held) != JPP_BLOCK ? 4
           : jpp_sampler_on(12, NULL) != JPP_OK ? 5
           : jpp_sampler_off(NULL) != JPP_OK ? 6
           : jpp_sampler_on(JPP_FINE, NULL) != JPP_OK ? 7 : 0;
}


/* Do the numbers of this thread go on where they were before the fork? */

static uint64_t  jpp_random;

static bool
jpp_goes_on(void)
{
    unsigned  i;
    uint64_t  random;

    free(jpp_use(malloc(JPP_BLOCK)));

    for (i = 0, random = jpp_random; i < 1000; i++) {
        random += 0x9e3779b97f4a7c15u;

        if (jpp_samples_thread.random == random) {
            return true;
        }
    }

    return false;
}


static void
jpp_play_forks(void)
{
    int         i, status, bad;
    void       *held;
    pid_t       pid;
    pthread_t   threads[JPP_THREADS];

    if (!jpp_on(JPP_FINE)) {
        return;
    }

    /* which the children know, too */

    held = jpp_use(malloc(JPP_BLOCK));
    jpp_threads_start(threads);

    for (i = 0, bad = 0; i < JPP_FORKS; i++) {
        usleep((useconds_t) (i * 37 % 500));
        pid = fork();

        if (pid == 0) {

            /* not exit(): the part ends in its parent */

            _exit(jpp_forked(held));
        }

        if (waitpid(pid, &status, 0) != pid || status != 0) {
            jpp_check(false, "a child ended with 0x%x", status);
            bad++;
        }
    }

    jpp_check(bad == 0, "%d children of a process with threads", JPP_FORKS);
    jpp_threads_end(threads);

    free(jpp_use(malloc(JPP_BLOCK)));
    jpp_random = jpp_samples_thread.random;
    pid = fork();

    if (pid == 0) {
        _exit(jpp_goes_on());
    }

    waitpid(pid, &status, 0);
    jpp_check(jpp_goes_on() && status == 0,
              "a child draws other numbers than its parent");
    jpp_off();
    free(held);
}


/*
 * A handler that allocates and frees at every single instruction of ours: the
 * trap flag raises SIGTRAP after each.  In the allocator itself that would be
 * wrong without a sampler, too, so it is left alone there.
 */

#define JPP_TRAP_FLAG  0x100

extern char  __executable_start, etext;

static unsigned long          jpp_trapped;
static void *volatile         jpp_trap_block;


static void
jpp_trap(int signo, siginfo_t *info, void *context)
{
    int         saved;
    uintptr_t   pc;
    ucontext_t *uc = context;

    (void) signo;
    (void) info;

    pc = (uintptr_t) uc->uc_mcontext.gregs[REG_RIP];

    if (pc < (uintptr_t) &__executable_start || pc >= (uintptr_t) &etext) {
        return;
    }

    saved = errno;
    jpp_trapped++;

    /* now and then a block that outlives the handler */

    if (jpp_trapped % 7 == 0) {
        free(jpp_trap_block);
        jpp_trap_block = malloc(JPP_BLOCK + 1);

    } else {
        free(jpp_use(malloc(JPP_BLOCK)));
    }

    errno = saved;
}


static inline __attribute__((always_inline)) void
jpp_trap_on(void)
{
    __asm__ volatile ("lea -128(%%rsp), %%rsp; pushfq; orq %0, (%%rsp); "
                      "popfq; lea 128(%%rsp), %%rsp"
                      : : "i" (JPP_TRAP_FLAG) : "memory", "cc");
}


static inline __attribute__((always_inline)) void
jpp_trap_off(void)
{
    __asm__ volatile ("lea -128(%%rsp), %%rsp; pushfq; andq %0, (%%rsp); "
                      "popfq; lea 128(%%rsp), %%rsp"
                      : : "i" (~JPP_TRAP_FLAG) : "memory", "cc");
}


static void
jpp_play_signals(void)
{
    int                   i;
    void                 *p;
    struct sigaction      action;
    jpp_sampler_state_t   state;

    if (!jpp_on(JPP_FINE)) {
        return;
    }

    memset(&action, 0, sizeof(action));
    action.sa_sigaction = jpp_trap;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, NULL);

    /* threads, whose stacks are not known yet, are met in the same way */

    for (i = 0; i < 20; i++) {
        jpp_trap_on();
        p = jpp_use(malloc((size_t) (5000 + i * 100)));
        p = jpp_use(realloc(p, (size_t) (90000 + i * 100)));
        free(p);
        jpp_trap_off();
    }

    free(jpp_trap_block);

    jpp_sampler_state(&state);
    jpp_check(jpp_trapped > 10000, "a handler that allocates at each of %lu "
              "instructions", jpp_trapped);
    jpp_check(state.samples > jpp_trapped / 2, "whose blocks are sampled");
    jpp_check(state.live == 0, "%u live when everything is freed",
              (unsigned) state.live);
    jpp_check(state.cut == 0, "no stack is cut");
    jpp_off();
}


/* Whoever else has an address of ours may call it at any time. */

static jpp_malloc_pt  jpp_ours;
static unsigned  jpp_calls_of_another;

static void *
jpp_another(size_t size)
{
    jpp_calls_of_another++;

    return jpp_ours(size);
}


static uintptr_t  *jpp_slot;

static bool
jpp_find_slot(const jpp_got_reloc_t *reloc, void *data)
{
    (void) data;

    if (reloc->is_call && strcmp(reloc->name, "malloc") == 0) {
        jpp_slot = reloc->at;
    }

    return jpp_slot == NULL;
}


static bool
jpp_find_program(const jpp_images_object_t *object, void *data)
{
    jpp_got_read(object, jpp_find_slot, data);

    return jpp_slot == NULL;
}


static void
jpp_play_another(void)
{
    void                 *p;
    jpp_sampler_state_t   state;

    if (!jpp_on(JPP_FINE)) {
        return;
    }

    free(jpp_use(malloc(1)));
    jpp_images_pinned(jpp_find_program, NULL);
    jpp_check(jpp_slot != NULL, "the program's slot");

    jpp_ours = (jpp_malloc_pt) *jpp_slot;
    *jpp_slot = (uintptr_t) jpp_another;

    p = jpp_use(malloc(JPP_BLOCK));
    jpp_check(jpp_calls_of_another == 1, "another takes it over");
    jpp_allocated("what it passes on", p, JPP_BLOCK);
    free(p);

    jpp_sampler_state(&state);
    jpp_check(state.lost == 1, "the state knows of it");

    jpp_off();
    jpp_sampler_state(&state);
    jpp_check(state.lost == 1 && *jpp_slot == (uintptr_t) jpp_another,
              "it keeps it");

    p = jpp_use(malloc(JPP_BLOCK));
    jpp_check(jpp_calls_of_another == 2 && p != NULL && jpp_sample(p) == 0,
              "what it passes on is passed on");
    free(p);

    jpp_on(JPP_FINE);
    jpp_sampler_state(&state);
    jpp_check(state.foreign == 1 && *jpp_slot == (uintptr_t) jpp_another,
              "also the next time");

    /* it ends before us */

    *jpp_slot = (uintptr_t) jpp_ours;
    jpp_off();
    jpp_on(JPP_FINE);
    jpp_off();
    p = jpp_use(malloc(JPP_BLOCK));
    jpp_check(*jpp_slot != (uintptr_t) jpp_ours && jpp_sample(p) == 0,
              "what it leaves is restored the next time");
    free(p);
}


/* The table is full of what will never be freed. */

static void
jpp_play_full(void)
{
    void                 *p, *q;
    uintptr_t             i;
    jpp_sampler_state_t   state;

    if (!jpp_on(JPP_FINE)) {
        return;
    }

    p = jpp_use(malloc(JPP_BLOCK));

    for (i = 0; jpp_live_add(&jpp_samples.live, 0x1000 + i * 16,
                             jpp_live_object(1, 1)); i++)
    {
        /* void */
    }

    q = jpp_use(malloc(JPP_BLOCK));
    jpp_check(jpp_sample(q) == 0, "no room for another sample");

    jpp_sampler_state(&state);
    jpp_check(state.live == state.live_max && state.dropped_live == 2,
              "%u live, %u dropped", (unsigned) state.live,
              (unsigned) state.dropped_live);

    free(q);
    free(p);
    q = jpp_use(malloc(JPP_BLOCK));
    jpp_allocated("malloc(), when one has gone,", q, JPP_BLOCK);

    /* what was put there by hand belongs to no site */

    jpp_off();
    jpp_on(JPP_FINE);
    jpp_sampler_state(&state);
    jpp_check(state.live == 0 && state.dropped_live == 0,
              "the next time it is empty");
    jpp_off();
    free(q);
}


/* A malloc() that is in the program itself, and is nobody's. */

static void
jpp_play_refused(void)
{
    jpp_err_t  err = { 0 };

    jpp_check(jpp_sampler_on(JPP_FINE, &err) == JPP_ERR_STATE
              && strstr(err.text, "malloc is linked into the program") != NULL,
              "on: %s", err.text);
    jpp_check(jpp_sampler_off(&err) == JPP_OK, "off %s", err.text);
}


static const jpp_part_t  jpp_parts[] = {
    { "functions", jpp_play_functions, false },
    { "operators", jpp_play_operators, false },
    { "late",      jpp_play_late,      true },
    { "estimates", jpp_play_estimates, false },
    { "leak",      jpp_play_leak,      false },
    { "ways",      jpp_play_ways,      true },
    { "threads",   jpp_play_threads,   false },
    { "switches",  jpp_play_switches,  true },
    { "forks",     jpp_play_forks,     false },
    { "signals",   jpp_play_signals,   true },
    { "another",   jpp_play_another,   true },
    { "full",      jpp_play_full,      false },
    { "refused",   jpp_play_refused,   false }
};


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
    int      fds[2], status;
    char     path[4096], line[512];
    FILE    *lines;
    pid_t    pid;
    ssize_t  n;

    n = readlink("/proc/self/exe", path, sizeof(path) - 64);
    path[n > 0 ? n : 0] = '\0';
    strcat(path, program->suffix);

    if (pipe(fds) == -1 || (pid = fork()) == -1) {
        jpp_ok(false, "%s: no child", part);
        return;
    }

    if (pid == 0) {
        dup2(fds[1], 1);
        close(fds[0]);
        close(fds[1]);

        unsetenv("LD_PRELOAD");

        if (program->preload != NULL) {
            setenv("LD_PRELOAD", program->preload, 1);
        }

        execl(path, path, part, (char *) NULL);
        _exit(127);
    }

    close(fds[1]);
    lines = fdopen(fds[0], "r");

    while (fgets(line, sizeof(line), lines) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        jpp_ok(line[0] == '+', "%s, %s: %s", program->what, part, line + 2);
    }

    fclose(lines);
    waitpid(pid, &status, 0);
    jpp_is_i64(status, 0, "%s, %s: its end", program->what, part);
}


int
main(int argc, char **argv)
{
    size_t  i, j, n;

    n = sizeof(jpp_parts) / sizeof(jpp_parts[0]);

    for (i = 0; argc == 2 && i < n; i++) {
        if (strcmp(argv[1], jpp_parts[i].name) == 0) {

            /* what hangs has failed */

            alarm(100);
            jpp_parts[i].play();

            /* by the destructors */

            return 0;
        }
    }

    if (JPP_IS_SANITIZED) {
        jpp_ok(true, "the sampler # SKIP a sanitizer brings its own malloc");
        jpp_run(&jpp_programs[0], "refused");

        return jpp_done();
    }

    for (i = 0; i < sizeof(jpp_programs) / sizeof(jpp_programs[0]); i++) {
        for (j = 0; j < n - 1; j++) {
            if (jpp_programs[i].has_slots || !jpp_parts[j].is_for_slots) {
                jpp_run(&jpp_programs[i], jpp_parts[j].name);
            }
        }
    }

    return jpp_done();
}


#else


int
main(void)
{
    jpp_ok(true, "the sampler # SKIP not on this machine");

    return jpp_done();
}


#endif
