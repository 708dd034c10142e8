
/*
 * console: the page for people, at the root of a tree.  It lists the resources,
 * so it is not one of their table.
 */


#ifndef _NGX_HTTP_JPP_CONSOLE_H_INCLUDED_
#define _NGX_HTTP_JPP_CONSOLE_H_INCLUDED_


#include "ngx_http_jpp.h"


extern const ngx_http_jpp_resource_t
    ngx_http_jpp_console;


#endif /* _NGX_HTTP_JPP_CONSOLE_H_INCLUDED_ */
