
/*
 * What workers inherit: the master takes a dump before it forks them, and each
 * worker keeps it as long as it still has those samples.
 */


#ifndef _NGX_HTTP_JPP_BASELINE_H_INCLUDED_
#define _NGX_HTTP_JPP_BASELINE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "jpp_jemalloc.h"


/*
 * In the master, for each configuration: keep what its workers will inherit.
 * A failure is logged: inherited memory then counts as the workers' own.
 */
void ngx_http_jpp_baseline_take(ngx_cycle_t *cycle);

/* In a worker: a change was made, with RESULT. */
void ngx_http_jpp_baseline_changed(const jpp_control_result_t *result);


#endif /* _NGX_HTTP_JPP_BASELINE_H_INCLUDED_ */
