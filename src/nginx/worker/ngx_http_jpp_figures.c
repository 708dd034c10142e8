
#include "ngx_http_jpp_figures.h"
#include "ngx_http_jpp_loop.h"
#include "ngx_http_jpp_thread.h"


jpp_loop_t  ngx_http_jpp_dumps;

static jpp_worker_t  ngx_http_jpp_figures_last;
static ngx_msec_t    ngx_http_jpp_figures_at;
static ngx_uint_t    ngx_http_jpp_figures_are_there;


void
ngx_http_jpp_figures_read(jpp_worker_t *worker)
{
    if (ngx_http_jpp_thread_is_idle()) {
        worker->has_stats = jpp_stats_read(&worker->stats);
    }

    worker->activity.connections = ngx_cycle->connection_n;
    worker->activity.connections_free = ngx_cycle->free_connection_n;
    worker->activity.loop = ngx_http_jpp_loop;
    worker->activity.dumps = ngx_http_jpp_dumps;

    jpp_recent_read(&ngx_http_jpp_recent, ngx_current_msec,
                    &worker->activity.minute);
}


const jpp_worker_t *
ngx_http_jpp_figures(ngx_msec_t age)
{
    bool           had_stats;
    jpp_stats_t    stats;
    jpp_worker_t  *worker;

    worker = &ngx_http_jpp_figures_last;

    if (ngx_http_jpp_figures_are_there
        && ngx_current_msec - ngx_http_jpp_figures_at < age)
    {
        return worker;
    }

    stats = worker->stats;
    had_stats = worker->has_stats;

    ngx_http_jpp_describe(worker);
    ngx_http_jpp_figures_read(worker);
    jpp_usage_memory(&worker->activity.usage);

    if (!worker->has_stats) {
        worker->stats = stats;
        worker->has_stats = had_stats;
    }

    ngx_http_jpp_figures_at = ngx_current_msec;
    ngx_http_jpp_figures_are_there = 1;

    return worker;
}
