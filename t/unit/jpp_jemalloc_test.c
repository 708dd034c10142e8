
/*
 * What jemalloc is there is decided before main(): every case is a run of this
 * program by itself, with something preloaded and a part to play.  A part
 * prints what it saw, and the first process compares.
 *
 * A program under a sanitizer has its malloc() from that, so that no jemalloc
 * can be preloaded; the fake one, which only has to be believed, can.
 */

/* memmem(), unshare() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jpp_control.h"
#include "jpp_heap_file.h"
#include "jpp_heap_stacks.h"
#include "jpp_memfd.h"
#include "jpp_proc.h"
#include "jpp_report.h"
#include "jpp_test.h"


#if defined(__SANITIZE_ADDRESS__)
#define JPP_IS_SANITIZED  1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define JPP_IS_SANITIZED  1
#endif
#endif

#ifndef JPP_IS_SANITIZED
#define JPP_IS_SANITIZED  0
#endif

#define JPP_REAL          "libjemalloc.so.2"

/* what the parts allocate, so that a dump has something to show */
#define JPP_BLOCK         65536
#define JPP_BLOCKS        100
#define JPP_HELD          (JPP_BLOCK * JPP_BLOCKS)

/* sampled so often that blocks of that size all are */
#define JPP_CONF          "prof:true,lg_prof_sample:12,prof_prefix:"

/* what is freed before a purge, and stays with jemalloc until then */
#define JPP_FREED         (64 << 20)
#define JPP_KEEP          "dirty_decay_ms:-1,muzzy_decay_ms:-1"


typedef struct {
    const char    *preload;          /* NULL: nothing */
    const char    *conf;             /* MALLOC_CONF */
    const char    *fake;             /* the file of JPP_FAKE */
    const char    *part;
    const char    *argument;
} jpp_run_t;


typedef struct {
    const char    *name;
    void         (*play)(const char *argument);
} jpp_part_t;


typedef struct {
    const char    *text;             /* options of the fake, or MALLOC_CONF */
    const char    *state;            /* what the part "state" prints of it */
} jpp_case_t;


static void jpp_test_absent(void);
static void jpp_test_wanted(void);
static void jpp_test_fake_states(void);
static void jpp_test_fake_change(void);
static void jpp_test_fake_stats(void);
static void jpp_test_fake_thread(void);
static void jpp_test_fake_dumps(void);
static void jpp_test_fake_control(void);
static void jpp_test_fake_refused(void);
static void jpp_test_fake_failed(void);
static void jpp_test_fake_file(void);
static void jpp_test_fake_hang(void);
static void jpp_test_fake_memfd(void);
static void jpp_test_real(void);
static bool jpp_test_is_profiled(void);
static void jpp_test_real_states(void);
static void jpp_test_real_names(void);
static void jpp_test_real_dump(void);
static void jpp_test_real_control(void);
static void jpp_test_real_forget(void);
static void jpp_test_real_purge(void);
static void jpp_test_real_descriptors(void);
static void jpp_test_real_file_size(void);
static void jpp_test_real_directory(void);
static void jpp_test_real_full(void);
static void jpp_test_real_no_proc(void);
static const char *jpp_run(const jpp_run_t *run);
static void jpp_run_child(const jpp_run_t *run, int fd);
static void jpp_run_fake(const char *text);
static void jpp_set(const char *name, const char *value);

static void jpp_part_state(const char *argument);
static void jpp_part_change(const char *argument);
static void jpp_part_stats(const char *argument);
static void jpp_part_thread(const char *argument);
static void *jpp_part_thread_other(void *data);
static void jpp_part_dump(const char *argument);
static void jpp_part_unsampled(const char *argument);
static void jpp_part_control(const char *argument);
static void jpp_part_forget(const char *argument);
static void jpp_part_purge(const char *argument);
static void *jpp_part_control_thread(void *data);
static void jpp_part_descriptors(const char *argument);
static void jpp_part_file_size(const char *argument);
static void jpp_part_full(const char *argument);
static void jpp_part_no_proc(const char *argument);
static void jpp_part_hold(void);
static void jpp_part_capture(const char *directory);
static void jpp_part_tell(const char *text);
static jpp_code_t jpp_part_apply(const char *text,
    jpp_control_result_t *result, jpp_err_t *err);
static jpp_code_t jpp_part_read(const jpp_memfd_t *memfd, bool is_foreign,
    jpp_err_t *err);
static unsigned jpp_part_open(void);
static void jpp_part_show(const char *step, jpp_code_t rc,
    const jpp_err_t *err);


static const jpp_part_t  jpp_parts[] = {
    { "state",        jpp_part_state },
    { "change",       jpp_part_change },
    { "stats",        jpp_part_stats },
    { "thread",       jpp_part_thread },
    { "dump",         jpp_part_dump },
    { "unsampled",    jpp_part_unsampled },
    { "control",      jpp_part_control },
    { "forget",       jpp_part_forget },
    { "purge",        jpp_part_purge },
    { "descriptors",  jpp_part_descriptors },
    { "file size",    jpp_part_file_size },
    { "full",         jpp_part_full },
    { "no proc",      jpp_part_no_proc }
};


static char   jpp_directory[] = "/tmp/jpp_jemalloc_XXXXXX";
static char   jpp_fake_so[4096];
static char   jpp_fake_file[64];

static void  *jpp_held[JPP_BLOCKS];


