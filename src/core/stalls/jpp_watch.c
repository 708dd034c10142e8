
/* pthread_setname_np(), syscall() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jpp_backtrace.h"
#include "jpp_blocked.h"
#include "jpp_cut.h"
#include "jpp_err.h"
#include "jpp_frame.h"
#include "jpp_proc.h"
#include "jpp_scan.h"
#include "jpp_signal.h"
#include "jpp_source.h"
#include "jpp_stall.h"
#include "jpp_thread.h"
#include "jpp_unwind.h"
#include "jpp_watch.h"
#include "jpp_watch_loop.h"


#define JPP_WATCH_STACK  (256 * 1024)


/*
 * What a stall's addresses lie in, for whoever reports it later.
 */


#define JPP_WATCH_MAPS_CAP  ((size_t) 64 << 20)


static bool
jpp_watch_maps_has(const jpp_stall_t *stall, uint64_t start, uint64_t limit)
{
    uint32_t  i;

    for (i = 0; i < stall->depth; i++) {
        if (stall->pcs[i] - 1 >= start && stall->pcs[i] - 1 < limit
            && jpp_cut_name(stall->pcs[i]) == NULL)
        {
            return true;
        }
    }

    return false;
}


static const char *
jpp_watch_maps_line(const char *p, const char *end, jpp_stall_t *stall)
{
    size_t       len;
    uint64_t     start, limit;
    const char  *next, *q;

    next = memchr(p, '\n', (size_t) (end - p));

    if (next == NULL) {
        return NULL;
    }

    next++;
    limit = 0;

    q = jpp_scan_hex(p, &start);
    q = q != NULL && *q == '-' ? jpp_scan_hex(q + 1, &limit) : NULL;

    len = (size_t) (next - p);

    if (q != NULL && jpp_watch_maps_has(stall, start, limit)
        && len <= JPP_STALL_MAPS - stall->maps_len)
    {
        memcpy(stall->maps + stall->maps_len, p, len);
        stall->maps_len += (uint32_t) len;
    }

    return next;
}


/*
 * Give STALL, one of this process, the lines of /proc/self/maps that its
 * addresses lie in, as many as there is room for.  Outside signals.
 */

static void
jpp_watch_maps(jpp_stall_t *stall)
{
    jpp_vec_t    *maps;
    const char   *p, *end;
    jpp_arena_t   arena;

    stall->maps_len = 0;

    jpp_arena_init(&arena, JPP_WATCH_MAPS_CAP);

    maps = jpp_vec_create(&arena);

    if (maps != NULL && jpp_proc_maps(maps, NULL) == JPP_OK) {
        p = (const char *) maps->data;
        end = p + maps->len;

        while (p != NULL && p < end) {
            p = jpp_watch_maps_line(p, end, stall);
        }
    }

    jpp_arena_destroy(&arena);
}


/*
 * The stack of a loop's thread that is stuck, and what it serves: by its memory
 * where it is blocked, by a signal where it runs.
 */


/* how often a stack is read that changes meanwhile */
#define JPP_WATCH_TRIES   3

/* words of the stack that may say what is served */
#define JPP_WATCH_WORDS   8192

/* frames of a loop that waits: libc's, which may be two, and the loop's */
#define JPP_WATCH_IDLE    3


/* who looks at the stack */
typedef enum {
    JPP_WATCH_LOOP = 0,       /* the loop's thread, in the handler */
    JPP_WATCH_WATCHER,
    JPP_WATCH_LOOKERS
} jpp_watch_looker_t;


typedef struct {
    const jpp_watch_loop_t   *loop;
    pid_t                     tid;         /* of the loop's thread */
    bool                      has_signal;

    jpp_blocked_t             idle;        /* where it waited last */
    jpp_blocked_t             blocked;     /* where its stack was taken last */

    /* the handler's: which iteration is asked for, from 1, 0: none; and its
       answer */
    uint64_t                  asked;
    uint64_t                  answered;
    jpp_stall_t               answer;

    bool                      is_cancelled;

    jpp_peek_t                peeks[JPP_WATCH_LOOKERS];
} jpp_watch_take_t;


static jpp_watch_take_t  jpp_watch_taken;


