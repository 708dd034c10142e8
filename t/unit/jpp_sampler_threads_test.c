
/*
 * The sampler in threads, on both sides of a fork, and in a handler of a signal
 * at any instruction; and stacks that are found without a walk.
 */


#include "jpp_test_sampler.h"
#include "jpp_test_estimates.h"


#if defined(__x86_64__) && defined(__LP64__)


#define JPP_FORKS     40
#define JPP_SWITCHES  300


static jpp_sampler_state_t  state;


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


/* Does the compiler leave out the frame of a function whose last act is a call?
   Below -O2 none does. */

static __attribute__((noinline)) bool
jpp_last_act(const void *caller, volatile int *n)
{
    (*n)++;

    return __builtin_return_address(0) == caller;
}


static __attribute__((noinline)) bool
jpp_leaves_frames_out(volatile int *n)
{
    return jpp_last_act(__builtin_return_address(0), n);
}


static void
jpp_play_ways(void)
{
    int                      n;
    bool                     is_direct;
    unsigned                 i;
    uint64_t                 random;
    pthread_t                thread;
    jpp_backtrace_counts_t   before, after;

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

    n = 0;
    is_direct = jpp_leaves_frames_out(&n);

    jpp_check(jpp_ways_wrong == 0
              && (after.n - before.n < 1010) == is_direct,
              "a thousand from one site, %s: %u walks",
              is_direct ? "which calls the sampler directly"
                        : "and all are walked behind the sampler's frame",
              (unsigned) (after.n - before.n - 1000));
    jpp_off();
}


static void
jpp_play_threads(void)
{
    int             i;
    pthread_t       threads[JPP_THREADS];
    jpp_estimate_t  estimates[JPP_SITES + 1];

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
    jpp_check(state.bytes_max > JPP_LIVE_MEMORY + JPP_SITES_MEMORY,
              "%zu bytes at most are all of its tables",
              (size_t) state.bytes_max);
    jpp_off();
}


/* A thread that switches while another looks: each state is one that was. */

static void *
jpp_switching(void *data)
{
    unsigned  i;

    (void) data;

    for (i = 0; i < JPP_SWITCHES; i++) {
        (void) jpp_sampler_on(JPP_FINE, NULL);
        (void) jpp_sampler_on(JPP_FINE + 2, NULL);
        (void) jpp_sampler_off(NULL);
    }

    jpp_atomic_set(&jpp_is_over, true);

    return NULL;
}


static void
jpp_play_state(void)
{
    bool       is_known;
    unsigned   n_on, n_off, n_never;
    pthread_t  thread;

    jpp_off();

    n_on = 0;
    n_off = 0;
    n_never = 0;

    pthread_create(&thread, NULL, jpp_switching, NULL);

    while (!jpp_atomic_get(&jpp_is_over)) {
        jpp_sampler_state(&state);

        is_known = (state.lg_sample == JPP_FINE
                    || state.lg_sample == JPP_FINE + 2)
                   && state.since != 0
                   && (state.is_on || state.slots == 0);

        n_on += state.is_on;
        n_off += !state.is_on;
        n_never += !is_known || state.is_on != (state.slots != 0)
                   || state.is_on != (state.objects != 0);
    }

    pthread_join(thread, NULL);

    jpp_check(n_never == 0, "%u of %u states are none that ever was", n_never,
              n_on + n_off);
    jpp_check(n_on != 0 && n_off != 0, "it was seen on and off: %u, %u", n_on,
              n_off);
    jpp_off();
}


/* A child of a process with threads: whatever they were in, it goes on. */

static int
jpp_forked(const void *held)
{
    int              i;
    void            *p;
    jpp_estimate_t   estimates[JPP_SITES + 1];

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


static void
jpp_play_signals(void)
{
    int                i;
    void              *p;
    struct sigaction   action = { .sa_sigaction = jpp_trap,
                                   .sa_flags = SA_SIGINFO };

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


static const jpp_part_t  jpp_parts[] = {
    { "ways",    jpp_play_ways,    true, JPP_FINE },
    { "threads", jpp_play_threads, false, JPP_FINE },
    { "state",   jpp_play_state,   true, JPP_FINE },
    { "forks",   jpp_play_forks,   false, JPP_FINE },
    { "signals", jpp_play_signals, true, JPP_FINE }
};


JPP_PLAYS(jpp_parts, NULL)


#endif