int
main(int argc, char **argv)
{
    char     *slash;
    size_t    i;
    ssize_t   n;

    for (i = 0; argc == 3 && i < sizeof(jpp_parts) / sizeof(jpp_parts[0]); i++)
    {
        if (strcmp(argv[1], jpp_parts[i].name) == 0) {
            jpp_parts[i].play(argv[2]);
            fflush(stdout);

            /* not exit(): jemalloc may have been told to dump there */

            _exit(0);
        }
    }

    n = readlink("/proc/self/exe", jpp_fake_so, sizeof(jpp_fake_so) - 32);
    jpp_fake_so[n > 0 ? n : 0] = '\0';

    slash = strrchr(jpp_fake_so, '/');

    if (slash == NULL || mkdtemp(jpp_directory) == NULL) {
        printf("Bail out!  no /proc, or no /tmp\n");
        return 1;
    }

    strcpy(slash, "/jpp_fake.so");
    snprintf(jpp_fake_file, sizeof(jpp_fake_file), "%s/fake", jpp_directory);

    jpp_test_absent();
    jpp_test_wanted();
    jpp_test_fake_states();
    jpp_test_fake_change();
    jpp_test_fake_stats();
    jpp_test_fake_thread();
    jpp_test_fake_dumps();
    jpp_test_fake_control();
    jpp_test_fake_refused();
    jpp_test_fake_failed();
    jpp_test_fake_file();
    jpp_test_fake_hang();
    jpp_test_fake_memfd();
    jpp_test_real();

    unlink(jpp_fake_file);
    jpp_is_i64(rmdir(jpp_directory), 0, "nothing was written but that");

    return jpp_done();
}


static void
jpp_test_absent(void)
{
    jpp_err_t             err;
    jpp_control_t         control;
    jpp_jemalloc_t        jemalloc;
    jpp_jemalloc_stats_t  stats;
    jpp_control_result_t  result;

    jpp_jemalloc_read(&jemalloc);

    jpp_is_u64(jemalloc.state, JPP_JEMALLOC_ABSENT, "no jemalloc");
    jpp_is_str(jemalloc.allocator,
               JPP_IS_SANITIZED ? "jpp_jemalloc_test" : "libc.so.6",
               "whose malloc it is");
    jpp_is_str(jemalloc.variable, "MALLOC_CONF", "the variable");
    jpp_is_str(jemalloc.version, "", "no version");

    jpp_ok(!jpp_jemalloc_stats(&stats), "no statistics");
    jpp_ok(jpp_jemalloc_sample_thread(false), "no thread is not sampled");

    jpp_is_u64(jpp_jemalloc_dump(1, &err), JPP_ERR_STATE, "no dump");
    jpp_is_str(err.text, "there is no dump", "by its code alone");

    jpp_control_init(&control);
    control.purge = true;
    memset(&result, 0x55, sizeof(result));

    jpp_is_u64(jpp_jemalloc_control(&control, &result, &err),
               JPP_ERR_STATE, "no purge");
    jpp_is_str(err.text, "the memory was not purged", "what was not done");
    jpp_ok(!result.has_profiler && !result.has_stats
           && result.after.lg_sample == 0, "the result is filled");
    jpp_is_u64(jpp_jemalloc_control(&control, &result, NULL),
               JPP_ERR_STATE, "nobody need hear why");
}


static void
jpp_test_wanted(void)
{
    size_t  i;

    static const struct {
        const char    *variable;
        const char    *conf;
        bool           is_wanted;
    } cases[] = {
        { "MALLOC_CONF", "", false },
        { "MALLOC_CONF", "prof:true", true },
        { "MALLOC_CONF", "prof:false", false },
        { "MALLOC_CONF", "prof_active:true,lg_prof_sample:14", false },
        { "MALLOC_CONF", "narenas:1,prof:true,lg_prof_sample:14", true },
        { "MALLOC_CONF", ",,prof:true,", true },
        { "MALLOC_CONF", "prof:true,prof:false", false },
        { "MALLOC_CONF", "prof:false,prof:true", true },
        { "MALLOC_CONF", "xprof:true", false },
        { "_RJEM_MALLOC_CONF", "prof:true", true },
        { "JE_MALLOC_CONF", "prof:true", true },
        { "OTHER_MALLOC_CONF", "prof:true", false }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsetenv("MALLOC_CONF");
        setenv(cases[i].variable, cases[i].conf, 1);

        jpp_is_u64(jpp_jemalloc_is_wanted(), cases[i].is_wanted, "%s=%s",
                   cases[i].variable, cases[i].conf);

        unsetenv(cases[i].variable);
    }

    jpp_ok(!jpp_jemalloc_is_wanted(), "no variable");
}


