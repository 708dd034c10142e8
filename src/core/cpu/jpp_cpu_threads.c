
/* syscall() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jpp_cpu_threads.h"
#include "jpp_cpu_timers.h"
#include "jpp_scan.h"


#define JPP_CPU_ENTRIES  4096

/* scans in which a thread is new */
#define JPP_CPU_NEW      3

/* of getdents64(), as the kernel has it */
typedef struct {
    uint64_t          inode;
    int64_t           offset;
    uint16_t          len;
    uint8_t           type;
    char              name[];
} jpp_cpu_entry_t;


jpp_code_t
jpp_cpu_threads_check(jpp_mode_t mode, jpp_err_t *err)
{
    jpp_blocked_t  blocked;

    if (access("/proc/self/task", R_OK) == -1) {
        return jpp_err_set(err, JPP_ERR_SYS, "cannot read /proc/self/task: is "
                           "/proc mounted?");
    }

    if (mode == JPP_MODE_WALL) {
        jpp_blocked_read(getpid(), &blocked);

        return blocked.state != JPP_BLOCKED_UNKNOWN ? JPP_OK
               : jpp_err_set(err, JPP_ERR_DENIED, "cannot read /proc/self/task/"
                             "%d/syscall: mode=wall needs it, mode=cpu does "
                             "not", (int) getpid());
    }

    return jpp_cpu_timers_check(err);
}


void
jpp_cpu_threads_init(jpp_cpu_threads_t *threads)
{
    uint32_t  round;

    round = threads->round + 1;

    memset(threads, 0, sizeof(jpp_cpu_threads_t));

    threads->round = round;

    (void) memcpy(threads->names[0], "main", sizeof("main"));
    threads->n_names = 1;
}


/* That of TID, or a free one; NULL: there is none. */

static jpp_cpu_thread_t *
jpp_cpu_threads_place(jpp_cpu_threads_t *threads, pid_t tid)
{
    uint32_t           i;
    jpp_cpu_thread_t  *vacant;

    vacant = NULL;

    for (i = 0; i < threads->n; i++) {

        if (threads->threads[i].tid == tid) {
            return &threads->threads[i];
        }

        if (vacant == NULL && threads->threads[i].tid == 0) {
            vacant = &threads->threads[i];
        }
    }

    if (vacant != NULL || threads->n == JPP_CPU_THREADS) {
        return vacant;
    }

    return &threads->threads[threads->n++];
}


static void
jpp_cpu_threads_add(jpp_cpu_threads_t *threads, jpp_cpu_thread_t *thread,
    pid_t tid)
{
    memset(thread, 0, sizeof(jpp_cpu_thread_t));

    thread->tid = tid;
    thread->since = threads->scan;
    thread->round = threads->round;
    thread->is_main = tid == getpid();
}


/* IS_DEAF: no signal can come to THREAD, or one can again. */

static void
jpp_cpu_threads_hear(jpp_cpu_threads_t *threads, jpp_cpu_thread_t *thread,
    bool is_deaf)
{
    if (thread->is_deaf == is_deaf || thread->is_refused) {
        return;
    }

    thread->is_deaf = is_deaf;
    threads->n_deaf += is_deaf ? 1 : -1u;

    if (is_deaf) {
        jpp_cpu_timers_unset(thread);
    }
}


/* In a handler, and in some functions of libc, a thread takes none for a
   moment. */

static void
jpp_cpu_threads_look(jpp_cpu_threads_t *threads, jpp_cpu_thread_t *thread)
{
    bool  blocks, is_sure;

    blocks = jpp_look_blocks(thread->tid, SIGPROF);
    is_sure = thread->is_deaf || thread->is_suspect
              || thread->since == threads->scan;

    thread->is_suspect = blocks && !is_sure;

    if (!thread->is_suspect) {
        jpp_cpu_threads_hear(threads, thread, blocks);
    }
}


static uint8_t
jpp_cpu_threads_name(jpp_cpu_threads_t *threads, pid_t tid)
{
    char      name[JPP_LOOK_NAME];
    uint32_t  i;

    memset(name, 0, JPP_LOOK_NAME);
    jpp_look_name(tid, name);

    for (i = 1; i < threads->n_names; i++) {
        if (strcmp(threads->names[i], name) == 0) {
            return (uint8_t) i;
        }
    }

    if (i == JPP_CPU_NAMES) {
        return JPP_CPU_NAMES - 1;
    }

    if (i == JPP_CPU_NAMES - 1) {
        (void) memcpy(name, "(others)", sizeof("(others)"));
    }

    memcpy(threads->names[i], name, JPP_LOOK_NAME);
    threads->n_names++;

    return (uint8_t) i;
}


