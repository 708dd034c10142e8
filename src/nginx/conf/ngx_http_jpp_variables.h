
/*
 * Variables: what the worker that handles a request holds.  They cost nothing
 * where no configuration uses them.
 */


#ifndef _NGX_HTTP_JPP_VARIABLES_H_INCLUDED_
#define _NGX_HTTP_JPP_VARIABLES_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* At configuration: add them. */
ngx_int_t ngx_http_jpp_variables(ngx_conf_t *cf);


#endif /* _NGX_HTTP_JPP_VARIABLES_H_INCLUDED_ */
