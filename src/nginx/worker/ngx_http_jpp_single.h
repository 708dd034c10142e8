
/*
 * A single process (master_process off), whose configurations come and go.
 *
 * nginx calls a module that is loaded.  A reload without it unmaps its zones,
 * and calls nothing of it; but its timers, its hooks and the connections that
 * are left go on in the same process.  Whether it is still loaded is looked up
 * where the event loop begins its first iteration with the new configuration,
 * before any of these can run.  The code stays mapped in any case (worker).
 *
 * Other processes end with their configuration: nothing is done in them.
 */


#ifndef _NGX_HTTP_JPP_SINGLE_H_INCLUDED_
#define _NGX_HTTP_JPP_SINGLE_H_INCLUDED_


#include "ngx_http_jpp.h"


/*
 * Call LEFT_OUT at the first iteration with a configuration that has nothing
 * for the module.  Whoever waits for events comes first: after
 * ngx_http_jpp_loop_init().
 */
void ngx_http_jpp_single_init(ngx_cycle_t *cycle, void (*left_out)(void));

/*
 * The configuration of http in CYCLE, or NULL: CYCLE has none, or does not load
 * the module.
 */
ngx_http_jpp_main_conf_t *ngx_http_jpp_single_conf(const ngx_cycle_t *cycle);


#endif /* _NGX_HTTP_JPP_SINGLE_H_INCLUDED_ */
