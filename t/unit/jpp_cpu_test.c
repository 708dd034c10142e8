
/*
 * Windows on the sampler: functions that burn CPU time or sleep, in threads
 * that come, go and block the signal; many windows at once; and what forbids
 * one.  Sums are compared with what the kernel counts; how exact they are on a
 * machine that has nothing else to do is for ./dev bench cpu.
 */


#include "jpp_cpu.h"
#include "jpp_test_cpu.h"
#include "jpp_test_dump.h"
#include "jpp_test_threads.h"


static void __attribute__((noinline))
jpp_burn_one(uint64_t nanos)
{
    jpp_burn_as(nanos, 1);
}


static void __attribute__((noinline))
jpp_burn_two(uint64_t nanos)
{
    jpp_burn_as(nanos, 3);
}


static void __attribute__((noinline))
jpp_sleep(uint64_t nanos)
{
    struct timespec  time = { 0, (long) nanos };

    if (nanosleep(&time, NULL) == -1) {
        jpp_ok(false, "a sleep was interrupted");
    }

    jpp_work++;
}


/* The parent of vfork() is in a sleep that no signal ends. */

static void __attribute__((noinline))
jpp_wait_for_child(void)
{
    pid_t            pid;
    struct timespec  time = { 0, 200000000 };

    pid = vfork();

    if (pid == 0) {
        (void) nanosleep(&time, NULL);
        _exit(0);
    }

    (void) waitpid(pid, NULL, 0);

    jpp_work++;
}


/* MOST, less what has come since the last sample, which is less than half. */

static bool
jpp_is_within(uint64_t sum, uint64_t most)
{
    return sum <= most && sum * 2 > most;
}


/* What WINDOW has seen; the caller frees it. */

static char *
jpp_text(jpp_cpu_window_t *window, const char *why_early)
{
    int    fd;
    char  *text;
    off_t  len;

    fd = memfd_create("window", 0);

    jpp_is_u64(jpp_cpu_dump(window, why_early, fd, &err), JPP_OK,
               "a window is written: %s", err.text);
    jpp_cpu_close(window);

    len = lseek(fd, 0, SEEK_END);
    text = calloc(1, (size_t) len + 1);

    if (pread(fd, text, (size_t) len, 0) != len) {
        exit(1);
    }

    (void) close(fd);

    return text;
}


/* TEXT as a report, until the next one. */

static char *
jpp_report_of(const char *text, bool is_wall, const char *args)
{
    jpp_vec_t            *out;
    jpp_capture_t         capture;
    jpp_report_options_t  options;

    static char  *report;

    (void) jpp_test_query(&options,
                          is_wall ? &jpp_parser_wall : &jpp_parser_cpu, args);
    capture = jpp_test_capture(text, strlen(text));
    jpp_test_anew();

    jpp_is_u64(jpp_test_report_into(&out, &capture, 1, &options),
               JPP_OK, "its report: %s", err.text);

    free(report);
    report = strdup((char *) out->data);

    return report;
}


/* What the stacks of FOLDED that have NAME are worth. */

static uint64_t
jpp_nanos(const char *folded, const char *name)
{
    uint64_t     sum;
    const char  *line, *end, *number, *found;

    for (line = folded, sum = 0; *line != '\0'; line = end + 1) {

        end = strchr(line, '\n');
        number = memrchr(line, ' ', (size_t) (end - line));
        found = memmem(line, (size_t) (end - line), name, strlen(name));

        sum += found != NULL ? strtoull(number, NULL, 10) : 0;
    }

    return sum;
}


/* Timers of this process, as far as the kernel lists them. */

static unsigned
jpp_timers(void)
{
    char      line[256];
    FILE     *file;
    unsigned  n;

    file = fopen("/proc/self/timers", "r");
    n = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        n += strncmp(line, "ID: ", 4) == 0;
    }

    if (file != NULL) {
        fclose(file);
    }

    return n;
}


