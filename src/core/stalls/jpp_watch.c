
#include "jpp_watch.h"
#include "jpp_cut.h"
#include "jpp_source.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/syscall.h>


#define JPP_WATCH_STACK  (256 * 1024)


/* Do calls that STALL has return addresses of lie in M? */

static bool
jpp_watch_maps_has(const jpp_stall_t *stall, const jpp_scan_mapping_t *m)
{
    const uint64_t  *pc;

    jpp_each(pc, stall->pcs, stall->depth) {
        if (*pc > m->start && *pc <= m->limit && jpp_cut_name(*pc) == NULL) {
            return true;
        }
    }

    return false;
}


/*
 * What a stall's addresses lie in, for whoever reports it later.
 *
 * Give STALL, one of this process, the lines of /proc/self/maps that its
 * addresses lie in, as many as there is room for.  Outside signals.
 */

static void
jpp_watch_maps(jpp_stall_t *stall)
{
    jpp_vec_t           *maps;
    const char          *p, *next, *end;
    jpp_arena_t          arena;
    jpp_scan_mapping_t   m;

    stall->maps_len = 0;

    jpp_arena_init(&arena, JPP_PROC_ARENA);

    maps = jpp_vec_create(&arena);

    if (maps != NULL && jpp_proc_maps(maps, NULL) == JPP_OK) {
        p = (const char *) maps->data;
        end = p + maps->len;

        for ( /* void */ ; (next = jpp_proc_line(p, end, &m)) != NULL; p = next)
        {
            if (jpp_watch_maps_has(stall, &m)
                && (size_t) (next - p) <= JPP_STALL_MAPS - stall->maps_len)
            {
                memcpy(stall->maps + stall->maps_len, p, (size_t) (next - p));
                stall->maps_len += (uint32_t) (next - p);
            }
        }
    }

    jpp_arena_destroy(&arena);
}


/*
 * A stall's place in a few words, at once, from the symbols that the dynamic
 * linker knows.  A report knows more.
 */

/* of a function, and of its object */
#define JPP_WHERE_NAME    160

#define JPP_WHERE_PATH    4096

/* the program headers lie in the first page of an object */
#define JPP_WHERE_HEADER  4096


static const char *const  jpp_where_kinds[JPP_STALL_KINDS] = {
    [JPP_STALL_RAN]     = "computing",
    [JPP_STALL_WAITED]  = "blocked",
    [JPP_STALL_SHORT]   = "too short for its stack to be taken",
    [JPP_STALL_FOREIGN] = "computing, without a stack, since another profiler "
                          "uses SIGPROF",
    [JPP_STALL_BLIND]   = "without a stack, since the kernel does not say "
                          "what a thread does"
};


/* The name of PC's function; returns its object, NULL: it is in none. */

static const void *
jpp_where_name(uint64_t pc, char name[JPP_WHERE_NAME])
{
    char         path[JPP_WHERE_PATH];
    Dl_info      info;
    ssize_t      n;
    uintptr_t    address, start;
    const char  *file;

    address = (uintptr_t) pc - 1;

    if (jpp_cut_name(pc) != NULL || dladdr((void *) address, &info) == 0) {
        (void) snprintf(name, JPP_WHERE_NAME, "code of no file");
        return NULL;
    }

    file = info.dli_fname;

    /* the linker has a program's from argv[0], which may be a title by now */

    if ((uintptr_t) getauxval(AT_PHDR) - (uintptr_t) info.dli_fbase
        < JPP_WHERE_HEADER)
    {
        n = readlink("/proc/self/exe", path, sizeof(path) - 1);
        path[n > 0 ? n : 0] = '\0';
        file = path;
    }

    file = jpp_path_name(file);

    /* glibc names a symbol only as far as it extends */

    if (info.dli_sname != NULL) {
        (void) snprintf(name, JPP_WHERE_NAME, "%.96s (%.56s)", info.dli_sname,
                        file);

    } else {

        /* as a report has it: all of a function is one name */

        start = jpp_backtrace_function(address);

        (void) snprintf(name, JPP_WHERE_NAME, "%.96s+0x%" PRIx64, file,
                        (uint64_t) (start != 0 ? start : address)
                        - (uintptr_t) info.dli_fbase);
    }

    return info.dli_fbase;
}


