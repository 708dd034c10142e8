
/*
 * Which request a stuck worker serves: a word of its stack leads to it.
 *
 * Afterwards it is too late to ask: a request that kept the loop is finalized,
 * as a rule, before the iteration ends.
 */


#ifndef _NGX_HTTP_JPP_STALL_SERVING_H_INCLUDED_
#define _NGX_HTTP_JPP_STALL_SERVING_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "jpp_peek.h"
#include "jpp_stall.h"


/* Once for each configuration in use. */
void ngx_http_jpp_stall_serving(ngx_cycle_t *cycle);

/*
 * [signal] Is WORD, which may be anything, a request's address?  If so, STALL
 * has its server, its location and its connection.  PEEK is the caller's.
 */
bool ngx_http_jpp_stall_serves(const jpp_peek_t *peek, uintptr_t word,
    jpp_stall_t *stall);


#endif /* _NGX_HTTP_JPP_STALL_SERVING_H_INCLUDED_ */
