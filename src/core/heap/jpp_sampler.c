
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "jpp_backtrace.h"
#include "jpp_got.h"
#include "jpp_got_find.h"
#include "jpp_images.h"
#include "jpp_index.h"
#include "jpp_jemalloc.h"
#include "jpp_mallctl.h"
#include "jpp_sampler.h"
#include "jpp_sampler_calls.h"
#include "jpp_samples.h"
#include "jpp_samples_dump.h"


/*
 * Allocations as jemalloc itself reports them, for a jemalloc that is linked
 * into the program: experimental.hooks, which 5.2.0 to 5.3.1 have.  Every call
 * takes the slow way through jemalloc then, which costs it 250 to 370
 * instructions.
 *
 * One thread at a time, as long as jpp_jemalloc.h allows.
 */


/* The types, and what the arguments are, as of hook.h in jemalloc's sources. */


#define JPP_HOOKS_CALLER  __builtin_return_address(0)


/* the calls that allocate, in jemalloc's order */
typedef enum {
    JPP_HOOKS_MALLOC = 0,
    JPP_HOOKS_POSIX_MEMALIGN,
    JPP_HOOKS_ALIGNED_ALLOC,
    JPP_HOOKS_CALLOC,
    JPP_HOOKS_MEMALIGN,
    JPP_HOOKS_VALLOC,
    JPP_HOOKS_MALLOCX,
    JPP_HOOKS_REALLOC,
    JPP_HOOKS_RALLOCX,
    JPP_HOOKS
} jpp_hooks_call_t;


typedef struct {
    void   (*allocated)(void *extra, int call, void *p, uintptr_t result,
                        uintptr_t *args);
    void   (*freed)(void *extra, int call, void *p, uintptr_t *args);
    void   (*resized)(void *extra, int call, void *p, size_t was, size_t size,
                      uintptr_t result, uintptr_t *args);
    void    *extra;
} jpp_hooks_t;


/* the argument that is the size; calloc() has two */
static const uint8_t  jpp_hooks_sizes[JPP_HOOKS] = {
    [JPP_HOOKS_MALLOC]         = 0,
    [JPP_HOOKS_POSIX_MEMALIGN] = 2,
    [JPP_HOOKS_ALIGNED_ALLOC]  = 1,
    [JPP_HOOKS_CALLOC]         = 1,
    [JPP_HOOKS_MEMALIGN]       = 1,
    [JPP_HOOKS_VALLOC]         = 0,
    [JPP_HOOKS_MALLOCX]        = 0,
    [JPP_HOOKS_REALLOC]        = 1,
    [JPP_HOOKS_RALLOCX]        = 1
};


static void  *jpp_hooks_handle;


