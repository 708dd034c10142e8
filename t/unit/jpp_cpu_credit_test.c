
/*
 * What a window counts is what has passed since it was opened, and no more,
 * whatever timers, signals and lists of threads do: all of them are made to be
 * late, wrong or incomplete here.  And the end of a window of wall clock time
 * has stacks.
 *
 * Sums are compared with the CPU time of the process, which is exact.
 */


#include "jpp_cut.h"
#include "jpp_test_cpu.h"

#include <sys/prctl.h>


#define JPP_MS     UINT64_C(1000000)

/* of a machine that is busy enough to let a thread wait for the CPU */
#define JPP_TRIES  50


typedef int (*jpp_settime_pt)(timer_t timer, int flags,
    const struct itimerspec *value, struct itimerspec *old);


/* a thread that does what it is asked to */
typedef struct {
    pthread_t         id;
    volatile bool     is_deaf;
    volatile bool     blocks;      /* as it is asked to */
    const char       *name;
    volatile pid_t    tid;
    volatile bool     may_burn;
    volatile bool     has_burnt;
    volatile bool     is_over;
} jpp_thread_t;


static volatile bool           jpp_is_held;    /* once a timer is set */
static volatile bool           jpp_is_inside;
static volatile pid_t          jpp_hidden;     /* a thread that is not listed */
static jpp_thread_t *volatile  jpp_momentary;  /* that blocks for a look */


int
timer_settime(timer_t timer, int flags, const struct itimerspec *value,
    struct itimerspec *old)
{
    int              rc;
    void            *found;
    jpp_settime_pt   real;

    found = dlsym(RTLD_NEXT, "timer_settime");
    memcpy(&real, &found, sizeof(real));

    rc = real(timer, flags, value, old);

    while (jpp_is_held) {
        jpp_is_inside = true;
        (void) usleep(1000);
    }

    return rc;
}


/* A look begins with a list that is not empty, and ends with one that is. */

static void
jpp_block_for_a_look(long n)
{
    jpp_thread_t  *thread;

    thread = jpp_momentary;

    if (thread == NULL) {
        return;
    }

    if (n > 0) {
        thread->is_deaf = true;

    } else if (thread->is_deaf) {
        thread->is_deaf = false;
        jpp_momentary = NULL;
    }

    jpp_wait_while(thread->blocks != thread->is_deaf);
}


/*
 * getdents64() as it is where threads end meanwhile: one is left out.  A call
 * has as many arguments as it has.
 */

long __attribute__((no_sanitize("address")))
syscall(long number, ...)
{
    int            i;
    long           n, at, args[6];
    char          *entries;
    va_list        list;
    unsigned short len;

    register long  r10 __asm__ ("r10");
    register long  r8 __asm__ ("r8");
    register long  r9 __asm__ ("r9");

    va_start(list, number);

    for (i = 0; i < 6; i++) {
        args[i] = va_arg(list, long);
    }

    va_end(list);

    r10 = args[3];
    r8 = args[4];
    r9 = args[5];

    __asm__ volatile ("syscall"
                      : "=a" (n)
                      : "0" (number), "D" (args[0]), "S" (args[1]),
                        "d" (args[2]), "r" (r10), "r" (r8), "r" (r9)
                      : "rcx", "r11", "memory");

    if (number != SYS_getdents64) {
        return n;
    }

    jpp_block_for_a_look(n);

    if (jpp_hidden == 0) {
        return n;
    }

    entries = (char *) args[1];

    for (at = 0; at < n; at += len) {

        memcpy(&len, entries + at + 16, sizeof(len));

        if (atoi(entries + at + 19) == jpp_hidden) {
            memmove(entries + at, entries + at + len, (size_t) (n - at - len));
            return n - len;
        }
    }

    return n;
}


static void
jpp_burn(uint64_t nanos)
{
    jpp_burn_as(nanos, 1);
}


