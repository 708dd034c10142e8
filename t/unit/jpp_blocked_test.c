
#include "jpp_proc.h"
#include "jpp_test_golden.h"

#include <spawn.h>


#define DEPTH  32


static const char  *parsed[] = {
    "running\n", "232 0x8 0x55 0x200 0xffff 0x0 0x1 0x7ffc10 0x7f20\n",
    "-1 0x7ffc10 0x7f20\n", "", "running", "\n", "-1 0x7ffc10\n",
    "232 0x8 0x55 0x200 0xffff 0x0 0x1 0x7ffc10\n",
    "232 0x8 0x55 0x200 0xffff 0x0 0x1 0x7ffc10 0x7f20 0x1\n"
};


/* the waits that are meant, and none for a lock of libc's or a child's end */
static const long      calls[] = {
    SYS_nanosleep, SYS_clock_nanosleep, SYS_vfork, SYS_clone, SYS_clone3
};

static pid_t           tid;
static volatile int    is_there;
static jpp_blocked_t   seen;
static uintptr_t       pcs[DEPTH];
static uint32_t        depth;


static void
test_parse(void)
{
    char           line[256];
    size_t         i;
    jpp_blocked_t  blocked;

    for (i = 0; i < sizeof(parsed) / sizeof(parsed[0]); i++) {
        jpp_blocked_parse(parsed[i], strlen(parsed[i]), &blocked);
        jpp_note_of(parsed[i], blocked, state, call, rsp, pc);
    }

    jpp_shows_notes("where a thread is");

    memset(line, ' ', sizeof(line));
    memcpy(line, "running\n", 8);
    jpp_blocked_parse(line, 8, &blocked);
    jpp_ok(blocked.state == JPP_BLOCKED_RUNS, "a thread that runs");

    blocked.state = JPP_BLOCKED_WAITS;
    blocked.call = SYS_ppoll;
    jpp_is_u64(jpp_blocked_for(&blocked), JPP_BLOCKED_FOR_POLL,
               "loops wait in ppoll()");
    blocked.call = SYS_read;
    jpp_is_u64(jpp_blocked_for(&blocked), JPP_BLOCKED_FOR_OTHER,
               "and not in read()");
}


static bool
is_wanted(int64_t call)
{
    size_t  i;

    for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (call == calls[i]) {
            return true;
        }
    }

    return false;
}


static void *
look(void *data)
{
    jpp_blocked_t    now;
    struct timespec  time = { 0, 1000000 };

    (void) data;

    do {
        (void) nanosleep(&time, NULL);

        jpp_blocked_read(tid, &seen);

        if (seen.state == JPP_BLOCKED_WAITS && is_wanted(seen.call)) {
            depth = jpp_backtrace_blocked(&seen, pcs, DEPTH);
            jpp_blocked_read(tid, &now);
        }

    } while (depth == 0 || memcmp(&now, &seen, sizeof(now)) != 0);

    is_there = 1;

    return NULL;
}


/* Another thread looks until this one is in FUNCTION. */

static void
test_stack(void (*function)(void), const char *name)
{
    uint32_t   i;
    pthread_t  thread;

    is_there = 0;
    depth = 0;

    (void) pthread_create(&thread, NULL, look, NULL);

    while (!is_there) {
        function();
    }

    (void) pthread_join(thread, NULL);

    for (i = 0; i < depth; i++) {
        if (jpp_backtrace_function(pcs[i] - 1) == (uintptr_t) function) {
            break;
        }
    }

    jpp_ok(i < depth, "%s: its function is frame %u of %u", name, i, depth);
    jpp_ok(depth != 0
           && jpp_backtrace_function(pcs[depth - 1] - 1)
              != (uintptr_t) function,
           "%s: and not the last one", name);
}


static void __attribute__((noinline))
sleeps(void)
{
    struct timespec  time = { 0, 200000000 };

    (void) nanosleep(&time, NULL);

    __asm__ volatile ("" : : : "memory");
}


static void __attribute__((noinline))
vforks(void)
{
    pid_t            child;
    struct timespec  time = { 0, 200000000 };

    child = vfork();

    if (child == 0) {
        (void) nanosleep(&time, NULL);
        _exit(0);
    }

    (void) waitpid(child, NULL, 0);
}


/* The child waits in open() until somebody writes. */

static void __attribute__((noinline))
spawns(void)
{
    int                          fd;
    pid_t                        child, writer;
    char                         path[] = "/tmp/jpp-blocked-XXXXXX";
    char                        *argv[] = { path, NULL };
    struct timespec              time = { 0, 200000000 };
    posix_spawn_file_actions_t   actions;

    (void) close(mkstemp(path));
    (void) unlink(path);
    (void) mkfifo(path, 0600);

    writer = fork();

    if (writer == 0) {
        (void) nanosleep(&time, NULL);
        fd = open(path, O_WRONLY);
        _exit(fd == -1);
    }

    (void) posix_spawn_file_actions_init(&actions);
    (void) posix_spawn_file_actions_addopen(&actions, 0, path, O_RDONLY, 0);

    if (posix_spawn(&child, "/bin/true", &actions, NULL, argv, NULL) == 0) {
        (void) waitpid(child, NULL, 0);
    }

    (void) posix_spawn_file_actions_destroy(&actions);
    (void) waitpid(writer, NULL, 0);
    (void) unlink(path);
}


int
main(void)
{
    tid = getpid();

    test_parse();

    jpp_is_u64(jpp_backtrace_start(), true, "the unwinder starts");
    test_stack(sleeps, "a sleep");
    if (JPP_IS_SANITIZED) {
        return jpp_done();
    }

    test_stack(vforks, "an uninterruptible wait");
    test_stack(spawns, "one in code without call-frame information");

    jpp_blocked_read(1 << 30, &seen);
    jpp_ok(seen.state == JPP_BLOCKED_UNKNOWN, "no such thread");

    seen.state = JPP_BLOCKED_WAITS;
    seen.rsp = (uintptr_t) &is_there;
    jpp_is_u64(jpp_backtrace_blocked(&seen, pcs, DEPTH), 0,
               "what is not the main thread's stack is not read");

    return jpp_done();
}
