
/*
 * An event loop of its own, which the watcher watches: what it finds when the
 * loop sleeps, computes, waits in the kernel, or has nothing to do.
 */


#include "jpp_parsers.h"
#include "jpp_proc.h"
#include "jpp_test_threads.h"
#include "jpp_unwind.h"
#include "jpp_watch.h"

#include <sys/epoll.h>


#define THRESHOLD  20

/* how often a stall is made until it is seen in time: the machine is busy */
#define TRIES      50


typedef void (*stall_pt)(void);


static int          epoll;
static uint64_t     count;
static uint64_t     began;

static int          interrupted;
static jpp_stall_t  stored[TRIES * 8];
static uint32_t     n_stored;
static uint32_t     n_writes;

/* how often the watcher has looked */
static uint64_t     looks;

/* what its waiting is: it gets the CPU late, and waits on */
static int          late_ms;
static int          wait_ms = 10 * THRESHOLD;

/* what a stack of the loop leads to */
static char         served[16] = "a request";


static bool
has(const jpp_stall_t *stall, stall_pt function)
{
    uint32_t  i;

    for (i = 0; i < stall->depth; i++) {
        if (jpp_backtrace_function(stall->pcs[i] - 1) == (uintptr_t) function)
        {
            return true;
        }
    }

    return false;
}


static uint64_t
now(void)
{
    return jpp_clock() / 1000000;
}


static void __attribute__((noinline))
spins(int ms)
{
    uint64_t           end;
    volatile unsigned  i;

    end = now() + (uint64_t) ms;

    while (now() < end) {
        for (i = 0; i < 100000; i++) {
            /* void */
        }
    }
}


static void __attribute__((noinline))
waits(void)
{
    struct epoll_event  event;

    spins(late_ms);
    (void) epoll_wait(epoll, &event, 1, wait_ms);

    __asm__ volatile ("" : : : "memory");
}


/* An iteration: STALL is what is done in it. */

static void __attribute__((noinline))
once(stall_pt stall)
{
    uint64_t            ms;
    jpp_stall_t         over;
    char *volatile      request = served;

    if (stall != waits) {
        __atomic_store_n(&began, now(), __ATOMIC_SEQ_CST);
    }

    stall();

    __asm__ volatile ("" : : "r" (request) : "memory");

    (void) __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
    ms = now() - began;

    if (stall != waits && ms >= THRESHOLD) {
        jpp_watch_over(ms, &over);
    }
}


/*
 * Make stalls until one has KIND, and its stack, where it has one, was taken
 * before it was over.  Is all of it as it should be?
 */

static bool
is_stored(stall_pt stall, uint32_t kind, const char *name)
{
    int                  i;
    jpp_err_t            err;
    jpp_dump_t           dump;
    jpp_arena_t          arena;
    jpp_profile_t        profile;
    const jpp_stall_t   *last;
    jpp_read_options_t   options = { 0 };

    for (i = 0; i < TRIES; i++) {
        once(stall);

        last = &stored[n_stored - 1];

        if (n_stored != 0 && last->kind == kind
            && has(last, stall) == (kind <= JPP_STALL_WAITED))
        {
            break;
        }
    }

    if (i == TRIES) {
        jpp_diag("%s: never of kind %u", name, kind);
        return false;
    }

    if (last->state != JPP_STALL_OVER || last->nanos < THRESHOLD * 1000000ull
        || last->time_nanos + (int64_t) last->nanos
           > jpp_clock_wall() + THRESHOLD * 1000000)
    {
        jpp_diag("%s: state %u, %" PRIu64 " ns, %u frames", name, last->state,
                 last->nanos, last->depth);
        return false;
    }

    /* it is a capture */

    jpp_arena_init(&arena, (size_t) 64 << 20);

    i = jpp_parser_init(&jpp_parser_stalls, &profile, &arena)
        && jpp_parser_stalls.open(&dump, &profile, (const char *) last,
                                  sizeof(jpp_stall_t), NULL, &err) == JPP_OK
        && jpp_parser_stalls.read(&profile, &dump, &options, &err) == JPP_OK
        && profile.n_samples == 1
        && jpp_vec_count(profile.mappings, jpp_mapping_t) <= last->depth
        && (kind > JPP_STALL_WAITED
            || jpp_vec_count(profile.mappings, jpp_mapping_t) != 0);

    jpp_arena_destroy(&arena);

    return i != 0;
}


