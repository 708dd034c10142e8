
/*
 * From the parts of a collection to the body of an answer: captures and their
 * labels, the workers that are missing, and one call of jpp_report().
 */


#ifndef _NGX_HTTP_JPP_REPORT_H_INCLUDED_
#define _NGX_HTTP_JPP_REPORT_H_INCLUDED_


#include "ngx_http_jpp_ask.h"

#include "jpp_findings.h"
#include "jpp_report.h"


typedef struct {
    const ngx_http_jpp_collection_t              *last;
    const ngx_http_jpp_collection_t   *base;     /* NULL: none */
    jpp_report_options_t                          options;
    size_t                                        max_size; /* of a dump */

    /* that stand, with room for those about the profile itself */
    jpp_finding_t                                 findings[JPP_FINDINGS];
    ngx_uint_t                                    n_findings;

    /* the result: the body is in the arena, which becomes the caller's */

    jpp_arena_t                                   arena;
    u_char                                       *body;
    char                                          unnamed[JPP_UNNAMED_TEXT];
    size_t                                        len;
    ngx_uint_t                                    n_asked;    /* at all */
    ngx_uint_t                                    n_answered;
    ngx_uint_t                                    n_unsplit;  /* of these: */
                                           /*   what they inherited counts */
                                           /*   as their own */
} ngx_http_jpp_report_t;


/* For the background thread.  The arena is initialized in any case. */
jpp_code_t ngx_http_jpp_report(ngx_http_jpp_report_t *report, jpp_err_t *err);


#endif /* _NGX_HTTP_JPP_REPORT_H_INCLUDED_ */
