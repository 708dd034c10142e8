
/*
 * Measures the duration of each iteration of the event loop.
 *
 * nginx calls process_events once an iteration, through a table, and reads the
 * clock as soon as epoll_wait() returns.  A wrapper around that call looks how
 * late it is: what lies between was spent on events, timers and posted events.
 * The clock is the kernel's coarse one, as nginx's, which advances by ticks
 * (4 ms, as a rule): a single figure may be off by that much, sums are not.  It
 * is not even read if the CPU's counter proves that no millisecond has passed
 * since the last iteration.
 *
 * For the event loop.
 */


#include "ngx_http_jpp_worker.h"


/* the clock that nginx reads */
#define NGX_HTTP_JPP_CLOCK  CLOCK_MONOTONIC_COARSE


/* when the last iteration ended, which is a number of the present one */
static volatile uint64_t  ngx_http_jpp_last;


/*
 * A counter of the CPU that costs an instruction, and a difference of it that
 * is less than a millisecond on every machine: time stamp counters run at more
 * than 500 MHz, those of ARM at 1 MHz at least.
 */

#if defined(__x86_64__) || defined(__i386__)

#define NGX_HTTP_JPP_SHORT  500000

#define ngx_http_jpp_ticks(ticks)  ticks = __builtin_ia32_rdtsc()

#elif defined(__aarch64__)

#define NGX_HTTP_JPP_SHORT  1000

#define ngx_http_jpp_ticks(ticks)                                  \
    __asm__ __volatile__ ("mrs %0, cntvct_el0" : "=r" (ticks))

#else

#define NGX_HTTP_JPP_SHORT         0

/* another number each time is all that is left */

#define ngx_http_jpp_ticks(ticks)                                  \
    ticks = ngx_http_jpp_last + 1

#endif


jpp_loop_t  ngx_http_jpp_loop;
jpp_recent_t  ngx_http_jpp_recent;

/* what was put in place of nginx's; NULL: nothing */
static ngx_http_jpp_process_pt  ngx_http_jpp_loop_wrapper;

/* ticks of an iteration of which nothing but the number is of interest */
static volatile uint64_t  ngx_http_jpp_short = NGX_HTTP_JPP_SHORT;

/* of one that is a stall; 0: none is */
static ngx_msec_t  ngx_http_jpp_loop_limit;


static __attribute__((noinline)) void
ngx_http_jpp_loop_measure(void)
{
    ngx_msec_t  ms;

    ms = ngx_http_jpp_loop_age();

    jpp_loop_add(&ngx_http_jpp_loop, ms);

    if (ms != 0) {
        jpp_recent_add(&ngx_http_jpp_recent, (uint64_t) ngx_current_msec + ms,
                       ms);

        if (ngx_http_jpp_loop_limit != 0 && ms >= ngx_http_jpp_loop_limit) {
            ngx_http_jpp_stall_late(ms);
        }
    }
}


static ngx_int_t __attribute__((noinline))
ngx_http_jpp_loop_long(ngx_cycle_t *cycle, ngx_msec_t timer, ngx_uint_t flags)
{
    ngx_http_jpp_loop_measure();

    if (ngx_http_jpp_short == 0) {
        ngx_http_jpp_short = NGX_HTTP_JPP_SHORT;

        ngx_http_jpp_owners_settle();
    }

    return ngx_http_jpp_dispatch(cycle, timer, flags);
}


/*
 * What a long iteration takes is a function of its own, so that the others have
 * no registers to save.
 */

static ngx_int_t
ngx_http_jpp_loop_process(ngx_cycle_t *cycle, ngx_msec_t timer,
    ngx_uint_t flags)
{
    uint64_t  now, passed;

    ngx_http_jpp_ticks(now);

    passed = now - ngx_http_jpp_last;
    ngx_http_jpp_last = now;

    if (passed >= ngx_http_jpp_short) {
        return ngx_http_jpp_loop_long(cycle, timer, flags);
    }

    ngx_http_jpp_loop.counts[0]++;

    return ngx_http_jpp_dispatch(cycle, timer, flags);
}


/* the first iteration contains the worker's start, which nobody waited for */

void
ngx_http_jpp_loop_init(ngx_cycle_t *cycle)
{
    ngx_core_conf_t  *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    if (ngx_http_jpp_loop_wrapper != NULL) {
        return;
    }

    ngx_time_update();

    ngx_http_jpp_loop_wrapper = ccf->timer_resolution != 0
                                ? ngx_http_jpp_dispatch
                                : ngx_http_jpp_loop_process;

    ngx_http_jpp_process = ngx_event_actions.process_events;
    ngx_event_actions.process_events = ngx_http_jpp_loop_wrapper;
}


/* somebody who has wrapped it since keeps it: what was ours stays callable */

void
ngx_http_jpp_loop_exit(void)
{
    if (ngx_http_jpp_loop_wrapper != NULL
        && ngx_event_actions.process_events == ngx_http_jpp_loop_wrapper)
    {
        ngx_event_actions.process_events = ngx_http_jpp_process;
        ngx_http_jpp_loop_wrapper = NULL;
    }
}


ngx_int_t
ngx_http_jpp_loop_watch(ngx_msec_t ms)
{
    if (ngx_http_jpp_loop_wrapper != ngx_http_jpp_loop_process) {
        return NGX_DECLINED;
    }

    ngx_http_jpp_loop_limit = ms;

    return NGX_OK;
}


void
ngx_http_jpp_loop_look(void)
{
    ngx_http_jpp_short = 0;
}


uint64_t
ngx_http_jpp_loop_iteration(void)
{
    return ngx_http_jpp_last;
}


/* ngx_current_msec is when epoll_wait() returned */

uint64_t
ngx_http_jpp_loop_age(void)
{
    ngx_msec_int_t   ms;
    struct timespec  now;

    if (clock_gettime(NGX_HTTP_JPP_CLOCK, &now) == -1) {
        return 0;
    }

    ms = (ngx_msec_int_t) ((ngx_msec_t) now.tv_sec * 1000
                           + now.tv_nsec / 1000000 - ngx_current_msec);

    return ms > 0 ? ms : 0;
}


uintptr_t
ngx_http_jpp_loop_waits(void)
{
    return (uintptr_t) ngx_http_jpp_process;
}
