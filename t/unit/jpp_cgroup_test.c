
#include "jpp_test_golden.h"
#include "jpp_host.h"
#include "jpp_test_main.h"


/* what a parser may take of a stack */
#define JPP_TEST_STACK  (64 * 1024)


static jpp_err_t     jpp_cgroup_test_err;
static jpp_cgroup_t  jpp_cgroup_test;
static char          jpp_cgroup_root[] = "/tmp/jpp_cgroup_test.XXXXXX";


/* What is read each second is the same, and goes on when a file is gone. */

static void
jpp_cgroup_test_watch(const char *root)
{
    uint64_t  usage, kills;
    size_t    binding;

    static jpp_cgroup_watch_t  watch;

    jpp_cgroup_watch(&watch, root);
    jpp_cgroup_look(&watch, &usage, &kills);

    binding = jpp_cgroup_test.binding;

    if (binding < jpp_cgroup_test.n_levels) {
        jpp_is_u64(watch.limit, jpp_cgroup_test.levels[binding].limit,
                   "%s: the limit that is near", root);
        jpp_ok(usage <= jpp_cgroup_test.levels[binding].usage,
               "%s: and its usage", root);
        jpp_note("watched: %" PRIu64, usage);

    } else {
        jpp_is_u64(watch.limit, JPP_NONE, "%s: no limit", root);
        jpp_is_u64(usage, JPP_NONE, "%s: and so no usage of it", root);
    }

    jpp_is_u64(kills, jpp_cgroup_test.events.oom_kill, "%s: the kills", root);
}


/* Notes what the files below t/data/cgroup say, as NAME: WHAT. */

static void
jpp_cgroup_test_read(const char *name, const char *what)
{
    char    root[256];
    size_t  i;

    jpp_print(root, "t/data/cgroup/%s", name);
    jpp_note("%s: %s", name, what);

    if (jpp_cgroup_read(&jpp_cgroup_test, root, &jpp_cgroup_test_err)
        != JPP_OK)
    {
        jpp_note_of("error", jpp_cgroup_test_err, code, text);
        memset(&jpp_cgroup_test, 0xff, sizeof(jpp_cgroup_t));
        jpp_cgroup_test.n_levels = 0;
        jpp_cgroup_test_watch(root);
        return;
    }

    jpp_cgroup_test_watch(root);

    jpp_note_of("usage", jpp_cgroup_test, version, path, usage, peak,
                working_set, swap_usage, swap_limit, binding, headroom);
    jpp_note("left: %" PRId64, (int64_t) jpp_cgroup_left(&jpp_cgroup_test));
    jpp_note_of("stat", jpp_cgroup_test.stat, anon, file, kernel, kernel_stack,
                pagetables, percpu, sock, shmem, file_dirty, anon_thp,
                inactive_file);
    jpp_note_of("events", jpp_cgroup_test.events, low, high, max, oom,
                oom_kill, oom_group_kill);
    jpp_note_of("pressure", jpp_cgroup_test.pressure, some.avg10, some.avg60,
                some.avg300, some.total, full.avg10, full.total);

    for (i = 0; i < jpp_cgroup_test.n_levels; i++) {
        jpp_note_of("level", jpp_cgroup_test.levels[i], len, usage, limit,
                    high);
    }
}