static void
jpp_test_fake_states(void)
{
    size_t     i;
    jpp_run_t  run = { jpp_fake_so, NULL, NULL, "state", "" };

    static const jpp_case_t  cases[] = {
        { "", "ready 5.3.0 MALLOC_CONF lg 19 active" },
        { "prof.active 0\n", "inactive 5.3.0 MALLOC_CONF lg 19" },
        { "opt.prof 0\n", "off 5.3.0 MALLOC_CONF lg 0" },
        { "config.prof 0\n", "no_prof 5.3.0 MALLOC_CONF lg 0" },
        { "config.prof 0\nopt.prof 1\nprof.active 1\n",
          "no_prof 5.3.0 MALLOC_CONF lg 0" },
        { "config.prof -\n", "no_prof 5.3.0 MALLOC_CONF lg 0" },
        { "prof.lg_sample 12\n", "ready 5.3.0 MALLOC_CONF lg 12 active" },

        /* what does harm */

        { "opt.prof_accum 1\n", "ready 5.3.0 MALLOC_CONF lg 19 active accum" },
        { "opt.prof_final 1\n", "ready 5.3.0 MALLOC_CONF lg 19 active final" },
        { "opt.prof_thread_active_init 1\n",
          "ready 5.3.0 MALLOC_CONF lg 19 active" },
        { "opt.prof_thread_active_init 0\n",
          "ready 5.3.0 MALLOC_CONF lg 19 active unsampled" },
        { "opt.prof_leak_error 1\n",
          "ready 5.3.0 MALLOC_CONF lg 19 active leak_error" },
        { "prof.gdump 1\n", "ready 5.3.0 MALLOC_CONF lg 19 active gdump" },
        { "opt.lg_prof_interval 0\n",
          "ready 5.3.0 MALLOC_CONF lg 19 active interval" },
        { "opt.lg_prof_interval 30\n",
          "ready 5.3.0 MALLOC_CONF lg 19 active interval" },

        /* names of threads */

        { "opt.prof_sys_thread_name 1\n",
          "refused 5.3.0 MALLOC_CONF lg 19 active" },
        { "opt.prof_sys_thread_name 1\nprof.active 0\n",
          "refused 5.3.0 MALLOC_CONF lg 19" },
        { "opt.prof_sys_thread_name 1\nversion 5.3.0-170-gabcdef\n",
          "refused 5.3.0 MALLOC_CONF lg 19 active" },
        { "opt.prof_sys_thread_name 1\nversion 5.3.1-0-gabcdef\n",
          "ready 5.3.1 MALLOC_CONF lg 19 active" },
        { "opt.prof_sys_thread_name 1\nversion 6.0.0\n",
          "ready 6.0.0 MALLOC_CONF lg 19 active" },
        { "opt.prof_sys_thread_name 1\nversion unknown\n",
          "refused unknown MALLOC_CONF lg 19 active" },
        { "opt.prof_sys_thread_name 1\nversion -\n",
          "refused  MALLOC_CONF lg 19 active" },

        /* 5.2.1 */

        { "version 5.2.1-0-gea6b3e97\nopt.prof_sys_thread_name -\n"
          "opt.prof_leak_error -\n",
          "ready 5.2.1 MALLOC_CONF lg 19 active" },

        { "version 0123456789012345678901234567890123456789\n",
          "ready 0123456789012345678901234567890 MALLOC_CONF lg 19 active" },

        /* of another width than is known */

        { "narrow opt.prof\n", "off 5.3.0 MALLOC_CONF lg 0" },
        { "narrow prof.lg_sample\n",
          "ready 5.3.0 MALLOC_CONF lg 0 active" },

        /* other builds */

        { "symbol je_mallctl\n", "ready 5.3.0 JE_MALLOC_CONF lg 19 active" },
        { "symbol _rjem_mallctl\n",
          "ready 5.3.0 _RJEM_MALLOC_CONF lg 19 active" },
        { "symbol _rjem_mallctl\nopt.prof 0\n",
          "off 5.3.0 _RJEM_MALLOC_CONF lg 0" },

        /* of another allocator; and malloc() is in the fake, or is not */

        { "symbol none\n",
          JPP_IS_SANITIZED ? "absent  MALLOC_CONF lg 0 jpp_jemalloc_test"
                           : "absent  MALLOC_CONF lg 0 jpp_fake.so" },
        { "thread.allocated -\n",
          JPP_IS_SANITIZED ? "absent  MALLOC_CONF lg 0 jpp_jemalloc_test"
                           : "ready 5.3.0 MALLOC_CONF lg 19 active" }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run.fake = cases[i].text;
        jpp_is_str(jpp_run(&run), cases[i].state, "a fake's state, case %zu",
                   i);
    }
}


static void
jpp_test_fake_change(void)
{
    jpp_run_t  run = { jpp_fake_so, NULL, "prof.active 0\n", "change", "" };

    jpp_is_str(jpp_run(&run),
               "inactive 5.3.0 MALLOC_CONF lg 19\n"
               "ready 5.3.0 MALLOC_CONF lg 14 active gdump\n"
               "inactive 5.3.0 MALLOC_CONF lg 14\n",
               "what changes is seen, what cannot is not asked again");
}


static void
jpp_test_fake_stats(void)
{
    jpp_run_t  run = { jpp_fake_so, NULL, "", "stats", "" };

    jpp_is_str(jpp_run(&run),
               "1000000 2000000 3000000 4000000 5000000 6000000",
               "statistics");

    run.fake = "stats.retained -\n";
    jpp_is_str(jpp_run(&run), "none", "one is missing");

    run.fake = "epoch -\n";
    jpp_is_str(jpp_run(&run), "none", "they cannot be refreshed");
}


static void
jpp_test_fake_thread(void)
{
    jpp_run_t  run = { jpp_fake_so, NULL, "", "thread", "" };

    jpp_is_str(jpp_run(&run), "was 1 0 0 1, another 1",
               "a thread is sampled, or not, by itself");

    run.fake = "opt.prof 0\n";
    jpp_is_str(jpp_run(&run), "was 1 1 1 1, another 1",
               "where that is unknown, it was");
}


static void
jpp_test_fake_dumps(void)
{
    jpp_run_t  run = { jpp_fake_so, NULL, "", "dump", "" };

    jpp_is_str(jpp_run(&run), "read 0: 3 samples of 234881024 bytes",
               "three stacks");

    run.fake = "prof.active 0\n";
    jpp_is_str(jpp_run(&run), "read 0: 3 samples of 234881024 bytes",
               "a profiler that is not active may be asked");

    run.fake = "cut 200\n";
    jpp_ok(strncmp(jpp_run(&run), "read 3: ", 8) == 0, "a cut dump is refused");

    run.fake = "maps 0\n";
    jpp_ok(strncmp(jpp_run(&run), "read 3: ", 8) == 0, "one without maps too");

    run.fake = "garbage 5000\n";
    jpp_ok(strncmp(jpp_run(&run), "read 2: ", 8) == 0, "noise is refused");

    run.fake = "empty 1\n";
    jpp_ok(strncmp(jpp_run(&run), "read ", 5) == 0
           && strncmp(jpp_run(&run), "read 0", 6) != 0,
           "nothing is refused");

    run.fake = "large 3\n";
    jpp_ok(strstr(jpp_run(&run), "read 0: ") != NULL, "a large one is read");

    run.fake = "large 17\n";
    jpp_ok(strncmp(jpp_run(&run), "map 4: the dump has 17", 22) == 0,
           "one above the cap is refused");
}


