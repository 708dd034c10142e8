
/*
 * The threads of this process while samples are taken: their ids, their timers,
 * and the part of their time that samples cover.
 *
 * A thread that cannot be signalled, because it blocks SIGPROF or because the
 * kernel refuses the timer, is deaf: its CPU time is read from its clock.
 *
 * For one thread at a time; handlers read it.
 */


#include "jpp_cpu_sampler.h"

#include <sys/syscall.h>


/* scans in which a thread is new */
#define JPP_CPU_NEW      3

/* musl, and glibc before 2.36, have the field by this name only */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id  _sigev_un._tid
#endif


/*
 * The timers of these threads, and their signals.
 *
 * A timer runs on the CPU time of its thread, and signals that thread
 * (jpp_signal.c), with a number: the thread's place in the table, and the round
 * in which the timer was set.
 *
 * [signal] where it says so; all else for one thread at a time.
 */


/* As glibc's pthread_getcpuclockid() makes it; the kernel knows the thread. */

static clockid_t
jpp_cpu_timers_clock(pid_t tid)
{
    return (clockid_t) (~(unsigned) tid << 3 | 6);
}


uint64_t
jpp_cpu_timers_used(pid_t tid)
{
    struct timespec  time;

    if (clock_gettime(jpp_cpu_timers_clock(tid), &time) == -1) {
        return 0;
    }

    return (uint64_t) time.tv_sec * JPP_CPU_NANOS + (uint64_t) time.tv_nsec;
}


/* From the lowest bits on: the place, the mode, and the round. */

uint32_t
jpp_cpu_timers_number(const jpp_cpu_threads_t *threads,
    const jpp_cpu_thread_t *thread, jpp_mode_t mode)
{
    uint32_t  number;

    number = jpp_atomic_get(&thread->round);
    number = number * JPP_MODES + (uint32_t) mode;
    number = number * JPP_CPU_THREADS + (uint32_t) (thread - threads->threads);

    return number % JPP_SIGNAL_NUMBERS;
}


static void
jpp_cpu_timers_unset(jpp_cpu_thread_t *thread)
{
    if (thread->has_timer) {
        (void) timer_delete(thread->timer);
        thread->has_timer = false;
    }

    thread->interval = 0;
}


/* -1: errno says why */

static int
jpp_cpu_timers_create(pid_t tid, uint32_t number, timer_t *timer)
{
    struct sigevent  event;

    memset(&event, 0, sizeof(struct sigevent));

    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event.sigev_value.sival_ptr = jpp_signal_value(JPP_SIGNAL_CPU, number);
    event.sigev_notify_thread_id = tid;

    return timer_create(jpp_cpu_timers_clock(tid), &event, timer);
}


static jpp_code_t
jpp_cpu_timers_refused(int error, jpp_err_t *err)
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


/*
 * A timer with INTERVAL nanoseconds for THREAD of THREADS, which has none, in
 * their round.  False: the kernel refuses it.
 *
 * Signals of the timer before are for nobody from here on, so that they are not
 * worth the wrong interval; and one is worth no more than the thread uses.
 */

static bool
jpp_cpu_timers_set(const jpp_cpu_threads_t *threads,
    jpp_cpu_thread_t *thread, uint64_t interval)
{
    int                error;
    struct itimerspec  every;

    jpp_atomic_set(&thread->round, threads->round);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);

    jpp_atomic_set(&thread->interval, interval);

    every.it_interval.tv_sec = (time_t) (interval / JPP_CPU_NANOS);
    every.it_interval.tv_nsec = (long) (interval % JPP_CPU_NANOS);
    every.it_value = every.it_interval;

    thread->has_timer = jpp_cpu_timers_create(thread->tid,
                            jpp_cpu_timers_number(threads, thread,
                                                  JPP_MODE_CPU),
                            &thread->timer)
                        == 0;

    if (thread->has_timer) {
        jpp_atomic_set(&thread->set, jpp_cpu_timers_used(thread->tid));

        if (timer_settime(thread->timer, 0, &every, NULL) == 0) {
            return true;
        }
    }

    error = errno;

    jpp_cpu_timers_unset(thread);

    /* it may have ended */

    return error == EINVAL || error == ESRCH;
}