static void
jpp_hooks_allocated(void *extra, int call, void *p, uintptr_t result,
    uintptr_t *args)
{
    uintptr_t  size;

    (void) extra;
    (void) result;

    if (p == NULL || (unsigned) call >= JPP_HOOKS) {
        return;
    }

    size = args[jpp_hooks_sizes[call]];

    if (call == JPP_HOOKS_CALLOC) {
        size *= args[0];
    }

    if (jpp_samples_is_due(size)) {
        jpp_samples_take(p, size, JPP_HOOKS_CALLER, NULL);
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
    uint64_t  object;

    (void) extra;
    (void) call;
    (void) was;
    (void) result;
    (void) args;

    (void) jpp_samples_freed((uintptr_t) p, &object);

    if (jpp_samples_is_due(size)) {
        jpp_samples_take(p, size, JPP_HOOKS_CALLER, NULL);
    }
}


/* Have jpp_samples.h see every allocation; false: jemalloc has no such hooks,
   or they are all in use. */

static bool
jpp_hooks_install(void)
{
    jpp_hooks_t  hooks;

    hooks.allocated = jpp_hooks_allocated;
    hooks.freed = jpp_hooks_freed;
    hooks.resized = jpp_hooks_resized;
    hooks.extra = NULL;

    return jpp_mallctl_call("experimental.hooks.install", &jpp_hooks_handle,
                            sizeof(void *), &hooks, sizeof(hooks))
           == 0;
}


/* No longer; a thread may still be in one of them.  False: it is refused. */

static bool
jpp_hooks_remove(void)
{
    return jpp_mallctl_call("experimental.hooks.remove", NULL, 0,
                            &jpp_hooks_handle, sizeof(void *))
           == 0;
}


/* what the process has of the sampler, but for the samples */
typedef struct {
    bool         is_on;
    bool         is_hooked;
    uint32_t     lg;
    int64_t      since;
    uint64_t     loads;            /* of objects, at the last look */
    uint32_t     lost;             /* slots, when it was switched off */
    uint32_t     kept;
    jpp_got_t    got;
} jpp_sampler_t;


static jpp_sampler_t    jpp_sampler;
static pthread_mutex_t  jpp_sampler_lock = PTHREAD_MUTEX_INITIALIZER;

/* for those who cannot wait for that lock: its state, but for the samples */

static bool                 jpp_sampler_was_on;
static jpp_sampler_state_t  jpp_sampler_known;
static pthread_mutex_t      jpp_sampler_known_lock = PTHREAD_MUTEX_INITIALIZER;


/* Two processes that start at once have other numbers. */

static uint64_t
jpp_sampler_seed(void)
{
    struct timespec  now;

    clock_gettime(CLOCK_MONOTONIC, &now);

    return jpp_hash_u64((uint64_t) now.tv_sec << 32
                        ^ (uint64_t) now.tv_nsec
                        ^ (uint64_t) getpid() << 40);
}


static jpp_code_t
jpp_sampler_patch(jpp_err_t *err)
{
    jpp_code_t  rc;
    jpp_got_t  *got;

    got = &jpp_sampler.got;
    got->functions = jpp_calls_functions(&got->n_functions);

    jpp_sampler.loads = jpp_images_loads();

    rc = jpp_got_patch(got, err);

    if (rc == JPP_OK && got->n_slots == 0) {
        return jpp_err_set(err, JPP_ERR_STATE,
                           "no loaded object calls malloc by a table of "
                           "addresses, so that no call can be seen");
    }

    if (rc != JPP_OK && got->n_slots != 0) {
        (void) jpp_got_restore(got, NULL);
    }

    return rc;
}


/* Begin to see what is allocated. */

static jpp_code_t
jpp_sampler_see(jpp_err_t *err)
{
    uintptr_t       allocator;
    jpp_jemalloc_t  jemalloc;

    allocator = jpp_calls_prepare();

    jpp_sampler.is_hooked = jpp_got_is_beside(allocator, getauxval(AT_PHDR));

    if (!jpp_sampler.is_hooked) {

        /*
         * An allocator that calls itself would be counted twice; libc does not,
         * and hands out what it has allocated: by strdup(), getline() ...
         */

        jpp_sampler.got.except = jpp_got_is_beside(allocator,
                                                   jpp_got_find("strdup"))
                                 ? 0 : allocator;

        return jpp_sampler_patch(err);
    }

    /* finds jemalloc */

    jpp_jemalloc_read(&jemalloc);

    return jpp_hooks_install()
           ? JPP_OK
           : jpp_err_set(err, JPP_ERR_STATE,
                         "malloc is linked into the program, so that its "
                         "calls cannot be seen, and it is no jemalloc 5.2.0 "
                         "to 5.3.1, which would report them: preload an "
                         "allocator, or link the program with a shared one");
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
        return jpp_err_set(err, JPP_ERR_STATE,
                           "the sampler cannot walk stacks on this machine, "
                           "but on amd64 only: use jemalloc's profiler");
    }

    if (!jpp_samples_prepare()) {
        return jpp_err_memory(err);
    }

    jpp_samples_start(lg, jpp_sampler_seed());

    rc = jpp_sampler.is_on ? JPP_OK : jpp_sampler_see(err);

    if (rc != JPP_OK) {
        jpp_samples_stop();
        return rc;
    }

    if (jpp_sampler.since == 0) {
        (void) pthread_atfork(NULL, NULL, jpp_sampler_forked);
    }

    __atomic_store_n(&jpp_sampler.is_on, true, __ATOMIC_RELAXED);
    jpp_sampler.lg = lg;
    jpp_sampler.since = time(NULL);

    return JPP_OK;
}


/* For who has the lock; before it was ever on, there is nothing to know. */

