
#include "jpp_cpu_sampler.h"
#include "jpp_cut.h"
#include "jpp_owner_labels.h"
#include "jpp_owners.h"


/* how often to see who has come and gone, and who blocks the signal */
#define JPP_CPU_SCAN   (JPP_CPU_NANOS / 10)
#define JPP_CPU_SCANS  10

/* ns: for how long to wait for signals, and between two looks at that */
#define JPP_CPU_WALL_PATIENCE  20000000
#define JPP_CPU_WALL_PAUSE     100000


jpp_cpu_sampler_t      jpp_cpu_sampler;

/* a stack that is walked there; of the sampler's thread */
static uint8_t         jpp_cpu_wall_copy[JPP_BACKTRACE_COPY];


/*
 * What came before WINDOW was full is kept.  Additions take no lock, and any
 * thread may make them; a site is complete before it can be found.
 */

void
jpp_cpu_window_add(jpp_cpu_window_t *window, const jpp_cpu_sample_t *sample)
{
    uint32_t  site;

    site = jpp_sites_add(&window->sites, sample->pcs, sample->n, &sample->key);

    if (site != 0) {
        jpp_sites_count(&window->sites, site, sample->count, sample->nanos);
        return;
    }

    jpp_atomic_add(&window->dropped, sample->count);
    jpp_atomic_add(&window->dropped_nanos, sample->nanos);
}


/* [signal] Add SAMPLE to the windows of wall clock time. */

static void
jpp_cpu_sampler_passed(const jpp_cpu_sample_t *sample)
{
    jpp_cpu_window_t  **at, *window;

    jpp_each(at, jpp_cpu_sampler.windows[JPP_MODE_WALL], JPP_CPU_WINDOWS) {
        window = __atomic_load_n(at, __ATOMIC_SEQ_CST);

        if (window != NULL) {
            jpp_cpu_window_add(window, sample);
        }
    }
}


/*
 * [signal] Add SAMPLE, whose CPU time is SPAN of THREAD, to the windows of CPU
 * time: to each what came after it was opened.
 */

static void
jpp_cpu_sampler_ran(const jpp_cpu_thread_t *thread,
    const jpp_cpu_span_t *span, jpp_cpu_sample_t *sample)
{
    uint64_t            begun, count, most, frequency;
    jpp_cpu_window_t  **at, *window;

    count = sample->count;
    frequency = jpp_atomic_get(&jpp_cpu_sampler.frequency[JPP_MODE_CPU]);

    jpp_each(at, jpp_cpu_sampler.windows[JPP_MODE_CPU], JPP_CPU_WINDOWS) {
        window = __atomic_load_n(at, __ATOMIC_SEQ_CST);

        if (window == NULL) {
            continue;
        }

        /* what the thread had used as the window was opened */

        begun = thread->since <= window->scan
                ? window->used[thread - jpp_cpu_sampler.threads.threads] : 0;
        begun = jpp_larger(begun, span->from);

        if (begun < span->to) {
            sample->nanos = span->to - begun;
            most = sample->nanos * frequency / JPP_CPU_NANOS + 1;
            sample->count = count < most ? count : most;

            jpp_cpu_window_add(window, sample);
        }
    }
}


/*
 * Of two signals at a time the kernel may drop one: what wall clock time is
 * owed goes with either.
 */

static void
jpp_cpu_sampler_take(jpp_cpu_thread_t *thread, jpp_mode_t mode,
    const jpp_signal_t *signal)
{
    bool              has_run;
    uint64_t          count, nanos;
    jpp_cpu_span_t    span;
    jpp_cpu_sample_t  sample;

    has_run = mode == JPP_MODE_CPU
              && jpp_cpu_timers_tick(&jpp_cpu_sampler.threads, thread, signal,
                                     &span);

    count = __atomic_exchange_n(&thread->owed, 0, __ATOMIC_RELAXED);
    nanos = __atomic_exchange_n(&thread->owed_nanos, 0, __ATOMIC_RELAXED);

    if (has_run || nanos != 0) {
        sample.key.kind = jpp_cpu_kind(thread->name, JPP_CPU_RUNS);
        sample.key.owner = (uint16_t) jpp_owners_interrupted(signal->ucontext);
        sample.n = jpp_backtrace_interrupted(signal->ucontext, sample.pcs,
                                             JPP_SITES_DEPTH);
    }

    if (has_run) {
        sample.count = 1 + (uint64_t) signal->missed;
        jpp_cpu_sampler_ran(thread, &span, &sample);
    }

    if (nanos != 0) {
        sample.count = count;
        sample.nanos = nanos;
        jpp_cpu_sampler_passed(&sample);
    }
}


