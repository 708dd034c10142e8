
#include <time.h>

#include "jpp_cpu_sampler.h"
#include "jpp_cut.h"
#include "jpp_owner_labels.h"
#include "jpp_owners.h"
#include "jpp_restart.h"


jpp_cpu_sampler_t  jpp_cpu_sampler;


void
jpp_cpu_sampler_receive(const jpp_signal_t *signal)
{
    jpp_mode_t         mode;
    jpp_cpu_thread_t  *thread;
    jpp_cpu_sample_t   sample;

    mode = (jpp_mode_t) (signal->number / JPP_CPU_THREADS);
    thread = &jpp_cpu_sampler.threads.threads[signal->number
                                              % JPP_CPU_THREADS];

    if (mode == JPP_MODE_CPU) {
        sample.count = 1 + (uint64_t) signal->missed;
        sample.nanos = sample.count * __atomic_load_n(&thread->interval,
                                                      __ATOMIC_RELAXED)
                       + __atomic_exchange_n(&thread->debt, 0,
                                             __ATOMIC_RELAXED);

        (void) __atomic_fetch_add(&thread->taken, sample.nanos,
                                  __ATOMIC_RELAXED);

    } else {
        sample.count = __atomic_exchange_n(&thread->owed, 0,
                                           __ATOMIC_RELAXED);
        sample.nanos = __atomic_exchange_n(&thread->owed_nanos, 0,
                                           __ATOMIC_RELAXED);
    }

    /* what a late one was sent for may be in the sums already */

    if (sample.nanos != 0) {
        sample.state = JPP_CPU_RUNS;
        sample.name = thread->name;
        sample.owner = (uint16_t) jpp_owners_interrupted(signal->ucontext);
        sample.n = jpp_backtrace_interrupted(signal->ucontext, sample.pcs,
                                             JPP_CPU_DEPTH);

        jpp_cpu_sampler_record(mode, &sample);
    }

    /* the thread ran a moment ago: it has just fallen asleep */

    (void) jpp_restart(signal->ucontext);
}


void
jpp_cpu_sampler_record(jpp_mode_t mode, const jpp_cpu_sample_t *sample)
{
    uint32_t           i;
    jpp_cpu_window_t  *window;

    for (i = 0; i < JPP_CPU_WINDOWS; i++) {

        window = __atomic_load_n(&jpp_cpu_sampler.windows[i],
                                 __ATOMIC_SEQ_CST);

        if (window != NULL && window->mode == mode) {
            jpp_cpu_table_add(&window->table, sample);
        }
    }
}


void
jpp_cpu_sampler_deaf(const jpp_cpu_thread_t *thread, jpp_mode_t mode,
    uint64_t count, uint64_t nanos)
{
    jpp_cpu_sample_t  *sample;

    if (nanos == 0) {
        return;
    }

    sample = &jpp_cpu_sampler.sample;

    sample->count = count;
    sample->nanos = nanos;
    sample->state = JPP_CPU_RUNS;
    sample->name = thread->name;
    sample->owner = JPP_OWNER_NONE;
    sample->n = 1;
    sample->pcs[0] = jpp_cut_frame(JPP_CUT_DEAF);

    jpp_cpu_sampler_record(mode, sample);
}


uint64_t
jpp_cpu_sampler_now(void)
{
    struct timespec  time;

    (void) clock_gettime(CLOCK_MONOTONIC, &time);

    return (uint64_t) time.tv_sec * JPP_CPU_NANOS + (uint64_t) time.tv_nsec;
}
