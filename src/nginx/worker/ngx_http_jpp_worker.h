
/*
 * The start and the end of this worker, and its settings.
 */


#ifndef _NGX_HTTP_JPP_WORKER_H_INCLUDED_
#define _NGX_HTTP_JPP_WORKER_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "jpp_control.h"


/* Make this process a worker that answers, and that others find. */
void ngx_http_jpp_worker_init(ngx_cycle_t *cycle);
void ngx_http_jpp_worker_exit(ngx_cycle_t *cycle);

/* In the master, or a single process: CYCLE is the new configuration. */
void ngx_http_jpp_worker_configured(ngx_cycle_t *cycle);

/*
 * The same where the new configuration has no location that serves, or not even
 * the module: let go of the zones, and give back what was replaced.
 */
void ngx_http_jpp_worker_let_go(void);

/* Fill CONTROL with the settings that every worker should have. */
void ngx_http_jpp_worker_wanted(ngx_cycle_t *cycle, jpp_control_t *control);


#endif /* _NGX_HTTP_JPP_WORKER_H_INCLUDED_ */