static void
jpp_test_cpu(void)
{
    char              *text, *folded, *top;
    uint64_t           one, two, used;
    jpp_cpu_window_t  *window;

    used = jpp_clock_nanos(CLOCK_PROCESS_CPUTIME_ID);
    window = jpp_opened(JPP_MODE_CPU, 1000);

    jpp_ok(jpp_cpu_is_on(), "a window");

    jpp_burn_one(100000000);
    jpp_burn_two(400000000);

    text = jpp_text(window, NULL);
    used = jpp_clock_nanos(CLOCK_PROCESS_CPUTIME_ID) - used;
    folded = jpp_report_of(text, false, "format=folded");

    jpp_ok(!jpp_cpu_is_on(), "is over");

    one = jpp_nanos(folded, ";jpp_burn_one");
    two = jpp_nanos(folded, ";jpp_burn_two");

    jpp_ok(one > 0 && one < two, "two takes longer than one: %" PRIu64 ", %"
           PRIu64, two, one);
    jpp_ok(jpp_is_within(one + two, used), "of %" PRIu64, used);

    top = jpp_report_of(text, false, "format=top");

    jpp_has(top, "1000 samples a second of each thread, for ",
            "how often is said");
    jpp_lacks(top, "ended early", "it did not end early");

    free(text);
}


/* Each has its own time, whatever frequency the others ask for. */

JPP_TEST(jpp_test_windows)
{
    size_t             i;
    char              *text, *folded, *top;
    uint64_t           sum, cpu[4];
    jpp_cpu_window_t  *windows[4];

    static const uint32_t  frequencies[] = { 50, 99, 250, 1000 };

    for (i = 0; i < 4; i++) {
        cpu[i] = jpp_clock_nanos(CLOCK_PROCESS_CPUTIME_ID);
        windows[i] = jpp_opened(JPP_MODE_CPU, frequencies[i]);
        jpp_burn_one(150000000);
    }

    for (i = 0; i < 4; i++) {

        jpp_burn_two(150000000);

        text = jpp_text(windows[i], "it is a test");
        cpu[i] = jpp_clock_nanos(CLOCK_PROCESS_CPUTIME_ID) - cpu[i];

        folded = jpp_report_of(text, false, "format=folded");
        sum = jpp_nanos(folded, "");

        jpp_ok(jpp_is_within(sum, cpu[i]), "the sum of window %zu: %" PRIu64
               " of %" PRIu64, i, sum, cpu[i]);

        top = jpp_report_of(text, false, "format=top");

        jpp_ok((strstr(top, "needed up to 1000, and") != NULL)
               == (frequencies[i] != 1000), "what was taken is said");
        jpp_ok(strstr(top, "1 of 1 workers ended early") != NULL
               && strstr(top, ": it is a test\n") != NULL, "and why it ended");

        free(text);
    }
}


/* Whatever the main thread does, the time that passes is in the sum. */

JPP_TEST(jpp_test_wall)
{
    char              *text, *folded;
    uint64_t           slept, waited, burnt, all, lasted;
    jpp_cpu_window_t  *window;

    lasted = jpp_clock_nanos(CLOCK_MONOTONIC);
    window = jpp_opened(JPP_MODE_WALL, 200);

    jpp_sleep(200000000);
    jpp_wait_for_child();
    jpp_burn_one(100000000);

    text = jpp_text(window, NULL);
    lasted = jpp_clock_nanos(CLOCK_MONOTONIC) - lasted;
    folded = jpp_report_of(text, true, "format=folded");

    slept = jpp_nanos(folded, ";jpp_sleep;");
    waited = jpp_nanos(folded, ";jpp_wait_for_child;");
    burnt = jpp_nanos(folded, ";jpp_burn_one");
    all = jpp_nanos(folded, "");

    jpp_ok(slept > 0 || !JPP_HAS_SLEEPERS, "a sleep: %" PRIu64, slept);
    jpp_ok(waited > 0 || !JPP_HAS_SLEEPERS, "a wait: %" PRIu64, waited);
    jpp_ok(burnt > 0, "work: %" PRIu64, burnt);
    jpp_ok(all <= lasted && all * 2 > lasted, "all: %" PRIu64 " of %" PRIu64,
           all, lasted);

    jpp_has(text, "labels 2\nstate=blocked\nthread=main\n",
            "who, and what state, are labels");

    free(text);
}


/* A signal would end it early. */

JPP_TEST(jpp_test_sleep_is_whole)
{
    unsigned           i;
    uint64_t           before;
    jpp_cpu_window_t  *windows[2];

    windows[0] = jpp_opened(JPP_MODE_WALL, 1000);
    windows[1] = jpp_opened(JPP_MODE_CPU, 1000);

    for (i = 0, before = jpp_clock_nanos(CLOCK_MONOTONIC); i < 20; i++) {
        jpp_sleep(10000000);
    }

    jpp_ok(jpp_clock_nanos(CLOCK_MONOTONIC) - before >= 200000000u,
           "nothing cuts a sleep short");

    jpp_cpu_close(windows[0]);
    jpp_cpu_close(windows[1]);
}


