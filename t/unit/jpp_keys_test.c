
#include "jpp_test_main.h"
#include "jpp_host.h"
#include "jpp_test_golden.h"
#include "jpp_test_lines.h"


typedef struct {
    uint64_t  first;
    uint64_t  second;
    uint64_t  third;
} jpp_keys_test_t;


static const jpp_keys_row_t  jpp_keys_test_rows[] = {
    { "First", offsetof(jpp_keys_test_t, first) },
    { "Second", offsetof(jpp_keys_test_t, second) },
    { "third", offsetof(jpp_keys_test_t, third) },
    { NULL, 0 }
};


static jpp_lines_t  lines;


JPP_TEST(jpp_keys_test_lines)
{
    int      fd;
    char    *line, text[64];
    size_t   i;

    fd = dup(0);
    (void) close(fd);

    jpp_lines_text(&lines, "one\n\nthree\ncut", 14);

    for (i = 0; i < 5; i++) {
        line = jpp_lines_next(&lines);
        jpp_note("%s", line != NULL ? line : "no line");
    }

    jpp_shows_notes("lines: what has no end is none");
    jpp_lines_close(&lines);

    /* what a signal left behind earlier is not what a call says now */

    errno = EINTR;
    jpp_ok(jpp_read_file("/proc/self/comm", text, sizeof(text)) > 0, "a file");
    errno = EINTR;
    jpp_ok(jpp_lines_open(&lines, "/proc/self/comm")
           && jpp_lines_next(&lines) != NULL
           && jpp_lines_next(&lines) == NULL, "and by lines");
    jpp_lines_close(&lines);

    jpp_ok(!jpp_lines_open(&lines, "t/data/nothing"), "no such file");
    jpp_is_u64((uint64_t) lines.error, ENOENT, "which is the reason");
    jpp_ok(jpp_lines_next(&lines) == NULL, "has no lines");
    jpp_lines_close(&lines);

    jpp_ok(jpp_lines_open(&lines, "/proc/self/status"), "a file of /proc");
    line = jpp_lines_next(&lines);
    jpp_ok(line != NULL && strncmp(line, "Name:\t", 6) == 0, "its first line");
    jpp_lines_close(&lines);
    jpp_ok(jpp_lines_next(&lines) == NULL, "a closed file has no more");

    jpp_ok(jpp_lines_open(&lines, "/proc/self"), "a directory");
    jpp_ok(jpp_lines_next(&lines) == NULL, "has no lines");
    jpp_is_u64((uint64_t) lines.error, EISDIR, "for a reason");
    jpp_lines_close(&lines);
    jpp_is_i64(dup(0), fd, "and none stays open");
}


/* lines as long as the buffer, and longer by up to two buffers */

JPP_TEST(jpp_keys_test_long)
{
    int      fd;
    char    *text, *line, path[64];
    size_t   len, wrong;
    bool     fits;

    text = malloc(3 * JPP_LINES_BUFFER);
    wrong = 0;

    for (len = JPP_LINES_BUFFER - 2; len < 2 * JPP_LINES_BUFFER + 3; len++) {

        if (len == JPP_LINES_BUFFER + 3) {
            len = 2 * JPP_LINES_BUFFER - 2;
        }

        memset(text, 'x', len);
        memcpy(text + len, "\nnext\n", 6);

        fits = len < JPP_LINES_BUFFER;

        jpp_lines_text(&lines, text, len + 6);
        line = jpp_lines_next(&lines);

        if (fits) {
            wrong += line == NULL || strlen(line) != len;
            line = jpp_lines_next(&lines);
        }

        wrong += line == NULL || strcmp(line, "next") != 0;
        wrong += lines.n_skipped != !fits;
        jpp_lines_close(&lines);
    }

    jpp_is_u64(wrong, 0, "long lines are whole or left out");

    fd = memfd_create("lines", 0);
    jpp_print(path, "/proc/self/fd/%d", fd);

    jpp_ok(write(fd, text, len + 5) == (ssize_t) (len + 5), "a file");
    jpp_ok(jpp_lines_open(&lines, path), "is read");
    jpp_is_str(jpp_lines_next(&lines), "next", "in the same way");
    jpp_lines_close(&lines);

    (void) close(fd);
    free(text);
}


JPP_TEST(jpp_keys_test_values)
{
    int              fd;
    char             path[64];
    size_t           i;
    jpp_keys_test_t  to;

    static const char  *numbers[] = {
        "18446744073709551615", "18446744073709551616",
        "18014398509481983 kB", "18014398509481984 kB", "12 MB", "-1"
    };

    static const char   text[] =
        "Other: 5\nthird 7\nFirst:\t  12 kB\nSecond: max\nFirst: 13 kB\n"
        "Fir: 1\nFirstborn: 2\nthird\n";

    jpp_keys_clear(jpp_keys_test_rows, &to);
    jpp_is_u64(to.second, JPP_NONE, "cleared");

    (void) jpp_test_lines(text, sizeof(text) - 1, path, &fd);
    jpp_is_u64((uint64_t) jpp_keys_read(jpp_keys_test_rows, path, &to), 0,
               "a file");
    (void) close(fd);

    jpp_note_of("kB are bytes, the first counts, max is no number", to, first,
                second, third);

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        jpp_note("%s is %" PRIu64, numbers[i], jpp_keys_number(numbers[i]));
    }

    jpp_shows_notes("values");

    jpp_is_u64((uint64_t) jpp_keys_read(jpp_keys_test_rows, "t/data/nothing",
                                        &to), ENOENT, "no file");
    jpp_is_u64(to.first, JPP_NONE, "no values");
}


