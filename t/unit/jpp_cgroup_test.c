
#include "jpp_test_main.h"
#include "jpp_cgroup.h"


#define JPP_TEST_MIB  (1024 * 1024)

/* what a parser may take of a stack */
#define JPP_TEST_STACK  (64 * 1024)


static jpp_err_t     jpp_cgroup_test_err;
static jpp_cgroup_t  jpp_cgroup_test;


static const jpp_cgroup_t  *cgroup;


static bool
jpp_cgroup_test_read(const char *name)
{
    char  root[256];

    (void) snprintf(root, sizeof(root), "t/data/cgroup/%s", name);

    return jpp_cgroup_read(&jpp_cgroup_test, root, &jpp_cgroup_test_err)
           == JPP_OK;
}


/* the same state of affairs in both versions */

JPP_TEST(jpp_cgroup_test_versions)
{
    size_t              i;
    static const char  *names[] = { "v1", "v2" };

    cgroup = &jpp_cgroup_test;

    for (i = 0; i < 2; i++) {
        jpp_ok(jpp_cgroup_test_read(names[i]), "%s is read", names[i]);
        jpp_is_u64(cgroup->version, i + 1, "its version");
        jpp_is_str(cgroup->path, "/system.slice/nginx.service", "its path");
        jpp_is_u64(cgroup->usage, 160 * JPP_TEST_MIB, "usage");
        jpp_is_u64(cgroup->levels[0].limit, 256 * JPP_TEST_MIB, "limit");
        jpp_is_u64(cgroup->headroom, 96 * JPP_TEST_MIB, "headroom");
        jpp_is_u64(jpp_cgroup_left(cgroup), 116 * JPP_TEST_MIB,
                   "with inactive file pages");
        jpp_is_u64(cgroup->binding, 0, "which its own limit leaves");
        jpp_is_u64(cgroup->peak, 192 * JPP_TEST_MIB, "peak");
        jpp_is_u64(cgroup->working_set, 140 * JPP_TEST_MIB,
                   "working set: without inactive file pages");
        jpp_is_u64(cgroup->swap_usage, 1 * JPP_TEST_MIB, "swap alone");
        jpp_is_u64(cgroup->stat.anon, 100 * JPP_TEST_MIB, "anonymous");
        jpp_is_u64(cgroup->stat.file, 48 * JPP_TEST_MIB, "files");
        jpp_is_u64(cgroup->stat.anon_thp, 2 * JPP_TEST_MIB, "huge pages");
        jpp_is_u64(cgroup->events.oom_kill, i == 0 ? 2 : 5, "kills");
        jpp_is_u64(cgroup->events.max, i == 0 ? 7 : 333, "refusals");
    }

    jpp_is_u64(cgroup->n_levels, 2, "version 2: the root has no usage");
    jpp_is_u64(cgroup->levels[0].high, 224 * JPP_TEST_MIB, "high");
    jpp_is_u64(cgroup->levels[1].high, JPP_NONE, "\"max\" is no limit");
    jpp_is_u64(cgroup->swap_limit, JPP_NONE, "nor is that of swap");
    jpp_is_u64(cgroup->events.high, 22, "how often it was above high");
    jpp_is_u64(cgroup->stat.sock, 3 * JPP_TEST_MIB, "sockets");
    jpp_is_u64(cgroup->pressure.some.avg10, 125, "pressure, last 10 s");
    jpp_is_u64(cgroup->pressure.some.avg60, 1050, "last minute");
    jpp_is_u64(cgroup->pressure.some.avg300, 7, "last 5 minutes");
    jpp_is_u64(cgroup->pressure.some.total, 123456789, "so far");
    jpp_is_u64(cgroup->pressure.full.total, 42, "of all tasks");

    (void) jpp_cgroup_test_read("v1");
    jpp_is_u64(cgroup->n_levels, 3, "version 1: the root has one");
    jpp_is_u64(cgroup->swap_limit, 256 * JPP_TEST_MIB, "a limit of swap");
    jpp_is_u64(cgroup->stat.kernel, 5 * JPP_TEST_MIB, "the kernel's");
    jpp_is_u64(cgroup->stat.sock, 65536, "of that for sockets");
    jpp_is_u64(cgroup->pressure.some.total, JPP_NONE, "no pressure");

    jpp_ok(jpp_cgroup_test_read("hybrid"), "both versions are mounted");
    jpp_is_u64(cgroup->version, 1, "memory belongs to version 1");
    jpp_is_u64(cgroup->headroom, 4000, "whose limit counts");
}