/*
 * Signals that come when their time is in the sums already, as they do where a
 * window ends: each leaves the call as it was that it meets.
 */

JPP_TEST(jpp_test_late)
{
    pid_t              child;
    pid_t              self;
    unsigned           i;
    siginfo_t          info = { 0 };
    jpp_cpu_window_t  *window;
    struct timespec    time = { 0, 200000000 };

    window = jpp_opened(JPP_MODE_WALL, 1);
    self = getpid();

    info.si_signo = SIGPROF;
    info.si_code = SI_QUEUE;
    info.si_value.sival_ptr = jpp_signal_value(JPP_SIGNAL_CPU,
        jpp_cpu_timers_number(&jpp_cpu_sampler.threads,
                              jpp_cpu_sampler.threads.threads,
                              JPP_MODE_WALL));

    child = fork();

    if (child == 0) {
        for (i = 0; i < 100; i++) {
            (void) syscall(SYS_rt_tgsigqueueinfo, self, self, SIGPROF, &info);
            (void) usleep(1000);
        }

        _exit(0);
    }

    i = (unsigned) nanosleep(&time, NULL);
    jpp_is_u64(i, 0, "signals that are late interrupt nothing");

    (void) waitpid(child, NULL, 0);
    jpp_cpu_close(window);
}


static void *
jpp_thread(void *data)
{
    sigset_t     set;
    const bool  *is_deaf = data;

    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGPROF);

    if (*is_deaf) {
        (void) pthread_sigmask(SIG_BLOCK, &set, NULL);
    }

    jpp_burn_two(300000000);

    return NULL;
}


JPP_TEST(jpp_test_deaf)
{
    char              *text, *folded, *top;
    bool               is_deaf[2] = { false, true };
    uint64_t           nanos;
    pthread_t          threads[2];
    jpp_cpu_window_t  *window;

    window = jpp_opened(JPP_MODE_CPU, 200);

    (void) pthread_create(&threads[0], NULL, jpp_thread, &is_deaf[0]);
    (void) pthread_setname_np(threads[0], "hears");
    (void) pthread_create(&threads[1], NULL, jpp_thread, &is_deaf[1]);
    (void) pthread_setname_np(threads[1], "deaf");

    (void) usleep(250000);

    (void) pthread_join(threads[0], NULL);

    text = jpp_text(window, NULL);
    folded = jpp_report_of(text, false, "format=folded");

    nanos = jpp_nanos(folded, ";jpp_thread;jpp_burn_two");
    jpp_ok(nanos > 0, "a thread that came later: %" PRIu64, nanos);

    nanos = jpp_nanos(folded, "[cut: the thread takes no signal]");
    jpp_ok(nanos > 0, "one that takes no signal: %" PRIu64, nanos);

    jpp_ok(strstr(text, "thread=hears\n") != NULL
           && strstr(text, "thread=deaf\n") != NULL, "their names");

    top = jpp_report_of(text, false, "format=top");
    jpp_ok(strstr(top, " threads take no signal (they block SIGPROF") != NULL
           || strstr(text, "\ndeaf 0\n") != NULL, "which is said");

    (void) pthread_join(threads[1], NULL);
    free(text);
}


JPP_TEST(jpp_test_nothing_is_left)
{
    unsigned           i;
    jpp_cpu_window_t  *windows[2];

    windows[0] = jpp_opened(JPP_MODE_CPU, 1000);
    windows[1] = jpp_opened(JPP_MODE_WALL, 1000);

    jpp_ok(jpp_timers() != 0 || access("/proc/self/timers", R_OK) == -1,
           "a timer");

    jpp_burn_one(50000000);

    jpp_cpu_close(windows[0]);
    jpp_cpu_close(windows[1]);
    jpp_cpu_close(NULL);

    for (i = 0; i < 30000 && jpp_test_entries("/proc/self/task") != 1; i++) {
        (void) usleep(1000);
    }

    jpp_is_i64(jpp_test_entries("/proc/self/task"), 1, "no thread is left");

    jpp_ok(signal(SIGPROF, SIG_IGN) == SIG_IGN, "nor a handler");
    jpp_is_u64(jpp_timers(), 0, "nor a timer");
}


