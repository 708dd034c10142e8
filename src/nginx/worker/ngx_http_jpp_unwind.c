
#include "ngx_http_jpp.h"
#include "ngx_http_jpp_self.h"
#include "ngx_http_jpp_stall.h"
#include "ngx_http_jpp_unwind.h"

#include "jpp_backtrace.h"
#include "jpp_cpu.h"
#include "jpp_status.h"


/* how often to look for libraries that were loaded meanwhile, ms */
#define NGX_HTTP_JPP_REFRESH  1000


static ngx_uint_t ngx_http_jpp_unwind_is_used(void);
static void ngx_http_jpp_unwind_refresh(ngx_event_t *ev);


static ngx_event_t  ngx_http_jpp_refresh;


void
ngx_http_jpp_unwind_init(ngx_cycle_t *cycle)
{
    unsigned                   was_sampled;
    jpp_jemalloc_t             jemalloc;
    ngx_http_jpp_main_conf_t  *jmcf;

    jmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_jemalloc_pprof_module);

    jpp_jemalloc_read(&jemalloc);

    /* pinning allocates */

    was_sampled = jpp_source_sample_thread(JPP_SOURCE_BY_NONE);

    (void) jpp_backtrace_start();

    if (jmcf->unwind && jemalloc.hook == JPP_HOOK_OFF) {
        (void) jpp_hook_set();
    }

    (void) jpp_source_sample_thread(was_sampled);

    ngx_http_jpp_unwind_watch();
}


void
ngx_http_jpp_unwind_watch(void)
{
    ngx_event_t  *ev;

    ev = &ngx_http_jpp_refresh;

    if (ev->timer_set || !ngx_http_jpp_unwind_is_used()) {
        return;
    }

    ev->handler = ngx_http_jpp_unwind_refresh;
    ev->data = &ngx_http_jpp_no_connection;
    ev->log = ngx_cycle->log;
    ev->cancelable = 1;

    ngx_add_timer(ev, NGX_HTTP_JPP_REFRESH);
}


static ngx_uint_t
ngx_http_jpp_unwind_is_used(void)
{
    return jpp_sampler_is_on() || jpp_hook_read() == JPP_HOOK_ON
           || ngx_http_jpp_stall_is_on()
           || jpp_cpu_is_on();
}


static void
ngx_http_jpp_unwind_refresh(ngx_event_t *ev)
{
    unsigned   was_sampled;
    jpp_err_t  err;

    was_sampled = jpp_source_sample_thread(JPP_SOURCE_BY_NONE);

    jpp_backtrace_refresh();

    if (jpp_sampler_rescan(&err) != JPP_OK) {
        ngx_log_error(NGX_LOG_WARN, ev->log, 0,
                      "jemalloc_pprof: what was loaded since the sampler was "
                      "switched on is not sampled: %s", err.text);

        jpp_status_failed(&ngx_http_jpp_self.last_error, ngx_time(), err.text);
    }

    (void) jpp_source_sample_thread(was_sampled);

    ngx_http_jpp_unwind_watch();
}


void
ngx_http_jpp_unwind_exit(void)
{
    jpp_hook_reset();
}