JPP_TEST(jpp_cgroup_test_levels)
{
    cgroup = &jpp_cgroup_test;

    jpp_ok(jpp_cgroup_test_read("nested"), "limits at three levels");
    jpp_is_u64(cgroup->n_levels, 3, "are all read");
    jpp_is_u64(cgroup->headroom, 50, "the least room counts");
    jpp_is_u64(cgroup->binding, 1, "which the parent leaves");
    jpp_is_u64(cgroup->levels[1].len, 4, "its path is /a/b");
    jpp_is_u64(cgroup->working_set, 0, "a working set is never negative");
}


JPP_TEST(jpp_cgroup_test_containers)
{
    cgroup = &jpp_cgroup_test;

    jpp_ok(jpp_cgroup_test_read("namespaced"), "a namespace of cgroups");
    jpp_is_str(cgroup->path, "/", "shows its root only");
    jpp_is_u64(cgroup->headroom, 4096, "which has the limit");

    jpp_ok(jpp_cgroup_test_read("part"), "a mount of a part");
    jpp_is_str(cgroup->path, "/", "the path is below its root");
    jpp_is_u64(cgroup->headroom, 10, "which has the limit");

    jpp_ok(jpp_cgroup_test_read("below"), "a cgroup below that part");
    jpp_is_str(cgroup->path, "/web", "has the rest as its path");
    jpp_is_u64(cgroup->headroom, 20, "and a limit of its own");
}


JPP_TEST(jpp_cgroup_test_odd)
{
    cgroup = &jpp_cgroup_test;

    jpp_ok(jpp_cgroup_test_read("odd"), "lines that are none are left out");
    jpp_is_str(cgroup->path, "/a\\b c", "a path of odd bytes");
    jpp_is_u64(cgroup->n_levels, 1, "a level without a number is passed over");
    jpp_is_u64(cgroup->usage, 77, "the one above has one");
    jpp_is_u64(cgroup->levels[0].len, 0, "and is the root");
    jpp_is_u64(cgroup->headroom, JPP_NONE, "garbage is no limit");
    jpp_is_u64(cgroup->binding, cgroup->n_levels, "so that none binds");
    jpp_is_u64(jpp_cgroup_left(cgroup), JPP_NONE, "nor leaves anything");
    jpp_is_u64(jpp_cgroup_left(NULL), JPP_NONE, "nor does no cgroup");

    jpp_ok(!jpp_cgroup_test_read("empty"), "empty files");
    jpp_is_str(jpp_cgroup_test_err.text, "/proc/self/cgroup names no cgroup "
               "that could limit memory", "say nothing");

    jpp_ok(!jpp_cgroup_test_read("unmounted"), "no mount");
    jpp_is_str(jpp_cgroup_test_err.text, "the memory controller of cgroups "
               "(version 2) is not mounted here", "is a reason");

    jpp_ok(!jpp_cgroup_test_read("hidden"), "nothing but a path");
    jpp_is_str(jpp_cgroup_test_err.text, "the kernel shows no "
               "memory usage of cgroup /system.slice/nginx.service below "
               "/sys/fs/cgroup", "is one more");

    jpp_ok(!jpp_cgroup_test_read("absent"), "no /proc");
    jpp_is_str(jpp_cgroup_test_err.text, "/proc/self/cgroup cannot be read: "
               "No such file or directory", "is another");
    jpp_is_u64(jpp_cgroup_test_err.code, JPP_ERR_DENIED, "none is a failure");
}


