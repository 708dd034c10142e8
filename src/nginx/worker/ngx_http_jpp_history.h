
/*
 * The memory of this worker over time: every few seconds, it writes down in
 * shared memory what it holds.  One worker, the first of the newest
 * configuration, then looks at what all have written, and logs findings as they
 * rise: nobody needs to ask for them.
 *
 * For the event loop; what that worker looks at, it looks at in its background
 * thread.  The timer is cancelable: no worker waits for it.
 */


#ifndef _NGX_HTTP_JPP_HISTORY_H_INCLUDED_
#define _NGX_HTTP_JPP_HISTORY_H_INCLUDED_


#include "ngx_http_jpp_registry.h"


/*
 * Write the first point, and go on; for each row of this worker.  Nothing in a
 * process that is not a worker yet.
 */
void ngx_http_jpp_history_init(ngx_cycle_t *cycle);


#endif /* _NGX_HTTP_JPP_HISTORY_H_INCLUDED_ */
