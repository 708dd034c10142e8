
/*
 * The memory that dumps and answers use in this worker: a count that bounds it,
 * however many scrapers there are and however slow.
 *
 * For the event loop.
 */


#ifndef _NGX_HTTP_JPP_BUDGET_H_INCLUDED_
#define _NGX_HTTP_JPP_BUDGET_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


/* dumps and answers together, as a multiple of jemalloc_pprof_max_size */
#define NGX_HTTP_JPP_TOTAL  4


/* The bytes that may be held in all, if a dump may have MAX_SIZE. */
size_t ngx_http_jpp_budget_cap(size_t max_size);

/* Count LEN more bytes; NGX_BUSY: that would exceed MAX, and nothing is. */
ngx_int_t ngx_http_jpp_budget_hold(size_t len, size_t max);

/* Give LEN bytes back. */
void ngx_http_jpp_budget_release(size_t len);


#endif /* _NGX_HTTP_JPP_BUDGET_H_INCLUDED_ */
