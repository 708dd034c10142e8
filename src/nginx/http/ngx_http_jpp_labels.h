
/*
 * The labels that samples of a worker have in a profile.
 */


#ifndef _NGX_HTTP_JPP_LABELS_H_INCLUDED_
#define _NGX_HTTP_JPP_LABELS_H_INCLUDED_


#include "ngx_http_jpp_registry.h"

#include "jpp_profile.h"


/* of a capture and, behind them, of what was inherited */
#define NGX_HTTP_JPP_LABELS      4
#define NGX_HTTP_JPP_INHERITED   2


/* The labels of ROW's worker, in ARENA; NULL: no memory. */
jpp_label_t *ngx_http_jpp_labels(jpp_arena_t *arena,
    const ngx_http_jpp_row_t *row);


#endif /* _NGX_HTTP_JPP_LABELS_H_INCLUDED_ */