/* What WINDOW has of threads with NAME; NULL: of all. */

typedef struct {
    const char   (*names)[JPP_BLOCKED_NAME];
    const char    *name;
    uint64_t       sum;
} jpp_sum_t;


static void
jpp_sum_site(jpp_site_t *site, void *data)
{
    jpp_sum_t *sum = data;

    if (sum->name == NULL
        || strcmp(sum->names[site->key.kind / JPP_CPU_STATES], sum->name) == 0)
    {
        sum->sum += site->allocated_bytes;
    }
}


static uint64_t
jpp_sum(jpp_cpu_window_t *window, const char *name)
{
    jpp_sum_t  sum;

    sum.names = window->closed != 0 ? window->seen.names
                                    : jpp_cpu_sampler.threads.seen.names;
    sum.name = name;
    sum.sum = 0;

    jpp_sites_walk(&window->sites, jpp_sum_site, &sum);

    return sum.sum;
}


static void
jpp_site_is_small(jpp_site_t *site, void *data)
{
    (void) data;

    if (site->allocated > 100) {
        jpp_ok(false, "%" PRIu64 " samples of 100", site->allocated);
    }
}


/* A site of a thread whose stack is unknown. */

static void
jpp_site_is_cut(jpp_site_t *site, void *data)
{
    bool *has_stack = data;

    if (site->allocated_bytes != 0
        && (site->pcs[0] == jpp_cut_frame(JPP_CUT_DEAF)
            || site->pcs[0] == jpp_cut_frame(JPP_CUT_LATE)))
    {
        *has_stack = false;
    }
}


static void
jpp_burns(jpp_thread_t *thread)
{
    thread->has_burnt = false;
    thread->may_burn = true;

    jpp_wait_while(!thread->has_burnt);
}


/*
 * The kernel looks at timers when its clock ticks, and on a busy machine others
 * may run at each of these moments for long.  So THREAD, or without one this
 * thread, works until WINDOW has more than NANOS of threads with NAME.
 */

static void
jpp_burn_until(jpp_cpu_window_t *window, const char *name, uint64_t nanos,
    jpp_thread_t *thread)
{
    unsigned  i;

    for (i = 0; i < JPP_TRIES && jpp_sum(window, name) <= nanos; i++) {

        if (thread != NULL) {
            jpp_burns(thread);

        } else {
            jpp_burn(60 * JPP_MS);
        }
    }
}


/* WINDOW is over, and still there. */

static void
jpp_ended(jpp_cpu_window_t *window)
{
    int        fd;
    jpp_err_t  err = { 0 };

    fd = memfd_create("window", 0);

    jpp_is_u64(jpp_cpu_dump(window, NULL, fd, &err), JPP_OK, "a window: %s",
               err.text);

    (void) close(fd);
}


/* WINDOW ends, which has more than LEAST nanoseconds of threads with NAME, and
   no more than were used since USED. */

static void
jpp_credited(jpp_cpu_window_t *window, const char *name, uint64_t used,
    int64_t least, const char *what)
{
    uint64_t  sum;

    jpp_ended(window);
    used = jpp_clock_nanos(CLOCK_PROCESS_CPUTIME_ID) - used;

    sum = jpp_sum(window, name);
    jpp_ok((int64_t) sum > least && sum <= used, "%s: %" PRIu64 " of %" PRIu64
           ", more than %" PRId64, what, sum, used, least);
}


/* The sampler looks who is there N times. */

static void
jpp_scanned(uint32_t n)
{
    uint32_t  scan;

    scan = jpp_atomic_get(&jpp_cpu_sampler.threads.scan);

    jpp_wait_while(jpp_atomic_get(&jpp_cpu_sampler.threads.scan) - scan < n);
}


