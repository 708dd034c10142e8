
/*
 * One line of the log, at each start and each reload: what profiles there are.
 */


#ifndef _NGX_HTTP_JPP_NOTICE_H_INCLUDED_
#define _NGX_HTTP_JPP_NOTICE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


/* In the master, or a single process. */
void ngx_http_jpp_notice(ngx_cycle_t *cycle);


#endif /* _NGX_HTTP_JPP_NOTICE_H_INCLUDED_ */
