
/*
 * What is served: a table with a row for each resource.  A new one is a row
 * and a file with its answer.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_RESOURCES_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_RESOURCES_H_INCLUDED_


#include "ngx_http_jemalloc_pprof.h"

#include "jpp_console.h"


/* An answer as content handlers give it: what is returned to nginx. */
typedef ngx_int_t (*ngx_http_jemalloc_pprof_answer_pt)(ngx_http_request_t *r,
    const ngx_http_jemalloc_pprof_question_t *question);


struct ngx_http_jemalloc_pprof_resource_s {
    ngx_str_t                           name;
    ngx_uint_t                          methods;
    ngx_str_t                           allow;        /* the same, for 405 */
    ngx_http_jemalloc_pprof_answer_pt   answer;
    ngx_uint_t                          is_change;    /* not only read */
    const jpp_console_link_t           *links;        /* NULL: not listed */
};


/* The resource called NAME; NULL: there is none. */
const ngx_http_jemalloc_pprof_resource_t *
    ngx_http_jemalloc_pprof_resource(const ngx_str_t *name);

/*
 * The names of those that are listed, for a sentence: "heap, allocs and so on".
 * They stay until the next call.
 */
const ngx_str_t *ngx_http_jemalloc_pprof_resource_names(void);

/* Their links, as jpp_console_html() takes them, in ARENA; NULL: no memory. */
const jpp_console_link_t *ngx_http_jemalloc_pprof_resource_links(
    jpp_arena_t *arena);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_RESOURCES_H_INCLUDED_ */
