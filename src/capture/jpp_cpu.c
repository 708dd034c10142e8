
/*
 * Who does what:
 *
 *     the handler, in any thread     adds a sample to every window of its mode
 *     the sampler, a thread          sees who has come and gone; looks at
 *                                    every thread, for windows of wall time
 *     the caller                     opens windows and ends them
 *
 * All but the handler hold the lock, for some microseconds at a time.  The
 * handler reads the list of windows, and nothing else that changes.  One that
 * has ended is taken off the list at once, and unmapped when no thread is in
 * the handler.
 */


/* gettid() by syscall() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jpp_cpu.h"
#include "jpp_cpu_sampler.h"
#include "jpp_thread.h"
#include "jpp_unwind.h"


/* of the sampler's thread */
#define JPP_CPU_STACK  (256 * 1024)


static jpp_cpu_window_t *jpp_cpu_map(jpp_mode_t mode, uint32_t frequency,
    jpp_err_t *err);
static jpp_code_t jpp_cpu_first(jpp_mode_t mode, jpp_err_t *err);
static jpp_code_t jpp_cpu_add(jpp_cpu_window_t *window, jpp_err_t *err);
static jpp_code_t jpp_cpu_start(jpp_err_t *err);
static void *jpp_cpu_main(void *data);
static void jpp_cpu_end(jpp_cpu_window_t *window);
static void jpp_cpu_tune(void);
static void jpp_cpu_rest(void);
static void jpp_cpu_reap(void);
static uint64_t jpp_cpu_now(void);


static pthread_mutex_t    jpp_cpu_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t     jpp_cpu_changed;
static bool               jpp_cpu_is_ready;      /* that is initialized */
static bool               jpp_cpu_is_running;    /* the sampler's thread */
static jpp_cpu_window_t  *jpp_cpu_ended;         /* to be unmapped */


jpp_code_t
jpp_cpu_check(jpp_err_t *err)
{
    jpp_code_t  rc;

    if (!jpp_unwind_is_here()) {
        return jpp_err_set(err, JPP_ERR_ABSENT, "there is no unwinder for this "
                           "machine: stacks can be sampled on x86-64 only");
    }

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    rc = jpp_signal_claim(JPP_SIGNAL_CPU, jpp_cpu_sampler_receive, err);

    jpp_cpu_rest();

    (void) pthread_mutex_unlock(&jpp_cpu_lock);

    return rc;
}


jpp_cpu_window_t *
jpp_cpu_open(jpp_mode_t mode, uint32_t frequency, jpp_err_t *err)
{
    jpp_code_t         rc;
    jpp_cpu_window_t  *window;

    if (!jpp_backtrace_start()) {
        (void) jpp_cpu_check(err);
        return NULL;
    }

    window = jpp_cpu_map(mode, frequency, err);

    if (window == NULL) {
        return NULL;
    }

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    rc = jpp_cpu_first(mode, err);

    if (rc == JPP_OK) {
        rc = jpp_cpu_add(window, err);
    }

    if (rc == JPP_OK) {
        rc = jpp_cpu_start(err);
    }

    if (rc != JPP_OK) {
        jpp_cpu_end(window);
    }

    jpp_cpu_rest();

    (void) pthread_mutex_unlock(&jpp_cpu_lock);

    if (rc != JPP_OK) {
        jpp_cpu_close(window);
        return NULL;
    }

    return window;
}


static jpp_cpu_window_t *
jpp_cpu_map(jpp_mode_t mode, uint32_t frequency, jpp_err_t *err)
{
    jpp_cpu_window_t  *window;

    window = mmap(NULL, sizeof(jpp_cpu_window_t), PROT_READ|PROT_WRITE,
                  MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0);

    if (window == MAP_FAILED) {
        (void) jpp_err_memory(err);
        return NULL;
    }

    window->mode = mode;
    window->frequency = frequency;

    return window;
}


/*
 * What the first window of MODE needs: the signal, and that the main thread can
 * be sampled.
 */

