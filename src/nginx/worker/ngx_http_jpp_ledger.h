
/*
 * What this worker answers to questions about its memory that cost more than a
 * status: its ledger, smaps_rollup, and its allocator's arenas.
 */


#ifndef _NGX_HTTP_JPP_LEDGER_H_INCLUDED_
#define _NGX_HTTP_JPP_LEDGER_H_INCLUDED_


#include "ngx_http_jpp_reply.h"


/* Those of the kinds (kinds.h). */
ngx_int_t ngx_http_jpp_ledger_slice(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_ledger_work(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_ledger_smaps(ngx_http_jpp_reply_t *reply);
void ngx_http_jpp_ledger_arenas(ngx_http_jpp_reply_t *reply);


#endif /* _NGX_HTTP_JPP_LEDGER_H_INCLUDED_ */