static void
jpp_test_fake_control(void)
{
    size_t     i;
    jpp_run_t  run = { jpp_fake_so, NULL, NULL, "control", NULL };

    static const struct {
        const char    *fake;
        const char    *control;
        const char    *said;
    } cases[] = {
        { "", "", "0, on 19, on 19" },
        { "", "active=off", "0, on 19, off 19" },
        { "prof.active 0\n", "active=on", "0, off 19, on 19" },
        { "", "active=on", "0, on 19, on 19" },
        { "", "lg_sample=14", "0, on 19, on 14" },
        { "", "lg_sample=19", "0, on 19, on 19" },
        { "", "reset=1", "0, on 19, on 19" },
        { "", "reset=1&lg_sample=12&active=off", "0, on 19, off 12" },
        { "", "purge=1", "0, on 19, on 19, 4000000 to 3000000" },
        { "", "purge=1&active=off&lg_sample=24",
          "0, on 19, off 24, 4000000 to 3000000" },

        /* without statistics, and without a profiler */

        { "stats.resident -\n", "purge=1", "0, on 19, on 19" },
        { "config.prof 0\n", "purge=1",
          "0, none, 4000000 to 3000000" },
        { "opt.prof 0\n", "purge=1", "0, none, 4000000 to 3000000" },
        { "opt.prof_sys_thread_name 1\n", "purge=1",
          "0, on 19, on 19, 4000000 to 3000000" },

        /* the present rate is not set again */

        { "refuse prof.reset\n", "lg_sample=19", "0, on 19, on 19" },

        /* the first that fails is the last */

        { "refuse prof.reset\n", "lg_sample=14&active=off&purge=1",
          "7, on 19, on 19: lg_sample was not set: jemalloc refuses "
          "prof.reset (Bad address), which 5.2.1 to 5.3.1 are known to "
          "allow" },
        { "refuse prof.reset\n", "reset=1",
          "7, on 19, on 19: the samples were not reset: jemalloc refuses "
          "prof.reset (Bad address), which 5.2.1 to 5.3.1 are known to "
          "allow" },
        { "refuse prof.active\n", "lg_sample=14&active=off&purge=1",
          "7, on 19, on 14: active was not set: jemalloc refuses "
          "prof.active (Bad address), which 5.2.1 to 5.3.1 are known to "
          "allow" },
        { "refuse arena.4096.purge\n", "lg_sample=14&active=off&purge=1",
          "7, on 19, off 14: the memory was not purged: jemalloc refuses "
          "arena.4096.purge (Bad address), which 5.2.1 to 5.3.1 are known to "
          "allow" },

        /* where there is no dump there is no change */

        { "opt.prof 0\n", "active=on&purge=1",
          "14, none: active was not set" },
        { "opt.prof 0\n", "active=off",
          "14, none: active was not set" },
        { "config.prof 0\n", "lg_sample=14",
          "14, none: lg_sample was not set" },
        { "opt.prof_sys_thread_name 1\n", "reset=1",
          "14, on 19, on 19: the samples were not reset" },
        { "symbol none\n", "active=on&purge=1",
          "14, none: active was not set" }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run.fake = cases[i].fake;
        run.argument = cases[i].control;
        jpp_is_str(jpp_run(&run), cases[i].said, "a change, case %zu", i);
    }
}


static void
jpp_test_fake_refused(void)
{
    size_t     i;
    jpp_run_t  run = { jpp_fake_so, NULL, NULL, "dump", "" };

    static const jpp_case_t  cases[] = {
        { "config.prof 0\n", "there is no dump" },
        { "opt.prof 0\n", "there is no dump" },
        { "opt.prof_sys_thread_name 1\n", "there is no dump" },
        { "symbol none\n", "there is no dump" }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run.fake = cases[i].text;
        jpp_is_str(jpp_run(&run), "dump 14: there is no dump", "no dump: %s",
                   cases[i].text);
    }
}


static void
jpp_test_fake_failed(void)
{
    char        text[32];
    jpp_run_t   run = { jpp_fake_so, NULL, text, "dump", "" };

    snprintf(text, sizeof(text), "fail %d\n", EMFILE);
    jpp_is_str(jpp_run(&run),
               "dump 7: jemalloc could not write the dump: it needs /proc to "
               "be visible, two more free descriptors (raise RLIMIT_NOFILE) "
               "and memory; perhaps: Too many open files",
               "a dump that failed");
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

    snprintf(text, sizeof(text), "dump %s/t/data/nginx-530.heap\n", root);
    jpp_ok(strncmp(jpp_run(&run), "read 0: ", 8) == 0, "a file as it is");

    snprintf(text, sizeof(text), "dump %s/t/data/nginx-530.heap\nmaps 1\n",
             root);
    jpp_ok(strncmp(jpp_run(&run), "read 0: ", 8) != 0,
           "not with a second listing of maps");
}


static void
jpp_test_fake_hang(void)
{
    double           time;
    jpp_run_t        run = { jpp_fake_so, NULL, "hang 0.4\n", "dump", "" };
    struct timespec  start, end;

    clock_gettime(CLOCK_MONOTONIC, &start);
    jpp_is_str(jpp_run(&run), "read 0: 3 samples of 234881024 bytes",
               "a slow dump");
    clock_gettime(CLOCK_MONOTONIC, &end);

    time = (double) (end.tv_sec - start.tv_sec)
           + (double) (end.tv_nsec - start.tv_nsec) / 1e9;
    jpp_ok(time >= 0.4, "took %.3f s", time);
}


static void
jpp_test_fake_memfd(void)
{
    char        text[32];
    jpp_run_t   run = { jpp_fake_so, NULL, text, "dump", "" };

    snprintf(text, sizeof(text), "memfd %d\n", EPERM);
    jpp_ok(strncmp(jpp_run(&run), "open 13: memfd_create is forbidden", 34)
           == 0, "memfd_create is forbidden");

    run.argument = "/tmp";
    jpp_is_str(jpp_run(&run), "read 0: 3 samples of 234881024 bytes",
               "and there is a directory");
}


