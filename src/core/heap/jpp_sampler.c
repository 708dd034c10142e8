
#include "jpp_sampler.h"
#include "jpp_jemalloc.h"
#include "jpp_samples.h"

#include <pthread.h>
#include <sys/auxv.h>


/*
 * What takes the place of malloc(), free(), operator new and their like while
 * the sampler is on: each reports to jpp_samples.h what it does, and calls the
 * real one.
 *
 * They are [signal], for any thread, and work at any time, also when the
 * sampler is off, because others may have kept their addresses.
 */


#define JPP_CALLS_CALLER  __builtin_return_address(0)
#define JPP_CALLS_FRAME   __builtin_frame_address(0)

/* what is called as the last thing, so that its caller is that of the call */
#define JPP_CALLS_SLOW    __attribute__((noinline))


/* any of the functions, and any of ours: they have three arguments at most */
typedef void *(*jpp_calls_pt)(uintptr_t a, uintptr_t b, uintptr_t c);


/*
 * The functions: those that allocate as many bytes as an argument says, that
 * free their first argument, and the others, which are written below.
 */

#define JPP_CALLS_TABLE(ALLOCATES, FREES, OTHER)                              \
    ALLOCATES(malloc, "malloc", a)                                            \
    ALLOCATES(aligned_alloc, "aligned_alloc", b)                              \
    ALLOCATES(memalign, "memalign", b)                                        \
    ALLOCATES(new, "_Znwm", a)                                                \
    ALLOCATES(new_array, "_Znam", a)                                          \
    ALLOCATES(new_nothrow, "_ZnwmRKSt9nothrow_t", a)                          \
    ALLOCATES(new_array_nothrow, "_ZnamRKSt9nothrow_t", a)                    \
    ALLOCATES(new_aligned, "_ZnwmSt11align_val_t", a)                         \
    ALLOCATES(new_array_aligned, "_ZnamSt11align_val_t", a)                   \
    ALLOCATES(new_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t", a)   \
    ALLOCATES(new_array_aligned_nothrow,                                      \
              "_ZnamSt11align_val_tRKSt9nothrow_t", a)                        \
    FREES(free, "free")                                                       \
    FREES(delete, "_ZdlPv")                                                   \
    FREES(delete_array, "_ZdaPv")                                             \
    FREES(delete_nothrow, "_ZdlPvRKSt9nothrow_t")                             \
    FREES(delete_array_nothrow, "_ZdaPvRKSt9nothrow_t")                       \
    FREES(delete_sized, "_ZdlPvm")                                            \
    FREES(delete_array_sized, "_ZdaPvm")                                      \
    FREES(delete_aligned, "_ZdlPvSt11align_val_t")                            \
    FREES(delete_array_aligned, "_ZdaPvSt11align_val_t")                      \
    FREES(delete_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t")      \
    FREES(delete_array_aligned_nothrow,                                       \
          "_ZdaPvSt11align_val_tRKSt9nothrow_t")                              \
    FREES(delete_sized_aligned, "_ZdlPvmSt11align_val_t")                     \
    FREES(delete_array_sized_aligned, "_ZdaPvmSt11align_val_t")               \
    OTHER(calloc, "calloc")                                                   \
    OTHER(realloc, "realloc")                                                 \
    OTHER(reallocarray, "reallocarray")                                       \
    OTHER(posix_memalign, "posix_memalign")

#define JPP_CALLS_ID(name, ...)  JPP_CALLS_##name,

typedef enum {
    JPP_CALLS_TABLE(JPP_CALLS_ID, JPP_CALLS_ID, JPP_CALLS_ID)
    JPP_CALLS
} jpp_calls_function_t;


static void *jpp_calls_slow(uint32_t function, uintptr_t a, uintptr_t b,
    uintptr_t c, uintptr_t size, const void *caller) JPP_CALLS_SLOW;
static void *jpp_calls_slow_free(uint32_t function, uintptr_t a, uintptr_t b,
    uintptr_t c) JPP_CALLS_SLOW;


