
/*
 * The start and the end of this worker, and what it is set to.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_WORKER_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_WORKER_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "jpp_control.h"


/* Make this process a worker that can answer, and be found by others. */
void ngx_http_jemalloc_pprof_worker_init(ngx_cycle_t *cycle);
void ngx_http_jemalloc_pprof_worker_exit(ngx_cycle_t *cycle);

/* In the master, or a single process: CYCLE is what is configured now. */
void ngx_http_jemalloc_pprof_worker_configured(ngx_cycle_t *cycle);

/* Fill CONTROL with what every worker is to be set to. */
void ngx_http_jemalloc_pprof_worker_wanted(ngx_cycle_t *cycle,
    jpp_control_t *control);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_WORKER_H_INCLUDED_ */
