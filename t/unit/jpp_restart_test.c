
/*
 * Sleeps and waits that a signal interrupts: with a restart they end by
 * themselves, and without one early.
 */


#include "jpp_test.h"

#include <poll.h>
#include <sys/epoll.h>

#include "jpp_proc.h"


static volatile bool  has_restart;
static volatile bool  is_restarted;
static unsigned       n_received;


static void
jpp_receive(const jpp_signal_t *signal)
{
    n_received++;

    is_restarted = has_restart && jpp_restart(signal->ucontext);
}


/* One signal to the main thread, when it is asleep. */

static void *
jpp_interrupter(void *data)
{
    const int      *call = data;
    jpp_blocked_t   blocked;

    do {
        jpp_blocked_read(getpid(), &blocked);
    } while (blocked.state != JPP_BLOCKED_WAITS || blocked.call != *call);

    (void) jpp_signal_send(getpid(), getpid(), JPP_SIGNAL_CPU, 0);

    return NULL;
}


static int
jpp_nanosleep(void)
{
    struct timespec  time = { 0, 300000000 };

    return nanosleep(&time, NULL);
}


static int
jpp_poll(void)
{
    return poll(NULL, 0, 300);
}


#if JPP_UNWIND_IS_HERE

/* As glibc 2.41 and later make a system call: its number is an argument on the
   stack of who has called the function. */

long jpp_cancel(long a, long b, long c, long d, long e, long f, long number);

__asm__ (
    ".text\n"
    "jpp_syscall:\n"
    "    .cfi_startproc\n"
    "    mov %r11, %rax\n"
    "    movq $-1, 8(%rsp)\n"
    "    syscall\n"
    "    ret\n"
    "    .cfi_endproc\n"
    "jpp_cancel:\n"
    "    .cfi_startproc\n"
    "    mov 8(%rsp), %r11\n"
    "    sub $24, %rsp\n"
    "    .cfi_adjust_cfa_offset 24\n"
    "    call jpp_syscall\n"
    "    add $24, %rsp\n"
    "    .cfi_adjust_cfa_offset -24\n"
    "    ret\n"
    "    .cfi_endproc\n"
);


static int
jpp_poll_cancel(void)
{
    errno = (int) -jpp_cancel(0, 0, 300, 0, 0, 0, SYS_poll);

    return errno != 0 ? -1 : 0;
}

#endif


/* The errno of CALL, which is interrupted; 0: it ended by itself. */

static int
jpp_interrupted(int (*call)(void), int number, bool with_restart)
{
    int        rc;
    pthread_t  thread;

    has_restart = with_restart;
    is_restarted = false;

    (void) pthread_create(&thread, NULL, jpp_interrupter, &number);

    rc = call() == -1 ? errno : 0;

    (void) pthread_join(thread, NULL);

    return rc;
}


static int
jpp_epoll(void)
{
    int                 fd, rc, error;
    struct epoll_event  event;

    fd = epoll_create1(EPOLL_CLOEXEC);
    rc = epoll_wait(fd, &event, 1, 300);
    error = errno;

    (void) close(fd);
    errno = error;

    return rc;
}


int
main(void)
{
    size_t     i;
    jpp_err_t  err;

    static const struct {
        const char  *name;
        int        (*call)(void);
        int          number;
    } rows[] = {
        { "nanosleep()", jpp_nanosleep, SYS_clock_nanosleep },
        { "poll()", jpp_poll, SYS_poll },
        { "epoll_wait()", jpp_epoll, SYS_epoll_wait },
#if JPP_UNWIND_IS_HERE
        { "a number on the stack", jpp_poll_cancel, SYS_poll }
#endif
    };

    if (!jpp_backtrace_start()) {
        jpp_ok(!jpp_restart(NULL), "another machine");
        return jpp_done();
    }

    (void) jpp_signal_claim(JPP_SIGNAL_CPU, jpp_receive, &err);

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {

        n_received = 0;

        jpp_is_i64(jpp_interrupted(rows[i].call, rows[i].number, false), EINTR,
                   "%s is interrupted", rows[i].name);
        jpp_is_i64(jpp_interrupted(rows[i].call, rows[i].number, true), 0,
                   "and with a restart it is not");
        jpp_ok(is_restarted && n_received == 2,
               "since it began again, after a signal");
    }

    /* a signal elsewhere changes nothing */

    is_restarted = false;
    (void) jpp_signal_send(getpid(), getpid(), JPP_SIGNAL_CPU, 0);
    jpp_ok(!is_restarted, "no call, no restart");

    jpp_signal_release(JPP_SIGNAL_CPU);

    return jpp_done();
}
