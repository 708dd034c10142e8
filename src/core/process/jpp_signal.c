
/* The handler of SIGPROF, the signal that records stacks. */


#include "jpp_proc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>


/* a value: the mark, the user, the number */
#define JPP_SIGNAL_MARK   ((uintptr_t) 0x6a700000)
#define JPP_SIGNAL_SHIFT  16


typedef struct {
    jpp_signal_pt     receive;     /* NULL: not claimed */
    uint32_t          n;           /* threads in it */
} jpp_signal_receiver_t;


static jpp_signal_receiver_t  jpp_signal_receivers[JPP_SIGNAL_USERS];

/* of claims */
static pthread_mutex_t        jpp_signal_lock = PTHREAD_MUTEX_INITIALIZER;


/*
 * The count goes up before the receiver is read, and whoever releases it looks
 * at the count afterwards: one of both sees the other.
 */

static void
jpp_signal_handler(int signo, siginfo_t *info, void *ucontext)
{
    int                     was_errno;
    uintptr_t               value, user;
    jpp_signal_t            signal;
    jpp_signal_pt           receive;
    jpp_signal_receiver_t  *receiver;

    (void) signo;

    if (info->si_code != SI_TIMER && info->si_code != SI_QUEUE) {
        return;
    }

    value = (uintptr_t) info->si_value.sival_ptr - JPP_SIGNAL_MARK;
    user = value >> JPP_SIGNAL_SHIFT;

    if (user >= JPP_SIGNAL_USERS) {
        return;
    }

    signal.ucontext = ucontext;
    signal.number = value & (JPP_SIGNAL_NUMBERS - 1);
    signal.missed = info->si_code == SI_TIMER && info->si_overrun > 0
                    ? (uint32_t) info->si_overrun : 0;

    was_errno = errno;
    receiver = &jpp_signal_receivers[user];

    (void) __atomic_fetch_add(&receiver->n, 1, __ATOMIC_SEQ_CST);

    receive = __atomic_load_n(&receiver->receive, __ATOMIC_SEQ_CST);

    if (receive != NULL) {
        receive(&signal);
    }

    (void) __atomic_fetch_sub(&receiver->n, 1, __ATOMIC_SEQ_CST);

    errno = was_errno;
}


static bool
jpp_signal_is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) != 0
           && action->sa_sigaction == jpp_signal_handler;
}


static bool
jpp_signal_is_free(const struct sigaction *action, jpp_err_t *err)
{
    Dl_info      info;
    const char  *name;

    if (jpp_signal_is_ours(action)
        || ((action->sa_flags & SA_SIGINFO) == 0
            && (action->sa_handler == SIG_DFL
                || action->sa_handler == SIG_IGN)))
    {
        return true;
    }

    name = dladdr((void *) (uintptr_t) action->sa_handler, &info) != 0
           ? info.dli_fname : "unknown code";

    (void) jpp_err_set(err, JPP_ERR_TAKEN, "SIGPROF belongs to %s: switch that "
                       "profiler off (google_perftools_profiles, for one), and "
                       "start this process again", name);

    return false;
}


static jpp_code_t
jpp_signal_set(jpp_err_t *err)
{
    struct sigaction  action;

    if (sigaction(SIGPROF, NULL, &action) == 0
        && !jpp_signal_is_free(&action, err))
    {
        return JPP_ERR_TAKEN;
    }

    memset(&action, 0, sizeof(struct sigaction));

    action.sa_sigaction = jpp_signal_handler;
    action.sa_flags = SA_SIGINFO|SA_RESTART|SA_ONSTACK;

    if (sigaction(SIGPROF, &action, NULL) == -1) {
        return jpp_err_sys(err, errno, "cannot handle SIGPROF");
    }

    return JPP_OK;
}


jpp_code_t
jpp_signal_claim(jpp_signal_user_t user, jpp_signal_pt receive,
    jpp_err_t *err)
{
    jpp_code_t  rc;

    (void) pthread_mutex_lock(&jpp_signal_lock);

    rc = jpp_signal_set(err);

    if (rc == JPP_OK) {
        __atomic_store_n(&jpp_signal_receivers[user].receive, receive,
                         __ATOMIC_SEQ_CST);
    }

    (void) pthread_mutex_unlock(&jpp_signal_lock);

    return rc;
}


