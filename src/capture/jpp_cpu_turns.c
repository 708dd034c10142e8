
#include <string.h>

#include "jpp_cpu_turns.h"
#include "jpp_cpu_wall.h"


/* how often to see who has come and gone, and who blocks the signal */
#define JPP_CPU_SCAN   (JPP_CPU_NANOS / 10)
#define JPP_CPU_SCANS  10


static bool jpp_cpu_turns_is_on(void);
static void jpp_cpu_turns_add(jpp_cpu_window_t *window);
static void jpp_cpu_turns_remove(jpp_cpu_window_t *window);
static jpp_cpu_window_t **jpp_cpu_turns_place(
    const jpp_cpu_window_t *window);
static void jpp_cpu_turns_tune(void);
static void jpp_cpu_turns_arm(void);
static void jpp_cpu_turns_flush(uint64_t now);
static void jpp_cpu_turns_scan(uint64_t now);
static void jpp_cpu_turns_clocks(void);


/* What deaf threads have used until now belongs to those that were there. */

void
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


static bool
jpp_cpu_turns_is_on(void)
{
    return jpp_cpu_sampler.n[JPP_MODE_CPU] != 0
           || jpp_cpu_sampler.n[JPP_MODE_WALL] != 0;
}


static void
jpp_cpu_turns_add(jpp_cpu_window_t *window)
{
    window->opened = jpp_cpu_sampler_now();

    if (window->mode == JPP_MODE_WALL
        && jpp_cpu_sampler.n[JPP_MODE_WALL]++ == 0)
    {
        jpp_cpu_sampler.ticked = window->opened;

    } else if (window->mode == JPP_MODE_CPU) {
        jpp_cpu_sampler.n[JPP_MODE_CPU]++;
    }

    __atomic_store_n(jpp_cpu_turns_place(NULL), window, __ATOMIC_SEQ_CST);
}


static void
jpp_cpu_turns_remove(jpp_cpu_window_t *window)
{
    const jpp_cpu_threads_t  *threads;

    __atomic_store_n(jpp_cpu_turns_place(window), NULL, __ATOMIC_SEQ_CST);
    jpp_cpu_sampler.n[window->mode]--;

    threads = &jpp_cpu_sampler.threads;

    window->closed = jpp_cpu_sampler_now();
    window->seen.threads = threads->n_seen;
    window->seen.deaf = threads->n_deaf;
    window->seen.n_names = threads->n_names;
    memcpy(window->seen.names, threads->names, sizeof(window->seen.names));
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

    memcpy(jpp_cpu_sampler.frequency, highest, sizeof(highest));

    jpp_cpu_turns_arm();
}


static void
jpp_cpu_turns_arm(void)
{
    uint32_t  frequency;

    frequency = jpp_cpu_sampler.frequency[JPP_MODE_CPU];

    jpp_cpu_threads_arm(&jpp_cpu_sampler.threads,
                        frequency != 0 ? JPP_CPU_NANOS / frequency : 0);
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


uint64_t
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


/* The CPU time of those that no signal reaches, whatever they did with it. */

static void
jpp_cpu_turns_clocks(void)
{
    uint32_t           i;
    uint64_t           count, interval;
    jpp_cpu_thread_t  *thread;

    interval = jpp_cpu_sampler.frequency[JPP_MODE_CPU];
    interval = interval != 0 ? JPP_CPU_NANOS / interval : 0;

    for (i = 0; i < jpp_cpu_sampler.threads.n; i++) {

        thread = &jpp_cpu_sampler.threads.threads[i];

        if (thread->tid == 0 || !thread->is_deaf) {
            continue;
        }

        count = jpp_cpu_threads_intervals(thread, interval);

        jpp_cpu_sampler_deaf(thread, JPP_MODE_CPU, count, count * interval);
    }
}
