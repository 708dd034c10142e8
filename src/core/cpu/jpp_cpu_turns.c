
#include <string.h>

#include "jpp_cpu_turns.h"
#include "jpp_cpu_wall.h"


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


/* What has passed until now belongs to those that were there. */

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
