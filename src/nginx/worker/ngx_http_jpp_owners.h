
/*
 * Tells jpp_owners.h which server and location a connection is served for.
 *
 * A request's location is known from the rewrite phase on, of which there is
 * one for each location that it comes through, and to the log phase.  What is
 * sampled before waits for that, and has its address's default server in the
 * meantime.
 *
 * For the event loop.
 */


#ifndef _NGX_HTTP_JPP_OWNERS_H_INCLUDED_
#define _NGX_HTTP_JPP_OWNERS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "jpp_err.h"


/* Take part in the phases of requests; NGX_ERROR: no memory. */
ngx_int_t ngx_http_jpp_owners_phases(ngx_conf_t *cf);

/*
 * Samples of this worker belong from now on to whom the connections of CYCLE
 * serve, or, with OWNERS 0, to nobody; -1: nobody has asked, so they do.  ERR
 * says why they cannot.
 */
jpp_code_t ngx_http_jpp_owners_start(ngx_cycle_t *cycle, int owners,
    jpp_err_t *err);

/*
 * What comes until the end is for R, whatever called for it.  The end has what
 * the beginning returns; R may be gone by then.
 */
uint32_t ngx_http_jpp_owners_begin(ngx_http_request_t *r);
void ngx_http_jpp_owners_end(uint32_t before);


#endif /* _NGX_HTTP_JPP_OWNERS_H_INCLUDED_ */
