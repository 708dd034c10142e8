
#include "ngx_http_jemalloc_pprof_figures.h"
#include "ngx_http_jemalloc_pprof_history.h"


static void ngx_http_jemalloc_pprof_history_tick(ngx_event_t *ev);


static ngx_event_t  ngx_http_jemalloc_pprof_history;
static ngx_msec_t   ngx_http_jemalloc_pprof_history_begun;


void
ngx_http_jemalloc_pprof_history_init(ngx_cycle_t *cycle)
{
    ngx_event_t  *ev;

    ev = &ngx_http_jemalloc_pprof_history;

    ngx_http_jemalloc_pprof_history_begun = ngx_current_msec;

    ev->handler = ngx_http_jemalloc_pprof_history_tick;
    ev->data = &ngx_http_jemalloc_pprof_no_connection;
    ev->log = cycle->log;
    ev->cancelable = 1;

    ngx_http_jemalloc_pprof_history_tick(ev);
}


static void
ngx_http_jemalloc_pprof_history_tick(ngx_event_t *ev)
{
    ngx_http_jemalloc_pprof_self_t  *self;

    self = &ngx_http_jemalloc_pprof_self;

    /* of a single process, after a reload without a location that serves */

    if (self->zone == NULL) {
        return;
    }

    ngx_http_jemalloc_pprof_registry_write(self->zone, &self->row,
        ngx_http_jemalloc_pprof_figures(0),
        (ngx_current_msec - ngx_http_jemalloc_pprof_history_begun) / 1000);

    ngx_add_timer(ev, JPP_HISTORY_INTERVAL * 1000);
}