static void
jpp_watch_take_stack(jpp_stall_t *stall, const uintptr_t *pcs, uint32_t n)
{
    uint32_t  i;

    for (i = 0; i < n; i++) {
        stall->pcs[i] = pcs[i];
    }

    stall->depth = n;
    stall->connection = 0;
    stall->server[0] = '\0';
    stall->location[0] = '\0';
}


/* What functions work on is in their frames, the innermost first. */

static void
jpp_watch_take_serves(jpp_watch_looker_t who, uintptr_t rsp,
    jpp_stall_t *stall)
{
    uint32_t           i;
    uintptr_t          top, word, last;
    const jpp_peek_t  *peek;

    peek = &jpp_watch_taken.peeks[who];
    top = jpp_backtrace_top(rsp);
    last = 0;

    for (i = 0; i < JPP_WATCH_WORDS && jpp_frame_holds(rsp, top, rsp); i++) {
        word = jpp_frame_word(rsp);

        if (word != last && (word < rsp || word >= top)
            && jpp_watch_taken.loop->serves(peek, word, stall))
        {
            break;
        }

        last = word;
        rsp += sizeof(uintptr_t);
    }
}


/* In the loop's thread, wherever it is. */

static void
jpp_watch_take_interrupted(const jpp_signal_t *signal)
{
    uint32_t              n;
    uint64_t              iteration;
    uintptr_t             pcs[JPP_STALL_DEPTH];
    jpp_unwind_context_t  at;

    iteration = jpp_watch_taken.loop->iteration() + 1;

    if (__atomic_exchange_n(&jpp_watch_taken.asked, 0, __ATOMIC_SEQ_CST)
        != iteration)
    {
        return;
    }

    n = jpp_backtrace_interrupted(signal->ucontext, pcs, JPP_STALL_DEPTH);

    jpp_watch_take_stack(&jpp_watch_taken.answer, pcs, n);

    jpp_unwind_interrupted(&at, signal->ucontext);
    jpp_watch_take_serves(JPP_WATCH_LOOP, at.registers[JPP_CFI_RSP],
                          &jpp_watch_taken.answer);

    __atomic_store_n(&jpp_watch_taken.answered, iteration, __ATOMIC_SEQ_CST);
}


/*
 * In the loop's thread; LOOP outlives it.  JPP_ERR_TAKEN: SIGPROF belongs to
 * somebody else, so that nothing is taken of a thread that runs.
 */

static jpp_code_t
jpp_watch_take_init(const jpp_watch_loop_t *loop, jpp_err_t *err)
{
    jpp_code_t  rc;

    memset(&jpp_watch_taken, 0, sizeof(jpp_watch_take_t));

    jpp_watch_taken.loop = loop;
    jpp_watch_taken.tid = (pid_t) syscall(SYS_gettid);

    (void) jpp_backtrace_start();

    /* without it nobody knows what was served */

    (void) jpp_peek_open(&jpp_watch_taken.peeks[JPP_WATCH_LOOP]);

    rc = jpp_signal_claim(JPP_SIGNAL_STALL, jpp_watch_take_interrupted, err);

    jpp_watch_taken.has_signal = rc == JPP_OK;

    return rc;
}


static void
jpp_watch_take_exit(void)
{
    if (jpp_watch_taken.has_signal) {
        jpp_signal_release(JPP_SIGNAL_STALL);
    }

    jpp_peek_close(&jpp_watch_taken.peeks[JPP_WATCH_LOOP]);
}


/*
 * In the watcher's thread, which has descriptors of its own: before it looks
 * and after.  All below is for that thread, too.
 */

static void
jpp_watch_take_begin(void)
{
    (void) jpp_peek_open(&jpp_watch_taken.peeks[JPP_WATCH_WATCHER]);
}


static void
jpp_watch_take_end(void)
{
    jpp_peek_close(&jpp_watch_taken.peeks[JPP_WATCH_WATCHER]);
}


static bool
jpp_watch_take_waits(uintptr_t pc)
{
    return jpp_backtrace_function(pc - 1) == jpp_watch_taken.loop->waits;
}