jpp_cpu_thread_t *
jpp_cpu_timers_find(jpp_cpu_threads_t *threads, uint32_t number,
    jpp_mode_t *mode)
{
    jpp_cpu_thread_t  *thread;

    thread = &threads->threads[number % JPP_CPU_THREADS];
    *mode = (jpp_mode_t) (number / JPP_CPU_THREADS % JPP_MODES);

    return thread->tid != 0
           && jpp_cpu_timers_number(threads, thread, *mode) == number
           ? thread : NULL;
}


/*
 * The timer runs on the thread's clock: it first fires an interval after it was
 * set, and then with each.  So the clock, which takes as long as all the rest,
 * is not read, but where the kernel says that much is missing.
 */

bool
jpp_cpu_timers_tick(const jpp_cpu_threads_t *threads,
    jpp_cpu_thread_t *thread, const jpp_signal_t *signal,
    jpp_cpu_span_t *span)
{
    uint32_t  ticked;
    uint64_t  used, since, interval;

    span->from = jpp_atomic_get(&thread->sampled);

    ticked = 1 + signal->number / (JPP_MODES * JPP_CPU_THREADS);
    since = ticked == thread->ticked
            ? span->from : jpp_atomic_get(&thread->set);
    interval = jpp_atomic_get(&thread->interval);

    /* are they those of the timer that the signal is by? */

    __atomic_thread_fence(__ATOMIC_SEQ_CST);

    if (jpp_cpu_timers_number(threads, thread, JPP_MODE_CPU)
        != signal->number)
    {
        return false;
    }

    thread->ticked = ticked;
    span->to = since + interval * (1 + (uint64_t) signal->missed);

    if (signal->missed != 0) {
        used = jpp_cpu_timers_used(thread->tid);
        span->to = span->to < used ? span->to : used;
    }

    return span->from < span->to
           && jpp_atomic_cmp_set(&thread->sampled, &span->from, span->to);
}


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

    if (jpp_cpu_timers_create(getpid(), 0, &timer) == -1) {
        return jpp_cpu_timers_refused(errno, err);
    }

    (void) timer_delete(timer);

    return JPP_OK;
}


void
jpp_cpu_threads_init(jpp_cpu_threads_t *threads)
{
    uint32_t  round;

    round = threads->round + 1;

    memset(threads, 0, sizeof(jpp_cpu_threads_t));

    threads->round = round;

    (void) memcpy(threads->seen.names[0], "main", sizeof("main"));
    threads->seen.n_names = 1;
}


/* That of TID, or a free one; NULL: there is none. */

static jpp_cpu_thread_t *
jpp_cpu_threads_place(jpp_cpu_threads_t *threads, pid_t tid)
{
    jpp_cpu_thread_t  *thread, *vacant;

    vacant = NULL;

    jpp_each(thread, threads->threads, threads->n) {

        if (thread->tid == tid) {
            return thread;
        }

        if (vacant == NULL && thread->tid == 0) {
            vacant = thread;
        }
    }

    if (vacant != NULL || threads->n == JPP_CPU_THREADS) {
        return vacant;
    }

    return &threads->threads[threads->n++];
}


/* IS_DEAF: no signal can come to THREAD, or one can again. */

static void
jpp_cpu_threads_hear(jpp_cpu_threads_t *threads, jpp_cpu_thread_t *thread,
    bool is_deaf)
{
    if (thread->is_deaf == is_deaf) {
        return;
    }

    thread->is_deaf = is_deaf;
    threads->seen.deaf += is_deaf ? 1 : -1u;

    if (is_deaf) {
        jpp_cpu_timers_unset(thread);
    }
}


/* In a handler, and in some functions of libc, a thread takes none for a
   moment. */