static void
jpp_test_real(void)
{
    if (JPP_IS_SANITIZED) {
        jpp_ok(true, "a real jemalloc # SKIP not under a sanitizer");
        return;
    }

    if (!jpp_test_is_profiled()) {
        jpp_ok(true, "a real jemalloc # SKIP no " JPP_REAL
               " with a profiler");
        return;
    }

    jpp_test_real_states();
    jpp_test_real_names();
    jpp_test_real_dump();
    jpp_test_real_control();
    jpp_test_real_forget();
    jpp_test_real_purge();
    jpp_test_real_descriptors();
    jpp_test_real_file_size();
    jpp_test_real_directory();
    jpp_test_real_full();
    jpp_test_real_no_proc();
}


/* Debian builds it with a profiler on amd64 and i386 only. */

static bool
jpp_test_is_profiled(void)
{
    const char  *state;
    jpp_run_t    run = { JPP_REAL, NULL, NULL, "state", "" };

    state = jpp_run(&run);

    return strncmp(state, "no_prof", 7) != 0
           && strncmp(state, "absent", 6) != 0;
}


static void
jpp_test_real_states(void)
{
    size_t       i;
    const char  *got;
    jpp_run_t    run = { JPP_REAL, NULL, NULL, "state", "" };

    /* the version is between the two */

    static const struct {
        const char    *conf;
        const char    *state;
        const char    *rest;
    } cases[] = {
        { NULL, "off ", " MALLOC_CONF lg 0" },
        { "prof:false", "off ", " MALLOC_CONF lg 0" },
        { "prof:true", "ready ", " MALLOC_CONF lg 19 active" },
        { "prof:true,lg_prof_sample:12", "ready ",
          " MALLOC_CONF lg 12 active" },
        { "prof:true,prof_active:false", "inactive ",
          " MALLOC_CONF lg 19" },
        { "prof:true,prof_thread_active_init:false", "ready ",
          " MALLOC_CONF lg 19 active unsampled" },
        { "prof:true,prof_prefix:,prof_accum:true", "ready ",
          " MALLOC_CONF lg 19 active accum" },
        { "prof:true,prof_prefix:,lg_prof_interval:40", "ready ",
          " MALLOC_CONF lg 19 active interval" },
        { "prof:true,prof_prefix:,prof_gdump:true", "ready ",
          " MALLOC_CONF lg 19 active gdump" },
        { "prof:true,prof_prefix:,prof_final:true", "ready ",
          " MALLOC_CONF lg 19 active final" }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run.conf = cases[i].conf;
        got = jpp_run(&run);

        jpp_ok(strncmp(got, cases[i].state, strlen(cases[i].state)) == 0
               && strlen(got) > strlen(cases[i].rest)
               && strcmp(got + strlen(got) - strlen(cases[i].rest),
                         cases[i].rest)
                  == 0,
               "%s: %s", cases[i].conf != NULL ? cases[i].conf : "nothing",
               got);
    }

    run.conf = NULL;
    run.part = "stats";
    got = jpp_run(&run);
    jpp_ok(got[0] >= '1' && got[0] <= '9', "statistics: %s", got);

    run.conf = "prof:true";
    run.part = "thread";
    jpp_is_str(jpp_run(&run), "was 1 0 0 1, another 1", "sampling by thread");
}


static void
jpp_test_real_names(void)
{
    bool         is_old;
    char         version[32];
    unsigned     major, minor, bugfix;
    const char  *got;
    jpp_run_t    run = { JPP_REAL, "prof:true,prof_sys_thread_name:true", NULL,
                         "state", "" };

    got = jpp_run(&run);

    is_old = sscanf(got, "%*s %31s", version) == 1
             && sscanf(version, "%u.%u.%u", &major, &minor, &bugfix) == 3
             && (major < 5 || (major == 5 && minor < 3)
                 || (major == 5 && minor == 3 && bugfix < 1));

    jpp_ok(strncmp(got, is_old ? "refused " : "ready ", 6) == 0,
           "prof_sys_thread_name:true: %s", got);
}


static void
jpp_test_real_dump(void)
{
    long long    bytes;
    const char  *got;
    jpp_run_t    run = { JPP_REAL, JPP_CONF, NULL, "dump", "" };

    got = jpp_run(&run);
    bytes = 0;

    jpp_ok(sscanf(got, "read 0: %*d samples of %lld bytes", &bytes) == 1,
           "a dump of a real heap: %s", got);
    jpp_ok(bytes >= JPP_HELD && bytes < 2 * JPP_HELD,
           "shows what is held");

    run.part = "unsampled";
    got = jpp_run(&run);
    bytes = 0;

    jpp_ok(sscanf(got, "read 0: %*d samples of %lld bytes", &bytes) == 1
           && bytes < JPP_HELD / 2,
           "but not what a thread took that is not sampled: %s", got);

    run.part = "dump";
    run.conf = NULL;
    got = jpp_run(&run);
    jpp_is_str(got, "dump 14: there is no dump", "none without prof:true");
}


static void
jpp_test_real_control(void)
{
    size_t     i;
    jpp_run_t  run = { JPP_REAL, NULL, NULL, "control", NULL };

    static const struct {
        const char    *conf;
        const char    *control;
        const char    *said;
    } cases[] = {
        { "prof:true", "active=off", "0, on 19, off 19" },
        { "prof:true,prof_active:false", "active=on", "0, off 19, on 19" },
        { "prof:true,prof_active:false", "active=on&lg_sample=10",
          "0, off 19, on 10" },
        { "prof:true", "lg_sample=14", "0, on 19, on 14" },
        { "prof:true", "lg_sample=24&active=off", "0, on 19, off 24" },
        { "prof:true,lg_prof_sample:14", "lg_sample=14", "0, on 14, on 14" },
        { "prof:true,lg_prof_sample:14", "reset=1", "0, on 14, on 14" },
        { "prof:true,lg_prof_sample:14", "reset=1&lg_sample=14",
          "0, on 14, on 14" },
        { NULL, "active=on",
          "14, none: active was not set" }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run.conf = cases[i].conf;
        run.argument = cases[i].control;
        jpp_is_str(jpp_run(&run), cases[i].said, "a real change, case %zu", i);
    }
}