/*
 * Does the loop wait for events, and not somebody within it for something?
 *
 * Somebody within the loop may wait in the same system call.
 */

static bool
jpp_watch_take_is_idle(void)
{
    uint32_t       i, n;
    uintptr_t      pcs[JPP_WATCH_IDLE];
    jpp_blocked_t  blocked, *idle;

    jpp_blocked_read(jpp_watch_taken.tid, &blocked);

    if (!jpp_blocked_is_idle(&blocked)) {
        return false;
    }

    /* the same call at the same depth has the same caller */

    idle = &jpp_watch_taken.idle;

    if (blocked.call == idle->call && blocked.rsp == idle->rsp
        && blocked.pc == idle->pc)
    {
        return true;
    }

    n = jpp_backtrace_blocked(&blocked, pcs, JPP_WATCH_IDLE);

    for (i = 0; i < n; i++) {
        if (jpp_watch_take_waits(pcs[i])) {
            *idle = blocked;
            return true;
        }
    }

    /* where a stack cannot be walked, the call has to do */

    return n == 0 || jpp_cut_name(pcs[n - 1]) != NULL;
}


/*
 * Has STALL, as it answered, just been waiting?  Then it is none.
 *
 * Who has woken up, but did not get the CPU, has not looked at the clock.
 */

static bool
jpp_watch_take_is_woken(const jpp_stall_t *stall)
{
    uint32_t  i;

    for (i = 0; i < stall->depth && i < JPP_WATCH_IDLE; i++) {
        if (jpp_watch_take_waits((uintptr_t) stall->pcs[i])) {
            return true;
        }
    }

    return false;
}


/* Is STALL, as it was filled there, a wait for events?  Then it is none. */

static bool
jpp_watch_take_was_idle(const jpp_stall_t *stall)
{
    return jpp_blocked_is_idle(&jpp_watch_taken.blocked)
           && jpp_watch_take_is_woken(stall);
}


/* False: there is no unwinder, or it is on a stack of its own. */

static bool
jpp_watch_take_read(const jpp_blocked_t *blocked, jpp_stall_t *stall)
{
    uint32_t   n;
    uintptr_t  pcs[JPP_STALL_DEPTH];

    n = jpp_backtrace_blocked(blocked, pcs, JPP_STALL_DEPTH);

    jpp_watch_take_stack(stall, pcs, n);
    jpp_watch_take_serves(JPP_WATCH_WATCHER, blocked->rsp, stall);

    return n != 0;
}


/*
 * If the thread is blocked in ITERATION, fill STALL with its stack and what it
 * serves.  Returns what it does.
 */

static jpp_blocked_state_t
jpp_watch_take_blocked(uint64_t iteration, jpp_stall_t *stall)
{
    unsigned       i;
    jpp_blocked_t  blocked, now;

    for (i = 0; i < JPP_WATCH_TRIES; i++) {
        jpp_blocked_read(jpp_watch_taken.tid, &blocked);

        if (blocked.state != JPP_BLOCKED_WAITS) {
            break;
        }

        /* one that wakes up meanwhile must not answer as well */

        if (__atomic_exchange_n(&jpp_watch_taken.asked, 0, __ATOMIC_SEQ_CST)
            != 0)
        {
            jpp_watch_taken.is_cancelled = true;
        }

        if (!jpp_watch_take_read(&blocked, stall)) {
            return JPP_BLOCKED_UNKNOWN;
        }

        jpp_blocked_read(jpp_watch_taken.tid, &now);

        if (memcmp(&now, &blocked, sizeof(jpp_blocked_t)) == 0
            && jpp_watch_taken.loop->iteration() == iteration)
        {
            jpp_watch_taken.blocked = blocked;
            return JPP_BLOCKED_WAITS;
        }
    }

    stall->depth = 0;

    return i < JPP_WATCH_TRIES ? blocked.state : JPP_BLOCKED_RUNS;
}


/* Let it record that itself, if it is still in ITERATION; false: it cannot. */

