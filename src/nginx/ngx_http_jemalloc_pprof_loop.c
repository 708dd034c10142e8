
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_http_jemalloc_pprof_loop.h"
#include "ngx_http_jemalloc_pprof_owners.h"


/* the clock that nginx reads */
#if defined(CLOCK_MONOTONIC_FAST)
#define NGX_HTTP_JEMALLOC_PPROF_CLOCK  CLOCK_MONOTONIC_FAST
#elif defined(CLOCK_MONOTONIC_COARSE)
#define NGX_HTTP_JEMALLOC_PPROF_CLOCK  CLOCK_MONOTONIC_COARSE
#else
#define NGX_HTTP_JEMALLOC_PPROF_CLOCK  CLOCK_MONOTONIC
#endif


/*
 * A counter of the CPU that costs an instruction, and a difference of it that
 * is less than a millisecond on every machine: time stamp counters run at more
 * than 500 MHz, those of ARM at 1 MHz at least.
 */

#if defined(__x86_64__) || defined(__i386__)

#define NGX_HTTP_JEMALLOC_PPROF_SHORT  500000

#define ngx_http_jemalloc_pprof_ticks(ticks)  ticks = __builtin_ia32_rdtsc()

#elif defined(__aarch64__)

#define NGX_HTTP_JEMALLOC_PPROF_SHORT  1000

#define ngx_http_jemalloc_pprof_ticks(ticks)                                  \
    __asm__ __volatile__ ("mrs %0, cntvct_el0" : "=r" (ticks))

#else

#define NGX_HTTP_JEMALLOC_PPROF_SHORT         0

/* another number each time is all that is left */

#define ngx_http_jemalloc_pprof_ticks(ticks)                                  \
    ticks = ngx_http_jemalloc_pprof_last + 1

#endif


typedef ngx_int_t (*ngx_http_jemalloc_pprof_process_pt)(ngx_cycle_t *cycle,
    ngx_msec_t timer, ngx_uint_t flags);


static ngx_int_t ngx_http_jemalloc_pprof_loop_process(ngx_cycle_t *cycle,
    ngx_msec_t timer, ngx_uint_t flags);
static ngx_int_t ngx_http_jemalloc_pprof_loop_watched(ngx_cycle_t *cycle,
    ngx_msec_t timer, ngx_uint_t flags);
static inline ngx_uint_t ngx_http_jemalloc_pprof_loop_is_short(void);
static ngx_msec_t ngx_http_jemalloc_pprof_loop_measure(void);


jpp_loop_t  ngx_http_jemalloc_pprof_loop;

static ngx_http_jemalloc_pprof_process_pt  ngx_http_jemalloc_pprof_process;

/* when the last iteration ended */
static volatile uint64_t  ngx_http_jemalloc_pprof_last;

/* of one that is watched */
static ngx_msec_t  ngx_http_jemalloc_pprof_loop_limit;
static ngx_http_jemalloc_pprof_late_pt  ngx_http_jemalloc_pprof_loop_late;


/* the first iteration contains the worker's start, which nobody waited for */

void
ngx_http_jemalloc_pprof_loop_init(ngx_cycle_t *cycle)
{
    ngx_core_conf_t  *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    if (ccf->timer_resolution != 0 || ngx_http_jemalloc_pprof_process != NULL)
    {
        return;
    }

    ngx_time_update();

    ngx_http_jemalloc_pprof_process = ngx_event_actions.process_events;
    ngx_event_actions.process_events = ngx_http_jemalloc_pprof_loop_process;
}


/* somebody who has wrapped it since keeps it: what was ours stays callable */

void
ngx_http_jemalloc_pprof_loop_exit(void)
{
    if (ngx_event_actions.process_events
        == ngx_http_jemalloc_pprof_loop_process
        || ngx_event_actions.process_events
           == ngx_http_jemalloc_pprof_loop_watched)
    {
        ngx_event_actions.process_events = ngx_http_jemalloc_pprof_process;
        ngx_http_jemalloc_pprof_process = NULL;
    }
}