static void
jpp_test_real_forget(void)
{
    size_t       i;
    long long    bytes;
    const char  *got;
    jpp_run_t    run = { JPP_REAL, JPP_CONF, NULL, "forget", NULL };

    static const struct {
        const char    *control;
        bool           is_kept;
    } cases[] = {
        { "active=off", true },
        { "lg_sample=12", true },
        { "purge=1", true },
        { "reset=1", false },
        { "reset=1&lg_sample=12", false },
        { "lg_sample=13", false }
    };

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run.argument = cases[i].control;
        got = jpp_run(&run);
        bytes = 0;

        jpp_ok(sscanf(got, "read 0: %*d samples of %lld bytes", &bytes) == 1,
               "a dump after %s: %s", cases[i].control, got);
        jpp_ok(cases[i].is_kept ? bytes >= JPP_HELD : bytes < JPP_HELD / 2,
               "what was held before is %s",
               cases[i].is_kept ? "still there" : "forgotten");
    }
}


static void
jpp_test_real_purge(void)
{
    size_t       i;
    long long    before, after;
    const char  *got, *stats;
    jpp_run_t    run = { JPP_REAL, NULL, NULL, "purge", "purge=1" };

    /* a purge needs no profiler */

    static const char  *confs[] = { JPP_KEEP, "prof:true," JPP_KEEP };

    for (i = 0; i < sizeof(confs) / sizeof(confs[0]); i++) {
        run.conf = confs[i];
        got = jpp_run(&run);

        stats = strrchr(got, ',');
        before = after = 0;

        jpp_ok(got[0] == '0' && stats != NULL
               && sscanf(stats, ", %lld to %lld", &before, &after) == 2,
               "a real purge: %s", got);
        jpp_ok(before > JPP_FREED && after < before - JPP_FREED * 3LL / 4,
               "takes most of what was freed");
    }
}


