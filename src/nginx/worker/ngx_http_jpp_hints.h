
/*
 * What this process knows about its own code, as data for the symbolizer.
 */


#ifndef _NGX_HTTP_JPP_HINTS_H_INCLUDED_
#define _NGX_HTTP_JPP_HINTS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "jpp_symbolize.h"


/*
 * Fill SYMBOLS with what is loaded.  Called once in each worker, as it starts.
 * A failure costs names, or the proof that they are right, and nothing else.
 */
void ngx_http_jpp_hints(jpp_symbols_t *symbols);


#endif /* _NGX_HTTP_JPP_HINTS_H_INCLUDED_ */
