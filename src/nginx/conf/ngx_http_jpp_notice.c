
/*
 * Logs one line at each start and reload: the profiles that are available.
 */


#include "ngx_http_jpp_conf.h"
#include "ngx_http_jpp_worker.h"


#define NGX_HTTP_JPP_NOTICE  1536


void
ngx_http_jpp_notice(ngx_cycle_t *cycle)
{
    char                   text[NGX_HTTP_JPP_NOTICE];
    ngx_uint_t             level, is_missed;
    jpp_control_t          control;
    jpp_problem_t          problems[JPP_MAX_PROBLEMS];
    jpp_worker_t           worker;
    const jpp_jemalloc_t  *jemalloc;

    /* workers start as the master is, and apply the settings for all */

    ngx_memzero(&worker, sizeof(jpp_worker_t));
    ngx_http_jpp_describe(&worker);

    if (ngx_http_jpp_main_conf(cycle)->unwind
        && worker.jemalloc.hook == JPP_HOOK_OFF)
    {
        worker.jemalloc.hook = JPP_HOOK_ON;
    }

    ngx_http_jpp_worker_wanted(cycle, &control);
    jpp_control_preview(&control, &worker);

    jpp_status_notice(&worker, text, sizeof(text));

    /*
     * Distributions set error_log without a level, which drops everything below
     * an error: who wants profiles and does not get them must see it, and who
     * loses workers for them, too.  An inactive profiler is a choice, and can
     * be switched on.
     */

    level = jpp_problems(&worker, problems) == 0 ? NGX_LOG_NOTICE
                                                 : NGX_LOG_WARN;

    jemalloc = &worker.jemalloc;

    /* are profiles wanted, by anybody, that jemalloc will not give? */

    is_missed = jemalloc->state == JPP_JEMALLOC_REFUSED
                || (jemalloc->state == JPP_JEMALLOC_READY
                    && jemalloc->unsampled)
                || (jemalloc->state < JPP_JEMALLOC_REFUSED
                    && (control.active == 1 || jpp_jemalloc_is_requested()));

    if ((jemalloc->active && jpp_jemalloc_will_abort(jemalloc))
        || (!worker.sampler.is_on && is_missed))
    {
        level = NGX_LOG_ERR;
    }

    ngx_log_error(level, cycle->log, 0, "jemalloc_pprof: %s", text);
}