static void
jpp_test_real_descriptors(void)
{
    size_t       i;
    const char  *got;
    jpp_run_t    run = { JPP_REAL, JPP_CONF, NULL, "descriptors", NULL };

    /* for the file, for the dump, and for the maps in it */

    static const struct {
        const char    *free;
        const char    *what;
    } cases[] = {
        { "0", "open 5: a dump cannot be put into anonymous memory, because "
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
        jpp_ok(strstr(got, ", 0 left open") != NULL, "none is left open");
    }
}


static void
jpp_test_real_file_size(void)
{
    const char  *got;
    jpp_run_t    run = { JPP_REAL, JPP_CONF, NULL, "file size", "4096" };

    got = jpp_run(&run);
    jpp_ok(strncmp(got, "read 3: ", 8) == 0 || strncmp(got, "dump 7: ", 8) == 0,
           "files of 4096 bytes at most: %s", got);
}


static void
jpp_test_real_directory(void)
{
    char         preload[5000], text[32];
    const char  *got;
    jpp_run_t    run = { preload, JPP_CONF, text, "dump", "" };

    /* malloc and mallctl of the first, memfd_create of the second */

    snprintf(preload, sizeof(preload), JPP_REAL ":%s", jpp_fake_so);
    snprintf(text, sizeof(text), "memfd %d\n", ENOSYS);

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
    char         preload[5000], text[32], directory[64];
    const char  *got;
    jpp_run_t    run = { preload, JPP_CONF, text, "full", directory };

    snprintf(directory, sizeof(directory), "%s/full", jpp_directory);
    mkdir(directory, 0700);

    snprintf(preload, sizeof(preload), JPP_REAL ":%s", jpp_fake_so);
    snprintf(text, sizeof(text), "memfd %d\n", EPERM);

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
    const char  *got;
    jpp_run_t    run = { JPP_REAL, JPP_CONF, NULL, "no proc", jpp_directory };

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


/* What the part printed, without its last newline if it is one line. */

static const char *
jpp_run(const jpp_run_t *run)
{
    int      fds[2], status;
    pid_t    pid;
    size_t   len;
    ssize_t  n;

    static char  output[8192];

    if (run->fake != NULL) {
        jpp_run_fake(run->fake);
    }

    if (pipe(fds) == -1) {
        return "no pipe";
    }

    pid = fork();

    if (pid == 0) {
        close(fds[0]);
        jpp_run_child(run, fds[1]);
    }

    close(fds[1]);

    for (len = 0; len < sizeof(output) - 1; len += (size_t) n) {
        n = read(fds[0], output + len, sizeof(output) - 1 - len);

        if (n <= 0) {
            break;
        }
    }

    close(fds[0]);
    output[len] = '\0';

    if (waitpid(pid, &status, 0) != pid || status != 0) {
        snprintf(output, sizeof(output), "ended with 0x%x", status);
        return output;
    }

    if (len != 0 && memchr(output, '\n', len - 1) == NULL) {
        output[len - 1] = '\0';
    }

    return output;
}


static void
jpp_run_child(const jpp_run_t *run, int fd)
{
    dup2(fd, 1);
    close(fd);

    jpp_set("LD_PRELOAD", run->preload);
    jpp_set("MALLOC_CONF", run->conf);
    jpp_set("JPP_FAKE", run->fake != NULL ? jpp_fake_file : NULL);

    execl("/proc/self/exe", "jpp_jemalloc_test", run->part, run->argument,
          (char *) NULL);
    _exit(127);
}


static void
jpp_run_fake(const char *text)
{
    FILE  *file;
    char   path[128];

    snprintf(path, sizeof(path), "%s.new", jpp_fake_file);

    file = fopen(path, "w");
    fputs(text, file);
    fclose(file);

    rename(path, jpp_fake_file);
}


static void
jpp_set(const char *name, const char *value)
{
    if (value != NULL) {
        setenv(name, value, 1);
    } else {
        unsetenv(name);
    }
}


static void
jpp_part_state(const char *argument)
{
    jpp_jemalloc_t  jemalloc;

    static const char *const  names[] = {
        "absent", "no_prof", "off", "refused", "inactive", "ready"
    };

    (void) argument;

    jpp_jemalloc_read(&jemalloc);

    printf("%s %s %s lg %u%s%s%s%s%s%s%s%s%s\n", names[jemalloc.state],
           jemalloc.version, jemalloc.variable, jemalloc.lg_sample,
           jemalloc.active ? " active" : "", jemalloc.accum ? " accum" : "",
           jemalloc.interval ? " interval" : "",
           jemalloc.gdump ? " gdump" : "", jemalloc.final ? " final" : "",
           jemalloc.leak_error ? " leak_error" : "",
           jemalloc.unsampled ? " unsampled" : "",
           jemalloc.allocator[0] != '\0' ? " " : "", jemalloc.allocator);
}


static void
jpp_part_change(const char *argument)
{
    snprintf(jpp_fake_file, sizeof(jpp_fake_file), "%s", getenv("JPP_FAKE"));

    jpp_part_state(argument);
    jpp_run_fake("prof.lg_sample 14\nprof.gdump 1\nversion 9.9.9\n"
                 "opt.prof_accum 1\nopt.prof_sys_thread_name 1\n");
    jpp_part_state(argument);
    jpp_run_fake("prof.lg_sample 14\nprof.active 0\n");
    jpp_part_state(argument);
}


static void
jpp_part_stats(const char *argument)
{
    jpp_jemalloc_t        jemalloc;
    jpp_jemalloc_stats_t  stats;

    (void) argument;

    jpp_jemalloc_read(&jemalloc);

    if (!jpp_jemalloc_stats(&stats)) {
        printf("none\n");
        return;
    }

    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
           " %" PRIu64 "\n",
           stats.allocated, stats.active, stats.metadata, stats.resident,
           stats.mapped, stats.retained);
}


static void
jpp_part_thread(const char *argument)
{
    bool            was[4], another;
    pthread_t       thread;
    jpp_jemalloc_t  jemalloc;

    (void) argument;

    jpp_jemalloc_read(&jemalloc);

    was[0] = jpp_jemalloc_sample_thread(false);

    pthread_create(&thread, NULL, jpp_part_thread_other, &another);
    pthread_join(thread, NULL);

    was[1] = jpp_jemalloc_sample_thread(false);
    was[2] = jpp_jemalloc_sample_thread(true);
    was[3] = jpp_jemalloc_sample_thread(true);

    printf("was %d %d %d %d, another %d\n", was[0], was[1], was[2], was[3],
           another);
}


static void *
jpp_part_thread_other(void *data)
{
    bool  *was = data;

    *was = jpp_jemalloc_sample_thread(true);

    return NULL;
}


static void
jpp_part_dump(const char *argument)
{
    jpp_jemalloc_t  jemalloc;

    jpp_jemalloc_read(&jemalloc);
    jpp_part_hold();
    jpp_part_capture(argument);
    printf("\n");
}


static void
jpp_part_unsampled(const char *argument)
{
    jpp_jemalloc_t  jemalloc;

    jpp_jemalloc_read(&jemalloc);
    (void) jpp_jemalloc_sample_thread(false);
    jpp_part_hold();
    (void) jpp_jemalloc_sample_thread(true);
    jpp_part_capture(argument);
    printf("\n");
}


/* As in a worker: in a thread that is not the first. */

static void
jpp_part_control(const char *argument)
{
    pthread_t       thread;
    jpp_jemalloc_t  jemalloc;

    jpp_jemalloc_read(&jemalloc);

    pthread_create(&thread, NULL, jpp_part_control_thread, &argument);
    pthread_join(thread, NULL);
}


static void *
jpp_part_control_thread(void *data)
{
    const char  **text = data;

    jpp_part_tell(*text);

    return NULL;
}


static void
jpp_part_forget(const char *argument)
{
    jpp_err_t             err;
    jpp_jemalloc_t        jemalloc;
    jpp_control_result_t  result;

    jpp_jemalloc_read(&jemalloc);
    jpp_part_hold();

    if (jpp_part_apply(argument, &result, &err) == JPP_OK) {
        jpp_part_capture("");
    }

    printf("\n");
}


static void
jpp_part_purge(const char *argument)
{
    size_t           i;
    jpp_jemalloc_t   jemalloc;

    static void  *blocks[JPP_FREED / JPP_BLOCK];

    jpp_jemalloc_read(&jemalloc);

    for (i = 0; i < JPP_FREED / JPP_BLOCK; i++) {
        blocks[i] = malloc(JPP_BLOCK);
        memset(blocks[i], 1, JPP_BLOCK);
    }

    for (i = 0; i < JPP_FREED / JPP_BLOCK; i++) {
        free(blocks[i]);
    }

    jpp_part_tell(argument);
}


/* All are taken but ARGUMENT. */

static void
jpp_part_descriptors(const char *argument)
{
    int             fd, n;
    unsigned        before;
    struct rlimit   limit;
    jpp_jemalloc_t  jemalloc;

    jpp_jemalloc_read(&jemalloc);
    jpp_part_hold();

    limit.rlim_cur = 64;
    limit.rlim_max = 64;
    setrlimit(RLIMIT_NOFILE, &limit);

    while ((fd = dup(0)) != -1) { /* void */ }

    for (n = 0; n < atoi(argument); n++) {
        close(63 - n);
    }

    before = jpp_part_open();
    jpp_part_capture("");
    printf(", %u left open\n", jpp_part_open() - before);
}


static void
jpp_part_file_size(const char *argument)
{
    sigset_t        set;
    struct rlimit   limit;
    jpp_jemalloc_t  jemalloc;

    jpp_jemalloc_read(&jemalloc);
    jpp_part_hold();

    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &set, NULL);

    limit.rlim_cur = (rlim_t) atoi(argument);
    limit.rlim_max = limit.rlim_cur;
    setrlimit(RLIMIT_FSIZE, &limit);

    jpp_part_capture("");
    printf("\n");
}


