
/*
 * What nginx's own tables say about its functions, as hints for the core.
 */


#ifndef _NGX_HTTP_JPP_FUNCTIONS_H_INCLUDED_
#define _NGX_HTTP_JPP_FUNCTIONS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "jpp_hints.h"


/* the address of a function, or 0 */
#define ngx_http_jpp_code(function)  ((uintptr_t) (function))


typedef struct {
    jpp_arena_t      *arena;
    jpp_vec_t        *hints;       /* jpp_hint_t */
    const char       *owner;       /* of what is added; NULL: unknown */
    ngx_uint_t        failed;      /* no memory */
} ngx_http_jpp_gather_t;


/* Add every function that a table of this cycle points to. */
void ngx_http_jpp_functions(ngx_http_jpp_gather_t *gather);

/* Add the function at ADDRESS, unless that is 0, with a name of FMT. */
void ngx_http_jpp_hint(ngx_http_jpp_gather_t *gather, uintptr_t address,
    const char *fmt, ...);


#endif /* _NGX_HTTP_JPP_FUNCTIONS_H_INCLUDED_ */