static jpp_code_t
jpp_cpu_first(jpp_mode_t mode, jpp_err_t *err)
{
    jpp_code_t          rc;
    jpp_blocked_t       blocked;
    jpp_cpu_thread_t   *thread;
    jpp_cpu_threads_t  *threads;

    rc = jpp_signal_claim(JPP_SIGNAL_CPU, jpp_cpu_sampler_receive, err);

    if (rc != JPP_OK || jpp_cpu_sampler.n[mode] != 0) {
        return rc;
    }

    threads = &jpp_cpu_sampler.threads;

    /* while it is on, its thread sees who comes and goes */

    if (!jpp_cpu_is_on()) {
        jpp_cpu_threads_init(threads);
        jpp_cpu_sampler_scan(jpp_cpu_now());
    }

    thread = jpp_cpu_threads_main(threads);

    if (thread == NULL) {
        return jpp_err_set(err, JPP_ERR_SYS, "cannot read /proc/self/task: is "
                           "/proc mounted?");
    }

    if (mode == JPP_MODE_WALL) {
        jpp_blocked_read(thread->tid, &blocked);

        return blocked.state != JPP_BLOCKED_UNKNOWN ? JPP_OK
               : jpp_err_set(err, JPP_ERR_DENIED, "cannot read /proc/self/task/"
                             "%d/syscall: mode=wall needs it, mode=cpu does "
                             "not", (int) thread->tid);
    }

    jpp_cpu_threads_arm(threads, JPP_CPU_NANOS);

    return thread->has_timer || threads->refused == 0
           ? JPP_OK : jpp_cpu_threads_refused(threads, err);
}


static jpp_code_t
jpp_cpu_add(jpp_cpu_window_t *window, jpp_err_t *err)
{
    uint32_t  i;

    /* what deaf threads have used until now belongs to the others */

    if (jpp_cpu_is_on()) {
        jpp_cpu_sampler_flush(jpp_cpu_now());
    }

    for (i = 0; i < JPP_CPU_WINDOWS; i++) {

        if (jpp_cpu_sampler.windows[i] != NULL) {
            continue;
        }

        window->opened = jpp_cpu_now();

        if (window->mode == JPP_MODE_WALL
            && jpp_cpu_sampler.n[JPP_MODE_WALL] == 0)
        {
            jpp_cpu_sampler.ticked = window->opened;
        }

        __atomic_store_n(&jpp_cpu_sampler.windows[i], window,
                         __ATOMIC_SEQ_CST);
        jpp_cpu_sampler.n[window->mode]++;

        jpp_cpu_tune();

        return JPP_OK;
    }

    return jpp_err_set(err, JPP_ERR_BUSY, "%d profiles of its CPU are being "
                       "taken already: try again when they are done",
                       JPP_CPU_WINDOWS);
}


/* The thread of the sampler, which frequencies may have changed for. */

static jpp_code_t
jpp_cpu_start(jpp_err_t *err)
{
    int                 error;
    pthread_condattr_t  clock;

    if (jpp_cpu_is_running) {
        (void) pthread_cond_signal(&jpp_cpu_changed);
        return JPP_OK;
    }

    if (!jpp_cpu_is_ready) {
        (void) pthread_condattr_init(&clock);
        (void) pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        (void) pthread_cond_init(&jpp_cpu_changed, &clock);

        jpp_cpu_is_ready = true;
    }

    error = jpp_thread_start(JPP_CPU_STACK, jpp_cpu_main, NULL);

    if (error != 0) {
        return jpp_err_sys(err, error, "cannot start a thread for the sampler");
    }

    jpp_cpu_is_running = true;

    return JPP_OK;
}


static void *
jpp_cpu_main(void *data)
{
    uint64_t         begun, ended, next;
    struct timespec  time;

    (void) data;

    jpp_thread_name();

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    jpp_cpu_sampler.tid = (pid_t) syscall(SYS_gettid);

    while (jpp_cpu_is_on()) {

        jpp_cpu_reap();

        begun = jpp_cpu_now();
        next = jpp_cpu_sampler_step(begun);
        ended = jpp_cpu_now();

        /* others get the lock, however many threads there are to look at */

        if (next < ended + (ended - begun)) {
            next = ended + (ended - begun);
        }

        time.tv_sec = (time_t) (next / JPP_CPU_NANOS);
        time.tv_nsec = (long) (next % JPP_CPU_NANOS);

        (void) pthread_cond_timedwait(&jpp_cpu_changed, &jpp_cpu_lock, &time);
    }

    jpp_cpu_sampler.tid = 0;
    jpp_cpu_is_running = false;

    (void) pthread_mutex_unlock(&jpp_cpu_lock);

    return NULL;
}


/* Take WINDOW off the list, with all that is due to it. */