/* one level more than there may be */

JPP_TEST(jpp_cgroup_test_deep)
{
    int     n;
    char    root[64], command[2048];
    size_t  i;

    (void) snprintf(root, sizeof(root), "/tmp/jpp_cgroup_test.%d",
                    (int) getpid());

    n = snprintf(command, sizeof(command), "set -e; mkdir -p %s/proc/self; "
                 "cp t/data/cgroup/v2/proc/self/mountinfo %s/proc/self; "
                 "d=; for i in $(seq 32); do d=$d/d; "
                 "mkdir -p %s/sys/fs/cgroup$d; "
                 "echo 5 >%s/sys/fs/cgroup$d/memory.current; done; "
                 "echo 5 >%s/sys/fs/cgroup/memory.current; "
                 "echo 0::$d >%s/proc/self/cgroup", root, root, root, root,
                 root, root);

    jpp_ok(n > 0 && (size_t) n < sizeof(command) && system(command) == 0,
           "33 levels");

    jpp_ok(jpp_cgroup_read(&jpp_cgroup_test, root, NULL) == JPP_OK, "read");
    jpp_is_u64(jpp_cgroup_test.n_levels, JPP_CGROUP_LEVELS, "32 of them");
    jpp_ok(jpp_cgroup_test.is_deeper, "and it is known that there are more");

    for (i = 0; i < JPP_CGROUP_LEVELS; i++) {
        if (jpp_cgroup_test.levels[i].len != 2 * (32 - i)) {
            break;
        }
    }

    jpp_is_u64(i, JPP_CGROUP_LEVELS, "the lowest ones, in order");

    (void) snprintf(command, sizeof(command), "rm -r %s", root);
    jpp_ok(system(command) == 0, "cleaned up");
}


/*
 * A cgroup that is removed while somebody reads: the kernel calls it deleted,
 * and its files are gone, first some of them.  The ones above stay.
 */

JPP_TEST(jpp_cgroup_test_gone)
{
    int   n;
    char  root[64], command[2048];

    (void) snprintf(root, sizeof(root), "/tmp/jpp_cgroup_test.%d",
                    (int) getpid());

    n = snprintf(command, sizeof(command), "set -e; mkdir -p %s/proc/self "
                 "%s/sys/fs/cgroup/a/b; cd %s/sys/fs/cgroup; "
                 "cp $OLDPWD/t/data/cgroup/v2/proc/self/mountinfo "
                 "%s/proc/self; echo '0::/a/b (deleted)' >%s/proc/self/cgroup; "
                 "echo 9 >a/memory.max; echo 5 >a/memory.current; "
                 "echo 7 >a/b/memory.current; mkdir a/b/memory.stat",
                 root, root, root, root, root);

    jpp_ok(n > 0 && (size_t) n < sizeof(command) && system(command) == 0,
           "a cgroup that is gone");
    jpp_ok(jpp_cgroup_read(&jpp_cgroup_test, root, NULL) == JPP_OK, "read");
    jpp_is_u64(jpp_cgroup_test.n_levels, 1, "a level is left");
    jpp_is_u64(jpp_cgroup_test.headroom, 4, "with its limit");

    (void) snprintf(command, sizeof(command),
                    "echo 0::/a/b >%s/proc/self/cgroup", root);
    jpp_ok(system(command) == 0
           && jpp_cgroup_read(&jpp_cgroup_test, root, NULL) == JPP_OK
           && jpp_cgroup_test.usage == 7
           && jpp_cgroup_test.stat.anon == JPP_NONE
           && jpp_cgroup_test.events.oom_kill == JPP_NONE,
           "files that cannot be read are numbers that are not there");

    (void) snprintf(command, sizeof(command), "rm -r %s", root);
    jpp_ok(system(command) == 0, "cleaned up");
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
