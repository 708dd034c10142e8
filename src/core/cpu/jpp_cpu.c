
/* gettid() by syscall() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jpp_cpu.h"
#include "jpp_cpu_sampler.h"
#include "jpp_cpu_wall.h"
#include "jpp_thread.h"
#include "jpp_unwind.h"


/* of the sampler's thread */
#define JPP_CPU_STACK   (256 * 1024)

/* all those that are wanted, and as many that are not */
#define JPP_CPU_WISHES  (2 * JPP_CPU_WINDOWS)


/*
 * What the sampler's thread does at its turns: windows begin and end, threads
 * come and go, timers are set, and wall clock time is looked at.  It may take
 * as long as there are threads to look at.
 *
 * For that thread.
 */


/* how often to see who has come and gone, and who blocks the signal */
#define JPP_CPU_SCAN   (JPP_CPU_NANOS / 10)
#define JPP_CPU_SCANS  10


static bool
jpp_cpu_turns_is_on(void)
{
    return jpp_cpu_sampler.n[JPP_MODE_CPU] != 0
           || jpp_cpu_sampler.n[JPP_MODE_WALL] != 0;
}


static void
jpp_cpu_turns_arm(void)
{
    uint32_t  frequency;

    frequency = jpp_cpu_sampler.frequency[JPP_MODE_CPU];

    jpp_cpu_threads_arm(&jpp_cpu_sampler.threads,
                        frequency != 0 ? JPP_CPU_NANOS / frequency : 0);
}


/* That of THREAD, if it is worth a sample; one that has just come may be. */

