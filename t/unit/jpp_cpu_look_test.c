
/*
 * What the kernel says about threads that sleep and wait, and the stack of one
 * that sleeps.
 */


#include "jpp_test_main.h"

#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include "jpp_cut.h"
#include "jpp_test_cpu.h"
#include "jpp_unwind.h"


#define JPP_LOOK_DEPTH  64


typedef struct {
    void            (*run)(void);
    pthread_t         id;
    volatile pid_t    tid;
    sem_t             ready;
} jpp_thread_t;


static jpp_thread_t   thread;
static int            wake[2];
static volatile bool  is_over;


static jpp_blocked_t  look;


static void __attribute__((noinline))
jpp_thread_reads(void)
{
    char  byte;

    (void) !read(wake[0], &byte, 1);

    /* this has a frame of its own */

    is_over = true;
}


static void *
jpp_thread(void *data)
{
    sigset_t  set;

    (void) data;

    (void) prctl(PR_SET_NAME, "a\tname");
    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGPROF);
    (void) pthread_sigmask(SIG_BLOCK, &set, NULL);

    thread.tid = (pid_t) syscall(SYS_gettid);
    (void) sem_post(&thread.ready);

    thread.run();

    return NULL;
}


static void
jpp_start(void (*run)(void))
{
    (void) sem_init(&thread.ready, 0, 0);
    thread.run = run;

    (void) !pipe(wake);
    (void) pthread_create(&thread.id, NULL, jpp_thread, NULL);
    (void) sem_wait(&thread.ready);
}


static void
jpp_end(void)
{
    is_over = true;
    (void) !write(wake[1], "x", 1);
    (void) pthread_join(thread.id, NULL);
    (void) close(wake[0]);
    (void) close(wake[1]);
}


static jpp_blocked_t
jpp_wait_for(int64_t call)
{
    unsigned       n;
    jpp_blocked_t  blocked;

    for (n = 0; n < 10000; n++) {
        jpp_blocked_read(thread.tid, &blocked);

        if (blocked.state == JPP_BLOCKED_WAITS && blocked.call == call) {
            return blocked;
        }

        (void) usleep(1000);
    }

    jpp_ok(false, "the thread is never in call %d", (int) call);

    return blocked;
}


static void
jpp_thread_waits(void)
{
    int                 fd;
    struct epoll_event  event;

    fd = epoll_create1(EPOLL_CLOEXEC);
    event.events = EPOLLIN;
    (void) epoll_ctl(fd, EPOLL_CTL_ADD, wake[0], &event);
    (void) epoll_wait(fd, &event, 1, -1);
    (void) close(fd);
}


static pthread_mutex_t  mutex = PTHREAD_MUTEX_INITIALIZER;


static void
jpp_thread_locks(void)
{
    (void) pthread_mutex_lock(&mutex);
    (void) pthread_mutex_unlock(&mutex);
}


JPP_TEST(jpp_test_asleep)
{
    char  name[JPP_BLOCKED_NAME];

    jpp_start(jpp_thread_reads);

    look = jpp_wait_for(SYS_read);

    jpp_is_i64(look.call, SYS_read, "a thread that reads");
    jpp_is_u64(jpp_blocked_for(&look), JPP_BLOCKED_FOR_OTHER, "is not idle");

    jpp_blocked_name(thread.tid, name);
    jpp_is_str(name, "a?name", "its name");

    jpp_ok(jpp_blocked_masks(thread.tid, SIGPROF), "it blocks SIGPROF");
    jpp_ok(!jpp_blocked_masks(thread.tid, SIGUSR1), "and not SIGUSR1");
    jpp_ok(!jpp_blocked_masks(getpid(), SIGPROF), "others do not");

    jpp_end();

    jpp_blocked_read(thread.tid, &look);
    jpp_is_u64(look.state, JPP_BLOCKED_UNKNOWN, "until it ends");

    jpp_blocked_name(thread.tid, name);
    jpp_is_str(name, "", "then it has no name");
    jpp_ok(!jpp_blocked_masks(thread.tid, SIGPROF), "and no mask");
}


JPP_TEST(jpp_test_epoll)
{
    jpp_start(jpp_thread_waits);

    look = jpp_wait_for(SYS_epoll_wait);
    jpp_is_u64(jpp_blocked_for(&look), JPP_BLOCKED_FOR_EPOLL,
               "a thread that waits for events");

    jpp_end();
}


JPP_TEST(jpp_test_futex)
{
    (void) pthread_mutex_lock(&mutex);

    jpp_start(jpp_thread_locks);

    look = jpp_wait_for(SYS_futex);
    jpp_is_u64(jpp_blocked_for(&look), JPP_BLOCKED_FOR_THREAD,
               "a thread that waits for another");

    (void) pthread_mutex_unlock(&mutex);
    jpp_end();
}


