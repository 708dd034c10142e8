
/*
 * The configuration of a location, a server and http: what it is without a
 * directive, and what it inherits.
 */


#ifndef _NGX_HTTP_JPP_CONF_H_INCLUDED_
#define _NGX_HTTP_JPP_CONF_H_INCLUDED_


#include "ngx_http_jpp.h"


void *ngx_http_jpp_create_main_conf(ngx_conf_t *cf);
char *ngx_http_jpp_init_main_conf(ngx_conf_t *cf, void *conf);

void *ngx_http_jpp_create_srv_conf(ngx_conf_t *cf);
char *ngx_http_jpp_merge_srv_conf(ngx_conf_t *cf, void *parent, void *child);

void *ngx_http_jpp_create_loc_conf(ngx_conf_t *cf);
char *ngx_http_jpp_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child);


#endif /* _NGX_HTTP_JPP_CONF_H_INCLUDED_ */