static void __attribute__((noinline))
computes(void)
{
    spins(5 * THRESHOLD);

    __asm__ volatile ("" : : : "memory");
}


/*
 * An event loop has not waited for events yet, and the signals that ask for a
 * stack do not reach it: that must not be taken for an answer.  On a busy
 * machine one that computes may be blocked for a moment, which is seen.
 */

static bool
is_first(void)
{
    int               i;
    jpp_stall_kind_t  kind;

    kind = JPP_STALL_WAITED;

    for (i = 0; i < TRIES && kind == JPP_STALL_WAITED; i++) {
        __atomic_store_n(&count, 0, __ATOMIC_SEQ_CST);
        once(computes);

        kind = n_stored != 0 ? stored[n_stored - 1].kind : JPP_STALL_RAN;
    }

    jpp_diag("the first iteration: kind %d after %d", (int) kind, i);

    return kind == JPP_STALL_SHORT
           && strncmp(stored[n_stored - 1].where, "too short", 9) == 0;
}


/* Do those of the watcher reach the loop? */

static void
signals(int how)
{
    sigset_t  set;

    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGPROF);
    (void) sigprocmask(how, &set, NULL);
}


/* A sampler's signal is pending when the watcher sends its own. */

static void __attribute__((noinline))
samples(void)
{
    signals(SIG_BLOCK);
    (void) jpp_signal_send(getpid(), getpid(), JPP_SIGNAL_CPU, 0);
    spins(3 * THRESHOLD);
    signals(SIG_UNBLOCK);

    spins(5 * THRESHOLD);

    __asm__ volatile ("" : : : "memory");
}


/* A wait that the watcher takes for work, as its signal is not answered. */

static void
falters(int ms)
{
    signals(SIG_BLOCK);

    late_ms = 5 * THRESHOLD;
    wait_ms = ms;

    once(waits);

    late_ms = 0;
    wait_ms = 10 * THRESHOLD;

    once(waits);

    signals(SIG_UNBLOCK);
}


static void __attribute__((noinline))
sleeps(void)
{
    struct timespec  time = { 0, 5 * THRESHOLD * 1000000 };

    interrupted += nanosleep(&time, NULL) != 0;

    __asm__ volatile ("" : : : "memory");
}


static void __attribute__((noinline))
polls(void)
{
    struct epoll_event  event;

    interrupted += epoll_wait(epoll, &event, 1, 5 * THRESHOLD) == -1;

    __asm__ volatile ("" : : : "memory");
}


static void __attribute__((noinline))
vforks(void)
{
    pid_t            child;
    struct timespec  time = { 0, 5 * THRESHOLD * 1000000 };

    child = vfork();

    if (child == 0) {
        (void) nanosleep(&time, NULL);
        _exit(0);
    }

    (void) waitpid(child, NULL, 0);
}


static uint64_t
iteration(void)
{
    (void) __atomic_fetch_add(&looks, 1, __ATOMIC_SEQ_CST);

    return __atomic_load_n(&count, __ATOMIC_SEQ_CST);
}


static uint64_t
age(void)
{
    return now() - __atomic_load_n(&began, __ATOMIC_SEQ_CST);
}


static bool
serves(const jpp_peek_t *peek, uintptr_t word, jpp_stall_t *stall)
{
    return word == (uintptr_t) served
           && jpp_peek(peek, word, stall->server, sizeof(served));
}


static void
store(const jpp_stall_t *stall, uint64_t *id)
{
    n_writes++;

    if (*id == 0) {
        *id = ++n_stored;
    }

    stored[*id - 1] = *stall;
}


