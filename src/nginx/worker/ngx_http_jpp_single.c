
#include "ngx_http_jpp_single.h"


static ngx_int_t ngx_http_jpp_single_process(ngx_cycle_t *cycle,
    ngx_msec_t timer, ngx_uint_t flags);


static ngx_int_t  (*ngx_http_jpp_single_next)(ngx_cycle_t *cycle,
    ngx_msec_t timer, ngx_uint_t flags);
static void  (*ngx_http_jpp_single_left_out)(void);

/* compared only */
static const ngx_cycle_t  *ngx_http_jpp_single_cycle;


void
ngx_http_jpp_single_init(ngx_cycle_t *cycle, void (*left_out)(void))
{
    if (ngx_process != NGX_PROCESS_SINGLE) {
        return;
    }

    ngx_http_jpp_single_cycle = cycle;
    ngx_http_jpp_single_left_out = left_out;

    ngx_http_jpp_single_next = ngx_event_actions.process_events;
    ngx_event_actions.process_events = ngx_http_jpp_single_process;
}


static ngx_int_t
ngx_http_jpp_single_process(ngx_cycle_t *cycle, ngx_msec_t timer,
    ngx_uint_t flags)
{
    if (cycle != ngx_http_jpp_single_cycle) {
        ngx_http_jpp_single_cycle = cycle;

        if (ngx_http_jpp_single_conf(cycle) == NULL) {
            ngx_http_jpp_single_left_out();
        }
    }

    return ngx_http_jpp_single_next(cycle, timer, flags);
}


/* the place of a module that is not there may be another's */

ngx_http_jpp_main_conf_t *
ngx_http_jpp_single_conf(const ngx_cycle_t *cycle)
{
    ngx_uint_t  i;

    for (i = 0; cycle->modules[i] != NULL; i++) {
        if (cycle->modules[i] == &ngx_http_jemalloc_pprof_module) {
            return ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_jemalloc_pprof_module);
        }
    }

    return NULL;
}
