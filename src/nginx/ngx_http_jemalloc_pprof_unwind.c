
#include "ngx_http_jemalloc_pprof.h"
#include "ngx_http_jemalloc_pprof_self.h"
#include "ngx_http_jemalloc_pprof_unwind.h"

#include "jpp_backtrace.h"


/* how often to look for libraries that were loaded meanwhile, ms */
#define NGX_HTTP_JEMALLOC_PPROF_REFRESH  1000


static void ngx_http_jemalloc_pprof_unwind_refresh(ngx_event_t *ev);


static ngx_event_t  ngx_http_jemalloc_pprof_refresh;


void
ngx_http_jemalloc_pprof_unwind_init(ngx_cycle_t *cycle)
{
    bool                                  is_here;
    unsigned                              was_sampled;
    jpp_jemalloc_t                        jemalloc;
    ngx_http_jemalloc_pprof_main_conf_t  *jmcf;

    jmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_jemalloc_pprof_module);

    jpp_jemalloc_read(&jemalloc);

    /* opening libraries allocates */

    was_sampled = jpp_source_sample_thread(JPP_SOURCE_BY_NONE);

    is_here = jpp_backtrace_start();

    if (jmcf->unwind && jemalloc.hook == JPP_HOOK_OFF) {
        (void) jpp_hook_set();
    }

    /* until the first refresh it is there for those who start now */

    if (is_here) {
        jpp_backtrace_stop();
    }

    (void) jpp_source_sample_thread(was_sampled);

    ngx_http_jemalloc_pprof_unwind_watch();
}


void
ngx_http_jemalloc_pprof_unwind_watch(void)
{
    ngx_event_t  *ev;

    ev = &ngx_http_jemalloc_pprof_refresh;

    if (ev->timer_set || !jpp_backtrace_is_used()) {
        return;
    }

    ev->handler = ngx_http_jemalloc_pprof_unwind_refresh;
    ev->data = &ngx_http_jemalloc_pprof_no_connection;
    ev->log = ngx_cycle->log;
    ev->cancelable = 1;

    ngx_add_timer(ev, NGX_HTTP_JEMALLOC_PPROF_REFRESH);
}


static void
ngx_http_jemalloc_pprof_unwind_refresh(ngx_event_t *ev)
{
    unsigned   was_sampled;
    jpp_err_t  err;

    was_sampled = jpp_source_sample_thread(JPP_SOURCE_BY_NONE);

    if (jpp_sampler_rescan(&err) != JPP_OK) {
        ngx_log_error(NGX_LOG_WARN, ev->log, 0,
                      "jemalloc_pprof: what was loaded since the sampler was "
                      "switched on is not sampled: %s", err.text);

        jpp_status_failed(&ngx_http_jemalloc_pprof_self.last_error,
                          ngx_time(), err.text);
    }

    /* last, since the sampler has let go of what it held by now */

    jpp_backtrace_refresh();

    (void) jpp_source_sample_thread(was_sampled);

    ngx_http_jemalloc_pprof_unwind_watch();
}


void
ngx_http_jemalloc_pprof_unwind_exit(void)
{
    jpp_hook_reset();
}
