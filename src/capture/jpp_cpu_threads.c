
/* SIGEV_THREAD_ID */
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
#include "jpp_scan.h"
#include "jpp_signal.h"


#define JPP_CPU_ENTRIES  4096

/* scans in which a thread is new */
#define JPP_CPU_NEW      3

#define JPP_CPU_SECOND   1000000000u

/* musl, and glibc before 2.36, have the field by this name only */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id  _sigev_un._tid
#endif


/* of getdents64(), as the kernel has it */
typedef struct {
    uint64_t          inode;
    int64_t           offset;
    uint16_t          len;
    uint8_t           type;
    char              name[];
} jpp_cpu_entry_t;


static jpp_code_t jpp_cpu_threads_refused(int error, jpp_err_t *err);
static void jpp_cpu_threads_see(jpp_cpu_threads_t *threads, pid_t tid,
    bool is_thorough);
static void jpp_cpu_threads_miss(jpp_cpu_threads_t *threads,
    jpp_cpu_thread_t *thread);
static jpp_cpu_thread_t *jpp_cpu_threads_place(jpp_cpu_threads_t *threads,
    pid_t tid);
static void jpp_cpu_threads_add(jpp_cpu_threads_t *threads,
    jpp_cpu_thread_t *thread, pid_t tid);
static uint8_t jpp_cpu_threads_name(jpp_cpu_threads_t *threads, pid_t tid);
static void jpp_cpu_threads_remove(jpp_cpu_threads_t *threads,
    jpp_cpu_thread_t *thread);
static void jpp_cpu_threads_hear(jpp_cpu_threads_t *threads,
    jpp_cpu_thread_t *thread, bool is_deaf);
static bool jpp_cpu_threads_timer(jpp_cpu_threads_t *threads,
    jpp_cpu_thread_t *thread);
static int jpp_cpu_threads_create(pid_t tid, uint32_t number,
    timer_t *timer);
static void jpp_cpu_threads_set(jpp_cpu_thread_t *thread, uint64_t interval);
static clockid_t jpp_cpu_threads_clock(pid_t tid);


jpp_code_t
jpp_cpu_threads_check(jpp_mode_t mode, jpp_err_t *err)
{
    timer_t        timer;
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

    if (jpp_cpu_threads_create(getpid(), 0, &timer) == -1) {
        return jpp_cpu_threads_refused(errno, err);
    }

    (void) timer_delete(timer);

    return JPP_OK;
}


static jpp_code_t
jpp_cpu_threads_refused(int error, jpp_err_t *err)
{
    switch (error) {

    case EAGAIN:
        return jpp_err_set(err, JPP_ERR_SYS, "the kernel has no room for "
                           "another timer of this user: raise RLIMIT_SIGPENDING"
                           " (LimitSIGPENDING= in a unit of systemd)");

    case EPERM:
    case ENOSYS:
    case EACCES:
        return jpp_err_set(err, JPP_ERR_DENIED, "timer_create is forbidden "
                           "here: allow it in the filter of system calls "
                           "(SystemCallFilter= of systemd, seccomp of a "
                           "container), or use mode=wall, which needs no "
                           "timers");

    default:
        return jpp_err_sys(err, error, "cannot create a timer");
    }
}