static void
jpp_cpu_end(jpp_cpu_window_t *window)
{
    uint32_t  i;

    for (i = 0; i < JPP_CPU_WINDOWS; i++) {

        if (jpp_cpu_sampler.windows[i] != window) {
            continue;
        }

        jpp_cpu_sampler_flush(jpp_cpu_now());

        __atomic_store_n(&jpp_cpu_sampler.windows[i], NULL, __ATOMIC_SEQ_CST);
        jpp_cpu_sampler.n[window->mode]--;

        window->closed = jpp_cpu_now();
        window->seen.threads = jpp_cpu_sampler.threads.n_seen;
        window->seen.deaf = jpp_cpu_sampler.threads.n_deaf;
        window->seen.n_names = jpp_cpu_sampler.threads.n_names;
        memcpy(window->seen.names, jpp_cpu_sampler.threads.names,
               sizeof(window->seen.names));

        jpp_cpu_tune();
    }
}


/* The highest frequency that is asked for. */

static void
jpp_cpu_tune(void)
{
    uint32_t           i, mode, highest[JPP_MODES] = { 0 };
    jpp_cpu_window_t  *window;

    for (i = 0; i < JPP_CPU_WINDOWS; i++) {

        window = jpp_cpu_sampler.windows[i];

        if (window != NULL && highest[window->mode] < window->frequency) {
            highest[window->mode] = window->frequency;
        }
    }

    for (i = 0; i < JPP_CPU_WINDOWS; i++) {

        window = jpp_cpu_sampler.windows[i];

        if (window != NULL && window->highest < highest[window->mode]) {
            window->highest = highest[window->mode];
        }
    }

    for (mode = 0; mode < JPP_MODES; mode++) {
        jpp_cpu_sampler.frequency[mode] = highest[mode];
    }

    jpp_cpu_sampler_arm();
}


/* Without a window: no timer, no handler, nobody known. */

static void
jpp_cpu_rest(void)
{
    if (jpp_cpu_is_on()) {
        return;
    }

    jpp_cpu_threads_clear(&jpp_cpu_sampler.threads);
    jpp_signal_release(JPP_SIGNAL_CPU);

    jpp_cpu_reap();
}


/* Unmap the windows that have ended, unless a thread is in the handler. */

static void
jpp_cpu_reap(void)
{
    jpp_cpu_window_t  *window;

    while (jpp_cpu_ended != NULL && jpp_signal_is_left(JPP_SIGNAL_CPU)) {

        window = jpp_cpu_ended;
        jpp_cpu_ended = window->next;

        (void) munmap(window, sizeof(jpp_cpu_window_t));
    }
}


jpp_code_t
jpp_cpu_dump(jpp_cpu_window_t *window, const char *why_early, int fd,
    jpp_err_t *err)
{
    jpp_code_t  rc;

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    /* somebody else may have taken the signal meanwhile */

    rc = jpp_signal_claim(JPP_SIGNAL_CPU, jpp_cpu_sampler_receive, err);

    jpp_cpu_end(window);
    jpp_cpu_rest();

    (void) pthread_mutex_unlock(&jpp_cpu_lock);

    return rc == JPP_OK ? jpp_cpu_window_write(window, why_early, fd, err)
                        : rc;
}


void
jpp_cpu_close(jpp_cpu_window_t *window)
{
    if (window == NULL) {
        return;
    }

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    jpp_cpu_end(window);

    window->next = jpp_cpu_ended;
    jpp_cpu_ended = window;

    jpp_cpu_reap();
    jpp_cpu_rest();

    (void) pthread_mutex_unlock(&jpp_cpu_lock);
}


bool
jpp_cpu_is_on(void)
{
    return jpp_cpu_sampler.n[JPP_MODE_CPU] != 0
           || jpp_cpu_sampler.n[JPP_MODE_WALL] != 0;
}


void
jpp_cpu_exit(void)
{
    uint32_t  i;

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    for (i = 0; i < JPP_CPU_WINDOWS; i++) {
        if (jpp_cpu_sampler.windows[i] != NULL) {
            jpp_cpu_end(jpp_cpu_sampler.windows[i]);
        }
    }

    jpp_cpu_rest();

    (void) pthread_mutex_unlock(&jpp_cpu_lock);
}


static uint64_t
jpp_cpu_now(void)
{
    struct timespec  time;

    (void) clock_gettime(CLOCK_MONOTONIC, &time);

    return (uint64_t) time.tv_sec * JPP_CPU_NANOS + (uint64_t) time.tv_nsec;
}