void
jpp_where(jpp_stall_t *stall)
{
    char         name[JPP_WHERE_NAME], caller[JPP_WHERE_NAME];
    uint32_t     i;
    const void  *leaf, *object;

    if (stall->depth == 0) {
        (void) snprintf(stall->where, JPP_STALL_WHERE, "%s",
                        jpp_where_kinds[stall->kind]);
        return;
    }

    leaf = jpp_where_name(stall->pcs[0], name);
    object = NULL;

    /* who has called into that library, and not libc for the kernel */

    for (i = 1; i < stall->depth && object == NULL; i++) {
        object = jpp_where_name(stall->pcs[i], caller);

        if (object == leaf
            || jpp_images_is_beside((uintptr_t) object, (uintptr_t) getpid))
        {
            object = NULL;
        }
    }

    (void) snprintf(stall->where, JPP_STALL_WHERE, "%s in %s%s%s",
                    jpp_where_kinds[stall->kind], name,
                    object != NULL ? ", called by " : "",
                    object != NULL ? caller : "");

    jpp_ascii_clean(stall->where);
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


typedef enum {
    JPP_WATCH_LOOKS = 0,
    JPP_WATCH_SUSPECTS,        /* it did not wait when it was last looked at */
    JPP_WATCH_ASKS,            /* a signal is on its way */
    JPP_WATCH_HAS              /* its stack, or none to be had */
} jpp_watch_stage_t;


typedef struct {
    jpp_watch_loop_t    loop;
    pid_t               tid;           /* of the loop's thread */
    bool                is_on;
    bool                has_signal;

    /* which iteration the handler is asked for, from 1, 0: none; and its
       answer */
    uint64_t            asked;
    uint64_t            answered;
    jpp_stall_t         answer;

    jpp_peek_t          loop_peek;     /* of the loop's thread, in the */
                                       /*   handler */
    jpp_peek_t          peek;          /* of the watcher */

    pthread_t           thread;
    pthread_mutex_t     mutex;         /* of all that follows */
    pthread_cond_t      wake;
    bool                is_leaving;

    jpp_blocked_t       blocked;       /* where its stack was taken last */
    bool                is_cancelled;  /* it was blocked after it was asked */

    uint64_t            iteration;     /* when it last looked */
    jpp_watch_stage_t   stage;
    bool                is_late;       /* the stall is over, but not closed */
    uint64_t            wait;          /* until the next look, ms */
    uint64_t            id;            /* the caller's, of the stall */
    jpp_stall_t         stall;
} jpp_watch_t;


static jpp_watch_t  jpp_watch;


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
    stall->place[0] = '\0';
}


/* What functions work on is in their frames, the innermost first. */