JPP_TEST(jpp_keys_test_pressure)
{
    int             fd;
    char            path[64];
    jpp_pressure_t  pressure;
    static const char  text[] =
        "some avg10=100.00 avg60=1.5 avg300=x  other=1 total=9 total\n"
        "fulls avg10=1.00\n"
        "full avg10=0.01 avg60=92233720368547758.07 "
        "avg300=92233720368547759.00\n";

    jpp_pressure_read(&pressure, jpp_test_lines(text, sizeof(text) - 1, path,
                                                &fd));
    (void) close(fd);

    jpp_note_of("pressure", pressure, some.avg10, some.avg60, some.avg300,
                some.total, full.avg10, full.avg60, full.avg300, full.total);
    jpp_shows_notes("one digit is not two, and a cut line is none");
}


/* what this process does to itself is seen */

JPP_TEST(jpp_keys_test_usage)
{
    int                  i, fd;
    char                *memory;
    size_t               size;
    ssize_t              len;
    uint64_t             n, private;
    jpp_usage_t          before, after;
    char                 smaps[JPP_USAGE_SMAPS + 1], path[64];
    const char          *line;
    rlim_t               limit;

    size = (size_t) 32 << 20;

    jpp_usage_read(&before);

    memory = mmap(NULL, size, PROT_READ|PROT_WRITE,
                  MAP_PRIVATE|MAP_ANONYMOUS|MAP_POPULATE, -1, 0);
    fd = open("/dev/null", O_RDONLY);

    jpp_usage_read(&after);

    jpp_ok(memory != MAP_FAILED && after.rss_anon >= before.rss_anon + size
           && after.rss_anon < before.rss_anon + size + (1 << 20),
           "32 MiB more: %" PRIu64 ", %" PRIu64, before.rss_anon,
           after.rss_anon);
    jpp_ok(after.size >= before.size + size, "also in the size");

    for (i = 0, n = 0; i < 1024; i++) {
        n += fcntl(i, F_GETFD) != -1;
    }

    jpp_is_u64(after.fds, n, "its descriptors");
    jpp_is_u64(after.threads, 1, "one thread");
    jpp_ok(after.minor_faults >= before.minor_faults, "faults");
    jpp_ok(after.max_fds != JPP_NONE && after.max_fds >= after.fds,
           "of so many");
    jpp_is_u64(after.private, JPP_NONE, "its page tables are not read");
    jpp_ok(after.oom_score_adj >= -1000 && after.oom_score_adj <= 1000,
           "an adjustment");

    len = jpp_read_file("/proc/self/smaps_rollup", smaps, JPP_USAGE_SMAPS);
    jpp_ok(len > 0 && len < JPP_USAGE_SMAPS, "its page tables, all of them");
    smaps[len] = '\0';

    line = strstr(smaps, "\nAnonymous:");
    jpp_ok(line != NULL && jpp_keys_number(line + 11) >= size, "have them too");

    private = jpp_usage_private(0);
    jpp_ok(private >= size && private <= after.rss,
           "as nobody else's: %" PRIu64, private);
    jpp_ok(jpp_usage_private(getpid()) >= size, "which others read, too");
    jpp_is_u64(jpp_usage_private(-1), JPP_NONE, "of no process");

    (void) close(fd);
    (void) munmap(memory, size);

    limit = jpp_test_rlimit(RLIMIT_NOFILE, (rlim_t) fd);
    jpp_usage_read(&before);
    (void) jpp_test_rlimit(RLIMIT_NOFILE, limit);
    jpp_ok(before.fds == JPP_NONE && before.max_fds == (uint64_t) fd,
           "without a free descriptor they are not counted");

    jpp_usage_memory(&after, jpp_test_lines("VmRSS:\t 1 kB\n", 13, path, &fd));
    (void) close(fd);
    jpp_is_u64(after.rss, 1024, "a kernel that says little");
    jpp_is_u64(after.swap, JPP_NONE, "is one without the rest");
}


JPP_TEST(jpp_keys_test_system)
{
    size_t        i;
    jpp_system_t  system;

    static const char  *roots[] = { "t/data/system", "t/data/unusual",
                                    "t/data/nothing" };

    jpp_system_read(&system, "");
    jpp_ok(system.total != JPP_NONE && system.available < system.total,
           "this machine's memory");

    for (i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        jpp_system_read(&system, roots[i]);
        jpp_note_of(roots[i], system, total, available, swap_free, overcommit,
                    thp, pressure.full.avg60);
    }

    jpp_shows_notes("machines: a kernel that is old, a word that is long");
}
