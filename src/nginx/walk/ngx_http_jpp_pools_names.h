
/*
 * The names of a walk: all from the configuration, or nginx's own words.  Each
 * function returns the id of a name in the walk's table; 0: no memory.
 */


#ifndef _NGX_HTTP_JPP_POOLS_NAMES_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_NAMES_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/* Learn the servers there are; NGX_ERROR: no memory. */
ngx_int_t ngx_http_jpp_names_init(ngx_http_jpp_walk_t *walk);

/* The server that has CTX, which may be any pointer, or NULL. */
ngx_http_jpp_server_t *ngx_http_jpp_names_server(ngx_http_jpp_walk_t *walk,
    const void *ctx);

/* What CSCF is called: its first name, or where it is written, in TEXT. */
ngx_str_t ngx_http_jpp_server_text(const ngx_http_core_srv_conf_t *cscf,
    u_char text[JPP_POOLS_NAME]);

/* What USCF is called, in TEXT: a name, or an address, perhaps with a port. */
ngx_str_t ngx_http_jpp_upstream_text(const ngx_http_upstream_srv_conf_t *uscf,
    u_char text[JPP_POOLS_NAME]);

uint32_t ngx_http_jpp_name_server(ngx_http_jpp_walk_t *walk,
    const ngx_http_core_srv_conf_t *cscf);
uint32_t ngx_http_jpp_name_location(ngx_http_jpp_walk_t *walk,
    const ngx_http_core_loc_conf_t *clcf);

/* NULL: found at run time. */
uint32_t ngx_http_jpp_name_upstream(ngx_http_jpp_walk_t *walk,
    const ngx_http_upstream_srv_conf_t *uscf);

/* The owner of the pool of R, with the server and the location that R has. */
uint32_t ngx_http_jpp_owner_request(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r);

/*
 * The owner of what R has for its upstream; 0: while the body is read there is
 * none yet.
 */
uint32_t ngx_http_jpp_owner_upstream(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r);

uint32_t ngx_http_jpp_name_address(ngx_http_jpp_walk_t *walk,
    const ngx_listening_t *ls);

/* The HTTP module with context INDEX. */
uint32_t ngx_http_jpp_name_module(ngx_http_jpp_walk_t *walk, ngx_uint_t index);

/* That whose address TAG is; 0: it is of none. */
uint32_t ngx_http_jpp_name_tag(ngx_http_jpp_walk_t *walk, const void *tag);

/* Is there a module called NAME? */
ngx_uint_t ngx_http_jpp_names_has(const ngx_http_jpp_walk_t *walk,
    const char *name);

/* The module whose file has the function at ADDRESS. */
uint32_t ngx_http_jpp_name_code(ngx_http_jpp_walk_t *walk, uintptr_t address);

/* A string that lives as long as the program; NULL is 0. */
uint32_t ngx_http_jpp_name_word(ngx_http_jpp_walk_t *walk, const char *word);


#endif /* _NGX_HTTP_JPP_POOLS_NAMES_H_INCLUDED_ */