static void *
jpp_thread(void *data)
{
    jpp_thread_t *thread = data;

    sigset_t  set;

    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGPROF);

    while (!thread->is_over) {

        (void) pthread_sigmask(thread->is_deaf ? SIG_BLOCK : SIG_UNBLOCK, &set,
                               NULL);
        thread->blocks = thread->is_deaf;
        thread->tid = gettid();

        if (thread->may_burn) {
            thread->may_burn = false;

            if (thread->name != NULL) {
                (void) prctl(PR_SET_NAME, thread->name);
            }

            jpp_burn(60 * JPP_MS);
            thread->has_burnt = true;
        }

        (void) usleep(1000);
    }

    return NULL;
}


static jpp_thread_t *
jpp_start(bool is_deaf, const char *name)
{
    jpp_thread_t  *thread;

    thread = calloc(1, sizeof(jpp_thread_t));
    thread->is_deaf = is_deaf;
    thread->name = name;

    (void) pthread_create(&thread->id, NULL, jpp_thread, thread);

    jpp_wait_while(thread->tid == 0);

    return thread;
}


static void
jpp_stop(jpp_thread_t *thread)
{
    thread->is_over = true;
    (void) pthread_join(thread->id, NULL);
    free(thread);
}


/* What no sample had when a window was opened is for those before it. */

JPP_TEST(jpp_test_before)
{
    uint64_t           used;
    jpp_cpu_window_t  *windows[2];

    windows[0] = jpp_opened(JPP_MODE_CPU, 1);
    jpp_burn(200 * JPP_MS);

    used = jpp_clock_nanos(CLOCK_PROCESS_CPUTIME_ID);
    windows[1] = jpp_opened(JPP_MODE_CPU, 1000);
    jpp_burn_until(windows[1], NULL, 0, NULL);
    jpp_credited(windows[1], NULL, used, 0, "a second window");
    jpp_ended(windows[0]);
    jpp_ok(jpp_sum(windows[0], NULL) > 200 * JPP_MS, "the first one has it");

    jpp_cpu_close(windows[0]);
    jpp_cpu_close(windows[1]);
}


/* Who sets a timer may have to wait for the CPU, while it ticks. */

JPP_TEST(jpp_test_held_up)
{
    uint64_t           used;
    jpp_err_t          err;
    jpp_cpu_window_t  *windows[2];

    windows[0] = jpp_opened(JPP_MODE_CPU, 20);
    jpp_burn(60 * JPP_MS);

    jpp_is_held = true;
    jpp_is_inside = false;

    used = jpp_clock_nanos(CLOCK_PROCESS_CPUTIME_ID);
    windows[1] = jpp_cpu_open(JPP_MODE_CPU, 1000, &err);

    jpp_wait_while(!jpp_is_inside);

    jpp_burn_until(windows[1], NULL, 0, NULL);
    jpp_is_held = false;

    jpp_credited(windows[1], NULL, used, 0, "the sampler is held up");

    jpp_cpu_close(windows[0]);
    jpp_cpu_close(windows[1]);
}


/* What the sampler knows of the thread TID; NULL: nothing yet. */

static jpp_cpu_thread_t *
jpp_find(pid_t tid)
{
    uint32_t            i;
    jpp_cpu_threads_t  *threads;

    threads = &jpp_cpu_sampler.threads;

    for (i = 0; i < JPP_CPU_THREADS; i++) {
        if (jpp_atomic_get(&threads->threads[i].tid) == tid) {
            return &threads->threads[i];
        }
    }

    return NULL;
}


/* Its number in signals, once it has one. */

static uint32_t
jpp_number(pid_t tid, jpp_mode_t mode)
{
    jpp_cpu_thread_t  *thread;

    jpp_wait_while((thread = jpp_find(tid)) == NULL);

    return jpp_cpu_timers_number(&jpp_cpu_sampler.threads, thread, mode);
}


/* The main thread gets a signal, as if by a timer, which is very late. */

