
/*
 * The resource locations: what each location costs.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_LOCATIONS_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_LOCATIONS_H_INCLUDED_


#include "ngx_http_jemalloc_pprof.h"


ngx_int_t ngx_http_jemalloc_pprof_locations(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_LOCATIONS_H_INCLUDED_ */