/* A file system of one page, seen by this process alone. */

static void
jpp_part_full(const char *argument)
{
    jpp_jemalloc_t  jemalloc;

    if (unshare(CLONE_NEWNS) == -1
        || mount("none", "/", NULL, MS_REC|MS_PRIVATE, NULL) == -1
        || mount("none", argument, "tmpfs", 0, "size=4k") == -1)
    {
        printf("no tmpfs: %s\n", strerror(errno));
        return;
    }

    jpp_jemalloc_read(&jemalloc);
    jpp_part_hold();
    jpp_part_capture(argument);
    printf("\n");
}


static void
jpp_part_no_proc(const char *argument)
{
    jpp_jemalloc_t  jemalloc;

    if (chroot(argument) == -1) {
        printf("no chroot: %s\n", strerror(errno));
        return;
    }

    jpp_jemalloc_read(&jemalloc);
    jpp_part_hold();
    jpp_part_capture("");
    printf("\n");
}


static void
jpp_part_hold(void)
{
    size_t  i;

    for (i = 0; i < JPP_BLOCKS; i++) {
        jpp_held[i] = malloc(JPP_BLOCK);

        /* a block that nobody looks at is none */

        __asm__ volatile ("" : : "r" (jpp_held[i]) : "memory");
    }
}


/*
 * The way of a dump, up to the first failure.  PLACE is a directory for it,
 * "" for none, or "foreign": the maps may be another kernel's.
 */

static void
jpp_part_capture(const char *place)
{
    jpp_err_t    err;
    jpp_code_t   rc;
    const char  *step;
    jpp_memfd_t  memfd;

    step = "open";
    rc = jpp_memfd_open(&memfd, place[0] == '/' ? place : NULL, &err);

    if (rc == JPP_OK) {
        step = "dump";
        rc = jpp_jemalloc_dump(memfd.fd, &err);
    }

    if (rc == JPP_OK) {
        step = "map";
        rc = jpp_memfd_map(&memfd, 16 << 20, &err);
    }

    if (rc == JPP_OK) {
        step = "read";
        rc = jpp_part_read(&memfd, strcmp(place, "foreign") == 0, &err);
    }

    jpp_part_show(step, rc, &err);
    jpp_memfd_close(&memfd);
}


/* What a change does, "CODE, BEFORE, AFTER, RESIDENT to RESIDENT: WHY". */

static void
jpp_part_tell(const char *text)
{
    jpp_err_t             err;
    jpp_code_t            rc;
    jpp_control_result_t  result;

    rc = jpp_part_apply(text, &result, &err);

    printf("%d", rc);

    if (result.has_profiler) {
        printf(", %s %u, %s %u",
               result.before.active ? "on" : "off", result.before.lg_sample,
               result.after.active ? "on" : "off", result.after.lg_sample);

    } else {
        printf(", none");
    }

    if (result.has_stats) {
        printf(", %" PRIu64 " to %" PRIu64, result.resident_before,
               result.resident_after);
    }

    printf("%s%s\n", rc != JPP_OK ? ": " : "", rc != JPP_OK ? err.text : "");
}


static jpp_code_t
jpp_part_apply(const char *text, jpp_control_result_t *result, jpp_err_t *err)
{
    jpp_code_t      rc;
    jpp_args_t      args;
    jpp_control_t   control;

    memset(result, 0x55, sizeof(jpp_control_result_t));

    jpp_report_args_init(&args);
    jpp_control_init(&control);

    rc = jpp_control_query(&control, &args, text, strlen(text), err);

    return rc == JPP_OK ? jpp_jemalloc_control(&control, result, err) : rc;
}


static jpp_code_t
jpp_part_read(const jpp_memfd_t *memfd, bool is_foreign, jpp_err_t *err)
{
    int64_t              bytes;
    uint32_t             i;
    jpp_vec_t           *maps;
    jpp_code_t           rc;
    jpp_arena_t          arena;
    jpp_sample_t         sample;
    jpp_profile_t        profile;
    jpp_dump_t           dump;
    jpp_read_options_t   options = { 0 };
    const char          *tail = NULL;

    jpp_arena_init(&arena, 256 << 20);
    maps = jpp_vec_create(&arena);

    /* no listing, no name to look for */

    if (!is_foreign && jpp_proc_maps(maps, err) == JPP_OK) {
        tail = jpp_proc_tail((char *) maps->data, maps->len, &arena);
    }

    jpp_heap_init(&profile, &arena);
    rc = jpp_heap_open(&dump, &profile, memfd->data, memfd->len, tail, err);

    if (rc == JPP_OK) {
        rc = jpp_heap_read(&profile, &dump, &options, err);
    }

    bytes = 0;

    for (i = 0; rc == JPP_OK && i < profile.n_samples; i++) {
        jpp_profile_sample(&profile, i, &sample);
        bytes += sample.values[JPP_HEAP_INUSE_SPACE];
    }

    if (rc == JPP_OK) {
        jpp_err_set(err, JPP_OK, "%u samples of %" PRId64 " bytes",
                    profile.n_samples, bytes);
    }

    jpp_arena_destroy(&arena);

    return rc;
}


static void
jpp_part_show(const char *step, jpp_code_t rc, const jpp_err_t *err)
{
    printf("%s %d: %s", step, rc, err->text);
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
