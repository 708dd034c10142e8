
/*
 * The directives that bound the memory of requests and connections, by class of
 * memory.
 *
 * Pure functions; any thread.
 */


#ifndef _JPP_DIRECTIVE_H_INCLUDED_
#define _JPP_DIRECTIVE_H_INCLUDED_


#include "jpp_pools_table.h"


#define JPP_DIRECTIVE_TEXT  128


/* What is bounded. */
typedef struct {
    jpp_pools_kind_t    kind;          /* of who holds it */
    jpp_pools_class_t   class;
    jpp_str_t           module;        /* of JPP_POOLS_MODULE */
    jpp_str_t           prefix;        /* "proxy", "fastcgi"; "": not known */
} jpp_directive_of_t;


/*
 * Write the names to TEXT, which is the result; "": there is none.  Without a
 * prefix, what proxy and fastcgi have in common: "*_buffers".
 */
const char *jpp_directive(const jpp_directive_of_t *of,
    char text[JPP_DIRECTIVE_TEXT]);

/*
 * Write "16 64k" to TEXT, which is the result: NUMBER and SIZE as nginx has
 * them; without a size, "".
 */
const char *jpp_directive_value(uint64_t number, uint64_t size,
    char text[JPP_DIRECTIVE_TEXT]);


#endif /* _JPP_DIRECTIVE_H_INCLUDED_ */
