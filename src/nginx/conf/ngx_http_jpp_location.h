
/*
 * The directive jemalloc_pprof: what a location serves, and how.
 */


#ifndef _NGX_HTTP_JPP_LOCATION_H_INCLUDED_
#define _NGX_HTTP_JPP_LOCATION_H_INCLUDED_


#include "ngx_http_jpp.h"


char *ngx_http_jpp_location(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);


#endif /* _NGX_HTTP_JPP_LOCATION_H_INCLUDED_ */
