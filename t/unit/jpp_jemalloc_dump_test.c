
/*
 * Dumps: what is in them, and what can keep them from being written.
 * See jpp_test_jemalloc.h.
 */

#define JPP_PROGRAM  "jpp_jemalloc_dump_test"

#include "jpp_test_jemalloc.h"

#include <sched.h>
#include <sys/mount.h>


static const char  *got;


static void
jpp_part_dump(void)
{
    jpp_part_hold();
    jpp_part_capture(jpp_argument);
    printf("\n");
}


static void
jpp_part_unsampled(void)
{
    (void) jpp_jemalloc_sample_thread(false);
    jpp_part_hold();
    (void) jpp_jemalloc_sample_thread(true);
    jpp_part_capture(jpp_argument);
    printf("\n");
}


static unsigned
jpp_part_open(void)
{
    int       fd;
    unsigned  n;

    n = 0;

    for (fd = 0; fd < 64; fd++) {
        n += (fcntl(fd, F_GETFD) != -1);
    }

    return n;
}


/* All are taken but ARGUMENT. */

static void
jpp_part_descriptors(void)
{
    int       fd, n;
    unsigned  before;

    jpp_part_hold();

    (void) jpp_test_rlimit(RLIMIT_NOFILE, 64);

    while ((fd = dup(0)) != -1) { /* void */ }

    for (n = 0; n < atoi(jpp_argument); n++) {
        close(63 - n);
    }

    before = jpp_part_open();
    jpp_part_capture("");
    printf(", %u left open\n", jpp_part_open() - before);
}


static void
jpp_part_file_size(void)
{
    jpp_part_hold();
    (void) jpp_test_rlimit(RLIMIT_FSIZE, (rlim_t) atoi(jpp_argument));

    jpp_part_capture("");
    printf("\n");
}


/* A file system of one page, seen by this process alone. */

static void
jpp_part_full(void)
{
    if (unshare(CLONE_NEWNS) == -1
        || mount("none", "/", NULL, MS_REC|MS_PRIVATE, NULL) == -1
        || mount("none", jpp_argument, "tmpfs", 0, "size=4k") == -1)
    {
        printf("no tmpfs: %s\n", strerror(errno));
        return;
    }

    jpp_jemalloc_read(&jemalloc);
    jpp_part_hold();
    jpp_part_capture(jpp_argument);
    printf("\n");
}


static void
jpp_part_no_proc(void)
{
    if (chroot(jpp_argument) == -1) {
        printf("no chroot: %s\n", strerror(errno));
        return;
    }

    jpp_jemalloc_read(&jemalloc);
    jpp_part_hold();
    jpp_part_capture("");
    printf("\n");
}


static const jpp_part_t  jpp_parts[] = {
    { "state",        jpp_part_state },
    { "dump",         jpp_part_dump },
    { "unsampled",    jpp_part_unsampled },
    { "descriptors",  jpp_part_descriptors },
    { "file size",    jpp_part_file_size },
    { "full",         jpp_part_full },
    { "no proc",      jpp_part_no_proc }
};


static void
jpp_test_fake_dumps(void)
{
    size_t     i;
    jpp_run_t  run = { jpp_fake_so, NULL, NULL, "dump", "" };

    static const char  *whole[] = {
        "", "prof.active 0\n", "config.prof 0\n", "opt.prof 0\n",
        "opt.prof_sys_thread_name 1\n", "symbol none\n", "fail 24\n"
    };

    /* what is read of it, or why not, has numbers behind it */

    static const char  *cut[] = { "cut 200\n", "maps 0\n", "garbage 5000\n",
                                  "empty 1\n", "large 3\n", "large 17\n" };

    for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        run.fake = whole[i];
        jpp_note("%s: %s", whole[i], jpp_run(&run));
    }

    for (i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
        run.fake = cut[i];
        jpp_note("%s: %.22s", cut[i], jpp_run(&run));
    }

    jpp_shows_notes("dumps that are cut, noise or large");
}


/* A dump of another process, and its maps instead of ours. */

static void
jpp_test_fake_file(void)
{
    char        text[4200], *root, cwd[4096];
    jpp_run_t   run = { jpp_fake_so, NULL, text, "dump", "foreign" };

    root = getenv("JPP_ROOT");

    if (root == NULL) {
        root = getcwd(cwd, sizeof(cwd));
    }

    jpp_print(text, "dump %s/t/data/nginx-530.heap\n", root);
    jpp_ok(strncmp(jpp_run(&run), "read 0: ", 8) == 0, "a file as it is");

    jpp_print(text, "dump %s/t/data/nginx-530.heap\nmaps 1\n", root);
    jpp_ok(strncmp(jpp_run(&run), "read 0: ", 8) != 0,
           "not with a second listing of maps");
}


static void
jpp_test_fake_hang(void)
{
    uint64_t   start = jpp_clock();
    jpp_run_t  run = { jpp_fake_so, NULL, "hang 0.4\n", "dump", "" };

    jpp_shows(jpp_run(&run), "a slow dump");
    jpp_ok(jpp_clock() - start >= 400000000, "which took its time");
}


static void
jpp_test_fake_memfd(void)
{
    char        text[32];
    jpp_run_t   run = { jpp_fake_so, NULL, text, "dump", "" };

    jpp_print(text, "memfd %d\n", EPERM);
    jpp_ok(strncmp(jpp_run(&run), "open 13: memfd_create is forbidden", 34)
           == 0, "memfd_create is forbidden");

    run.argument = "/tmp";
    jpp_shows(jpp_run(&run), "and there is a directory");
}


