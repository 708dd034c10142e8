
/*
 * Makes a profile from the parts of a collection: captures with their labels,
 * missing workers, and one call of jpp_report_profile().
 */


#ifndef _NGX_HTTP_JPP_REPORT_H_INCLUDED_
#define _NGX_HTTP_JPP_REPORT_H_INCLUDED_


#include "ngx_http_jpp_ask.h"

#include "jpp_findings.h"
#include "jpp_report.h"


typedef struct {
    const ngx_http_jpp_collection_t   *last;
    const ngx_http_jpp_collection_t   *base;       /* NULL: none */
    jpp_report_options_t               options;

    /* that stand, with room for those about the profile itself */
    jpp_finding_t                      findings[JPP_FINDINGS];
    ngx_uint_t                         n_findings;

    /* the result */
    ngx_uint_t                         n_asked;    /* at all */
    ngx_uint_t                         n_answered;
    ngx_uint_t                         n_unsplit;  /* of these: what they */
                                                   /*   inherited counts as */
                                                   /*   their own */
} ngx_http_jpp_report_t;


/* In the background thread: fill VIEW; all that it has is in ARENA. */
jpp_code_t ngx_http_jpp_report(ngx_http_jpp_report_t *report,
    jpp_arena_t *arena, jpp_view_t *view, jpp_err_t *err);


#endif /* _NGX_HTTP_JPP_REPORT_H_INCLUDED_ */
