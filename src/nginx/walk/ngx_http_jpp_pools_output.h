
/*
 * What waits for a client of a request: buffers of its upstream, of filters,
 * and of whoever else answers, on their way to the socket.  Marks them in the
 * scope.
 */


#ifndef _NGX_HTTP_JPP_POOLS_OUTPUT_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_OUTPUT_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/* UPSTREAM: the owner of what has come from R's upstream; 0: R. */
void ngx_http_jpp_output_request(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r, uint32_t upstream);

/*
 * The same for B, which is in scope: it is what its tag says, and without one
 * that of MODULE, a name; 0: it is only known to be output.
 */
void ngx_http_jpp_output_buf(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r, const ngx_buf_t *b, uint32_t upstream,
    uint32_t module);

/*
 * What is unnamed after everything else, and is of the size of the buffers for
 * R's upstream, is one of them: as many as R has.
 */
void ngx_http_jpp_output_passed(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r, uint32_t upstream);


#endif /* _NGX_HTTP_JPP_POOLS_OUTPUT_H_INCLUDED_ */