static void
jpp_sampler_publish(void)
{
    const jpp_got_t      *got;
    jpp_sampler_state_t   known;

    if (jpp_sampler.since == 0) {
        return;
    }

    got = &jpp_sampler.got;

    memset(&known, 0, sizeof(jpp_sampler_state_t));

    known.is_on = jpp_sampler.is_on;
    known.is_hooked = jpp_sampler.is_hooked;
    known.lg_sample = jpp_sampler.lg;
    known.since = jpp_sampler.since;
    known.slots = got->n_slots;
    known.objects = got->n_objects;
    known.foreign = got->n_foreign;
    known.lost = known.is_on ? jpp_got_lost(got) : jpp_sampler.lost;
    known.kept = known.is_on ? 0 : jpp_sampler.kept;

    pthread_mutex_lock(&jpp_sampler_known_lock);
    jpp_sampler_known = known;
    pthread_mutex_unlock(&jpp_sampler_known_lock);

    __atomic_store_n(&jpp_sampler_was_on, true, __ATOMIC_RELEASE);
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

    rc = jpp_sampler.is_on && jpp_sampler.lg == lg
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

    if (!jpp_sampler.is_on && jpp_sampler.got.n_slots == 0) {
        return JPP_OK;
    }

    jpp_sampler.lost = jpp_got_lost(&jpp_sampler.got);

    if (jpp_sampler.is_on && jpp_sampler.is_hooked) {
        rc = jpp_hooks_remove()
             ? JPP_OK
             : jpp_err_set(err, JPP_ERR_JEMALLOC,
                           "jemalloc refuses experimental.hooks.remove, which "
                           "5.2.0 to 5.3.1 are known to allow");

    } else {
        rc = jpp_got_restore(&jpp_sampler.got, err);
    }

    jpp_sampler.kept = jpp_sampler.got.n_slots;
    __atomic_store_n(&jpp_sampler.is_on, false, __ATOMIC_RELAXED);
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

    if (pthread_mutex_trylock(&jpp_sampler_lock) != 0) {
        return JPP_OK;
    }

    rc = JPP_OK;

    if (jpp_sampler.is_on && jpp_images_loads() != jpp_sampler.loads) {
        jpp_sampler.loads = jpp_images_loads();
        jpp_backtrace_refresh();

        rc = jpp_sampler.is_hooked ? JPP_OK
                                   : jpp_got_patch(&jpp_sampler.got, err);

        jpp_sampler_publish();
    }

    pthread_mutex_unlock(&jpp_sampler_lock);

    return rc;
}


jpp_code_t
jpp_sampler_dump(int fd, jpp_sampler_state_t *state, jpp_err_t *err)
{
    jpp_code_t  rc;

    pthread_mutex_lock(&jpp_sampler_lock);

    if (jpp_sampler.is_on) {
        rc = jpp_samples_dump(&jpp_samples, fd, err);

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
    return __atomic_load_n(&jpp_sampler.is_on, __ATOMIC_RELAXED);
}


static void
jpp_sampler_count(jpp_site_t *site, void *data)
{
    jpp_sampler_state_t *state = data;

    state->sites++;
    state->samples += __atomic_load_n(&site->allocated, __ATOMIC_RELAXED);
}


/*
 * Whoever has the lock may be changing the list of slots: then the state is as
 * it was before.
 */

void
jpp_sampler_state(jpp_sampler_state_t *state)
{
    memset(state, 0, sizeof(jpp_sampler_state_t));

    if (__atomic_load_n(&jpp_sampler_was_on, __ATOMIC_ACQUIRE)) {

        if (pthread_mutex_trylock(&jpp_sampler_lock) == 0) {
            jpp_sampler_publish();
            pthread_mutex_unlock(&jpp_sampler_lock);
        }

        pthread_mutex_lock(&jpp_sampler_known_lock);
        *state = jpp_sampler_known;
        pthread_mutex_unlock(&jpp_sampler_known_lock);

        jpp_sites_walk(&jpp_samples.sites, jpp_sampler_count, state);

        state->live = jpp_live_count(&jpp_samples.live);
        state->bytes = jpp_live_bytes(&jpp_samples.live)
                       + jpp_sites_bytes(&jpp_samples.sites);
        state->dropped_live = __atomic_load_n(&jpp_samples.live.n_dropped,
                                              __ATOMIC_RELAXED);
        state->dropped_sites = __atomic_load_n(&jpp_samples.sites.n_dropped,
                                               __ATOMIC_RELAXED);
        state->cut = __atomic_load_n(&jpp_samples.n_cut, __ATOMIC_RELAXED);
    }

    state->live_max = JPP_LIVE_MAX;
    state->bytes_max = sizeof(jpp_samples) + JPP_LIVE_MEMORY
                       + JPP_SITES_MEMORY;
}


bool
jpp_sampler_sample_thread(bool is_sampled)
{
    bool  was;

    was = !jpp_samples_thread.is_unsampled;
    jpp_samples_thread.is_unsampled = !is_sampled;

    return was;
}