static void
jpp_watch_take_serves(const jpp_peek_t *peek, uintptr_t rsp,
    jpp_stall_t *stall)
{
    uint32_t   i;
    uintptr_t  top, word, last;

    top = jpp_backtrace_top(rsp);
    last = 0;

    for (i = 0; i < JPP_WATCH_WORDS && jpp_frame_holds(rsp, top, rsp); i++) {
        word = jpp_frame_word(rsp);

        if (word != last && (word < rsp || word >= top)
            && jpp_watch.loop.serves(peek, word, stall))
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

    iteration = jpp_watch.loop.iteration() + 1;

    if (__atomic_exchange_n(&jpp_watch.asked, 0, __ATOMIC_SEQ_CST)
        != iteration)
    {
        return;
    }

    n = jpp_backtrace_interrupted(signal->ucontext, pcs, JPP_STALL_DEPTH);

    jpp_watch_take_stack(&jpp_watch.answer, pcs, n);

    jpp_unwind_interrupted(&at, signal->ucontext);
    jpp_watch_take_serves(&jpp_watch.loop_peek, at.registers[JPP_CFI_RSP],
                          &jpp_watch.answer);

    __atomic_store_n(&jpp_watch.answered, iteration, __ATOMIC_SEQ_CST);
}


static void
jpp_watch_take_exit(void)
{
    jpp_signal_release(JPP_SIGNAL_STALL);
    jpp_peek_close(&jpp_watch.loop_peek);
}


/* All below is for the watcher's thread. */


static bool
jpp_watch_take_waits(uintptr_t pc)
{
    return jpp_backtrace_function(pc - 1) == jpp_watch.loop.waits;
}


/*
 * Does the loop wait for events, and not somebody within it for something?
 *
 * Somebody within the loop may wait in the same system call.
 */

static bool
jpp_watch_is_idle(void)
{
    uint32_t       i, n;
    uintptr_t      pcs[JPP_WATCH_IDLE];
    jpp_blocked_t  blocked;

    jpp_blocked_read(jpp_watch.tid, &blocked);

    if (jpp_blocked_for(&blocked) < JPP_BLOCKED_FOR_POLL) {
        return false;
    }

    n = jpp_backtrace_blocked(&blocked, pcs, JPP_WATCH_IDLE);

    for (i = 0; i < n; i++) {
        if (jpp_watch_take_waits(pcs[i])) {
            return true;
        }
    }

    /* where a stack cannot be walked, the call has to do */

    return n == 0 || jpp_cut_name(pcs[n - 1]) != NULL;
}


/*
 * Has the stall just been a wait?  Then it is none.
 *
 * Who has woken up, but did not get the CPU, has not looked at the clock.
 */

static bool
jpp_watch_is_woken(void)
{
    const uint64_t  *pc;

    jpp_each(pc, jpp_watch.stall.pcs,
             jpp_smaller(jpp_watch.stall.depth, JPP_WATCH_IDLE))
    {
        if (jpp_watch_take_waits((uintptr_t) *pc)) {
            return true;
        }
    }

    return false;
}


/*
 * If the thread is blocked in the iteration, the stall has its stack and what
 * it serves.  Returns what it does.
 */

static jpp_blocked_state_t
jpp_watch_take_blocked(void)
{
    unsigned       i;
    uint32_t       n;
    uintptr_t      pcs[JPP_STALL_DEPTH];
    jpp_blocked_t  blocked, now;

    for (i = 0; i < JPP_WATCH_TRIES; i++) {
        jpp_blocked_read(jpp_watch.tid, &blocked);

        if (blocked.state != JPP_BLOCKED_WAITS) {
            break;
        }

        /* one that wakes up meanwhile must not answer as well */

        if (__atomic_exchange_n(&jpp_watch.asked, 0, __ATOMIC_SEQ_CST) != 0) {
            jpp_watch.is_cancelled = true;
        }

        n = jpp_backtrace_blocked(&blocked, pcs, JPP_STALL_DEPTH);

        jpp_watch_take_stack(&jpp_watch.stall, pcs, n);
        jpp_watch_take_serves(&jpp_watch.peek, blocked.rsp, &jpp_watch.stall);

        if (n == 0) {

            /* there is no unwinder, or it is on a stack of its own */

            return JPP_BLOCKED_UNKNOWN;
        }

        jpp_blocked_read(jpp_watch.tid, &now);

        if (memcmp(&now, &blocked, sizeof(jpp_blocked_t)) == 0
            && jpp_watch.loop.iteration() == jpp_watch.iteration)
        {
            jpp_watch.blocked = blocked;
            return JPP_BLOCKED_WAITS;
        }

        blocked.state = JPP_BLOCKED_RUNS;
    }

    jpp_watch.stall.depth = 0;

    return blocked.state;
}


/* Has the thread recorded its stack?  Then the stall has it. */

static bool
jpp_watch_take_answer(void)
{
    if (__atomic_load_n(&jpp_watch.answered, __ATOMIC_SEQ_CST)
        != jpp_watch.iteration + 1)
    {
        return false;
    }

    jpp_watch.stall = jpp_watch.answer;

    return true;
}


/* The next look is when an iteration of AGE would be too long. */

static void
jpp_watch_next(uint64_t age)
{
    jpp_watch.wait = jpp_larger(jpp_less(jpp_watch.loop.threshold, age), 1);
}


/*
 * jpp_watch_over() closes what is open; it may be just about to.  If not, the
 * clocks of the loop differ; or there is no stack yet, and the loop had only
 * been waiting until it got the CPU.
 */

static void
jpp_watch_passed(void)
{
    if (jpp_watch.stage > JPP_WATCH_SUSPECTS && !jpp_watch.is_late) {
        jpp_watch.is_late = true;
        return;
    }

    if (jpp_watch.stage == JPP_WATCH_HAS) {
        jpp_watch.stall.state = JPP_STALL_OVER;
        jpp_watch.loop.store(&jpp_watch.stall, &jpp_watch.id);
    }

    jpp_watch.is_late = false;
    jpp_watch.stage = JPP_WATCH_LOOKS;

    jpp_watch_next(jpp_watch.loop.age());
}


static void
jpp_watch_begin(uint64_t age)
{
    jpp_watch.id = 0;
    jpp_watch.stall = jpp_watch.loop.who;
    jpp_watch.stall.kind = JPP_STALL_SHORT;
    jpp_watch.stall.state = JPP_STALL_LASTS;
    jpp_watch.stall.nanos = age * 1000000;
    jpp_watch.stall.time_nanos = jpp_clock_wall()
                                 - (int64_t) jpp_watch.stall.nanos;
}


static void
jpp_watch_has(jpp_stall_kind_t kind)
{
    jpp_watch.stage = JPP_WATCH_HAS;
    jpp_watch.stall.kind = kind;

    jpp_watch_maps(&jpp_watch.stall);
    jpp_where(&jpp_watch.stall);
    jpp_watch.loop.store(&jpp_watch.stall, &jpp_watch.id);
}


/* Who shares a listening socket wakes up for others, and waits on. */

static void
jpp_watch_blocked(void)
{
    if (jpp_blocked_for(&jpp_watch.blocked) >= JPP_BLOCKED_FOR_POLL
        && jpp_watch_is_woken())
    {
        jpp_watch.stage = JPP_WATCH_LOOKS;

    } else {
        jpp_watch_has(JPP_STALL_WAITED);
    }
}


/*
 * Ask the thread.  A signal gets lost while a sampler's is pending, which is
 * until the thread gets the CPU; one too many finds that nothing is asked.
 */

static bool
jpp_watch_send(void)
{
    return jpp_watch.has_signal
           && jpp_signal_send(getpid(), jpp_watch.tid, JPP_SIGNAL_STALL, 0);
}


/* The thread is to record its stack itself, if it is still in the iteration. */

static void
jpp_watch_ask(void)
{
    jpp_watch.stall.depth = 0;

    /* what a handler has that comes late must not be this answer */

    jpp_watch.is_cancelled = false;
    jpp_watch.answer = jpp_watch.stall;

    __atomic_store_n(&jpp_watch.answered, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&jpp_watch.asked, jpp_watch.iteration + 1,
                     __ATOMIC_SEQ_CST);

    if (!jpp_watch_send()) {
        jpp_watch_has(JPP_STALL_FOREIGN);
        return;
    }

    jpp_watch.stage = JPP_WATCH_ASKS;
    jpp_watch.wait = 1;
}


/* The answer comes when the thread gets the CPU; or it is blocked by now. */

static void
jpp_watch_asks(uint64_t waited)
{
    if (jpp_watch_take_answer()) {

        if (jpp_watch_is_woken()) {
            jpp_watch.stage = JPP_WATCH_LOOKS;

        } else {
            jpp_watch_has(JPP_STALL_RAN);
        }

    } else if (jpp_watch_take_blocked() == JPP_BLOCKED_WAITS) {
        jpp_watch_blocked();

    } else if (jpp_watch.is_cancelled) {
        jpp_watch_ask();

    } else {
        (void) jpp_watch_send();
        jpp_watch.wait = jpp_smaller(2 * waited, jpp_watch.loop.threshold);
    }
}


/*
 * Look once.
 *
 * An iteration is suspect if the loop does not wait.  It may have waited a
 * moment ago, though, and has not looked at its clock since; so the next look
 * decides, in the same iteration, and in the end the stack.
 */

static void
jpp_watch_look(void)
{
    uint64_t             age, waited, iteration;
    jpp_blocked_state_t  state;

    waited = jpp_watch.wait;
    jpp_watch.wait = jpp_watch.loop.threshold;

    iteration = jpp_watch.loop.iteration();

    if (iteration != jpp_watch.iteration) {
        jpp_watch.iteration = iteration;
        jpp_watch_passed();
        return;
    }

    if (jpp_watch.stage == JPP_WATCH_ASKS) {
        jpp_watch_asks(waited);
        return;
    }

    if (jpp_watch.stage == JPP_WATCH_HAS) {

        /* if its process is killed, this is how long it took at least */

        jpp_watch.stall.nanos = jpp_watch.loop.age() * 1000000;
        jpp_watch.loop.store(&jpp_watch.stall, &jpp_watch.id);
        return;
    }

    if (jpp_watch_is_idle()) {
        jpp_watch.stage = JPP_WATCH_LOOKS;
        return;
    }

    age = jpp_watch.loop.age();

    if (jpp_watch.stage == JPP_WATCH_LOOKS || age < jpp_watch.loop.threshold) {
        jpp_watch.stage = JPP_WATCH_SUSPECTS;
        jpp_watch_next(age);
        return;
    }

    /* its stack, at once if it is blocked */

    jpp_watch_begin(age);

    state = jpp_watch_take_blocked();

    if (state == JPP_BLOCKED_WAITS) {
        jpp_watch_blocked();

    } else if (state == JPP_BLOCKED_UNKNOWN) {
        jpp_watch_has(JPP_STALL_BLIND);

    } else {
        jpp_watch_ask();
    }
}


static void *
jpp_watch_main(void *data)
{
    (void) data;

    (void) pthread_setname_np(pthread_self(), "jpp-watch");
    (void) jpp_source_sample_thread(JPP_SOURCE_BY_NONE);
    jpp_thread_leave_files();

    /* it has descriptors of its own */

    (void) jpp_peek_open(&jpp_watch.peek);

    (void) pthread_mutex_lock(&jpp_watch.mutex);

    while (!jpp_watch.is_leaving) {
        jpp_watch_look();

        jpp_thread_wait(&jpp_watch.wake, &jpp_watch.mutex,
                        jpp_clock() + jpp_watch.wait * 1000000);
    }

    (void) pthread_mutex_unlock(&jpp_watch.mutex);

    jpp_peek_close(&jpp_watch.peek);

    return NULL;
}


jpp_code_t
jpp_watch_start(const jpp_watch_loop_t *loop, jpp_err_t *err)
{
    int         error;
    jpp_code_t  rc;

    memset(&jpp_watch, 0, sizeof(jpp_watch_t));

    jpp_watch.loop = *loop;
    jpp_watch.tid = (pid_t) syscall(SYS_gettid);

    (void) jpp_backtrace_start();

    /* without it nobody knows what was served */

    (void) jpp_peek_open(&jpp_watch.loop_peek);

    rc = jpp_signal_claim(JPP_SIGNAL_STALL, jpp_watch_take_interrupted, err);

    jpp_watch.has_signal = rc == JPP_OK;

    (void) pthread_mutex_init(&jpp_watch.mutex, NULL);
    jpp_thread_cond(&jpp_watch.wake);

    error = jpp_thread_start(JPP_WATCH_STACK, jpp_watch_main, NULL,
                             &jpp_watch.thread);

    if (error != 0) {
        jpp_watch_take_exit();
        return jpp_err_sys(err, error, "cannot create a thread");
    }

    jpp_watch.is_on = true;

    return rc;
}


void
jpp_watch_stop(void)
{
    if (!jpp_watch.is_on) {
        return;
    }

    jpp_watch.is_on = false;

    (void) pthread_mutex_lock(&jpp_watch.mutex);
    jpp_watch.is_leaving = true;
    (void) pthread_cond_signal(&jpp_watch.wake);
    (void) pthread_mutex_unlock(&jpp_watch.mutex);

    (void) pthread_join(jpp_watch.thread, NULL);

    jpp_watch_take_exit();
}


void
jpp_watch_over(uint64_t ms, jpp_stall_t *stall)
{
    (void) pthread_mutex_lock(&jpp_watch.mutex);

    if (jpp_watch.stage <= JPP_WATCH_SUSPECTS) {
        jpp_watch_begin(ms);

    } else if (jpp_watch.stage == JPP_WATCH_ASKS && jpp_watch_take_answer()) {
        jpp_watch_has(JPP_STALL_RAN);
    }

    if (jpp_watch.stage != JPP_WATCH_HAS) {
        jpp_where(&jpp_watch.stall);
    }

    jpp_watch.stall.nanos = ms * 1000000;
    jpp_watch.stall.state = JPP_STALL_OVER;
    jpp_watch.loop.store(&jpp_watch.stall, &jpp_watch.id);

    *stall = jpp_watch.stall;

    jpp_watch.is_late = false;
    jpp_watch.stage = JPP_WATCH_LOOKS;

    (void) pthread_mutex_unlock(&jpp_watch.mutex);
}