static bool
jpp_watch_take_ask(uint64_t iteration)
{
    if (!jpp_watch_taken.has_signal) {
        return false;
    }

    /* what a handler has that comes late must not be this answer */

    jpp_watch_taken.is_cancelled = false;

    __atomic_store_n(&jpp_watch_taken.answered, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&jpp_watch_taken.asked, iteration + 1, __ATOMIC_SEQ_CST);

    return jpp_signal_send(getpid(), jpp_watch_taken.tid, JPP_SIGNAL_STALL, 0);
}


/* Was that taken back, because it was blocked for a moment? */

static bool
jpp_watch_take_is_cancelled(void)
{
    return jpp_watch_taken.is_cancelled;
}


/* Has it?  Then STALL is filled with it. */

static bool
jpp_watch_take_answer(uint64_t iteration, jpp_stall_t *stall)
{
    const jpp_stall_t  *answer;

    if (__atomic_load_n(&jpp_watch_taken.answered, __ATOMIC_SEQ_CST)
        != iteration + 1)
    {
        return false;
    }

    answer = &jpp_watch_taken.answer;

    stall->depth = answer->depth;
    memcpy(stall->pcs, answer->pcs, sizeof(answer->pcs));

    stall->connection = answer->connection;
    memcpy(stall->server, answer->server, JPP_STALL_NAME);
    memcpy(stall->location, answer->location, JPP_STALL_NAME);

    return true;
}


typedef enum {
    JPP_WATCH_LOOKS = 0,
    JPP_WATCH_SUSPECTS,        /* it did not wait when it was last looked at */
    JPP_WATCH_ASKS,            /* a signal is on its way */
    JPP_WATCH_HAS              /* its stack, or none to be had */
} jpp_watch_stage_t;


typedef struct {
    jpp_watch_loop_t    loop;
    bool                is_on;

    pthread_t           thread;
    pthread_mutex_t     mutex;         /* of all that follows */
    pthread_cond_t      wake;
    bool                is_leaving;

    uint64_t            iteration;     /* when it last looked */
    jpp_watch_stage_t   stage;
    bool                is_late;       /* the stall is over, but not closed */
    uint64_t            waited;        /* for the signal, ms */
    uint64_t            id;            /* the caller's, of the stall */
    jpp_stall_t         stall;
} jpp_watch_t;


static jpp_watch_t  jpp_watch;


static void
jpp_watch_store(jpp_watch_t *watch)
{
    watch->loop.store(&watch->stall, &watch->id);
}


/* the moment at which an iteration of AGE would be too long */

static uint64_t
jpp_watch_next(const jpp_watch_t *watch, uint64_t age)
{
    return age < watch->loop.threshold ? watch->loop.threshold - age : 1;
}


/*
 * jpp_watch_over() closes what is open; it may be just about to.  If not, the
 * clocks of the loop differ; or there is no stack yet, and the loop had only
 * been waiting until it got the CPU.
 */

static uint64_t
jpp_watch_passed(jpp_watch_t *watch)
{
    if (watch->stage > JPP_WATCH_SUSPECTS && !watch->is_late) {
        watch->is_late = true;
        return watch->loop.threshold;
    }

    if (watch->stage == JPP_WATCH_HAS) {
        watch->stall.state = JPP_STALL_OVER;
        jpp_watch_store(watch);
    }

    watch->is_late = false;
    watch->stage = JPP_WATCH_LOOKS;

    return jpp_watch_next(watch, watch->loop.age());
}


static void
jpp_watch_begin(jpp_watch_t *watch, uint64_t age)
{
    struct timespec  now;

    (void) clock_gettime(CLOCK_REALTIME, &now);

    watch->id = 0;
    watch->stall = watch->loop.who;
    watch->stall.kind = JPP_STALL_SHORT;
    watch->stall.state = JPP_STALL_LASTS;
    watch->stall.nanos = age * 1000000;
    watch->stall.time_nanos = (int64_t) now.tv_sec * 1000000000
                              + now.tv_nsec - (int64_t) watch->stall.nanos;
}


static uint64_t
jpp_watch_has(jpp_watch_t *watch, jpp_stall_kind_t kind)
{
    watch->stage = JPP_WATCH_HAS;
    watch->stall.kind = kind;

    jpp_watch_maps(&watch->stall);
    jpp_watch_store(watch);

    return watch->loop.threshold;
}


/* Who shares a listening socket wakes up for others, and waits on. */