JPP_TEST(jpp_cgroup_test_files)
{
    size_t  i;

    static const struct {
        const char  *name;
        const char  *what;
    } rows[] = {
        { "v1", "the same state of affairs; the root has a usage" },
        { "v2", "and in version 2; \"max\" is no limit" },
        { "hybrid", "both are mounted, memory belongs to version 1; of two "
                    "levels that leave as much, the lower counts" },
        { "nested", "limits at three levels; the parent leaves least" },
        { "namespaced", "the root only, which has the limit" },
        { "part", "a mount of a part; the path is below its root" },
        { "below", "a cgroup below that part, with a limit of its own" },
        { "odd", "lines and numbers that are none are left out" },
        { "empty", "files that say nothing" },
        { "longest", "the longest path, and one that is too long" },
        { "unmounted", "no mount" },
        { "hidden", "nothing but a path" },
        { "absent", "no /proc" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        jpp_cgroup_test_read(rows[i].name, rows[i].what);
    }

    jpp_shows_notes("files of cgroups");
    jpp_is_u64(jpp_cgroup_left(NULL), JPP_NONE, "no cgroup leaves anything");
}


/* Runs COMMAND, where "$r" is a directory, for WHAT. */

static void
jpp_cgroup_test_sh(const char *command, const char *what)
{
    if (getenv("r") == NULL) {
        (void) setenv("r", mkdtemp(jpp_cgroup_root), 1);
    }

    jpp_ok(system(command) == 0, "%s", what);
}


/* one level more than there may be */

JPP_TEST(jpp_cgroup_test_deep)
{
    size_t  i;

    jpp_cgroup_test_sh("set -e; mkdir -p $r/proc/self; "
                       "cp t/data/cgroup/v2/proc/self/mountinfo $r/proc/self; "
                       "d=; for i in $(seq 32); do d=$d/d; "
                       "mkdir -p $r/sys/fs/cgroup$d; "
                       "echo 5 >$r/sys/fs/cgroup$d/memory.current; done; "
                       "echo 5 >$r/sys/fs/cgroup/memory.current; "
                       "echo 0::$d >$r/proc/self/cgroup", "33 levels");

    jpp_ok(jpp_cgroup_read(&jpp_cgroup_test, jpp_cgroup_root, NULL) == JPP_OK,
           "read");
    jpp_is_u64(jpp_cgroup_test.n_levels, JPP_CGROUP_LEVELS, "32 of them");

    for (i = 0; i < JPP_CGROUP_LEVELS; i++) {
        if (jpp_cgroup_test.levels[i].len != 2 * (32 - i)) {
            break;
        }
    }

    jpp_is_u64(i, JPP_CGROUP_LEVELS, "the lowest ones, in order");
    jpp_cgroup_test_sh("rm -r $r", "cleaned up");
}


/*
 * A cgroup that is removed while somebody reads: the kernel calls it deleted,
 * and its files are gone, first some of them.  The ones above stay.
 */

JPP_TEST(jpp_cgroup_test_gone)
{
    jpp_cgroup_test_sh("set -e; mkdir -p $r/proc/self $r/sys/fs/cgroup/a/b; "
                       "cp t/data/cgroup/v2/proc/self/mountinfo $r/proc/self; "
                       "echo '0::/a/b (deleted)' >$r/proc/self/cgroup; "
                       "cd $r/sys/fs/cgroup; echo 9 >a/memory.max; "
                       "echo 5 >a/memory.current; echo 7 >a/b/memory.current; "
                       "mkdir a/b/memory.stat", "a cgroup that is gone");

    jpp_ok(jpp_cgroup_read(&jpp_cgroup_test, jpp_cgroup_root, NULL) == JPP_OK,
           "read");
    jpp_is_u64(jpp_cgroup_test.n_levels, 1, "a level is left");
    jpp_is_u64(jpp_cgroup_test.headroom, 4, "with its limit");

    jpp_cgroup_test_sh("echo 0::/a/b >$r/proc/self/cgroup", "it is there");
    jpp_ok(jpp_cgroup_read(&jpp_cgroup_test, jpp_cgroup_root, NULL) == JPP_OK
           && jpp_cgroup_test.usage == 7
           && jpp_cgroup_test.stat.anon == JPP_NONE
           && jpp_cgroup_test.events.oom_kill == JPP_NONE,
           "files that cannot be read are numbers that are not there");

    jpp_cgroup_test_sh("sed -i 's| / /sys/fs/cgroup| /c /sys/fs/cgroup|' "
                       "$r/proc/self/mountinfo; "
                       "echo 3 >$r/sys/fs/cgroup/memory.current", "another's");
    jpp_ok(jpp_cgroup_read(&jpp_cgroup_test, jpp_cgroup_root, NULL) == JPP_OK
           && jpp_cgroup_test.usage == 3, "a mount of another part has none");

    jpp_cgroup_test_sh("echo 0::/cd >$r/proc/self/cgroup", "one like it");
    jpp_ok(jpp_cgroup_read(&jpp_cgroup_test, jpp_cgroup_root, NULL) == JPP_OK
           && jpp_cgroup_test.usage == 3, "has none either");

    jpp_cgroup_test_sh("rm -r $r", "cleaned up");
}


/* whatever this machine has */

JPP_TEST(jpp_cgroup_test_here)
{
    jpp_code_t  code;

    code = jpp_cgroup_read(&jpp_cgroup_test, "", &jpp_cgroup_test_err);

    jpp_ok(code == JPP_OK || code == JPP_ERR_DENIED, "this process: %s",
           code == JPP_OK ? jpp_cgroup_test.path : jpp_cgroup_test_err.text);

    jpp_ok(code != JPP_OK || jpp_cgroup_test.usage != 0, "uses memory");
}


static void *
jpp_cgroup_test_run(void *data)
{
    (void) data;

    (void) jpp_cgroup_read(&jpp_cgroup_test, "t/data/cgroup/v2", NULL);
    (void) jpp_cgroup_read(&jpp_cgroup_test, "t/data/cgroup/v1", NULL);

    return NULL;
}


/*
 * Threads and coroutines have small stacks: what was touched of one is no more
 * than they have.  Sanitizers put frames elsewhere, or make them larger.
 */

JPP_TEST(jpp_cgroup_test_stack)
{
    size_t           i, size;
    uint8_t         *stack;
    pthread_t        thread;
    pthread_attr_t   attr;

    size = 1024 * 1024;

    stack = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS,
                 -1, 0);

    jpp_ok(stack != MAP_FAILED && pthread_attr_init(&attr) == 0
           && pthread_attr_setstack(&attr, stack, size) == 0, "a stack");

    memset(stack, 0xa5, size);

    jpp_ok(pthread_create(&thread, &attr, jpp_cgroup_test_run, NULL) == 0
           && pthread_join(thread, NULL) == 0, "was used");

    for (i = 0; i < size && stack[i] == 0xa5; i++) {
        /* void */
    }

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

    jpp_ok(size - i < JPP_TEST_STACK, "%zu bytes of it", size - i);

#endif

    (void) pthread_attr_destroy(&attr);
    (void) munmap(stack, size);
}