void
jpp_signal_release(jpp_signal_user_t user)
{
    bool                          is_claimed;
    struct sigaction              action;
    const jpp_signal_receiver_t  *receiver;

    (void) pthread_mutex_lock(&jpp_signal_lock);

    __atomic_store_n(&jpp_signal_receivers[user].receive, NULL,
                     __ATOMIC_SEQ_CST);

    is_claimed = false;

    jpp_each(receiver, jpp_signal_receivers, JPP_SIGNAL_USERS) {
        is_claimed |= receiver->receive != NULL;
    }

    if (!is_claimed && sigaction(SIGPROF, NULL, &action) == 0
        && jpp_signal_is_ours(&action))
    {
        memset(&action, 0, sizeof(struct sigaction));

        action.sa_handler = SIG_IGN;

        (void) sigaction(SIGPROF, &action, NULL);
    }

    (void) pthread_mutex_unlock(&jpp_signal_lock);
}


bool
jpp_signal_is_left(jpp_signal_user_t user)
{
    return __atomic_load_n(&jpp_signal_receivers[user].n, __ATOMIC_SEQ_CST)
           == 0;
}


void *
jpp_signal_value(jpp_signal_user_t user, uint32_t number)
{
    return (void *) (JPP_SIGNAL_MARK | (uintptr_t) user << JPP_SIGNAL_SHIFT
                     | (number & (JPP_SIGNAL_NUMBERS - 1)));
}


bool
jpp_signal_send(pid_t process, pid_t thread, jpp_signal_user_t user,
    uint32_t number)
{
    siginfo_t  info;

    memset(&info, 0, sizeof(siginfo_t));

    info.si_signo = SIGPROF;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = jpp_signal_value(user, number);

    return syscall(SYS_rt_tgsigqueueinfo, process, thread, SIGPROF, &info) == 0;
}


/*
 * System calls that a signal interrupts as they begin: sleeps and waits, which
 * the kernel ends with EINTR and does not begin again by itself, SA_RESTART or
 * not.
 *
 * [signal] No state.  amd64 only; elsewhere such calls end early.
 */


/* mov $number, %eax; syscall */
#define JPP_RESTART_MOV      0xb8
#define JPP_RESTART_SYSCALL  0x050f

#define JPP_RESTART_LEN      7
#define JPP_RESTART_BACK     2

/* __syscall_cancel_arch(), and who has called it */
#define JPP_RESTART_CALLERS  2


#if JPP_UNWIND_IS_HERE

/*
 * From glibc 2.41 on, a call that can be cancelled has its number on the stack:
 * the seventh argument of __syscall_cancel().  What is found there has to be
 * the number of such a call.
 */

static bool
jpp_restart_argument(const void *ucontext, uint32_t *number)
{
    uint32_t         i, n;
    uintptr_t        arguments[JPP_RESTART_CALLERS];
    const uint16_t  *call;

    static const uint16_t  calls[] = {
        SYS_poll, SYS_select, SYS_nanosleep, SYS_clock_nanosleep,
        SYS_epoll_wait, SYS_epoll_pwait, SYS_pselect6, SYS_ppoll
    };

    n = jpp_backtrace_arguments(ucontext, arguments, JPP_RESTART_CALLERS);

    for (i = 0; i < n; i++) {
        jpp_each(call, calls, sizeof(calls) / sizeof(calls[0])) {
            if (arguments[i] == *call) {
                *number = *call;
                return true;
            }
        }
    }

    return false;
}

#endif


bool
jpp_restart(void *ucontext)
{
#if JPP_UNWIND_IS_HERE
    uint8_t      code[JPP_RESTART_LEN];
    uint16_t     call;
    uint32_t     number;
    uintptr_t    pc;
    ucontext_t  *context = ucontext;

    if (context->uc_mcontext.gregs[REG_RAX] != -EINTR) {
        return false;
    }

    pc = (uintptr_t) context->uc_mcontext.gregs[REG_RIP];

    /* what it returned to may be code of anybody, or none */

    if (jpp_backtrace_function(pc - JPP_RESTART_LEN) == 0
        || jpp_backtrace_function(pc) == 0)
    {
        return false;
    }

    memcpy(code, (const void *) (pc - JPP_RESTART_LEN), JPP_RESTART_LEN);
    memcpy(&number, code + 1, sizeof(number));
    memcpy(&call, code + JPP_RESTART_LEN - JPP_RESTART_BACK, sizeof(call));

    if (call != JPP_RESTART_SYSCALL
        || (code[0] != JPP_RESTART_MOV
            && !jpp_restart_argument(ucontext, &number)))
    {
        return false;
    }

    context->uc_mcontext.gregs[REG_RAX] = number;
    context->uc_mcontext.gregs[REG_RIP] -= JPP_RESTART_BACK;

    return true;
#else
    (void) ucontext;

    return false;
#endif
}