static uint64_t
jpp_watch_blocked(jpp_watch_t *watch)
{
    if (jpp_watch_take_was_idle(&watch->stall)) {
        watch->stage = JPP_WATCH_LOOKS;
        return watch->loop.threshold;
    }

    return jpp_watch_has(watch, JPP_STALL_WAITED);
}


static uint64_t
jpp_watch_ask(jpp_watch_t *watch)
{
    watch->stall.depth = 0;

    if (!jpp_watch_take_ask(watch->iteration)) {
        return jpp_watch_has(watch, JPP_STALL_FOREIGN);
    }

    watch->stage = JPP_WATCH_ASKS;
    watch->waited = 1;

    return watch->waited;
}


/* Its stack, at once if it is blocked. */

static uint64_t
jpp_watch_take(jpp_watch_t *watch)
{
    switch (jpp_watch_take_blocked(watch->iteration, &watch->stall)) {

    case JPP_BLOCKED_WAITS:
        return jpp_watch_blocked(watch);

    case JPP_BLOCKED_UNKNOWN:
        return jpp_watch_has(watch, JPP_STALL_BLIND);

    case JPP_BLOCKED_RUNS:
        break;
    }

    return jpp_watch_ask(watch);
}


/* The answer comes when the thread gets the CPU; or it is blocked by now. */

static uint64_t
jpp_watch_asks(jpp_watch_t *watch)
{
    if (jpp_watch_take_answer(watch->iteration, &watch->stall)) {

        if (jpp_watch_take_is_woken(&watch->stall)) {
            watch->stage = JPP_WATCH_LOOKS;
            return watch->loop.threshold;
        }

        return jpp_watch_has(watch, JPP_STALL_RAN);
    }

    if (jpp_watch_take_blocked(watch->iteration, &watch->stall)
        == JPP_BLOCKED_WAITS)
    {
        return jpp_watch_blocked(watch);
    }

    if (jpp_watch_take_is_cancelled()) {
        return jpp_watch_ask(watch);
    }

    if (watch->waited < watch->loop.threshold) {
        watch->waited *= 2;
    }

    return watch->waited;
}


/*
 * Look once; returns when to look again, ms.
 *
 * An iteration is suspect if the loop does not wait.  It may have waited a
 * moment ago, though, and has not looked at its clock since; so the next look
 * decides, in the same iteration, and in the end the stack.
 */

static uint64_t
jpp_watch_look(jpp_watch_t *watch)
{
    uint64_t  age, iteration;

    iteration = watch->loop.iteration();

    if (iteration != watch->iteration) {
        watch->iteration = iteration;
        return jpp_watch_passed(watch);
    }

    switch (watch->stage) {

    case JPP_WATCH_LOOKS:
    case JPP_WATCH_SUSPECTS:

        if (jpp_watch_take_is_idle()) {
            watch->stage = JPP_WATCH_LOOKS;
            return watch->loop.threshold;
        }

        age = watch->loop.age();

        if (watch->stage == JPP_WATCH_LOOKS || age < watch->loop.threshold) {
            watch->stage = JPP_WATCH_SUSPECTS;
            return jpp_watch_next(watch, age);
        }

        jpp_watch_begin(watch, age);

        return jpp_watch_take(watch);

    case JPP_WATCH_ASKS:
        return jpp_watch_asks(watch);

    case JPP_WATCH_HAS:
        break;
    }

    /* if its process is killed, this is how long it took at least */

    watch->stall.nanos = watch->loop.age() * 1000000;
    jpp_watch_store(watch);

    return watch->loop.threshold;
}


static void
jpp_watch_deadline(struct timespec *deadline, uint64_t ms)
{
    (void) clock_gettime(CLOCK_MONOTONIC, deadline);

    deadline->tv_sec += (time_t) (ms / 1000);
    deadline->tv_nsec += (long) (ms % 1000) * 1000000;

    if (deadline->tv_nsec >= 1000000000) {
        deadline->tv_nsec -= 1000000000;
        deadline->tv_sec++;
    }
}