static void
jpp_cpu_threads_see(jpp_cpu_threads_t *threads, pid_t tid, bool is_thorough)
{
    bool               is_new;
    jpp_cpu_thread_t  *thread;

    threads->n_seen++;

    thread = jpp_cpu_threads_place(threads, tid);

    if (thread == NULL) {
        threads->n_beyond++;
        return;
    }

    if (thread->tid == 0) {
        jpp_cpu_threads_add(threads, thread, tid);
    }

    thread->seen = threads->scan;

    /* libc has all signals blocked while it starts a thread, which has the name
       of another until it gives itself one */

    is_new = threads->scan - thread->since < JPP_CPU_NEW;

    if (is_thorough || is_new || thread->is_suspect) {
        jpp_cpu_threads_look(threads, thread);
    }

    if (is_new && !thread->is_main) {
        thread->name = jpp_cpu_threads_name(threads, tid);
    }
}


static void
jpp_cpu_threads_remove(jpp_cpu_threads_t *threads, jpp_cpu_thread_t *thread)
{
    jpp_cpu_timers_unset(thread);

    threads->n_deaf -= thread->is_deaf;

    memset(thread, 0, sizeof(jpp_cpu_thread_t));
}


/* Where others end meanwhile, the kernel leaves out some that are there. */

static void
jpp_cpu_threads_miss(jpp_cpu_threads_t *threads, jpp_cpu_thread_t *thread)
{
    if (jpp_cpu_timers_used(thread->tid) == 0) {
        jpp_cpu_threads_remove(threads, thread);
        return;
    }

    thread->seen = threads->scan;
    threads->n_seen++;
}


jpp_code_t
jpp_cpu_threads_scan(jpp_cpu_threads_t *threads, bool is_thorough,
    jpp_err_t *err)
{
    int                     fd;
    char                   *p;
    long                    n;
    uint32_t                i;
    uint64_t                tid;
    const jpp_cpu_entry_t  *entry;

    _Alignas(jpp_cpu_entry_t) char  entries[JPP_CPU_ENTRIES];

    fd = open("/proc/self/task", O_RDONLY|O_DIRECTORY|O_CLOEXEC);

    if (fd == -1) {
        return jpp_err_sys(err, errno, "cannot read /proc/self/task");
    }

    threads->scan++;
    threads->n_seen = 0;
    threads->n_beyond = 0;

    while ((n = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0) {

        for (p = entries; p < entries + n; p += entry->len) {

            entry = (const jpp_cpu_entry_t *) (void *) p;

            if (jpp_scan_dec(entry->name, &tid) != NULL) {
                jpp_cpu_threads_see(threads, (pid_t) tid, is_thorough);
            }
        }
    }

    (void) close(fd);

    for (i = 0; i < threads->n; i++) {

        if (threads->threads[i].tid != 0
            && threads->threads[i].seen != threads->scan)
        {
            jpp_cpu_threads_miss(threads, &threads->threads[i]);
        }
    }

    return JPP_OK;
}


void
jpp_cpu_threads_arm(jpp_cpu_threads_t *threads, uint64_t interval)
{
    bool               is_new;
    uint32_t           i;
    jpp_cpu_thread_t  *thread;

    is_new = true;

    for (i = 0; i < threads->n; i++) {
        thread = &threads->threads[i];

        if (thread->tid == 0 || thread->is_deaf
            || thread->interval == interval)
        {
            continue;
        }

        jpp_cpu_timers_unset(thread);

        if (interval == 0) {
            continue;
        }

        threads->round += is_new;
        is_new = false;

        if (!jpp_cpu_timers_set(threads, thread, interval)) {
            jpp_cpu_threads_hear(threads, thread, true);
            thread->is_refused = true;
        }
    }
}


void
jpp_cpu_threads_clear(jpp_cpu_threads_t *threads)
{
    uint32_t  i;

    for (i = 0; i < threads->n; i++) {
        if (threads->threads[i].tid != 0) {
            jpp_cpu_threads_remove(threads, &threads->threads[i]);
        }
    }

    jpp_cpu_threads_init(threads);
}