void
jpp_cpu_sampler_receive(const jpp_signal_t *signal)
{
    jpp_mode_t         mode;
    jpp_cpu_thread_t  *thread;

    thread = jpp_cpu_timers_find(&jpp_cpu_sampler.threads, signal->number,
                                 &mode);

    if (thread != NULL) {
        jpp_cpu_sampler_take(thread, mode, signal);
    }

    /* the thread ran a moment ago: it has just fallen asleep */

    (void) jpp_restart(signal->ucontext);
}


/*
 * The rest is the sampler's thread's.  It may take as long as there are threads
 * to look at.
 */


/* A sample of THREAD, whose stack is unknown: CUT says why. */

static jpp_cpu_sample_t *
jpp_cpu_sampler_blank(const jpp_cpu_thread_t *thread, jpp_cut_t cut)
{
    jpp_cpu_sample_t  *sample;

    sample = &jpp_cpu_sampler.sample;

    sample->key.kind = jpp_cpu_kind(thread->name, JPP_CPU_RUNS);
    sample->key.owner = JPP_OWNER_NONE;
    sample->n = 1;
    sample->pcs[0] = jpp_cut_frame(cut);

    return sample;
}


/*
 * Wall clock time: a look at every thread, and what it does then, it is taken
 * to have done since the last one.
 */


/* No signal will take what THREAD is owed. */

static void
jpp_cpu_wall_give_up(jpp_cpu_thread_t *thread, jpp_cut_t cut)
{
    uint64_t           count, nanos;
    jpp_cpu_sample_t  *sample;

    count = __atomic_exchange_n(&thread->owed, 0, __ATOMIC_RELAXED);
    nanos = __atomic_exchange_n(&thread->owed_nanos, 0, __ATOMIC_RELAXED);

    if (nanos != 0) {
        sample = jpp_cpu_sampler_blank(thread, cut);

        sample->count = count;
        sample->nanos = nanos;

        jpp_cpu_sampler_passed(sample);
    }
}


/*
 * The next signal that reaches THREAD takes all that it is owed.  While one is
 * on its way the kernel drops others.
 */

static void
jpp_cpu_wall_interrupt(jpp_cpu_thread_t *thread, uint64_t count,
    uint64_t nanos)
{
    uint32_t  number;

    jpp_atomic_add(&thread->owed, count);
    jpp_atomic_add(&thread->owed_nanos, nanos);

    number = jpp_cpu_timers_number(&jpp_cpu_sampler.threads, thread,
                                   JPP_MODE_WALL);

    if (thread->is_deaf
        || !jpp_signal_send(getpid(), thread->tid, JPP_SIGNAL_CPU, number))
    {
        jpp_cpu_wall_give_up(thread, JPP_CUT_DEAF);
    }
}


static void
jpp_cpu_wall_idle(const jpp_cpu_thread_t *thread, uint64_t nanos)
{
    jpp_cpu_window_t  **at;

    jpp_each(at, jpp_cpu_sampler.windows[JPP_MODE_WALL], JPP_CPU_WINDOWS) {

        if (*at != NULL) {
            *(thread->is_main ? &(*at)->idle : &(*at)->waits) += nanos;
        }
    }
}


/*
 * A signal would end some sleeps early, so none is sent.  If the thread is
 * elsewhere by now, its stack was read while it changed.
 */

static void
jpp_cpu_wall_asleep(jpp_cpu_thread_t *thread,
    const jpp_blocked_t *blocked, uint64_t count, uint64_t nanos)
{
    jpp_blocked_t      again;
    jpp_cpu_sample_t  *sample;

    sample = &jpp_cpu_sampler.sample;

    /* that of the main thread is always there */

    sample->n = thread->is_main
                ? jpp_backtrace_blocked(blocked, sample->pcs, JPP_SITES_DEPTH)
                : 0;

    if (sample->n == 0) {
        sample->n = jpp_backtrace_copied(blocked, jpp_cpu_wall_copy,
                                         sample->pcs, JPP_SITES_DEPTH);
    }

    jpp_blocked_read(thread->tid, &again);

    if (memcmp(&again, blocked, sizeof(jpp_blocked_t)) != 0) {
        jpp_cpu_wall_interrupt(thread, count, nanos);
        return;
    }

    sample->count = count;
    sample->nanos = nanos;
    sample->key.kind = jpp_cpu_kind(thread->name, JPP_CPU_BLOCKED);
    sample->key.owner = JPP_OWNER_NONE;

    jpp_cpu_sampler_passed(sample);
}


/* What THREAD does now, it is taken to have done since the last look. */

