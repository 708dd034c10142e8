
/*
 * The directives: a table, and what their values may be.  That of a location
 * that serves is location, the defaults are conf.
 */


#ifndef _NGX_HTTP_JPP_DIRECTIVES_H_INCLUDED_
#define _NGX_HTTP_JPP_DIRECTIVES_H_INCLUDED_


#include "ngx_http_jpp.h"


extern ngx_command_t  ngx_http_jpp_directives[];


#endif /* _NGX_HTTP_JPP_DIRECTIVES_H_INCLUDED_ */
