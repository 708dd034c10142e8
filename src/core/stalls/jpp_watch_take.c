
/* syscall() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jpp_backtrace.h"
#include "jpp_cut.h"
#include "jpp_frame.h"
#include "jpp_signal.h"
#include "jpp_unwind.h"
#include "jpp_watch_take.h"


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


jpp_code_t
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


void
jpp_watch_take_exit(void)
{
    if (jpp_watch_taken.has_signal) {
        jpp_signal_release(JPP_SIGNAL_STALL);
    }

    jpp_peek_close(&jpp_watch_taken.peeks[JPP_WATCH_LOOP]);
}


void
jpp_watch_take_begin(void)
{
    (void) jpp_peek_open(&jpp_watch_taken.peeks[JPP_WATCH_WATCHER]);
}


void
jpp_watch_take_end(void)
{
    jpp_peek_close(&jpp_watch_taken.peeks[JPP_WATCH_WATCHER]);
}


static bool
jpp_watch_take_waits(uintptr_t pc)
{
    return jpp_backtrace_function(pc - 1) == jpp_watch_taken.loop->waits;
}


/* Somebody within the loop may wait in the same system call. */

bool
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


/* Who has woken up, but did not get the CPU, has not looked at the clock. */

bool
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


bool
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


jpp_blocked_state_t
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


bool
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


bool
jpp_watch_take_is_cancelled(void)
{
    return jpp_watch_taken.is_cancelled;
}


bool
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
