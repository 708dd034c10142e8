
/*
 * symbol: pprof's protocol for names.  GET asks whether names are available,
 * POST sends addresses, and so does a GET with a query.
 */


#ifndef _NGX_HTTP_JPP_SYMBOL_H_INCLUDED_
#define _NGX_HTTP_JPP_SYMBOL_H_INCLUDED_


#include "ngx_http_jpp.h"


ngx_int_t ngx_http_jpp_symbol(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);


#endif /* _NGX_HTTP_JPP_SYMBOL_H_INCLUDED_ */