/* two wrappers, so that who is not watched does not pay for it */

ngx_int_t
ngx_http_jemalloc_pprof_loop_watch(ngx_msec_t ms,
    ngx_http_jemalloc_pprof_late_pt late)
{
    ngx_http_jemalloc_pprof_process_pt  is, becomes;

    is = late != NULL ? ngx_http_jemalloc_pprof_loop_process
                      : ngx_http_jemalloc_pprof_loop_watched;
    becomes = late != NULL ? ngx_http_jemalloc_pprof_loop_watched
                           : ngx_http_jemalloc_pprof_loop_process;

    if (ngx_event_actions.process_events != is) {
        return NGX_DECLINED;
    }

    ngx_http_jemalloc_pprof_loop_limit = ms;
    ngx_http_jemalloc_pprof_loop_late = late;
    ngx_event_actions.process_events = becomes;

    return NGX_OK;
}


uint64_t
ngx_http_jemalloc_pprof_loop_iteration(void)
{
    return ngx_http_jemalloc_pprof_last;
}


/* ngx_current_msec is when epoll_wait() returned */

uint64_t
ngx_http_jemalloc_pprof_loop_age(void)
{
    ngx_msec_int_t   ms;
    struct timespec  now;

    if (clock_gettime(NGX_HTTP_JEMALLOC_PPROF_CLOCK, &now) == -1) {
        return 0;
    }

    ms = (ngx_msec_int_t) ((ngx_msec_t) now.tv_sec * 1000
                           + now.tv_nsec / 1000000 - ngx_current_msec);

    return ms > 0 ? ms : 0;
}


uintptr_t
ngx_http_jemalloc_pprof_loop_waits(void)
{
    return (uintptr_t) ngx_http_jemalloc_pprof_process;
}


static ngx_int_t
ngx_http_jemalloc_pprof_loop_process(ngx_cycle_t *cycle, ngx_msec_t timer,
    ngx_uint_t flags)
{
    if (!ngx_http_jemalloc_pprof_loop_is_short()) {
        (void) ngx_http_jemalloc_pprof_loop_measure();
    }

    ngx_http_jemalloc_pprof_owners_iterated();

    return ngx_http_jemalloc_pprof_process(cycle, timer, flags);
}


static ngx_int_t
ngx_http_jemalloc_pprof_loop_watched(ngx_cycle_t *cycle, ngx_msec_t timer,
    ngx_uint_t flags)
{
    ngx_msec_t  ms;

    if (!ngx_http_jemalloc_pprof_loop_is_short()) {
        ms = ngx_http_jemalloc_pprof_loop_measure();

        if (ms >= ngx_http_jemalloc_pprof_loop_limit) {
            ngx_http_jemalloc_pprof_loop_late(ms);
        }
    }

    ngx_http_jemalloc_pprof_owners_iterated();

    return ngx_http_jemalloc_pprof_process(cycle, timer, flags);
}


static inline ngx_uint_t
ngx_http_jemalloc_pprof_loop_is_short(void)
{
    uint64_t  now, passed;

    ngx_http_jemalloc_pprof_ticks(now);

    passed = now - ngx_http_jemalloc_pprof_last;
    ngx_http_jemalloc_pprof_last = now;

    if (passed < NGX_HTTP_JEMALLOC_PPROF_SHORT) {
        ngx_http_jemalloc_pprof_loop.counts[0]++;
        return 1;
    }

    return 0;
}


static ngx_msec_t __attribute__((noinline))
ngx_http_jemalloc_pprof_loop_measure(void)
{
    ngx_msec_t  ms;

    ms = ngx_http_jemalloc_pprof_loop_age();

    jpp_loop_add(&ngx_http_jemalloc_pprof_loop, ms);

    return ms;
}