static void
foreign(int signo)
{
    (void) signo;
}


int
main(void)
{
    uint32_t          i;
    uint64_t          pid, start;
    jpp_err_t         err;
    jpp_stall_t       stall;
    jpp_watch_loop_t  loop = {
        .threshold = THRESHOLD, .iteration = iteration, .age = age,
        .waits = (uintptr_t) waits, .serves = serves, .store = store
    };

    epoll = epoll_create1(EPOLL_CLOEXEC);
    pid = (uint64_t) getpid();
    loop.who.pid = (int64_t) pid;
    loop.who.index = 3;

    if (!JPP_UNWIND_IS_HERE) {
        jpp_ok(true, "no unwinder for this machine: nothing to see");
        return jpp_done();
    }

    signals(SIG_BLOCK);
    start = now();
    jpp_ok(jpp_watch_start(&loop, &err) == JPP_OK, "the watcher starts");
    jpp_ok(is_first(), "the first iteration is like any other");
    signals(SIG_UNBLOCK);

    jpp_test_files(1, 2, "the watcher has a pipe of its own");
    jpp_ok(jpp_backtrace_holds((uintptr_t) &loop, sizeof(loop))
           && !jpp_backtrace_holds((uintptr_t) &loop, (size_t) 1 << 40),
           "the stack has this, and an end");

    n_stored = 0;
    once(waits);
    once(waits);

    for (i = 0; i < n_stored && !has(&stored[i], waits); i++) {
        /* this machine may be busy enough for others */
    }

    jpp_is_u64(i, n_stored, "a loop that waits for events is no stall");

    n_stored = 0;
    falters(5 * THRESHOLD);
    jpp_is_u64(n_stored, 0, "one that wakes up for nothing, and waits on");
    falters(0);
    jpp_is_u64(n_stored, 0, "one that wakes up, and gets the CPU late");

    jpp_ok(is_stored(sleeps, JPP_STALL_WAITED, "a sleep"), "a sleep");
    jpp_ok(is_stored(polls, JPP_STALL_WAITED, "poll()"), "poll(), by somebody "
           "else than the loop, is none of its waiting");
    jpp_is_u64((uint64_t) interrupted, 0, "neither was cut short");
    jpp_ok(is_stored(computes, JPP_STALL_RAN, "a computation"),
           "a computation");
    jpp_ok(is_stored(samples, JPP_STALL_RAN, "a signal that is lost"),
           "the watcher's signal is lost, and sent again");
    jpp_ok(JPP_IS_SANITIZED || is_stored(vforks, JPP_STALL_WAITED, "vfork()"),
           "an uninterruptible wait, while it lasts");

    stall = stored[n_stored - 1];
    jpp_is_u64((uint64_t) stall.pid, pid, "its process");
    jpp_is_u64(stall.index, 3, "its worker");
    jpp_is_str(stall.server, "a request", "what was served");
    jpp_is_u64(stall.state, JPP_STALL_OVER, "it is over");
    jpp_ok(n_writes > n_stored, "and was stored before, while it lasted");

    jpp_watch_stop();
    jpp_ok(looks < now() - start, "it looks less than once a millisecond");
    start = looks;
    (void) usleep(5 * THRESHOLD * 1000);
    jpp_is_u64(looks, start, "and never once it is stopped");
    jpp_watch_stop();

    signal(SIGPROF, foreign);
    jpp_ok(jpp_watch_start(&loop, &err) == JPP_ERR_TAKEN
           && strstr(err.text, "SIGPROF belongs to") != NULL,
           "SIGPROF is taken: %s", err.text);
    jpp_ok(is_stored(computes, JPP_STALL_FOREIGN, "a computation"),
           "a computation without a stack");
    jpp_ok(is_stored(sleeps, JPP_STALL_WAITED, "a sleep"),
           "a sleep has one all the same");

    jpp_watch_stop();

    return jpp_done();
}
