
/*
 * What this worker knows about its own memory at small cost: for variables, the
 * history, and whoever asks for its status.
 *
 * For the event loop.
 */


#ifndef _NGX_HTTP_JPP_FIGURES_H_INCLUDED_
#define _NGX_HTTP_JPP_FIGURES_H_INCLUDED_


#include "ngx_http_jpp_self.h"


/* how long dumps of this worker took */
extern jpp_loop_t  ngx_http_jpp_dumps;


/*
 * Fill in WORKER's stats, connections and event loop.  There are no stats while
 * a task runs in the thread: they would wait for the end of a dump.
 */
void ngx_http_jpp_figures_read(jpp_worker_t *worker);

/*
 * This worker as it was AGE ms ago at most, without what takes more than a
 * small file of the kernel; its stats may be those of an earlier time.
 */
const jpp_worker_t *ngx_http_jpp_figures(ngx_msec_t age);


#endif /* _NGX_HTTP_JPP_FIGURES_H_INCLUDED_ */
