
#include "jpp_test_main.h"
#include "jpp_host.h"
#include "jpp_test_golden.h"


#define JPP_TEST_MIB  (1024 * 1024)


#define JPP_TEST_LINE                                                         \
    "4711 (a ) b\n) S 1 4711 4711 0 -1 4194560 120 0 3 0 250 150 0 0 20 0 2 " \
    "0 987654 1000 10 18446744073709551615 1 1 0"


#define JPP_TEST_LONG                                                         \
    "1 (a) S 1 1 1 0 -1 0 0 0 0 0 18446744073709551615 0 0 0 20 0 2 0 1 "


JPP_TEST(jpp_process_test_parse)
{
    size_t         i, len, wrong;
    const char    *started;
    jpp_process_t  process = { 0 };

    jpp_ok(jpp_process_parse(JPP_TEST_LINE, sizeof(JPP_TEST_LINE) - 1,
                             &process), "a line");
    jpp_ok(process.state == 'S' && process.started == 987654
           && process.cpu_ms == (uint64_t) (400000 / sysconf(_SC_CLK_TCK)),
           "its state, behind a name of anything, its start and time");

    /* a cut line is none as long as the last field that is needed has no end */

    started = strstr(JPP_TEST_LINE, "987654 ");
    len = (size_t) (started - JPP_TEST_LINE) + sizeof("987654");

    for (i = 0, wrong = 0; i <= sizeof(JPP_TEST_LINE) - 1; i++) {
        wrong += jpp_process_parse(JPP_TEST_LINE, i, &process) != (i >= len);
    }

    jpp_is_u64(wrong, 0, "the line cut at every byte");

    jpp_ok(jpp_process_parse(JPP_TEST_LONG, sizeof(JPP_TEST_LONG) - 1,
                             &process), "more time than there is");
    jpp_is_u64(process.cpu_ms,
               UINT64_MAX / 1000 * 1000 / (uint64_t) sysconf(_SC_CLK_TCK),
               "is as much as there can be");

    for (i = 1; i <= 3; i += 2) {
        char  line[] = JPP_TEST_LINE;

        strrchr(line, ')')[i] = '_';
        jpp_ok(!jpp_process_parse(line, strlen(line), &process),
               "no blank %zu bytes behind the name", i);
    }

    jpp_ok(!jpp_process_parse("1 (x S 1 1", 10, &process), "no name");
    jpp_ok(!jpp_process_parse("1 (x) S x ", 10, &process), "no number");
}


JPP_TEST(jpp_process_test_say)
{
    char           text[JPP_PROCESS_TEXT];
    size_t         i;
    jpp_process_t  before, now;

    static const struct {
        char           state;
        const char    *wchan;
        uint64_t       used;
    } cases[] = {
        { 'T', "do_signal_stop", 0 }, { 't', "", 0 }, { 'Z', "", 0 },
        { 'D', "folio_wait_bit", 10 }, { 'R', "", 2000 }, { 'R', "", 2001 },
        { 'S', "ep_poll", 0 }, { 'S', "do_epoll_wait", 0 },
        { 'S', "hrtimer_nanosleep", 0 }, { 'S', "", 4000 }, { 'W', "", 0 },
        { '\0', "", 0 }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {

        memset(&before, 0, sizeof(jpp_process_t));
        memset(&now, 0, sizeof(jpp_process_t));

        before.cpu_ms = 500;
        now.cpu_ms = 500 + cases[i].used;
        now.state = cases[i].state;
        jpp_print(now.wchan, "%s", cases[i].wchan);

        jpp_note("%c %s: %s", cases[i].state != '\0' ? cases[i].state : '?',
                 now.wchan, jpp_process_say(&before, &now, 4000, text));
    }

    jpp_shows_notes("what a process is doing, by its state");

    memset(now.wchan, 'w', sizeof(now.wchan) - 1);
    now.state = 'D';
    before.cpu_ms = 0;
    now.cpu_ms = UINT64_MAX / 1000;
    jpp_ok(strlen(jpp_process_say(&before, &now, UINT64_MAX / 100, text))
           < JPP_PROCESS_TEXT - 1, "the longest sentence has room");
}


/* At most ten seconds, for machines that are slow. */

static bool
jpp_process_becomes(int64_t pid, char state, jpp_process_t *process)
{
    int  i;

    for (i = 0; i < 1000; i++) {

        if (jpp_process_read(pid, process) && process->state == state) {
            return true;
        }

        (void) usleep(10000);
    }

    return false;
}


JPP_TEST(jpp_process_test_read)
{
    pid_t          pid;
    jpp_process_t  process, again;

    jpp_ok(jpp_process_read(getpid(), &process), "this process");
    jpp_is_u64(process.state, 'R', "it runs");
    jpp_is_str(process.wchan, "", "and waits for nothing");
    jpp_ok(process.started != 0, "it has started");

    pid = fork();

    if (pid == 0) {
        for ( ;; ) {
            (void) pause();
        }
    }

    jpp_ok(jpp_process_becomes(pid, 'S', &process), "a child that sleeps");
    jpp_ok(process.started != 0, "it has a start time");

    (void) kill(pid, SIGSTOP);
    jpp_ok(jpp_process_becomes(pid, 'T', &again), "it is stopped");
    jpp_is_u64(again.started, process.started, "with the same start time");

    (void) kill(pid, SIGKILL);
    jpp_ok(jpp_process_becomes(pid, 'Z', &again), "it is killed");

    (void) waitpid(pid, NULL, 0);
    jpp_ok(!jpp_process_read(pid, &again), "it is gone");
    jpp_ok(!jpp_process_read(-1, &again), "no process at all");
}


/* What the process itself reads of it, but for what reading takes. */

JPP_TEST(jpp_process_test_anon)
{
    char         *mib;
    uint64_t      before, after;
    jpp_usage_t   usage;

    jpp_usage_memory(&usage, "/proc/self/status");
    before = jpp_process_anon(getpid());

    jpp_ok(before != JPP_NONE && usage.rss_anon != JPP_NONE, "a size");
    jpp_ok(before + JPP_TEST_MIB > usage.rss_anon
           && usage.rss_anon + JPP_TEST_MIB > before, "as status has it");

    mib = mmap(NULL, 64 * JPP_TEST_MIB, PROT_READ|PROT_WRITE,
               MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);
    jpp_ok(mib != MAP_FAILED, "64 MiB");
    memset(mib, 1, 64 * JPP_TEST_MIB);

    after = jpp_process_anon(getpid());
    jpp_ok(after >= before + 63 * JPP_TEST_MIB
           && after <= before + 65 * JPP_TEST_MIB, "are in it");

    (void) munmap(mib, 64 * JPP_TEST_MIB);

    jpp_ok(jpp_process_anon(-1) == JPP_NONE, "no process at all has none");
}
