
#include <time.h>

#include "jpp_cpu_sampler.h"
#include "jpp_owner_labels.h"
#include "jpp_owners.h"
#include "jpp_restart.h"


jpp_cpu_sampler_t  jpp_cpu_sampler;


static void
jpp_cpu_sampler_look(const jpp_cpu_thread_t *thread,
    const jpp_signal_t *signal, jpp_cpu_sample_t *sample)
{
    sample->state = JPP_CPU_RUNS;
    sample->name = thread->name;
    sample->owner = (uint16_t) jpp_owners_interrupted(signal->ucontext);
    sample->n = jpp_backtrace_interrupted(signal->ucontext, sample->pcs,
                                          JPP_CPU_DEPTH);
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
        jpp_cpu_sampler_look(thread, signal, &sample);
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


void
jpp_cpu_sampler_passed(const jpp_cpu_sample_t *sample)
{
    uint32_t           i;
    jpp_cpu_window_t  *window;

    for (i = 0; i < JPP_CPU_WINDOWS; i++) {

        window = __atomic_load_n(&jpp_cpu_sampler.windows[i],
                                 __ATOMIC_SEQ_CST);

        if (window != NULL && window->mode == JPP_MODE_WALL) {
            jpp_cpu_table_add(&window->table, sample);
        }
    }
}


/* What THREAD had used as WINDOW was opened. */

static inline uint64_t
jpp_cpu_sampler_begun(const jpp_cpu_window_t *window,
    const jpp_cpu_thread_t *thread)
{
    return thread->since <= window->scan
           ? window->used[thread - jpp_cpu_sampler.threads.threads] : 0;
}


void
jpp_cpu_sampler_ran(const jpp_cpu_thread_t *thread,
    const jpp_cpu_span_t *span, jpp_cpu_sample_t *sample)
{
    uint32_t           i;
    uint64_t           begun, count, most, frequency;
    jpp_cpu_window_t  *window;

    count = sample->count;
    frequency = __atomic_load_n(&jpp_cpu_sampler.frequency[JPP_MODE_CPU],
                                __ATOMIC_RELAXED);

    for (i = 0; i < JPP_CPU_WINDOWS; i++) {

        window = __atomic_load_n(&jpp_cpu_sampler.windows[i],
                                 __ATOMIC_SEQ_CST);

        if (window == NULL || window->mode != JPP_MODE_CPU) {
            continue;
        }

        begun = jpp_cpu_sampler_begun(window, thread);
        begun = begun > span->from ? begun : span->from;

        if (begun < span->to) {
            sample->nanos = span->to - begun;
            most = sample->nanos * frequency / JPP_CPU_NANOS + 1;
            sample->count = count < most ? count : most;

            jpp_cpu_table_add(&window->table, sample);
        }
    }
}


jpp_cpu_sample_t *
jpp_cpu_sampler_blank(const jpp_cpu_thread_t *thread, jpp_cut_t cut)
{
    jpp_cpu_sample_t  *sample;

    sample = &jpp_cpu_sampler.sample;

    sample->state = JPP_CPU_RUNS;
    sample->name = thread->name;
    sample->owner = JPP_OWNER_NONE;
    sample->n = 1;
    sample->pcs[0] = jpp_cut_frame(cut);

    return sample;
}


uint64_t
jpp_cpu_sampler_now(void)
{
    struct timespec  time;

    (void) clock_gettime(CLOCK_MONOTONIC, &time);

    return (uint64_t) time.tv_sec * JPP_CPU_NANOS + (uint64_t) time.tv_nsec;
}