JPP_TEST(jpp_test_full)
{
    unsigned           i;
    jpp_cpu_window_t  *windows[JPP_CPU_WINDOWS];

    for (i = 0; i < JPP_CPU_WINDOWS; i++) {
        windows[i] = jpp_cpu_open(JPP_MODE_CPU, 1 + i, &err);
    }

    jpp_ok(windows[JPP_CPU_WINDOWS - 1] != NULL, "many windows at once");
    jpp_ok(jpp_cpu_open(JPP_MODE_WALL, 99, &err) == NULL, "and no more");
    jpp_is_u64(err.code, JPP_ERR_BUSY, "is told by its code");
    jpp_is_str(err.text, "64 profiles of its CPU are being taken already: try "
               "again when they are done", "and a sentence");

    jpp_burn_one(20000000);
    jpp_is_u64(jpp_cpu_dump(windows[0], NULL, -1, &err), JPP_ERR_SYS,
               "a window that cannot be written: %s", err.text);

    for (i = 0; i < JPP_CPU_WINDOWS; i++) {
        jpp_cpu_close(windows[i]);
    }

    jpp_ok(!jpp_cpu_is_on(), "all are closed");
}


static void
jpp_foreign(int signo)
{
    (void) signo;
}


JPP_TEST(jpp_test_taken)
{
    (void) signal(SIGPROF, jpp_foreign);

    jpp_is_u64(jpp_cpu_check(&err), JPP_ERR_TAKEN,
               "another profiler uses SIGPROF");
    jpp_ok(jpp_cpu_open(JPP_MODE_CPU, 99, &err) == NULL
           && err.code == JPP_ERR_TAKEN
           && strstr(err.text, "SIGPROF belongs to ") == err.text,
           "no window: %s", err.text);

    jpp_ok(signal(SIGPROF, SIG_IGN) == jpp_foreign, "who keeps it");
}


JPP_TEST(jpp_test_taken_meanwhile)
{
    int                fd;
    jpp_cpu_window_t  *window;

    window = jpp_opened(JPP_MODE_CPU, 99);
    (void) signal(SIGPROF, jpp_foreign);

    fd = memfd_create("window", 0);

    jpp_is_u64(jpp_cpu_dump(window, NULL, fd, &err), JPP_ERR_TAKEN,
               "somebody takes the signal during a window");

    jpp_cpu_close(window);
    jpp_cpu_exit();
    (void) close(fd);

    jpp_is_u64(jpp_timers(), 0, "no timer is left");

    (void) signal(SIGPROF, SIG_IGN);
}


/* Without room for timers there is no window of CPU time. */

JPP_TEST(jpp_test_signals)
{
    rlim_t             limit;
    jpp_cpu_window_t  *window;

    /* of the windows before, no timer counts any more */

    jpp_cpu_exit();

    limit = jpp_test_rlimit(RLIMIT_SIGPENDING, 0);
    window = jpp_cpu_open(JPP_MODE_CPU, 99, &err);

    jpp_ok(window == NULL && err.code == JPP_ERR_SYS, "no timers: no window");
    jpp_is_str(err.text, "the kernel has no room for another timer of this "
               "user: raise RLIMIT_SIGPENDING (LimitSIGPENDING= in a unit of "
               "systemd)", "its sentence");
    jpp_ok(!jpp_cpu_is_on(), "nothing is on");

    (void) jpp_test_rlimit(RLIMIT_SIGPENDING, limit);
    window = jpp_cpu_open(JPP_MODE_CPU, 99, &err);
    jpp_ok(window != NULL, "with room there is one");
    jpp_cpu_close(window);
}


JPP_TEST(jpp_test_exit)
{
    jpp_cpu_window_t  *windows[2];

    windows[0] = jpp_opened(JPP_MODE_CPU, 99);
    windows[1] = jpp_opened(JPP_MODE_WALL, 99);

    jpp_cpu_exit();

    jpp_ok(!jpp_cpu_is_on(), "the process ends: all windows do");
    jpp_is_u64(jpp_timers(), 0, "with their timers");

    jpp_cpu_close(windows[0]);
    jpp_cpu_close(windows[1]);
}


int
main(void)
{
    if (jpp_cpu_check(&err) == JPP_ERR_ABSENT) {
        jpp_has(err.text, "there is no unwinder for this machine",
                "no unwinder: %s", err.text);
        return jpp_done();
    }

    jpp_test_cpu();

    jpp_tests_all();

    return jpp_done();
}