static void
jpp_tick(uint32_t number, int overrun)
{
    siginfo_t  info = { 0 };

    info.si_signo = SIGPROF;
    info.si_code = SI_TIMER;
    info.si_overrun = overrun;
    info.si_value.sival_ptr = jpp_signal_value(JPP_SIGNAL_CPU, number);

    (void) syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGPROF, &info);
}


JPP_TEST(jpp_test_overrun)
{
    unsigned           i;
    uint64_t           used;
    jpp_cpu_window_t  *window;

    used = jpp_clock_nanos(CLOCK_PROCESS_CPUTIME_ID);
    window = jpp_opened(JPP_MODE_CPU, 1);

    for (i = 0; i < 100; i++) {
        jpp_tick(jpp_number(getpid(), JPP_MODE_CPU), 1000);
    }

    jpp_credited(window, NULL, used, 0, "timers that are late");
    jpp_sites_walk(&window->sites, jpp_site_is_small, NULL);

    jpp_cpu_close(window);
}


/* Nor is a signal of the timer before worth an interval of the next one. */

JPP_TEST(jpp_test_set_anew)
{
    unsigned           i;
    uint32_t           number;
    uint64_t           used;
    jpp_cpu_window_t  *windows[2];

    used = jpp_clock_nanos(CLOCK_PROCESS_CPUTIME_ID);
    windows[0] = jpp_opened(JPP_MODE_CPU, 1000);

    number = jpp_number(getpid(), JPP_MODE_CPU);

    windows[1] = jpp_opened(JPP_MODE_CPU, 1);
    jpp_cpu_close(windows[0]);

    jpp_wait_while(jpp_number(getpid(), JPP_MODE_CPU) == number);

    for (i = 0; i < 100; i++) {
        jpp_tick(number, 0);
    }

    jpp_credited(windows[1], NULL, used, -1, "signals of the timer before");

    jpp_cpu_close(windows[1]);
}


/* A signal that has waited since windows before may name another's place. */

JPP_TEST(jpp_test_elsewhere)
{
    unsigned           i;
    uint32_t           numbers[2];
    jpp_thread_t      *thread;
    jpp_cpu_window_t  *window;

    thread = jpp_start(false, NULL);
    (void) pthread_setname_np(thread->id, "another");

    window = jpp_opened(JPP_MODE_WALL, 1);
    numbers[0] = jpp_number(thread->tid, JPP_MODE_CPU);
    numbers[1] = jpp_number(thread->tid, JPP_MODE_WALL);
    jpp_cpu_close(window);

    jpp_wait_while(jpp_cpu_sampler.threads.n != 0);

    window = jpp_opened(JPP_MODE_CPU, 1);
    (void) jpp_number(thread->tid, JPP_MODE_CPU);

    for (i = 0; i < 100; i++) {
        jpp_tick(numbers[0], 0);
        jpp_tick(numbers[1], 0);
        jpp_burn(JPP_MS);
    }

    jpp_ended(window);
    jpp_is_u64(jpp_sum(window, "another"), 0, "who sleeps has no sample by "
               "signals of others");

    jpp_cpu_close(window);
    jpp_stop(thread);
}


/* One that a look leaves out has not ended, and is not counted anew. */

static void
jpp_test_missed(bool is_deaf)
{
    uint64_t           used;
    jpp_thread_t      *thread;
    jpp_cpu_window_t  *window;

    thread = jpp_start(is_deaf, NULL);
    jpp_burns(thread);

    used = jpp_clock_nanos(CLOCK_PROCESS_CPUTIME_ID);
    window = jpp_opened(JPP_MODE_CPU, 100);
    jpp_hidden = thread->tid;
    jpp_scanned(2);
    jpp_hidden = 0;
    jpp_scanned(2);

    jpp_burn_until(window, NULL, 30 * JPP_MS, thread);

    jpp_credited(window, NULL, used, 30 * JPP_MS,
                 is_deaf ? "a thread that is deaf, and was not listed"
                         : "one that hears");

    jpp_cpu_close(window);
    jpp_stop(thread);
}