JPP_TEST(jpp_test_stacks)
{
    bool       is_found;
    uint32_t   i, n;
    uintptr_t  pcs[JPP_LOOK_DEPTH];

    static uint8_t  copy[JPP_BACKTRACE_COPY];

    if (!jpp_backtrace_start()) {
        return;
    }

    jpp_start(jpp_thread_reads);

    look = jpp_wait_for(SYS_read);
    n = jpp_backtrace_copied(&look, copy, pcs, JPP_LOOK_DEPTH);

    jpp_ok(n > 2 || !JPP_HAS_SLEEPERS, "the stack of a thread that sleeps");
    jpp_is_u64(pcs[0], look.pc + 1, "it begins where the call returns to");

    for (i = 0, is_found = false; i < n; i++) {
        is_found |= jpp_backtrace_function(pcs[i])
                    == (uintptr_t) jpp_thread_reads;
    }

    jpp_ok(is_found || !JPP_HAS_SLEEPERS, "and has the function that reads");
    jpp_ok(jpp_cut_name(pcs[n - 1]) == NULL || !JPP_HAS_SLEEPERS, "to its end");

    jpp_end();
}


/* What is not mapped ends a stack, and not the process. */

JPP_TEST(jpp_test_bad_stacks)
{
    size_t     i;
    uint32_t   n;
    uintptr_t  pcs[JPP_LOOK_DEPTH];

    static uint8_t          copy[JPP_BACKTRACE_COPY];
    static const uintptr_t  stacks[] = { 8, 0x1000, UINTPTR_MAX - 0x2000,
                                         UINTPTR_MAX - 7, 0 };

    if (!jpp_backtrace_start()) {
        return;
    }

    for (i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
        memset(&look, 0, sizeof(look));
        look.state = JPP_BLOCKED_WAITS;
        look.pc = (uintptr_t) read;
        look.rsp = stacks[i];

        n = jpp_backtrace_copied(&look, copy, pcs, JPP_LOOK_DEPTH);

        jpp_ok(n != 0 && jpp_cut_name(pcs[n - 1]) != NULL,
               "no stack at %zx", stacks[i]);
    }
}


/* Where a call of a function with a frame pointer returns to. */

static uintptr_t        framed;
static volatile size_t  frame_size = 64;


static void __attribute__((noinline))
jpp_called(volatile char *local)
{
    framed = (uintptr_t) __builtin_return_address(0);
    *local = 0;
}


static void __attribute__((noinline))
jpp_framed(void)
{
    volatile char  *local;

    local = __builtin_alloca(frame_size);

    jpp_called(local);
    *local = 1;
}


/*
 * How many frames are found of a stack that is made up: the frame pointer of
 * jpp_framed() is in front of N others, which lead through a hundred frames to
 * nowhere.
 */

static uint32_t
jpp_misled_by(unsigned n)
{
    unsigned   i;
    uint32_t   last;
    uintptr_t  pcs[JPP_LOOK_DEPTH];

    enum { BELOW = JPP_FRAME_RED_ZONE / sizeof(uintptr_t), NEAR = 512,
           FRAMES = 100, ALL = BELOW + NEAR + 2 * FRAMES + 4 };

    static uint8_t    copy[JPP_BACKTRACE_COPY];
    static uintptr_t  words[ALL];

    memset(words, 0, sizeof(words));

    last = jpp_backtrace(pcs, JPP_LOOK_DEPTH);

    for (i = 0; i < n; i++) {
        words[BELOW + 2 * i] = (uintptr_t) &words[BELOW + NEAR];
        words[BELOW + 2 * i + 1] = framed;
    }

    for (i = 0; i < FRAMES; i++) {
        words[BELOW + NEAR + 2 * i] = (uintptr_t) &words[BELOW + NEAR
                                                         + 2 * i + 2];
        words[BELOW + NEAR + 2 * i + 1] = framed;
    }

    /* where the last one goes on is not in this stack */

    words[BELOW + NEAR + 2 * FRAMES] = 8;
    words[BELOW + NEAR + 2 * FRAMES + 1] = framed;

    /* the right one: its caller is the outermost function */

    words[BELOW + 2 * n] = 8;
    words[BELOW + 2 * n + 1] = pcs[last - 1];

    memset(&look, 0, sizeof(look));
    look.state = JPP_BLOCKED_WAITS;
    look.call = -1;
    look.pc = framed;
    look.rsp = (uintptr_t) &words[BELOW];

    last = jpp_backtrace_copied(&look, copy, pcs, JPP_LOOK_DEPTH);

    return jpp_cut_name(pcs[last - 1]) == NULL ? last : 0;
}


/* It is looked for, but not for long. */

JPP_TEST(jpp_test_misled)
{
    if (!jpp_backtrace_start()) {
        return;
    }

    jpp_framed();

    jpp_is_u64(jpp_misled_by(0), 2, "a frame pointer that the kernel does not "
               "say");
    jpp_is_u64(jpp_misled_by(20), 2, "among some that lead nowhere");
    jpp_is_u64(jpp_misled_by(200), 0, "too many to try them all");
}
