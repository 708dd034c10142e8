
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_http_jemalloc_pprof_loop.h"


/* the clock that nginx reads */
#if defined(CLOCK_MONOTONIC_FAST)
#define NGX_HTTP_JEMALLOC_PPROF_CLOCK  CLOCK_MONOTONIC_FAST
#elif defined(CLOCK_MONOTONIC_COARSE)
#define NGX_HTTP_JEMALLOC_PPROF_CLOCK  CLOCK_MONOTONIC_COARSE
#else
#define NGX_HTTP_JEMALLOC_PPROF_CLOCK  CLOCK_MONOTONIC
#endif


typedef ngx_int_t (*ngx_http_jemalloc_pprof_process_pt)(ngx_cycle_t *cycle,
    ngx_msec_t timer, ngx_uint_t flags);


static ngx_int_t ngx_http_jemalloc_pprof_loop_process(ngx_cycle_t *cycle,
    ngx_msec_t timer, ngx_uint_t flags);


jpp_loop_t  ngx_http_jemalloc_pprof_loop;

static ngx_http_jemalloc_pprof_process_pt  ngx_http_jemalloc_pprof_process;


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
        == ngx_http_jemalloc_pprof_loop_process)
    {
        ngx_event_actions.process_events = ngx_http_jemalloc_pprof_process;
        ngx_http_jemalloc_pprof_process = NULL;
    }
}


static ngx_int_t
ngx_http_jemalloc_pprof_loop_process(ngx_cycle_t *cycle, ngx_msec_t timer,
    ngx_uint_t flags)
{
    ngx_msec_int_t   ms;
    struct timespec  now;

    if (clock_gettime(NGX_HTTP_JEMALLOC_PPROF_CLOCK, &now) == 0) {
        ms = (ngx_msec_int_t) ((ngx_msec_t) now.tv_sec * 1000
                               + now.tv_nsec / 1000000 - ngx_current_msec);

        jpp_loop_add(&ngx_http_jemalloc_pprof_loop, ms > 0 ? ms : 0);
    }

    return ngx_http_jemalloc_pprof_process(cycle, timer, flags);
}
