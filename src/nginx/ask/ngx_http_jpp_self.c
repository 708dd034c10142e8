
#include "ngx_http_jpp_self.h"


ngx_http_jpp_self_t  ngx_http_jpp_self = {
    .inherited = JPP_NONE,
    .baseline = { .fd = -1 }
};

/* debug builds of nginx read an fd out of what a timer's data points to */
static ngx_connection_t  ngx_http_jpp_no_connection = {
    .fd = (ngx_socket_t) -1
};


void
ngx_http_jpp_timer_init(ngx_event_t *ev, ngx_event_handler_pt handler)
{
    ev->handler = handler;
    ev->data = &ngx_http_jpp_no_connection;
    ev->log = ngx_cycle->log;
}


void
ngx_http_jpp_timer_stop(ngx_event_t *ev)
{
    if (ev->timer_set) {
        ngx_del_timer(ev);
    }
}


ngx_http_jpp_main_conf_t *
ngx_http_jpp_main_conf(const ngx_cycle_t *cycle)
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


void
ngx_http_jpp_describe(jpp_worker_t *worker)
{
    worker->who.index = ngx_worker;
    worker->who.pid = ngx_pid;
    worker->who.generation = ngx_http_jpp_self.generation;
    worker->is_exiting = ngx_exiting != 0;
    worker->started = ngx_http_jpp_self.started;
    worker->inherited = ngx_http_jpp_self.inherited;
    worker->last_error = ngx_http_jpp_self.last_error;

    jpp_jemalloc_read(&worker->jemalloc);
    worker->coverage = ngx_http_jpp_self.coverage;
    jpp_sampler_state(&worker->sampler);
    worker->stalling = ngx_http_jpp_self.stalling;
    worker->has_owners = ngx_http_jpp_self.has_owners;
}
