
/*
 * Who handles SIGPROF, whose a signal is, and what it says about the code that
 * it interrupts.
 */


#include "jpp_test_main.h"
#include "jpp_proc.h"


#define JPP_SIGNAL_DEPTH   64

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id  _sigev_un._tid
#endif


static bool jpp_test_caller(void) __attribute__((noinline));


static volatile unsigned  jpp_n;
static volatile unsigned  jpp_n_stalls;
static volatile unsigned  jpp_is_inside;
static volatile unsigned  jpp_may_leave;
static uint32_t           jpp_number;
static uint32_t           jpp_missed;
static uint32_t           jpp_missed_max;
static uintptr_t          jpp_pcs[JPP_SIGNAL_DEPTH];
static uint32_t           jpp_depth;


static jpp_err_t  err;


static void
jpp_receive(const jpp_signal_t *signal)
{
    jpp_number = signal->number;
    jpp_missed = signal->missed;
    jpp_missed_max = jpp_missed > jpp_missed_max ? jpp_missed : jpp_missed_max;
    jpp_depth = jpp_backtrace_interrupted(signal->ucontext, jpp_pcs,
                                          JPP_SIGNAL_DEPTH);
    errno = EBADF;
    jpp_n++;
}


static void
jpp_receive_stall(const jpp_signal_t *signal)
{
    (void) signal;

    jpp_n_stalls++;
}


static bool
jpp_send(jpp_signal_user_t user, uint32_t number)
{
    return jpp_signal_send(getpid(), (pid_t) syscall(SYS_gettid), user, number);
}


JPP_TEST(jpp_test_sent)
{
    (void) jpp_backtrace_start();

    jpp_is_u64(jpp_signal_claim(JPP_SIGNAL_CPU, jpp_receive, &err), JPP_OK,
               "SIGPROF is claimed");
    jpp_is_u64(jpp_signal_claim(JPP_SIGNAL_CPU, jpp_receive, &err), JPP_OK,
               "and again");

    errno = ENOENT;

    jpp_ok(jpp_send(JPP_SIGNAL_CPU, 4095), "a signal is sent");
    jpp_is_u64(errno, ENOENT, "which leaves errno alone");
    jpp_is_u64(jpp_n, 1, "it comes");
    jpp_is_u64(jpp_number, 4095, "with its number");
    jpp_is_u64(jpp_missed, 0, "and no other was missed");

    jpp_ok(!jpp_signal_send(getpid(), 1, JPP_SIGNAL_CPU, 0),
           "no thread of this process");
    jpp_is_u64(errno, ESRCH, "is told by errno");
}


static bool
jpp_test_caller(void)
{
    return jpp_send(JPP_SIGNAL_CPU, 1) && jpp_depth != 0;
}


JPP_TEST(jpp_test_stack)
{
    bool      is_found;
    uint32_t  i;

    jpp_depth = 0;

    jpp_ok(jpp_test_caller(), "a stack was recorded");

    for (i = 0, is_found = false; i < jpp_depth; i++) {
        is_found |= jpp_backtrace_function(jpp_pcs[i] - 1)
                    == (uintptr_t) jpp_test_caller;
    }

    jpp_ok(is_found || !jpp_backtrace_start(),
           "of the function that was interrupted");
}


JPP_TEST(jpp_test_users)
{
    jpp_n = 0;

    jpp_ok(jpp_send(JPP_SIGNAL_STALL, 0), "a signal of nobody");
    jpp_is_u64(jpp_n, 0, "goes to nobody");

    jpp_is_u64(jpp_signal_claim(JPP_SIGNAL_STALL, jpp_receive_stall, &err),
               JPP_OK, "a second user");

    (void) jpp_send(JPP_SIGNAL_STALL, 0);
    (void) jpp_send(JPP_SIGNAL_CPU, 0);

    jpp_is_u64(jpp_n_stalls, 1, "each user has its own");
    jpp_is_u64(jpp_n, 1, "and nothing else");

    jpp_signal_release(JPP_SIGNAL_STALL);

    (void) jpp_send(JPP_SIGNAL_STALL, 0);
    (void) jpp_send(JPP_SIGNAL_CPU, 0);

    jpp_is_u64(jpp_n_stalls, 1, "none after the release");
    jpp_is_u64(jpp_n, 2, "which leaves the other user alone");
}


JPP_TEST(jpp_test_strangers)
{
    union sigval  value;

    jpp_n = 0;

    (void) raise(SIGPROF);

    value.sival_ptr = NULL;
    (void) sigqueue(getpid(), SIGPROF, value);

    value.sival_ptr = (char *) jpp_signal_value(JPP_SIGNAL_CPU, 0)
                      + JPP_SIGNAL_USERS * JPP_SIGNAL_NUMBERS;
    (void) sigqueue(getpid(), SIGPROF, value);

    jpp_is_u64(jpp_n, 0, "signals of strangers are dropped");
}


/* One signal stands for all that the timer would have sent meanwhile. */

