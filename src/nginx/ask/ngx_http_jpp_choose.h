
/*
 * Which workers a selector means: from the registry to the rows that are asked.
 *
 * For the event loop.
 */


#ifndef _NGX_HTTP_JPP_CHOOSE_H_INCLUDED_
#define _NGX_HTTP_JPP_CHOOSE_H_INCLUDED_


#include "ngx_http_jpp_registry.h"

#include "jpp_args.h"


/*
 * Set *ROWS to the workers that SELECTOR means and *N to their number; the rows
 * are valid until the next call.  NGX_DECLINED: no such worker.  NGX_AGAIN: it
 * is being started.
 */
ngx_int_t ngx_http_jpp_choose(const jpp_selector_t *selector,
    const ngx_http_jpp_row_t **rows, ngx_uint_t *n);


#endif /* _NGX_HTTP_JPP_CHOOSE_H_INCLUDED_ */
