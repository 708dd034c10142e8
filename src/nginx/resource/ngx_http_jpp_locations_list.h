
/*
 * From what workers have answered about their pools, their heap and their CPU
 * time to the list of locations: a column each, or a note that says why not.
 */


#ifndef _NGX_HTTP_JPP_LOCATIONS_LIST_H_INCLUDED_
#define _NGX_HTTP_JPP_LOCATIONS_LIST_H_INCLUDED_


#include "ngx_http_jpp_report.h"

#include "jpp_locations.h"


/* What is asked for one column. */
typedef struct {
    jpp_locations_measure_t              measure;
    jpp_message_kind_t                   kind;
    const jpp_reader_t                  *reader;       /* NULL: of no profile */
} ngx_http_jpp_measure_t;


typedef struct {
    jpp_args_t                           args;
    size_t                               max_size;     /* of a dump */

    /* in the order of the questions; no collection: it was not asked */
    ngx_http_jpp_reader_t                readers[JPP_LOCATIONS_MEASURES];

    /* the result: the body is in the arena, which becomes the caller's */

    jpp_arena_t                          arena;
    u_char                              *body;
    size_t                               len;
} ngx_http_jpp_locations_list_t;


/* In the order of the questions. */
extern const ngx_http_jpp_measure_t
    ngx_http_jpp_measures[JPP_LOCATIONS_MEASURES];


/* In the thread: make the body of LIST. */
jpp_code_t ngx_http_jpp_locations_list(ngx_http_jpp_locations_list_t *list,
    jpp_err_t *err);


#endif /* _NGX_HTTP_JPP_LOCATIONS_LIST_H_INCLUDED_ */
