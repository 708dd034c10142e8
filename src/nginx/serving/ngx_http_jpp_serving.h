
/*
 * Finds the server and location that a connection is served for, at any moment
 * of the event loop: also within malloc(), and in a signal handler that has
 * interrupted nginx anywhere.
 *
 * So no pointer is followed unless it is known to be valid between any two
 * instructions of nginx: as long as a connection has a descriptor, its log is
 * there; nginx itself follows the data of a log with the handler of HTTP's; and
 * that has a request only while there is one, since nginx clears it before it
 * frees the request.  Memory of a pool is known by the pool.
 *
 * For the event loop's thread.
 */


#ifndef _NGX_HTTP_JPP_SERVING_H_INCLUDED_
#define _NGX_HTTP_JPP_SERVING_H_INCLUDED_


#include "ngx_http_jpp.h"


/* Connections are those of CYCLE from now on; NGX_ERROR: no memory. */
ngx_int_t ngx_http_jpp_serving_init(ngx_cycle_t *cycle);

/*
 * [signal] For jpp_serving.h: a connection in use has a number, and one that is
 * closed until it is used again.
 */
uint64_t ngx_http_jpp_serving_number(uint32_t index);

/* [signal] For jpp_owners.h. */
uint32_t ngx_http_jpp_serving_served(uint32_t index, const uintptr_t *words,
    uint32_t n, uintptr_t *waits);
uint32_t ngx_http_jpp_serving_meanwhile(uint32_t index);

/* The owner that R has now; WAITS: it has no location yet. */
uint32_t ngx_http_jpp_serving_request(ngx_http_request_t *r, uintptr_t *waits);


/* of the phases of a request: from here on it has a location */
extern ngx_int_t  ngx_http_jpp_serving_located __attribute__(
    (visibility("hidden")));


static ngx_inline ngx_uint_t
ngx_http_jpp_serving_is_located(const ngx_http_request_t *r,
    const ngx_http_jpp_loc_conf_t *jlcf)
{
    return !jlcf->is_server || r->phase_handler >= ngx_http_jpp_serving_located;
}


/* The same where it takes no more than a look; JPP_OWNER_NONE: ask further. */
static ngx_inline uint32_t
ngx_http_jpp_serving_known(const ngx_http_request_t *r)
{
    ngx_http_jpp_loc_conf_t  *jlcf;

    jlcf = ngx_http_get_module_loc_conf(r, ngx_http_jemalloc_pprof_module);

    return r->upstream == NULL
           && ngx_http_jpp_serving_is_located(r, jlcf)
           ? jlcf->owners[0].owner : JPP_OWNER_NONE;
}


#endif /* _NGX_HTTP_JPP_SERVING_H_INCLUDED_ */
