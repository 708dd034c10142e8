
/*
 * The configuration of http, a server and a location: defaults, and
 * inheritance.
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

extern ngx_command_t  ngx_http_jpp_directives[];

/* In the master, or a single process. */
void ngx_http_jpp_notice(ngx_cycle_t *cycle);

/* At configuration: add them. */
ngx_int_t ngx_http_jpp_variables(ngx_conf_t *cf);


#endif /* _NGX_HTTP_JPP_CONF_H_INCLUDED_ */