static void
jpp_cpu_threads_inspect(jpp_cpu_threads_t *threads, jpp_cpu_thread_t *thread)
{
    bool  blocks, is_sure;

    blocks = jpp_blocked_masks(thread->tid, SIGPROF);
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
    char      name[JPP_BLOCKED_NAME];
    uint32_t  i;

    memset(name, 0, JPP_BLOCKED_NAME);
    jpp_blocked_name(tid, name);

    for (i = 1; i < threads->seen.n_names; i++) {
        if (strcmp(threads->seen.names[i], name) == 0) {
            return (uint8_t) i;
        }
    }

    if (i == JPP_CPU_NAMES) {
        return JPP_CPU_NAMES - 1;
    }

    if (i == JPP_CPU_NAMES - 1) {
        (void) memcpy(name, "(others)", sizeof("(others)"));
    }

    memcpy(threads->seen.names[i], name, JPP_BLOCKED_NAME);
    threads->seen.n_names++;

    return (uint8_t) i;
}


static void
jpp_cpu_threads_see(jpp_cpu_threads_t *threads, pid_t tid, bool is_thorough)
{
    bool               is_new;
    jpp_cpu_thread_t  *thread;

    threads->seen.threads++;

    thread = jpp_cpu_threads_place(threads, tid);

    if (thread == NULL) {
        threads->seen.beyond++;
        return;
    }

    if (thread->tid == 0) {
        memset(thread, 0, sizeof(jpp_cpu_thread_t));

        thread->tid = tid;
        thread->since = threads->scan;
        thread->round = threads->round;
        thread->is_main = tid == getpid();
    }

    thread->seen = threads->scan;

    /* libc has all signals blocked while it starts a thread, which has the name
       of another until it gives itself one */

    is_new = threads->scan - thread->since < JPP_CPU_NEW;

    if (is_thorough || is_new || thread->is_suspect) {
        jpp_cpu_threads_inspect(threads, thread);
    }

    if (is_new && !thread->is_main) {
        thread->name = jpp_cpu_threads_name(threads, tid);
    }
}


static void
jpp_cpu_threads_remove(jpp_cpu_threads_t *threads, jpp_cpu_thread_t *thread)
{
    jpp_cpu_timers_unset(thread);

    threads->seen.deaf -= thread->is_deaf;

    memset(thread, 0, sizeof(jpp_cpu_thread_t));
}


bool
jpp_cpu_threads_scan(jpp_cpu_threads_t *threads, bool is_thorough)
{
    int                fd;
    uint64_t           tid;
    const char        *name;
    jpp_directory_t    directory;
    jpp_cpu_thread_t  *thread;

    fd = open("/proc/self/task", O_RDONLY|O_DIRECTORY|O_CLOEXEC);

    if (fd == -1) {
        return false;
    }

    threads->scan++;
    threads->seen.threads = 0;
    threads->seen.beyond = 0;

    jpp_directory_init(&directory, fd);

    while ((name = jpp_directory_next(&directory)) != NULL) {
        if (jpp_scan_dec(name, &tid) != NULL) {
            jpp_cpu_threads_see(threads, (pid_t) tid, is_thorough);
        }
    }

    (void) close(fd);

    /* where others end meanwhile, the kernel leaves out some that are there */

    jpp_each(thread, threads->threads, threads->n) {

        if (thread->tid == 0 || thread->seen == threads->scan) {
            continue;
        }

        if (jpp_cpu_timers_used(thread->tid) == 0) {
            jpp_cpu_threads_remove(threads, thread);

        } else {
            thread->seen = threads->scan;
            threads->seen.threads++;
        }
    }

    return true;
}


void
jpp_cpu_threads_arm(jpp_cpu_threads_t *threads, uint64_t interval)
{
    bool               is_new;
    jpp_cpu_thread_t  *thread;

    is_new = true;

    jpp_each(thread, threads->threads, threads->n) {

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
        }
    }
}


void
jpp_cpu_threads_clear(jpp_cpu_threads_t *threads)
{
    jpp_cpu_thread_t  *thread;

    jpp_each(thread, threads->threads, threads->n) {
        jpp_cpu_timers_unset(thread);
    }

    jpp_cpu_threads_init(threads);
}