/* One that comes in a window is counted from its beginning. */

JPP_TEST(jpp_test_newcomer)
{
    unsigned           i;
    uint64_t           used, since;
    jpp_thread_t      *thread;
    jpp_cpu_window_t  *window;

    used = jpp_clock_nanos(CLOCK_PROCESS_CPUTIME_ID);
    window = jpp_opened(JPP_MODE_CPU, 1000);

    thread = jpp_start(false, "newcomer");
    jpp_hidden = thread->tid;
    jpp_burns(thread);
    jpp_hidden = 0;
    jpp_scanned(2);

    since = jpp_cpu_timers_used(thread->tid);

    for (i = 0; i < JPP_TRIES; i++) {
        jpp_burns(thread);

        if (jpp_sum(window, "newcomer") + 30 * JPP_MS
            > jpp_cpu_timers_used(thread->tid))
        {
            break;
        }
    }

    since = jpp_cpu_timers_used(thread->tid) - since;

    jpp_credited(window, "newcomer", used, (int64_t) since,
                 "a thread that comes");

    jpp_cpu_close(window);
    jpp_stop(thread);
}


/* Threads have the name of their creator until they give themselves one. */

JPP_TEST(jpp_test_name)
{
    jpp_thread_t      *thread;
    jpp_cpu_window_t  *window;

    window = jpp_opened(JPP_MODE_CPU, 1000);
    thread = jpp_start(false, "itself");

    (void) jpp_number(thread->tid, JPP_MODE_CPU);

    jpp_burns(thread);
    jpp_scanned(2);
    jpp_burn_until(window, "itself", 0, thread);

    jpp_ended(window);
    jpp_ok(jpp_sum(window, "itself") > 0, "a thread that names itself late");

    jpp_cpu_close(window);
    jpp_stop(thread);
}


/*
 * A thread that blocks the signal while it is looked at, and at no other time,
 * as in a handler, takes it.
 */

JPP_TEST(jpp_test_moment)
{
    bool               is_deaf;
    unsigned           i;
    jpp_thread_t      *thread;
    jpp_cpu_window_t  *window;

    window = jpp_opened(JPP_MODE_CPU, 100);
    thread = jpp_start(false, NULL);

    (void) jpp_number(thread->tid, JPP_MODE_CPU);

    for (i = 0, is_deaf = false; i < 4; i++) {

        jpp_momentary = thread;

        jpp_wait_while(jpp_momentary != NULL);

        is_deaf = jpp_find(thread->tid)->is_deaf || is_deaf;

        /* the first of them may have begun */

        jpp_scanned(2);
    }

    jpp_ok(!is_deaf, "a thread that blocks the signal for a moment");

    thread->is_deaf = true;

    jpp_wait_while(!jpp_find(thread->tid)->is_deaf);

    jpp_ok(true, "one that does for longer");

    jpp_cpu_close(window);
    jpp_stop(thread);
}


static void *
jpp_comes_and_goes(void *data)
{
    sigset_t  set;

    if (data != NULL) {
        (void) sigfillset(&set);
        (void) pthread_sigmask(SIG_BLOCK, &set, NULL);
    }

    jpp_burn(JPP_MS);

    return NULL;
}


/* Hundreds of threads while windows of both modes begin and end. */

