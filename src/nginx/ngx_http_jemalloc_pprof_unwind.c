
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
    bool                                  was_sampled;
    jpp_jemalloc_t                        jemalloc;
    ngx_http_jemalloc_pprof_main_conf_t  *jmcf;

    jmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_jemalloc_pprof_module);

    jpp_jemalloc_read(&jemalloc);

    /* pinning allocates */

    was_sampled = jpp_jemalloc_sample_thread(false);

    (void) jpp_backtrace_start();

    if (jmcf->unwind
        && jemalloc.hook == JPP_HOOK_OFF
        && jpp_hook_set() == JPP_HOOK_ON)
    {
        ngx_http_jemalloc_pprof_refresh.handler =
                                       ngx_http_jemalloc_pprof_unwind_refresh;
        ngx_http_jemalloc_pprof_refresh.data =
                                       &ngx_http_jemalloc_pprof_no_connection;
        ngx_http_jemalloc_pprof_refresh.log = cycle->log;
        ngx_http_jemalloc_pprof_refresh.cancelable = 1;

        ngx_add_timer(&ngx_http_jemalloc_pprof_refresh,
                      NGX_HTTP_JEMALLOC_PPROF_REFRESH);
    }

    (void) jpp_jemalloc_sample_thread(was_sampled);
}


static void
ngx_http_jemalloc_pprof_unwind_refresh(ngx_event_t *ev)
{
    bool  was_sampled;

    was_sampled = jpp_jemalloc_sample_thread(false);

    jpp_backtrace_refresh();

    (void) jpp_jemalloc_sample_thread(was_sampled);

    ngx_add_timer(ev, NGX_HTTP_JEMALLOC_PPROF_REFRESH);
}


void
ngx_http_jemalloc_pprof_unwind_exit(void)
{
    jpp_hook_reset();
}