JPP_TEST(jpp_test_timer)
{
    timer_t            timer;
    sigset_t           set;
    siginfo_t          info = { 0 };
    struct sigevent    event = { 0 };
    struct timespec    wait = { 0, 20000000 };
    struct itimerspec  every = { { 0, 1000000 }, { 0, 1000000 } };

    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event.sigev_value.sival_ptr = jpp_signal_value(JPP_SIGNAL_CPU, 7);
    event.sigev_notify_thread_id = (pid_t) syscall(SYS_gettid);

    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGPROF);
    (void) pthread_sigmask(SIG_BLOCK, &set, NULL);

    jpp_n = 0;

    jpp_is_i64(timer_create(CLOCK_MONOTONIC, &event, &timer), 0, "a timer");
    (void) timer_settime(timer, 0, &every, NULL);
    (void) nanosleep(&wait, NULL);

    jpp_is_u64(jpp_n, 0, "nothing comes while it is blocked");

    (void) pthread_sigmask(SIG_UNBLOCK, &set, NULL);

    jpp_ok(jpp_n > 0 && jpp_number == 7, "then the number of the timer");
    jpp_ok(jpp_missed_max > 0, "and how often it has fired besides");

    (void) timer_delete(timer);

    /* the same bytes mean something else in one that was sent */

    info.si_code = SI_QUEUE;
    info.si_overrun = 5;
    info.si_value = event.sigev_value;

    jpp_n = 0;

    jpp_is_i64(syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
                       SIGPROF, &info), 0, "it is sent");
    jpp_ok(jpp_n == 1 && jpp_missed == 0, "and has missed none");
}


static void
jpp_receive_long(const jpp_signal_t *signal)
{
    (void) signal;

    jpp_is_inside = 1;

    while (!jpp_may_leave) {
        /* void */
    }
}


static void *
jpp_test_inside(void *data)
{
    (void) data;

    (void) jpp_send(JPP_SIGNAL_CPU, 0);

    return NULL;
}


JPP_TEST(jpp_test_left)
{
    pthread_t  thread;

    (void) jpp_signal_claim(JPP_SIGNAL_CPU, jpp_receive_long, &err);

    if (pthread_create(&thread, NULL, jpp_test_inside, NULL) != 0) {
        return;
    }

    while (!jpp_is_inside) {
        /* void */
    }

    jpp_signal_release(JPP_SIGNAL_CPU);

    jpp_ok(!jpp_signal_is_left(JPP_SIGNAL_CPU),
           "a thread is in the receiver, after the release too");

    jpp_may_leave = 1;

    (void) pthread_join(thread, NULL);

    jpp_ok(jpp_signal_is_left(JPP_SIGNAL_CPU), "until it leaves");
}


JPP_TEST(jpp_test_released)
{
    jpp_ok(signal(SIGPROF, SIG_IGN) == SIG_IGN,
           "no handler without a user: the signal is ignored");

    jpp_n = 0;

    jpp_ok(jpp_send(JPP_SIGNAL_CPU, 0), "one that comes late");
    jpp_is_u64(jpp_n, 0, "ends nothing");
}


static void
jpp_foreign(int signo)
{
    (void) signo;
}


JPP_TEST(jpp_test_foreign)
{
    (void) signal(SIGPROF, jpp_foreign);

    jpp_is_u64(jpp_signal_claim(JPP_SIGNAL_CPU, jpp_receive, &err),
               JPP_ERR_TAKEN, "a signal that belongs to somebody else");
    jpp_ok(strstr(err.text, "SIGPROF belongs to ") == err.text
           && strstr(err.text, "jpp_signal_test") != NULL
           && strstr(err.text, "switch that profiler off") != NULL,
           "a sentence says to whom: %s", err.text);

    /* one that takes it while it is ours */

    jpp_ok(signal(SIGPROF, SIG_DFL) == jpp_foreign, "who keeps it");

    jpp_is_u64(jpp_signal_claim(JPP_SIGNAL_CPU, jpp_receive, &err), JPP_OK,
               "claimed when it is free again");

    (void) signal(SIGPROF, jpp_foreign);

    jpp_is_u64(jpp_signal_claim(JPP_SIGNAL_CPU, jpp_receive, &err),
               JPP_ERR_TAKEN, "another has taken it meanwhile");

    jpp_signal_release(JPP_SIGNAL_CPU);

    jpp_ok(signal(SIGPROF, SIG_IGN) == jpp_foreign,
           "and keeps it when we release");
}


/* The child is interrupted by the parent. */

JPP_TEST(jpp_test_other_process)
{
    int    pair[2], status;
    char   byte;
    pid_t  pid;

    if (pipe(pair) == -1) {
        return;
    }

    jpp_n_stalls = 0;

    pid = fork();

    if (pid == 0) {
        byte = (char) jpp_signal_claim(JPP_SIGNAL_STALL, jpp_receive_stall,
                                       &err);
        (void) !write(pair[1], &byte, 1);

        while (jpp_n_stalls == 0) {
            /* void */
        }

        _exit(42);
    }

    (void) !read(pair[0], &byte, 1);

    jpp_ok(jpp_signal_send(pid, pid, JPP_SIGNAL_STALL, 3),
           "a signal to another process");

    (void) waitpid(pid, &status, 0);

    jpp_is_i64(WEXITSTATUS(status), 42, "comes");
}