static void
jpp_cpu_turns_clock(jpp_cpu_thread_t *thread)
{
    uint64_t           count;
    jpp_cpu_span_t     span;
    jpp_cpu_sample_t  *sample;

    span.from = __atomic_load_n(&thread->sampled, __ATOMIC_RELAXED);
    span.to = jpp_cpu_timers_used(thread->tid);

    count = span.to > span.from
            ? (span.to - span.from) * jpp_cpu_sampler.frequency[JPP_MODE_CPU]
              / JPP_CPU_NANOS
            : 0;

    /* it may take a signal at this moment */

    if (count != 0
        && __atomic_compare_exchange_n(&thread->sampled, &span.from, span.to, 0,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    {
        sample = jpp_cpu_sampler_blank(thread, JPP_CUT_DEAF);

        sample->count = count;
        jpp_cpu_sampler_ran(thread, &span, sample);
    }
}


/* The CPU time of those that no signal reaches, whatever they did with it. */

static void
jpp_cpu_turns_clocks(void)
{
    uint32_t           i;
    jpp_cpu_thread_t  *thread;

    if (jpp_cpu_sampler.frequency[JPP_MODE_CPU] == 0) {
        return;
    }

    for (i = 0; i < jpp_cpu_sampler.threads.n; i++) {

        thread = &jpp_cpu_sampler.threads.threads[i];

        if (thread->tid != 0 && thread->is_deaf) {
            jpp_cpu_turns_clock(thread);
        }
    }
}


/* See who has come and gone. */

static void
jpp_cpu_turns_scan(uint64_t now)
{
    jpp_err_t           err;
    jpp_cpu_threads_t  *threads;

    threads = &jpp_cpu_sampler.threads;

    jpp_cpu_sampler.scanned = now;

    /* without /proc, those that are known stay */

    (void) jpp_cpu_threads_scan(threads, threads->scan % JPP_CPU_SCANS == 0,
                                &err);
    jpp_cpu_turns_arm();
    jpp_cpu_turns_clocks();
}


/* Everything that is due to the windows until NOW goes into them. */

static void
jpp_cpu_turns_flush(uint64_t now)
{
    jpp_cpu_turns_scan(now);

    if (jpp_cpu_sampler.frequency[JPP_MODE_WALL] != 0) {
        jpp_cpu_wall_look(now);
        jpp_cpu_wall_settle();
    }
}


/* That of WINDOW; NULL: a free one. */

static jpp_cpu_window_t **
jpp_cpu_turns_place(const jpp_cpu_window_t *window)
{
    uint32_t  i;

    for (i = 0; i < JPP_CPU_WINDOWS - 1; i++) {
        if (jpp_cpu_sampler.windows[i] == window) {
            break;
        }
    }

    return &jpp_cpu_sampler.windows[i];
}


static void
jpp_cpu_turns_remove(jpp_cpu_window_t *window)
{
    const jpp_cpu_threads_t  *threads;

    __atomic_store_n(jpp_cpu_turns_place(window), NULL, __ATOMIC_SEQ_CST);
    jpp_cpu_sampler.n[window->mode]--;

    threads = &jpp_cpu_sampler.threads;

    /* signals had time to arrive since the last look */

    window->closed = window->mode == JPP_MODE_WALL ? jpp_cpu_sampler.ticked
                                                   : jpp_cpu_sampler_now();
    window->seen.threads = threads->n_seen;
    window->seen.deaf = threads->n_deaf;
    window->seen.beyond = threads->n_beyond;
    window->seen.n_names = threads->n_names;
    memcpy(window->seen.names, threads->names, sizeof(window->seen.names));
}


/* What threads have used before is not for WINDOW. */

static void
jpp_cpu_turns_begin(jpp_cpu_window_t *window)
{
    uint32_t                  i;
    const jpp_cpu_threads_t  *threads;

    threads = &jpp_cpu_sampler.threads;

    window->scan = threads->scan;

    for (i = 0; i < threads->n; i++) {
        if (threads->threads[i].tid != 0) {
            window->used[i] = jpp_cpu_timers_used(threads->threads[i].tid);
        }
    }
}


static void
jpp_cpu_turns_add(jpp_cpu_window_t *window)
{
    window->opened = jpp_cpu_sampler_now();

    if (jpp_cpu_sampler.n[window->mode]++ == 0
        && window->mode == JPP_MODE_WALL)
    {
        jpp_cpu_sampler.ticked = window->opened;
    }

    if (window->mode == JPP_MODE_WALL) {
        window->opened = jpp_cpu_sampler.ticked;

    } else {
        jpp_cpu_turns_begin(window);
    }

    __atomic_store_n(jpp_cpu_turns_place(NULL), window, __ATOMIC_SEQ_CST);
}


/* The highest frequency that is asked for. */

static void
jpp_cpu_turns_tune(void)
{
    uint32_t           i, highest[JPP_MODES] = { 0 };
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

    for (i = 0; i < JPP_MODES; i++) {
        __atomic_store_n(&jpp_cpu_sampler.frequency[i], highest[i],
                         __ATOMIC_RELAXED);
    }

    jpp_cpu_turns_arm();
}


/*
 * Open those of the N WINDOWS that are not open, and end the others, with all
 * that is due to them.  Without a window there is no timer, and no thread is
 * known.
 *
 * What has passed until now belongs to those that were there.
 */

static void
jpp_cpu_turns_change(jpp_cpu_window_t *const *windows, uint32_t n)
{
    uint32_t  i;

    if (jpp_cpu_turns_is_on()) {
        jpp_cpu_turns_flush(jpp_cpu_sampler_now());

    } else {
        jpp_cpu_threads_init(&jpp_cpu_sampler.threads);
        jpp_cpu_turns_scan(jpp_cpu_sampler_now());
    }

    /* there are never more than places, once those that end have gone */

    for (i = 0; i < n; i++) {
        if (windows[i]->opened != 0) {
            jpp_cpu_turns_remove(windows[i]);
        }
    }

    for (i = 0; i < n; i++) {
        if (windows[i]->opened == 0) {
            jpp_cpu_turns_add(windows[i]);
        }
    }

    jpp_cpu_turns_tune();

    if (!jpp_cpu_turns_is_on()) {
        jpp_cpu_threads_clear(&jpp_cpu_sampler.threads);
    }
}


/* Do what is due; returns when something is due again. */

static uint64_t
jpp_cpu_turns_step(void)
{
    uint64_t  now, scan, tick, interval;

    now = jpp_cpu_sampler_now();

    if (now - jpp_cpu_sampler.scanned >= JPP_CPU_SCAN) {
        jpp_cpu_turns_scan(now);
    }

    scan = jpp_cpu_sampler.scanned + JPP_CPU_SCAN;

    if (jpp_cpu_sampler.frequency[JPP_MODE_WALL] == 0) {
        return scan;
    }

    interval = JPP_CPU_NANOS / jpp_cpu_sampler.frequency[JPP_MODE_WALL];

    if (now - jpp_cpu_sampler.ticked >= interval) {
        jpp_cpu_wall_look(now);
    }

    tick = jpp_cpu_sampler.ticked + interval;

    return tick < scan ? tick : scan;
}


/*
 * Who does what:
 *
 *     the handler, in any thread     adds a sample to every window of its mode
 *     the sampler, a thread          opens and ends windows; sees who has come
 *                                    and gone; looks at every thread, for
 *                                    windows of wall time
 *     the caller                     says which windows there are to be
 *
 * The lock is about what the caller says, and is held for some microseconds:
 * not while the sampler is at work, which may take as long as there are threads
 * to look at.  The handler reads the sampler's list of windows, and nothing
 * else that changes.  One that is over is unmapped when no thread is in the
 * handler.
 */


static pthread_mutex_t    jpp_cpu_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t     jpp_cpu_wanted;        /* something, of the sampler */
static pthread_cond_t     jpp_cpu_done = PTHREAD_COND_INITIALIZER;
static bool               jpp_cpu_is_ready;      /* jpp_cpu_wanted is */
static bool               jpp_cpu_is_running;    /* the sampler's thread */
static jpp_cpu_window_t  *jpp_cpu_windows;       /* all but those over */
static jpp_cpu_window_t  *jpp_cpu_ended;         /* to be unmapped */


/* Unmap the windows that have ended, unless a thread is in the handler. */

static void
jpp_cpu_reap(void)
{
    jpp_cpu_window_t  *window;

    while (jpp_cpu_ended != NULL && jpp_signal_is_left(JPP_SIGNAL_CPU)) {

        window = jpp_cpu_ended;
        jpp_cpu_ended = window->next;

        jpp_cpu_window_destroy(window);
    }
}


/* Without a window, the signal is nobody's. */

static void
jpp_cpu_rest(void)
{
    if (!jpp_cpu_is_running) {
        jpp_signal_release(JPP_SIGNAL_CPU);
        jpp_cpu_reap();
    }
}


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


static jpp_code_t
jpp_cpu_may(const jpp_cpu_window_t *window, jpp_err_t *err)
{
    uint32_t                 n, n_same;
    jpp_code_t               rc;
    const jpp_cpu_window_t  *other;

    rc = jpp_signal_claim(JPP_SIGNAL_CPU, jpp_cpu_sampler_receive, err);

    if (rc != JPP_OK) {
        return rc;
    }

    n = 0;
    n_same = 0;

    for (other = jpp_cpu_windows; other != NULL; other = other->next) {
        n += other->stage != JPP_CPU_UNWANTED;
        n_same += other->mode == window->mode;
    }

    if (n == JPP_CPU_WINDOWS) {
        return jpp_err_set(err, JPP_ERR_BUSY, "%d profiles of its CPU are "
                           "being taken already: try again when they are done",
                           JPP_CPU_WINDOWS);
    }

    return n_same == 0 ? jpp_cpu_threads_check(window->mode, err) : JPP_OK;
}


/* Those to be opened or ended now; returns their number. */

static uint32_t
jpp_cpu_wishes(jpp_cpu_window_t *wishes[JPP_CPU_WISHES])
{
    uint32_t           n;
    jpp_cpu_window_t  *window;

    n = 0;

    for (window = jpp_cpu_windows; window != NULL; window = window->next) {

        if (window->stage != JPP_CPU_OPEN) {
            wishes[n++] = window;
        }

        if (window->stage == JPP_CPU_WANTED) {
            window->stage = JPP_CPU_OPEN;
        }
    }

    return n;
}


static void
jpp_cpu_over(jpp_cpu_window_t *window)
{
    jpp_cpu_window_t  **at;

    for (at = &jpp_cpu_windows; *at != window; at = &(*at)->next) {
        /* void */
    }

    *at = window->next;
    window->stage = JPP_CPU_OVER;

    if (window->is_left) {
        window->next = jpp_cpu_ended;
        jpp_cpu_ended = window;
    }
}


/* They have been. */

static void
jpp_cpu_settle(void)
{
    jpp_cpu_window_t  *window, *next;

    for (window = jpp_cpu_windows; window != NULL; window = next) {
        next = window->next;

        if (window->closed != 0) {
            jpp_cpu_over(window);
        }
    }

    (void) pthread_cond_broadcast(&jpp_cpu_done);
}


/* Until somebody wants something, too. */

static void
jpp_cpu_wait(uint64_t until)
{
    struct timespec          time;
    const jpp_cpu_window_t  *window;

    for (window = jpp_cpu_windows; window != NULL; window = window->next) {
        if (window->stage != JPP_CPU_OPEN) {
            return;
        }
    }

    if (jpp_cpu_windows == NULL) {
        return;
    }

    time.tv_sec = (time_t) (until / JPP_CPU_NANOS);
    time.tv_nsec = (long) (until % JPP_CPU_NANOS);

    (void) pthread_cond_timedwait(&jpp_cpu_wanted, &jpp_cpu_lock, &time);
}


static void *
jpp_cpu_main(void *data)
{
    uint32_t           n;
    uint64_t           begun, ended, next;
    jpp_cpu_window_t  *wishes[JPP_CPU_WISHES];

    (void) data;

    jpp_thread_name();
    jpp_thread_leave_files();

    jpp_cpu_sampler.tid = (pid_t) syscall(SYS_gettid);

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    while (jpp_cpu_windows != NULL) {

        n = jpp_cpu_wishes(wishes);

        (void) pthread_mutex_unlock(&jpp_cpu_lock);

        begun = jpp_cpu_sampler_now();

        if (n != 0) {
            jpp_cpu_turns_change(wishes, n);
        }

        next = jpp_cpu_turns_step();
        ended = jpp_cpu_sampler_now();

        (void) pthread_mutex_lock(&jpp_cpu_lock);

        jpp_cpu_settle();
        jpp_cpu_reap();

        /* the CPU is for others, however many threads there are to look at */

        jpp_cpu_wait(next > 2 * ended - begun ? next : 2 * ended - begun);
    }

    jpp_cpu_is_running = false;

    jpp_cpu_rest();

    (void) pthread_cond_broadcast(&jpp_cpu_done);
    (void) pthread_mutex_unlock(&jpp_cpu_lock);

    return NULL;
}


static jpp_code_t
jpp_cpu_start(jpp_err_t *err)
{
    int                 error;
    pthread_condattr_t  clock;

    if (jpp_cpu_is_running) {
        return JPP_OK;
    }

    if (!jpp_cpu_is_ready) {
        (void) pthread_condattr_init(&clock);
        (void) pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        (void) pthread_cond_init(&jpp_cpu_wanted, &clock);

        jpp_cpu_is_ready = true;
    }

    error = jpp_thread_start(JPP_CPU_STACK, jpp_cpu_main, NULL);

    if (error != 0) {
        return jpp_err_sys(err, error, "cannot start a thread for the sampler");
    }

    jpp_cpu_is_running = true;

    return JPP_OK;
}


static jpp_code_t
jpp_cpu_add(jpp_cpu_window_t *window, jpp_err_t *err)
{
    jpp_code_t  rc;

    rc = jpp_cpu_may(window, err);

    if (rc == JPP_OK) {
        rc = jpp_cpu_start(err);
    }

    if (rc != JPP_OK) {
        return rc;
    }

    window->next = jpp_cpu_windows;
    jpp_cpu_windows = window;

    (void) pthread_cond_signal(&jpp_cpu_wanted);

    return JPP_OK;
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

    window = jpp_cpu_window_create(mode, frequency, err);

    if (window == NULL) {
        return NULL;
    }

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    rc = jpp_cpu_add(window, err);

    jpp_cpu_rest();

    (void) pthread_mutex_unlock(&jpp_cpu_lock);

    if (rc != JPP_OK) {
        jpp_cpu_window_destroy(window);
        return NULL;
    }

    return window;
}


/* WINDOW is over: at once if the sampler does not know it, or a little later */

static void
jpp_cpu_end(jpp_cpu_window_t *window)
{
    switch (window->stage) {

    case JPP_CPU_WANTED:
        jpp_cpu_over(window);
        break;

    case JPP_CPU_OPEN:
        window->stage = JPP_CPU_UNWANTED;
        (void) pthread_cond_signal(&jpp_cpu_wanted);
        break;

    case JPP_CPU_UNWANTED:
    case JPP_CPU_OVER:
        break;
    }
}


jpp_code_t
jpp_cpu_dump(jpp_cpu_window_t *window, const char *why_early, int fd,
    jpp_err_t *err)
{
    jpp_code_t  rc;

    rc = JPP_OK;

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    /* somebody else may have taken the signal meanwhile */

    if (window->stage != JPP_CPU_OVER) {
        rc = jpp_signal_claim(JPP_SIGNAL_CPU, jpp_cpu_sampler_receive, err);
    }

    jpp_cpu_end(window);

    while (window->stage != JPP_CPU_OVER) {
        (void) pthread_cond_wait(&jpp_cpu_done, &jpp_cpu_lock);
    }

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

    if (window->stage == JPP_CPU_OVER) {
        window->next = jpp_cpu_ended;
        jpp_cpu_ended = window;
    }

    window->is_left = true;

    jpp_cpu_end(window);
    jpp_cpu_reap();

    (void) pthread_mutex_unlock(&jpp_cpu_lock);
}


bool
jpp_cpu_is_on(void)
{
    bool                     is_on;
    const jpp_cpu_window_t  *window;

    is_on = false;

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    for (window = jpp_cpu_windows; window != NULL; window = window->next) {
        is_on |= window->stage != JPP_CPU_UNWANTED;
    }

    (void) pthread_mutex_unlock(&jpp_cpu_lock);

    return is_on;
}


void
jpp_cpu_exit(void)
{
    jpp_cpu_window_t  *window, *next;

    (void) pthread_mutex_lock(&jpp_cpu_lock);

    for (window = jpp_cpu_windows; window != NULL; window = next) {
        next = window->next;
        jpp_cpu_end(window);
    }

    while (jpp_cpu_is_running) {
        (void) pthread_cond_wait(&jpp_cpu_done, &jpp_cpu_lock);
    }

    (void) pthread_mutex_unlock(&jpp_cpu_lock);
}
