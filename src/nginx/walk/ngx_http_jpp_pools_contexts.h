
/*
 * What large allocations are for that no field of nginx's own leads to: the
 * context of a module may.
 */


#ifndef _NGX_HTTP_JPP_POOLS_CONTEXTS_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_CONTEXTS_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/*
 * Mark what the contexts of R refer to.  Nobody knows what they have, nor how
 * large they are: the best guess.  UPSTREAM: the owner of what has come from
 * R's upstream; 0: R.
 */
void ngx_http_jpp_contexts_mark(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r, uint32_t upstream);


#endif /* _NGX_HTTP_JPP_POOLS_CONTEXTS_H_INCLUDED_ */