#define JPP_CALLS_DECLARE(name, ...)                                          \
    static void *jpp_calls_##name(uintptr_t a, uintptr_t b, uintptr_t c);

JPP_CALLS_TABLE(JPP_CALLS_DECLARE, JPP_CALLS_DECLARE, JPP_CALLS_DECLARE)


#define JPP_CALLS_ROW(name, symbol, ...)                                      \
    [JPP_CALLS_##name] = { symbol, 0, (uintptr_t) jpp_calls_##name, false },

#define JPP_CALLS_IDLE(name, symbol)                                          \
    [JPP_CALLS_##name] = { symbol, 0, (uintptr_t) jpp_calls_##name, true },

static jpp_got_function_t  jpp_calls_table[JPP_CALLS] = {
    JPP_CALLS_TABLE(JPP_CALLS_ROW, JPP_CALLS_IDLE, JPP_CALLS_ROW)
};

#define jpp_calls_real(function)                                              \
    ((jpp_calls_pt) jpp_calls_table[function].real)


/*
 * Look the real functions up, which is done once, in one thread; returns the
 * address of malloc().  They are those of the allocator that has malloc():
 * operators new and delete that call it are left alone.
 */

static uintptr_t
jpp_calls_prepare(void)
{
    uintptr_t            allocator;
    jpp_got_function_t  *function;

    allocator = jpp_calls_table[JPP_CALLS_malloc].real;

    if (allocator != 0) {
        return allocator;
    }

    allocator = jpp_got_find("malloc");

    jpp_each(function, jpp_calls_table, JPP_CALLS) {
        function->real = jpp_got_find(function->name);

        /* mangled: another's operator calls malloc() itself */

        if (function->name[0] == '_'
            && !jpp_images_is_beside(allocator, function->real))
        {
            function->real = 0;
        }
    }

    return allocator;
}


const jpp_got_function_t *
jpp_calls_functions(uint32_t *n)
{
    *n = JPP_CALLS;

    return jpp_calls_table;
}


#define JPP_CALLS_ALLOCATES(name, symbol, size)                               \
                                                                              \
static void *                                                                 \
jpp_calls_##name(uintptr_t a, uintptr_t b, uintptr_t c)                       \
{                                                                             \
    if (jpp_samples_is_due(size)) {                                           \
        return jpp_calls_slow(JPP_CALLS_##name, a, b, c, size,                \
                              JPP_CALLS_CALLER);                              \
    }                                                                         \
                                                                              \
    return jpp_calls_real(JPP_CALLS_##name)(a, b, c);                         \
}

#define JPP_CALLS_FREES(name, symbol)                                         \
                                                                              \
static void *                                                                 \
jpp_calls_##name(uintptr_t a, uintptr_t b, uintptr_t c)                       \
{                                                                             \
    if (jpp_samples_may_have(a)) {                                            \
        return jpp_calls_slow_free(JPP_CALLS_##name, a, b, c);                \
    }                                                                         \
                                                                              \
    return jpp_calls_real(JPP_CALLS_##name)(a, b, c);                         \
}

#define JPP_CALLS_OTHER(name, symbol)

JPP_CALLS_TABLE(JPP_CALLS_ALLOCATES, JPP_CALLS_FREES, JPP_CALLS_OTHER)


static void *
jpp_calls_slow(uint32_t function, uintptr_t a, uintptr_t b, uintptr_t c,
    uintptr_t size, const void *caller)
{
    void  *p;

    p = jpp_calls_real(function)(a, b, c);

    jpp_samples_take(p, size, caller, JPP_CALLS_FRAME);

    return p;
}


/* Before it is free: another thread may get the same address at once. */

static void *
jpp_calls_slow_free(uint32_t function, uintptr_t a, uintptr_t b, uintptr_t c)
{
    uint64_t  object;

    (void) jpp_live_take(&jpp_samples.live, a, &object);

    return jpp_calls_real(function)(a, b, c);
}


/* A product that is too large makes calloc() fail; what it counted for is
   forgotten with the next draw. */

static void *
jpp_calls_calloc(uintptr_t n, uintptr_t size, uintptr_t c)
{
    if (jpp_samples_is_due(n * size)) {
        return jpp_calls_slow(JPP_CALLS_calloc, n, size, c, n * size,
                              JPP_CALLS_CALLER);
    }

    return jpp_calls_real(JPP_CALLS_calloc)(n, size, c);
}


static void *
jpp_calls_slow_memalign(uintptr_t at, uintptr_t alignment, uintptr_t size,
    const void *caller)
{
    void  *result;

    result = jpp_calls_real(JPP_CALLS_posix_memalign)(at, alignment, size);

    jpp_samples_take((int) (uintptr_t) result == 0 ? *(void **) at : NULL,
                     size, caller, JPP_CALLS_FRAME);

    return result;
}


static void *
jpp_calls_posix_memalign(uintptr_t at, uintptr_t alignment, uintptr_t size)
{
    if (jpp_samples_is_due(size)) {
        return jpp_calls_slow_memalign(at, alignment, size, JPP_CALLS_CALLER);
    }

    return jpp_calls_real(JPP_CALLS_posix_memalign)(at, alignment, size);
}


/* What it was is taken out before it may be freed, and put back where it was
   not.  With a size of 0 there is no failure. */

static void *
jpp_calls_slow_resize(uintptr_t p, uintptr_t size, bool is_due,
    const void *caller)
{
    bool       was_live;
    void      *result;
    uint64_t   object;

    was_live = jpp_samples_freed(p, &object);

    result = jpp_calls_real(JPP_CALLS_realloc)(p, size, 0);

    if (result == NULL && size != 0 && was_live) {
        (void) jpp_live_add(&jpp_samples.live, p, object);
    }

    if (is_due) {
        jpp_samples_take(result, size, caller, JPP_CALLS_FRAME);
    }

    return result;
}


static inline void *
jpp_calls_resize(uintptr_t p, uintptr_t size, const void *caller)
{
    bool  is_due;

    is_due = jpp_samples_is_due(size);

    if (is_due || jpp_samples_may_have(p)) {
        return jpp_calls_slow_resize(p, size, is_due, caller);
    }

    return jpp_calls_real(JPP_CALLS_realloc)(p, size, 0);
}


static void *
jpp_calls_realloc(uintptr_t p, uintptr_t size, uintptr_t c)
{
    (void) c;

    return jpp_calls_resize(p, size, JPP_CALLS_CALLER);
}


/* Not the real one, which may call realloc() in the way that is patched. */

static void *
jpp_calls_reallocarray(uintptr_t p, uintptr_t n, uintptr_t size)
{
    uintptr_t  product;

    if (__builtin_mul_overflow(n, size, &product)) {
        errno = ENOMEM;
        return NULL;
    }

    return jpp_calls_resize(p, product, JPP_CALLS_CALLER);
}


/*
 * Allocations as jemalloc itself reports them, for a jemalloc that is linked
 * into the program: experimental.hooks, which 5.2.0 to 5.3.1 have.  Every call
 * takes the slow way through jemalloc then, which costs it 250 to 370
 * instructions.
 *
 * One thread at a time, as long as jpp_jemalloc.h allows.
 */


/* The types, and what the arguments are, as of hook.h in jemalloc's sources. */


typedef struct {
    void   (*allocated)(void *extra, int call, void *p, uintptr_t result,
                        uintptr_t *args);
    void   (*freed)(void *extra, int call, void *p, uintptr_t *args);
    void   (*resized)(void *extra, int call, void *p, size_t was, size_t size,
                      uintptr_t result, uintptr_t *args);
    void    *extra;
} jpp_hooks_t;


/* the calls that allocate, in jemalloc's order: which argument is the size */
static const uint8_t  jpp_hooks_sizes[] = {
    0,                        /* malloc */
    2,                        /* posix_memalign */
    1,                        /* aligned_alloc */
    1,                        /* calloc, which has two */
    1,                        /* memalign */
    0,                        /* valloc */
    0,                        /* mallocx */
    1,                        /* realloc */
    1                         /* rallocx */
};

#define JPP_HOOKS_CALLOC  3


static void  *jpp_hooks_handle;


static void
jpp_hooks_allocated(void *extra, int call, void *p, uintptr_t result,
    uintptr_t *args)
{
    uintptr_t  size;

    (void) extra;
    (void) result;

    if (p == NULL || (size_t) call >= sizeof(jpp_hooks_sizes)) {
        return;
    }

    size = args[jpp_hooks_sizes[call]];

    if (call == JPP_HOOKS_CALLOC) {
        size *= args[0];
    }

    if (jpp_samples_is_due(size)) {
        jpp_samples_take(p, size, JPP_CALLS_CALLER, NULL);
    }
}


static void
jpp_hooks_freed(void *extra, int call, void *p, uintptr_t *args)
{
    uint64_t  object;

    (void) extra;
    (void) call;
    (void) args;

    (void) jpp_samples_freed((uintptr_t) p, &object);
}


/* In its place: as if it had been freed, and allocated again. */

static void
jpp_hooks_resized(void *extra, int call, void *p, size_t was, size_t size,
    uintptr_t result, uintptr_t *args)
{
    (void) was;
    (void) result;

    jpp_hooks_freed(extra, call, p, args);

    if (jpp_samples_is_due(size)) {
        jpp_samples_take(p, size, JPP_CALLS_CALLER, NULL);
    }
}


static jpp_hooks_t  jpp_hooks = {
    jpp_hooks_allocated, jpp_hooks_freed, jpp_hooks_resized, NULL
};


/* what the process has of the sampler, but for the samples */
typedef struct {
    jpp_sampler_state_t  state;    /* but for what is counted when it is */
                                   /*   asked for */
    uint64_t             loads;    /* of objects, at the last look */
    jpp_got_t            got;
} jpp_sampler_t;


static jpp_sampler_t    jpp_sampler;
static pthread_mutex_t  jpp_sampler_lock = PTHREAD_MUTEX_INITIALIZER;

/* for those who cannot wait for that lock: its state, but for the samples */

static jpp_sampler_state_t  jpp_sampler_known;
static pthread_mutex_t      jpp_sampler_known_lock = PTHREAD_MUTEX_INITIALIZER;


/* Not in each sample, which would cost it as much as twenty instructions. */

static void
jpp_sampler_tick(void)
{
    jpp_atomic_set(&jpp_samples.live.now,
                   (uint32_t) (jpp_clock() / 1000000000));
}


/* Begin to see what is allocated. */

static jpp_code_t
jpp_sampler_see(jpp_err_t *err)
{
    uintptr_t       allocator;
    jpp_got_t      *got;
    jpp_code_t      rc;
    jpp_jemalloc_t  jemalloc;

    got = &jpp_sampler.got;
    allocator = jpp_calls_prepare();

    jpp_sampler.state.is_hooked = jpp_images_is_beside(allocator,
                                                       getauxval(AT_PHDR));

    if (jpp_sampler.state.is_hooked) {

        /* finds jemalloc */

        jpp_jemalloc_read(&jemalloc);

        return jpp_mallctl_call("experimental.hooks.install",
                                &jpp_hooks_handle, sizeof(void *),
                                &jpp_hooks, sizeof(jpp_hooks))
               == 0
               ? JPP_OK
               : jpp_err_set(err, JPP_ERR_SYS,
                             "malloc is linked into the program, so the "
                             "sampler cannot see its calls (only jemalloc "
                             "5.2.0 to 5.3.1 would report them): preload an "
                             "allocator, or link the program with a shared "
                             "one");
    }

    /*
     * An allocator that calls itself would be counted twice; libc does not, and
     * hands out what it has allocated: by strdup(), getline() ...
     */

    got->except = jpp_images_is_beside(allocator, jpp_got_find("strdup"))
                  ? 0 : allocator;
    got->functions = jpp_calls_functions(&got->n_functions);

    (void) jpp_images_is_new(&jpp_sampler.loads);

    rc = jpp_got_patch(got, err);

    if (rc == JPP_OK && got->n_slots == 0) {
        return jpp_err_set(err, JPP_ERR_SYS,
                           "no loaded object calls malloc by a table of "
                           "addresses, so the sampler cannot see any call");
    }

    if (rc != JPP_OK && got->n_slots != 0) {
        (void) jpp_got_restore(got, NULL);
    }

    return rc;
}


/* A thread of the parent may have held them, which the child has not. */

static void
jpp_sampler_forked(void)
{
    static const pthread_mutex_t  unlocked = PTHREAD_MUTEX_INITIALIZER;

    jpp_sampler_lock = unlocked;
    jpp_sampler_known_lock = unlocked;
}


static jpp_code_t
jpp_sampler_start(uint32_t lg, jpp_err_t *err)
{
    jpp_code_t  rc;

    if (!jpp_backtrace_start()) {
        return jpp_err_set(err, JPP_ERR_SYS,
                           "the sampler unwinds stacks on amd64 only: use "
                           "jemalloc's profiler on this machine");
    }

    if (!jpp_samples_prepare()) {
        return jpp_err_memory(err);
    }

    rc = jpp_sampler.state.is_on ? JPP_OK : jpp_sampler_see(err);

    if (rc != JPP_OK) {
        return rc;
    }

    /*
     * A sample taken earlier may be freed where nothing is seen yet.  Two
     * processes that start at once have other numbers.
     */

    jpp_sampler_tick();

    jpp_samples_start(lg, jpp_hash_u64(jpp_clock()
                                       ^ (uint64_t) getpid() << 40));

    if (jpp_sampler.state.since == 0) {
        (void) pthread_atfork(NULL, NULL, jpp_sampler_forked);
    }

    jpp_atomic_set(&jpp_sampler.state.is_on, true);
    jpp_sampler.state.lg_sample = lg;
    jpp_sampler.state.since = time(NULL);

    return JPP_OK;
}


/* For who has the lock; before it was ever on, there is nothing to know. */

static void
jpp_sampler_publish(void)
{
    const jpp_got_t      *got;
    jpp_sampler_state_t  *state;

    state = &jpp_sampler.state;

    if (state->since == 0) {
        return;
    }

    got = &jpp_sampler.got;
    state->slots = got->n_slots;
    state->objects = got->n_objects;
    state->foreign = got->n_foreign;

    if (state->is_on) {
        state->lost = jpp_got_lost(got);
    }

    pthread_mutex_lock(&jpp_sampler_known_lock);
    jpp_sampler_known = *state;
    pthread_mutex_unlock(&jpp_sampler_known_lock);
}


jpp_code_t
jpp_sampler_on(uint32_t lg, jpp_err_t *err)
{
    jpp_code_t  rc;

    if (lg < JPP_SAMPLER_LG_MIN || lg > JPP_SAMPLER_LG_MAX) {
        return jpp_err_set(err, JPP_ERR_ARG,
                           "the sampler's rate is %u, and %u to %u are "
                           "allowed", lg, JPP_SAMPLER_LG_MIN,
                           JPP_SAMPLER_LG_MAX);
    }

    pthread_mutex_lock(&jpp_sampler_lock);

    rc = jpp_sampler.state.is_on && jpp_sampler.state.lg_sample == lg
         ? JPP_OK : jpp_sampler_start(lg, err);

    jpp_sampler_publish();

    pthread_mutex_unlock(&jpp_sampler_lock);

    return rc;
}


/* Also once more, where the slots could not be restored the first time. */

static jpp_code_t
jpp_sampler_stop(jpp_err_t *err)
{
    jpp_code_t  rc;

    if (!jpp_sampler.state.is_on && jpp_sampler.got.n_slots == 0) {
        return JPP_OK;
    }

    jpp_sampler.state.lost = jpp_got_lost(&jpp_sampler.got);

    if (jpp_sampler.state.is_on && jpp_sampler.state.is_hooked) {
        rc = jpp_mallctl_call("experimental.hooks.remove", NULL, 0,
                              &jpp_hooks_handle, sizeof(void *))
             == 0
             ? JPP_OK
             : jpp_err_set(err, JPP_ERR_JEMALLOC,
                           "jemalloc refuses experimental.hooks.remove, which "
                           "5.2.0 to 5.3.1 are known to allow");

    } else {
        rc = jpp_got_restore(&jpp_sampler.got, err);
    }

    jpp_atomic_set(&jpp_sampler.state.is_on, false);
    jpp_samples_stop();

    return rc;
}


jpp_code_t
jpp_sampler_off(jpp_err_t *err)
{
    jpp_code_t  rc;

    pthread_mutex_lock(&jpp_sampler_lock);

    rc = jpp_sampler_stop(err);

    jpp_sampler_publish();

    pthread_mutex_unlock(&jpp_sampler_lock);

    return rc;
}


/* A lock that is held says that somebody else looks, or that the sampler is
   busy with a dump: the next time will do. */

jpp_code_t
jpp_sampler_rescan(jpp_err_t *err)
{
    jpp_code_t  rc;

    jpp_sampler_tick();

    if (pthread_mutex_trylock(&jpp_sampler_lock) != 0) {
        return JPP_OK;
    }

    rc = JPP_OK;

    if (jpp_sampler.state.is_on && jpp_images_is_new(&jpp_sampler.loads)) {
        jpp_backtrace_refresh();

        rc = jpp_sampler.state.is_hooked
             ? JPP_OK : jpp_got_patch(&jpp_sampler.got, err);

        jpp_sampler_publish();
    }

    pthread_mutex_unlock(&jpp_sampler_lock);

    return rc;
}


jpp_code_t
jpp_sampler_dump(int fd, const jpp_ages_t *ages, jpp_sampler_state_t *state,
    jpp_err_t *err)
{
    jpp_code_t  rc;

    static const jpp_ages_t  all = { 0, false };

    pthread_mutex_lock(&jpp_sampler_lock);

    if (jpp_sampler.state.is_on) {
        jpp_sampler_tick();
        rc = jpp_samples_dump(&jpp_samples, fd, ages != NULL ? ages : &all,
                              err);

    } else {
        rc = jpp_err_set(err, JPP_ERR_STATE, "the sampler is off");
    }

    if (state != NULL) {
        jpp_sampler_publish();
        jpp_sampler_state(state);
    }

    pthread_mutex_unlock(&jpp_sampler_lock);

    return rc;
}


bool
jpp_sampler_is_on(void)
{
    return jpp_atomic_get(&jpp_sampler.state.is_on);
}


static void
jpp_sampler_count(jpp_site_t *site, void *data)
{
    jpp_sampler_state_t *state = data;

    state->sites++;
    state->samples += jpp_atomic_get(&site->allocated);
}


/*
 * Whoever has the lock may be changing the list of slots: then the state is as
 * it was before.
 */

void
jpp_sampler_state(jpp_sampler_state_t *state)
{
    if (pthread_mutex_trylock(&jpp_sampler_lock) == 0) {
        jpp_sampler_publish();
        pthread_mutex_unlock(&jpp_sampler_lock);
    }

    pthread_mutex_lock(&jpp_sampler_known_lock);
    *state = jpp_sampler_known;
    pthread_mutex_unlock(&jpp_sampler_known_lock);

    if (state->since != 0) {
        jpp_sites_walk(&jpp_samples.sites, jpp_sampler_count, state);

        state->live = jpp_live_count(&jpp_samples.live);
        state->bytes = jpp_live_bytes(&jpp_samples.live)
                       + jpp_sites_bytes(&jpp_samples.sites);
        state->dropped_live = jpp_atomic_get(&jpp_samples.live.n_dropped);
        state->dropped_sites = jpp_atomic_get(&jpp_samples.sites.n_dropped);
        state->cut = jpp_atomic_get(&jpp_samples.n_cut);
    }

    state->live_max = JPP_LIVE_MAX;
    state->bytes_max = sizeof(jpp_samples) + JPP_LIVE_MEMORY + JPP_SITES_MEMORY;
}


bool
jpp_sampler_sample_thread(bool is_sampled)
{
    bool  was;

    was = !jpp_samples_thread.is_unsampled;
    jpp_samples_thread.is_unsampled = !is_sampled;

    return was;
}