void
jpp_cpu_threads_init(jpp_cpu_threads_t *threads)
{
    uint32_t  session;

    session = threads->session + 1;

    memset(threads, 0, sizeof(jpp_cpu_threads_t));

    threads->session = session;

    (void) memcpy(threads->names[0], "main", sizeof("main"));
    threads->n_names = 1;
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


/* Where others end meanwhile, the kernel leaves out some that are there. */

static void
jpp_cpu_threads_miss(jpp_cpu_threads_t *threads, jpp_cpu_thread_t *thread)
{
    if (jpp_cpu_threads_used(thread->tid) == 0) {
        jpp_cpu_threads_remove(threads, thread);
        return;
    }

    thread->seen = threads->scan;
    threads->n_seen++;
}


static void
jpp_cpu_threads_see(jpp_cpu_threads_t *threads, pid_t tid, bool is_thorough)
{
    bool               is_new;
    jpp_cpu_thread_t  *thread;

    threads->n_seen++;

    thread = jpp_cpu_threads_place(threads, tid);

    if (thread == NULL) {
        return;
    }

    if (thread->tid == 0) {
        jpp_cpu_threads_add(threads, thread, tid);
    }

    thread->seen = threads->scan;

    /* libc has all signals blocked while it starts a thread, which has the name
       of another until it gives itself one */

    is_new = threads->scan - thread->since < JPP_CPU_NEW;

    if (is_thorough || is_new) {
        jpp_cpu_threads_hear(threads, thread, jpp_look_blocks(tid, SIGPROF));
    }

    if (is_new && !thread->is_main) {
        thread->name = jpp_cpu_threads_name(threads, tid);
    }
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
    thread->is_main = tid == getpid();
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
jpp_cpu_threads_remove(jpp_cpu_threads_t *threads, jpp_cpu_thread_t *thread)
{
    if (thread->has_timer) {
        (void) timer_delete(thread->timer);
    }

    threads->n_deaf -= thread->is_deaf;

    memset(thread, 0, sizeof(jpp_cpu_thread_t));
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

    if (is_deaf && thread->has_timer) {
        (void) timer_delete(thread->timer);
        thread->has_timer = false;
    }
}


void
jpp_cpu_threads_arm(jpp_cpu_threads_t *threads, uint64_t interval)
{
    uint32_t           i;
    jpp_cpu_thread_t  *thread;

    for (i = 0; i < threads->n; i++) {
        thread = &threads->threads[i];

        if (thread->tid == 0 || thread->is_deaf) {
            continue;
        }

        if (interval == 0) {

            if (thread->has_timer) {
                (void) timer_delete(thread->timer);
                thread->has_timer = false;
                thread->interval = 0;
            }

            continue;
        }

        if (!thread->has_timer && !jpp_cpu_threads_timer(threads, thread)) {
            continue;
        }

        if (thread->interval != interval) {
            jpp_cpu_threads_set(thread, interval);
        }
    }
}


static bool
jpp_cpu_threads_timer(jpp_cpu_threads_t *threads, jpp_cpu_thread_t *thread)
{
    if (jpp_cpu_threads_create(thread->tid,
                               jpp_cpu_threads_number(threads, thread,
                                                      JPP_MODE_CPU),
                               &thread->timer)
        == 0)
    {
        thread->has_timer = true;
        thread->interval = 0;

        return true;
    }

    /* it may have ended */

    if (errno != EINVAL && errno != ESRCH) {
        jpp_cpu_threads_hear(threads, thread, true);
        thread->is_refused = true;
    }

    return false;
}


/* -1: errno says why */

static int
jpp_cpu_threads_create(pid_t tid, uint32_t number, timer_t *timer)
{
    struct sigevent  event;

    memset(&event, 0, sizeof(struct sigevent));

    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event.sigev_value.sival_ptr = jpp_signal_value(JPP_SIGNAL_CPU, number);
    event.sigev_notify_thread_id = tid;

    return timer_create(jpp_cpu_threads_clock(tid), &event, timer);
}


static void
jpp_cpu_threads_set(jpp_cpu_thread_t *thread, uint64_t interval)
{
    struct itimerspec  every;

    every.it_interval.tv_sec = (time_t) (interval / JPP_CPU_SECOND);
    every.it_interval.tv_nsec = (long) (interval % JPP_CPU_SECOND);
    every.it_value = every.it_interval;

    if (timer_settime(thread->timer, 0, &every, NULL) == 0) {
        thread->interval = interval;
    }
}


/* From the lowest bits on: the place, the mode, and the session. */

uint32_t
jpp_cpu_threads_number(const jpp_cpu_threads_t *threads,
    const jpp_cpu_thread_t *thread, jpp_mode_t mode)
{
    uint32_t  number;

    number = threads->session * JPP_MODES + (uint32_t) mode;
    number = number * JPP_CPU_THREADS + (uint32_t) (thread - threads->threads);

    return number % JPP_SIGNAL_NUMBERS;
}


jpp_cpu_thread_t *
jpp_cpu_threads_find(jpp_cpu_threads_t *threads, uint32_t number,
    jpp_mode_t *mode)
{
    jpp_cpu_thread_t  *thread;

    thread = &threads->threads[number % JPP_CPU_THREADS];
    *mode = (jpp_mode_t) (number / JPP_CPU_THREADS % JPP_MODES);

    return thread->tid != 0
           && jpp_cpu_threads_number(threads, thread, *mode) == number
           ? thread : NULL;
}


uint64_t
jpp_cpu_threads_used(pid_t tid)
{
    struct timespec  time;

    if (clock_gettime(jpp_cpu_threads_clock(tid), &time) == -1) {
        return 0;
    }

    return (uint64_t) time.tv_sec * JPP_CPU_SECOND + (uint64_t) time.tv_nsec;
}


/* As glibc's pthread_getcpuclockid() makes it; the kernel knows the thread. */

static clockid_t
jpp_cpu_threads_clock(pid_t tid)
{
    return (clockid_t) (~(unsigned) tid << 3 | 6);
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
