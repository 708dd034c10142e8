
/*
 * What one worker has to do with a collection: the file that its dump goes to,
 * and what came back, in memory that is counted.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_PART_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_PART_H_INCLUDED_


#include "ngx_http_jemalloc_pprof_collect.h"


/* Open the file for PART's dump; NGX_ERROR: the error of its reply says why. */
ngx_int_t ngx_http_jemalloc_pprof_part_open(
    ngx_http_jemalloc_pprof_part_t *part);

/*
 * PART has answered: map the dump and the baseline, which need no descriptor
 * from here on.  The error of its reply is set where that cannot be.
 */
void ngx_http_jemalloc_pprof_part_take(ngx_http_jemalloc_pprof_part_t *part);

/* Give back all that is PART's. */
void ngx_http_jemalloc_pprof_part_close(ngx_http_jemalloc_pprof_part_t *part);

/*
 * Bytes that may be held with the answers to INQUIRY.  A difference that was
 * begun is to end: for its second dumps there is as much again.
 */
size_t ngx_http_jemalloc_pprof_part_cap(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry, size_t max_size);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_PART_H_INCLUDED_ */
