
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "jpp_cpu_sampler.h"
#include "jpp_cpu_wall.h"
#include "jpp_owner_labels.h"


/* ns: for how long to wait for signals, and between two looks at that */
#define JPP_CPU_WALL_PATIENCE  20000000
#define JPP_CPU_WALL_PAUSE     100000


/* of the sampler's thread */
static jpp_cpu_sample_t  jpp_cpu_wall_sample;
static uint8_t           jpp_cpu_wall_copy[JPP_BACKTRACE_COPY];


static void
jpp_cpu_wall_blank(const jpp_cpu_thread_t *thread, jpp_cut_t cut,
    uint64_t count, uint64_t nanos)
{
    jpp_cpu_sample_t  *sample;

    sample = jpp_cpu_sampler_blank(thread, cut);

    sample->count = count;
    sample->nanos = nanos;

    jpp_cpu_sampler_passed(sample);
}


/* No signal will take what THREAD is owed. */

static void
jpp_cpu_wall_give_up(jpp_cpu_thread_t *thread, jpp_cut_t cut)
{
    uint64_t  count, nanos;

    count = __atomic_exchange_n(&thread->owed, 0, __ATOMIC_RELAXED);
    nanos = __atomic_exchange_n(&thread->owed_nanos, 0, __ATOMIC_RELAXED);

    if (nanos != 0) {
        jpp_cpu_wall_blank(thread, cut, count, nanos);
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

    if (thread->is_deaf) {
        jpp_cpu_wall_blank(thread, JPP_CUT_DEAF, count, nanos);
        return;
    }

    (void) __atomic_fetch_add(&thread->owed, count, __ATOMIC_RELAXED);
    (void) __atomic_fetch_add(&thread->owed_nanos, nanos, __ATOMIC_RELAXED);

    number = jpp_cpu_timers_number(&jpp_cpu_sampler.threads, thread,
                                   JPP_MODE_WALL);

    if (!jpp_signal_send(getpid(), thread->tid, JPP_SIGNAL_CPU, number)) {
        jpp_cpu_wall_give_up(thread, JPP_CUT_DEAF);
    }
}


static void
jpp_cpu_wall_idle(const jpp_cpu_thread_t *thread, uint64_t nanos)
{
    uint32_t           i;
    jpp_cpu_window_t  *window;

    for (i = 0; i < JPP_CPU_WINDOWS; i++) {

        window = jpp_cpu_sampler.windows[i];

        if (window == NULL || window->mode != JPP_MODE_WALL) {
            continue;
        }

        if (thread->is_main) {
            window->idle += nanos;

        } else {
            window->waits += nanos;
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

    sample = &jpp_cpu_wall_sample;

    /* that of the main thread is always there */

    sample->n = thread->is_main
                ? jpp_backtrace_blocked(blocked, sample->pcs, JPP_CPU_DEPTH)
                : 0;

    if (sample->n == 0) {
        sample->n = jpp_backtrace_copied(blocked, jpp_cpu_wall_copy,
                                         sample->pcs, JPP_CPU_DEPTH);
    }

    jpp_blocked_read(thread->tid, &again);

    if (memcmp(&again, blocked, sizeof(jpp_blocked_t)) != 0) {
        jpp_cpu_wall_interrupt(thread, count, nanos);
        return;
    }

    sample->count = count;
    sample->nanos = nanos;
    sample->state = JPP_CPU_BLOCKED;
    sample->name = thread->name;
    sample->owner = JPP_OWNER_NONE;

    jpp_cpu_sampler_passed(sample);
}


/* What THREAD does now, it is taken to have done since the last look. */

static void
jpp_cpu_wall_watch(jpp_cpu_thread_t *thread, uint64_t count,
    uint64_t nanos)
{
    jpp_blocked_t  blocked;

    jpp_blocked_read(thread->tid, &blocked);

    switch (blocked.state) {

    case JPP_BLOCKED_RUNS:
        jpp_cpu_wall_interrupt(thread, count, nanos);
        break;

    case JPP_BLOCKED_WAITS:

        if (jpp_look_is_in_epoll(&blocked)
            || (!thread->is_main && jpp_look_is_in_futex(&blocked)))
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


void
jpp_cpu_wall_look(uint64_t now)
{
    uint32_t           i;
    uint64_t           count, nanos, interval;
    jpp_cpu_thread_t  *thread;

    nanos = now - jpp_cpu_sampler.ticked;
    interval = JPP_CPU_NANOS / jpp_cpu_sampler.frequency[JPP_MODE_WALL];
    count = (nanos + interval / 2) / interval;

    jpp_cpu_sampler.ticked = now;

    for (i = 0; i < jpp_cpu_sampler.threads.n; i++) {

        thread = &jpp_cpu_sampler.threads.threads[i];

        if (thread->tid != 0 && thread->tid != jpp_cpu_sampler.tid) {
            jpp_cpu_wall_watch(thread, count, nanos);
        }
    }
}


/* Is a signal on its way that may arrive? */

static bool
jpp_cpu_wall_is_owed(void)
{
    uint32_t                 i;
    const jpp_cpu_thread_t  *thread;

    for (i = 0; i < jpp_cpu_sampler.threads.n; i++) {

        thread = &jpp_cpu_sampler.threads.threads[i];

        if (!thread->is_deaf
            && __atomic_load_n(&thread->owed_nanos, __ATOMIC_RELAXED) != 0)
        {
            return true;
        }
    }

    return false;
}


void
jpp_cpu_wall_settle(void)
{
    uint32_t           i;
    uint64_t           end;
    jpp_cpu_thread_t  *thread;

    static const struct timespec  pause = { 0, JPP_CPU_WALL_PAUSE };

    end = jpp_cpu_sampler_now() + JPP_CPU_WALL_PATIENCE;

    /* one that has arrived may be about to record it */

    while ((jpp_cpu_wall_is_owed() || !jpp_signal_is_left(JPP_SIGNAL_CPU))
           && jpp_cpu_sampler_now() < end)
    {
        (void) nanosleep(&pause, NULL);
    }

    for (i = 0; i < jpp_cpu_sampler.threads.n; i++) {

        thread = &jpp_cpu_sampler.threads.threads[i];

        if (thread->tid != 0) {
            jpp_cpu_wall_give_up(thread, thread->is_deaf ? JPP_CUT_DEAF
                                                         : JPP_CUT_LATE);
        }
    }
}