static void
jpp_cpu_wall_inspect(jpp_cpu_thread_t *thread, uint64_t count,
    uint64_t nanos)
{
    jpp_blocked_t      blocked;
    jpp_blocked_for_t  waits_for;

    jpp_blocked_read(thread->tid, &blocked);

    switch (blocked.state) {

    case JPP_BLOCKED_RUNS:
        jpp_cpu_wall_interrupt(thread, count, nanos);
        break;

    case JPP_BLOCKED_WAITS:
        waits_for = jpp_blocked_for(&blocked);

        if (waits_for == JPP_BLOCKED_FOR_EPOLL
            || (waits_for == JPP_BLOCKED_FOR_THREAD && !thread->is_main))
        {
            jpp_cpu_wall_idle(thread, nanos);

        } else {
            jpp_cpu_wall_asleep(thread, &blocked, count, nanos);
        }

        break;

    case JPP_BLOCKED_UNKNOWN:
        break;
    }
}


/* Look at every thread, at NOW. */

static void
jpp_cpu_wall_look(uint64_t now)
{
    uint64_t           count, nanos, interval;
    jpp_cpu_thread_t  *thread;

    nanos = now - jpp_cpu_sampler.ticked;
    interval = JPP_CPU_NANOS / jpp_cpu_sampler.frequency[JPP_MODE_WALL];
    count = (nanos + interval / 2) / interval;

    jpp_cpu_sampler.ticked = now;

    jpp_each(thread, jpp_cpu_sampler.threads.threads,
             jpp_cpu_sampler.threads.n)
    {
        if (thread->tid != 0 && thread->tid != jpp_cpu_sampler.tid) {
            jpp_cpu_wall_inspect(thread, count, nanos);
        }
    }
}


/*
 * Wait until signals have recorded what they were to record, but not for long:
 * what is left then is recorded without a stack.
 */

static void
jpp_cpu_wall_settle(void)
{
    bool                is_owed;
    uint64_t            end;
    jpp_cpu_thread_t   *thread;
    jpp_cpu_threads_t  *threads;

    static const struct timespec  pause = { 0, JPP_CPU_WALL_PAUSE };

    threads = &jpp_cpu_sampler.threads;
    end = jpp_clock() + JPP_CPU_WALL_PATIENCE;

    for ( ;; ) {

        /* one that has arrived may be about to record it */

        is_owed = !jpp_signal_is_left(JPP_SIGNAL_CPU);

        jpp_each(thread, threads->threads, threads->n) {
            is_owed |= !thread->is_deaf
                       && jpp_atomic_get(&thread->owed_nanos) != 0;
        }

        if (!is_owed || jpp_clock() >= end) {
            break;
        }

        (void) nanosleep(&pause, NULL);
    }

    jpp_each(thread, threads->threads, threads->n) {
        jpp_cpu_wall_give_up(thread, thread->is_deaf ? JPP_CUT_DEAF
                                                     : JPP_CUT_LATE);
    }
}


/* What is done when a window begins or ends, and at regular times. */


static bool
jpp_cpu_sampler_is_on(void)
{
    return jpp_cpu_sampler.frequency[JPP_MODE_CPU] != 0
           || jpp_cpu_sampler.frequency[JPP_MODE_WALL] != 0;
}


static void
jpp_cpu_sampler_arm(void)
{
    uint32_t  frequency;

    frequency = jpp_cpu_sampler.frequency[JPP_MODE_CPU];

    jpp_cpu_threads_arm(&jpp_cpu_sampler.threads,
                        frequency != 0 ? JPP_CPU_NANOS / frequency : 0);
}


/* The CPU time of those that no signal reaches, whatever they did with it. */

static void
jpp_cpu_sampler_deaf(void)
{
    uint32_t           frequency;
    uint64_t           count;
    jpp_cpu_span_t     span;
    jpp_cpu_thread_t  *thread;
    jpp_cpu_sample_t  *sample;

    frequency = jpp_cpu_sampler.frequency[JPP_MODE_CPU];

    jpp_each(thread, jpp_cpu_sampler.threads.threads,
             jpp_cpu_sampler.threads.n)
    {
        if (!thread->is_deaf) {
            continue;
        }

        span.from = jpp_atomic_get(&thread->sampled);
        span.to = jpp_cpu_timers_used(thread->tid);

        count = jpp_less(span.to, span.from) * frequency / JPP_CPU_NANOS;

        /* it may take a signal at this moment, and one that has just come may
           be worth none */

        if (count != 0
            && jpp_atomic_cmp_set(&thread->sampled, &span.from, span.to))
        {
            sample = jpp_cpu_sampler_blank(thread, JPP_CUT_DEAF);

            sample->count = count;
            jpp_cpu_sampler_ran(thread, &span, sample);
        }
    }
}


