
/*
 * The memory that dumps and answers take in this worker: a count, so that
 * neither many scrapers nor slow ones make it grow without a bound.
 *
 * For the event loop.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_BUDGET_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_BUDGET_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


/* dumps and answers together, as a multiple of jemalloc_pprof_max_size */
#define NGX_HTTP_JEMALLOC_PPROF_TOTAL  4


/* What may be held in all where a dump may have MAX_SIZE bytes. */
size_t ngx_http_jemalloc_pprof_budget_cap(size_t max_size);

/* Count LEN bytes; NGX_BUSY, and they are not: it would be more than MAX. */
ngx_int_t ngx_http_jemalloc_pprof_budget_hold(size_t len, size_t max);

/* LEN bytes that were held are given back. */
void ngx_http_jemalloc_pprof_budget_release(size_t len);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_BUDGET_H_INCLUDED_ */