JPP_TEST(jpp_test_come_and_go)
{
    unsigned           i, n;
    uint64_t           used;
    pthread_t          threads[8];
    jpp_cpu_window_t  *window, *other;

    used = jpp_clock_nanos(CLOCK_PROCESS_CPUTIME_ID);
    window = jpp_opened(JPP_MODE_CPU, 500);

    for (i = 0; i < 20; i++) {

        other = jpp_opened(i % 2 ? JPP_MODE_WALL : JPP_MODE_CPU, 1 + 49 * i);

        for (n = 0; n < 8; n++) {
            (void) pthread_create(&threads[n], NULL, jpp_comes_and_goes,
                                  n % 2 ? other : NULL);
        }

        for (n = 0; n < 8; n++) {
            (void) pthread_join(threads[n], NULL);
        }

        jpp_cpu_close(other);
    }

    jpp_burn_until(window, NULL, 0, NULL);
    jpp_credited(window, NULL, used, 0, "threads that come and go");
    jpp_cpu_close(window);
    jpp_cpu_exit();

    jpp_is_u64(jpp_cpu_sampler.threads.n, 0, "nobody is sampled any more");
}


/* Of two signals on their way to a thread the kernel may drop one. */

JPP_TEST(jpp_test_owed)
{
    unsigned           i;
    jpp_cpu_thread_t  *thread;
    jpp_cpu_window_t  *windows[2];

    windows[0] = jpp_opened(JPP_MODE_WALL, 1);
    windows[1] = jpp_opened(JPP_MODE_CPU, 1);

    thread = &jpp_cpu_sampler.threads.threads[0];

    jpp_atomic_add(&thread->owed_nanos, 2000 * JPP_MS);

    /* a signal is for nobody if the timer is set at this moment */

    for (i = 0; i < JPP_TRIES; i++) {

        if (jpp_sum(windows[0], NULL) >= 2000 * JPP_MS) {
            break;
        }

        jpp_tick(jpp_number(thread->tid, JPP_MODE_CPU), 0);
        (void) usleep(1000);
    }

    jpp_ok(jpp_sum(windows[0], NULL) >= 2000 * JPP_MS, "what wall clock time "
           "is owed goes with a signal for CPU time");

    jpp_cpu_close(windows[0]);
    jpp_cpu_close(windows[1]);
}


static void *
jpp_ends(void *data)
{
    jpp_ended(data);

    return NULL;
}


/* Who runs when a window ends gets a signal, which needs a moment. */

static bool
jpp_ends_with_stack(void)
{
    bool               has_stack;
    pthread_t          thread;
    jpp_cpu_window_t  *window;

    window = jpp_opened(JPP_MODE_WALL, 1);
    (void) pthread_create(&thread, NULL, jpp_ends, window);

    while (jpp_atomic_get(&window->closed) == 0) {
        jpp_burn(JPP_MS);
    }

    (void) pthread_join(thread, NULL);

    has_stack = jpp_sum(window, "main") > 0;

    jpp_sites_walk(&window->sites, jpp_site_is_cut, &has_stack);

    jpp_cpu_close(window);

    return has_stack;
}


JPP_TEST(jpp_test_wall_ends)
{
    unsigned  i, n;

    for (i = 0, n = 0; i < JPP_TRIES; i++) {
        n += jpp_ends_with_stack();
    }

    jpp_ok(n > JPP_TRIES / 2, "the end of a window has a stack: %u of %u", n,
           JPP_TRIES);
}


/* The main thread is always there: its states are all of the time. */

JPP_TEST(jpp_test_wall_is_whole)
{
    unsigned           n;
    uint64_t           sum, lasted;
    jpp_cpu_window_t  *window;

    for (n = 0, sum = 0, lasted = 1; n < JPP_TRIES && sum != lasted; n++) {

        window = jpp_opened(JPP_MODE_WALL, 100);
        jpp_burn(30 * JPP_MS);
        (void) usleep(30000);
        jpp_ended(window);

        sum = jpp_sum(window, "main") + window->idle;
        lasted = window->closed - window->opened;

        jpp_cpu_close(window);
    }

    jpp_is_u64(sum, lasted, "what a thread did is all of the time");
}


int
main(void)
{
    if (jpp_cpu_is_here(120)) {
        jpp_tests_all();
        jpp_test_missed(true);
        jpp_test_missed(false);
    }

    return jpp_done();
}