/* See who has come and gone. */

static void
jpp_cpu_sampler_scan(uint64_t now)
{
    jpp_cpu_threads_t  *threads;

    threads = &jpp_cpu_sampler.threads;

    jpp_cpu_sampler.scanned = now;

    (void) jpp_cpu_threads_scan(threads, threads->scan % JPP_CPU_SCANS == 0);
    jpp_cpu_sampler_arm();
    jpp_cpu_sampler_deaf();
}


/* That of WINDOW of MODE; NULL: a free one. */

static jpp_cpu_window_t **
jpp_cpu_sampler_place(jpp_mode_t mode, const jpp_cpu_window_t *window)
{
    jpp_cpu_window_t  **at;

    jpp_each(at, jpp_cpu_sampler.windows[mode], JPP_CPU_WINDOWS - 1) {
        if (*at == window) {
            break;
        }
    }

    return at;
}


static void
jpp_cpu_sampler_remove(jpp_cpu_window_t *window)
{
    __atomic_store_n(jpp_cpu_sampler_place(window->mode, window), NULL,
                     __ATOMIC_SEQ_CST);

    /* signals had time to arrive since the last look */

    window->closed = window->mode == JPP_MODE_WALL ? jpp_cpu_sampler.ticked
                                                   : jpp_clock();
    window->seen = jpp_cpu_sampler.threads.seen;
}


/* What threads have used before is not for WINDOW. */

static void
jpp_cpu_sampler_add(jpp_cpu_window_t *window)
{
    uint32_t                  i;
    const jpp_cpu_threads_t  *threads;

    threads = &jpp_cpu_sampler.threads;

    window->opened = window->mode == JPP_MODE_WALL ? jpp_cpu_sampler.ticked
                                                   : jpp_clock();
    window->scan = threads->scan;

    for (i = 0; window->mode == JPP_MODE_CPU && i < threads->n; i++) {
        if (threads->threads[i].tid != 0) {
            window->used[i] = jpp_cpu_timers_used(threads->threads[i].tid);
        }
    }

    __atomic_store_n(jpp_cpu_sampler_place(window->mode, NULL), window,
                     __ATOMIC_SEQ_CST);
}


/* The highest frequency that is asked for. */

static void
jpp_cpu_sampler_tune(void)
{
    uint32_t            mode, highest;
    jpp_cpu_window_t  **at;

    for (mode = 0; mode < JPP_MODES; mode++) {
        highest = 0;

        jpp_each(at, jpp_cpu_sampler.windows[mode], JPP_CPU_WINDOWS) {
            if (*at != NULL) {
                highest = (uint32_t) jpp_larger(highest, (*at)->frequency);
            }
        }

        jpp_each(at, jpp_cpu_sampler.windows[mode], JPP_CPU_WINDOWS) {
            if (*at != NULL) {
                (*at)->highest = (uint32_t) jpp_larger((*at)->highest, highest);
            }
        }

        jpp_atomic_set(&jpp_cpu_sampler.frequency[mode], highest);
    }

    jpp_cpu_sampler_arm();
}


/*
 * What has passed until now belongs to those that were there.  Without a window
 * there is no timer, and no thread is known.
 */

void
jpp_cpu_sampler_change(jpp_cpu_window_t *const *windows, uint32_t n)
{
    uint32_t  i;
    uint64_t  now;

    if (!jpp_cpu_sampler_is_on()) {
        jpp_cpu_threads_init(&jpp_cpu_sampler.threads);
    }

    now = jpp_clock();
    jpp_cpu_sampler_scan(now);

    if (jpp_cpu_sampler.frequency[JPP_MODE_WALL] != 0) {
        jpp_cpu_wall_look(now);
        jpp_cpu_wall_settle();

    } else {
        jpp_cpu_sampler.ticked = now;
    }

    /* there are never more than places, once those that end have gone */

    for (i = 0; i < n; i++) {
        if (windows[i]->opened != 0) {
            jpp_cpu_sampler_remove(windows[i]);
        }
    }

    for (i = 0; i < n; i++) {
        if (windows[i]->opened == 0) {
            jpp_cpu_sampler_add(windows[i]);
        }
    }

    jpp_cpu_sampler_tune();

    if (!jpp_cpu_sampler_is_on()) {
        jpp_cpu_threads_clear(&jpp_cpu_sampler.threads);
    }
}


uint64_t
jpp_cpu_sampler_step(void)
{
    uint64_t  now, scan, tick, interval;

    now = jpp_clock();

    if (now - jpp_cpu_sampler.scanned >= JPP_CPU_SCAN) {
        jpp_cpu_sampler_scan(now);
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