static void *
jpp_watch_main(void *data)
{
    jpp_watch_t *watch = data;

    uint64_t         ms;
    struct timespec  deadline;

    (void) pthread_setname_np(pthread_self(), "jpp-watch");
    (void) jpp_source_sample_thread(JPP_SOURCE_BY_NONE);
    jpp_thread_leave_files();
    jpp_watch_take_begin();

    (void) pthread_mutex_lock(&watch->mutex);

    while (!watch->is_leaving) {
        ms = jpp_watch_look(watch);

        jpp_watch_deadline(&deadline, ms);

        (void) pthread_cond_timedwait(&watch->wake, &watch->mutex, &deadline);
    }

    (void) pthread_mutex_unlock(&watch->mutex);

    jpp_watch_take_end();

    return NULL;
}


static jpp_code_t
jpp_watch_thread(jpp_watch_t *watch, jpp_err_t *err)
{
    int                 rc;
    unsigned            was_sampled;
    sigset_t            set, old;
    pthread_attr_t      attr;
    pthread_condattr_t  clock;

    (void) pthread_mutex_init(&watch->mutex, NULL);

    (void) pthread_condattr_init(&clock);
    (void) pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void) pthread_cond_init(&watch->wake, &clock);
    (void) pthread_condattr_destroy(&clock);

    (void) pthread_attr_init(&attr);
    (void) pthread_attr_setstacksize(&attr, JPP_WATCH_STACK);

    /* signals belong to the loop; faults must not be blocked */

    (void) sigfillset(&set);
    (void) sigdelset(&set, SIGILL);
    (void) sigdelset(&set, SIGFPE);
    (void) sigdelset(&set, SIGSEGV);
    (void) sigdelset(&set, SIGBUS);

    /* libc takes a little of a thread's memory from malloc() */

    was_sampled = jpp_source_sample_thread(JPP_SOURCE_BY_NONE);
    (void) pthread_sigmask(SIG_SETMASK, &set, &old);

    rc = pthread_create(&watch->thread, &attr, jpp_watch_main, watch);

    (void) pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void) jpp_source_sample_thread(was_sampled);

    (void) pthread_attr_destroy(&attr);

    return rc == 0 ? JPP_OK
                   : jpp_err_sys(err, rc, "cannot create a thread");
}


jpp_code_t
jpp_watch_start(const jpp_watch_loop_t *loop, jpp_err_t *err)
{
    jpp_err_t     failed;
    jpp_code_t    rc;
    jpp_watch_t  *watch;

    watch = &jpp_watch;

    memset(watch, 0, sizeof(jpp_watch_t));

    watch->loop = *loop;

    rc = jpp_watch_take_init(&watch->loop, err);

    if (jpp_watch_thread(watch, &failed) == JPP_OK) {
        watch->is_on = true;
        return rc;
    }

    *err = failed;
    jpp_watch_take_exit();

    return failed.code;
}


void
jpp_watch_stop(void)
{
    jpp_watch_t  *watch;

    watch = &jpp_watch;

    if (!watch->is_on) {
        return;
    }

    watch->is_on = false;

    (void) pthread_mutex_lock(&watch->mutex);
    watch->is_leaving = true;
    (void) pthread_cond_signal(&watch->wake);
    (void) pthread_mutex_unlock(&watch->mutex);

    (void) pthread_join(watch->thread, NULL);

    jpp_watch_take_exit();
}


void
jpp_watch_over(uint64_t ms, jpp_stall_t *stall)
{
    jpp_watch_t  *watch;

    watch = &jpp_watch;

    (void) pthread_mutex_lock(&watch->mutex);

    if (watch->stage <= JPP_WATCH_SUSPECTS) {
        jpp_watch_begin(watch, ms);

    } else if (watch->stage == JPP_WATCH_ASKS) {
        if (jpp_watch_take_answer(watch->iteration, &watch->stall)) {
            (void) jpp_watch_has(watch, JPP_STALL_RAN);
        }
    }

    watch->stall.nanos = ms * 1000000;
    watch->stall.state = JPP_STALL_OVER;
    jpp_watch_store(watch);

    *stall = watch->stall;

    watch->is_late = false;
    watch->stage = JPP_WATCH_LOOKS;

    (void) pthread_mutex_unlock(&watch->mutex);
}
