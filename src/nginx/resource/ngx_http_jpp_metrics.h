
/*
 * metrics: what is known about the memory of all workers, for Prometheus.
 */


#ifndef _NGX_HTTP_JPP_METRICS_H_INCLUDED_
#define _NGX_HTTP_JPP_METRICS_H_INCLUDED_


#include "ngx_http_jpp.h"


ngx_int_t ngx_http_jpp_metrics(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question);


#endif /* _NGX_HTTP_JPP_METRICS_H_INCLUDED_ */