static void
jpp_tests(void)
{
    jpp_test_fake_dumps();
    jpp_test_fake_file();
    jpp_test_fake_hang();
    jpp_test_fake_memfd();
}


static void
jpp_test_real_dump(void)
{
    long long    bytes;
    jpp_run_t    run = { JPP_REAL, JPP_CONF, NULL, "dump", "" };

    got = jpp_run(&run);
    bytes = 0;

    jpp_ok(sscanf(got, "read 0: %*d samples of %lld bytes", &bytes) == 1,
           "a dump of a real heap: %s", got);
    jpp_ok(bytes >= JPP_HELD && bytes < 2 * JPP_HELD, "shows what is held");

    run.part = "unsampled";
    got = jpp_run(&run);
    bytes = 0;

    jpp_ok(sscanf(got, "read 0: %*d samples of %lld bytes", &bytes) == 1
           && bytes < JPP_HELD / 2,
           "but not what a thread took that is not sampled: %s", got);

    run.part = "dump";
    run.conf = NULL;
    got = jpp_run(&run);
    jpp_is_str(got, "dump 14: cannot dump", "no dump without prof:true");
}


static void
jpp_test_real_descriptors(void)
{
    size_t     i;
    jpp_run_t  run = { JPP_REAL, JPP_CONF, NULL, "descriptors", NULL };

    /* for the file, for the dump, and for the maps in it */

    static const struct {
        const char    *free;
        const char    *what;
    } cases[] = {
        { "0", "open 5: cannot put the dump into anonymous memory, because "
               "the process has no free descriptor (raise RLIMIT_NOFILE)" },
        { "1", "dump 7: jemalloc could not write the dump" },
        { "2", "read 3: " },
        { "3", "read 0: " }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run.argument = cases[i].free;
        got = jpp_run(&run);

        jpp_ok(strncmp(got, cases[i].what, strlen(cases[i].what)) == 0,
               "%s free descriptors: %s", cases[i].free, got);
        jpp_has(got, ", 0 left open", "no descriptor is left open");
    }
}


static void
jpp_test_real_file_size(void)
{
    size_t      i;
    char        text[256];
    jpp_run_t   run = { JPP_REAL, JPP_CONF, NULL, "file size", NULL };

    static const char  *const  sizes[] = { "0", "1", "4096" };

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        run.argument = sizes[i];

        jpp_print(text, "dump 5: cannot write the dump, because a file of this "
                  "process may have %s bytes at most (raise RLIMIT_FSIZE: "
                  "LimitFSIZE= in the unit of systemd, or ulimit -f): File too "
                  "large", sizes[i]);

        jpp_is_str(jpp_run(&run), text, "files of %s bytes at most", sizes[i]);
    }
}


static void
jpp_test_real_directory(void)
{
    char       preload[5000], text[32];
    jpp_run_t  run = { preload, JPP_CONF, text, "dump", "" };

    /* malloc and mallctl of the first, memfd_create of the second */

    jpp_print(preload, JPP_REAL ":%s", jpp_fake_so);
    jpp_print(text, "memfd %d\n", ENOSYS);

    got = jpp_run(&run);
    jpp_ok(strncmp(got, "open 13: memfd_create is forbidden", 34) == 0,
           "no memfd_create: %s", got);

    run.argument = "/tmp";
    got = jpp_run(&run);
    jpp_ok(strncmp(got, "read 0: ", 8) == 0, "and a directory: %s", got);
}


static void
jpp_test_real_full(void)
{
    char       preload[5000], text[32], directory[64];
    jpp_run_t  run = { preload, JPP_CONF, text, "full", directory };

    jpp_print(directory, "%s/full", jpp_directory);
    mkdir(directory, 0700);

    jpp_print(preload, JPP_REAL ":%s", jpp_fake_so);
    jpp_print(text, "memfd %d\n", EPERM);

    got = jpp_run(&run);
    rmdir(directory);

    if (strncmp(got, "no tmpfs", 8) == 0) {
        jpp_ok(true, "a full disk # SKIP %s", got);
        return;
    }

    jpp_ok(strncmp(got, "read 3: ", 8) == 0 || strncmp(got, "dump 7: ", 8) == 0,
           "a full disk: %s", got);
}


static void
jpp_test_real_no_proc(void)
{
    jpp_run_t  run = { JPP_REAL, JPP_CONF, NULL, "no proc", jpp_directory };

    got = jpp_run(&run);

    if (strncmp(got, "no chroot", 9) == 0) {
        jpp_ok(true, "no /proc # SKIP %s", got);
        return;
    }

    jpp_ok(strncmp(got, "dump 7: jemalloc could not write the dump: it needs "
                        "/proc to be visible", 71)
           == 0
           && strstr(got, "perhaps: No such file or directory") != NULL,
           "no /proc: %s", got);
}


static void
jpp_tests_real(void)
{
    jpp_test_real_dump();
    jpp_test_real_descriptors();
    jpp_test_real_file_size();
    jpp_test_real_directory();
    jpp_test_real_full();
    jpp_test_real_no_proc();
}


JPP_TESTS_OF(jpp_parts, jpp_tests, jpp_tests_real)
