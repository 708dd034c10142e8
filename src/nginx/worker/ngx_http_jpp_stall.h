
/*
 * The stalls of this worker: watches its event loop, stores stalls in the
 * registry, and logs a line for each.
 *
 * For the event loop.  Off, it costs nothing.
 */


#ifndef _NGX_HTTP_JPP_STALL_H_INCLUDED_
#define _NGX_HTTP_JPP_STALL_H_INCLUDED_


#include "ngx_http_jpp.h"

#include "jpp_stall_table.h"


/* milliseconds */
#define NGX_HTTP_JPP_STALL  100


/*
 * Watch this process as CYCLE has it, and no longer as before, for stalls of MS
 * or more; 0: do not; -1: nobody has asked, so those of NGX_HTTP_JPP_STALL.  A
 * failure is logged, and ERR says why.
 */
jpp_code_t ngx_http_jpp_stall_start(ngx_cycle_t *cycle, int ms, jpp_err_t *err);
void ngx_http_jpp_stall_stop(void);

/*
 * Copy the stalls of the fleet that lasted at SINCE (nanoseconds since the
 * epoch) or later to STALLS, the newest first; returns their number.  Also for
 * the background thread.
 */
ngx_uint_t ngx_http_jpp_stall_list(int64_t since,
    jpp_stall_t stalls[JPP_STALLS]);


#endif /* _NGX_HTTP_JPP_STALL_H_INCLUDED_ */
