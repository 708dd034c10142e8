
/*
 * All collections that are being made or read, and which of them is looked for.
 *
 * For the event loop, and for collect alone.
 */


#ifndef _NGX_HTTP_JPP_COLLECTIONS_H_INCLUDED_
#define _NGX_HTTP_JPP_COLLECTIONS_H_INCLUDED_


#include "ngx_http_jpp.h"
#include "ngx_http_jpp_share.h"


typedef struct ngx_http_jpp_collection_s
    ngx_http_jpp_collection_t;

typedef struct ngx_http_jpp_reader_s
    ngx_http_jpp_reader_t;


struct ngx_http_jpp_reader_s {
    ngx_queue_t                             queue;
    ngx_http_jpp_collection_t   *collection;    /* NULL: none */
    void                                   *data;

    void                                  (*ready)(
        ngx_http_jpp_reader_t *reader);

    unsigned                                is_waiting:1;
};


struct ngx_http_jpp_collection_s {
    ngx_queue_t                             queue;     /* of all collections */
    ngx_queue_t                             readers;   /* that wait */
    ngx_uint_t                              refs;

    ngx_http_jpp_inquiry_t                  inquiry;
    const ngx_http_jpp_kind_t              *kind;
    ngx_uint_t                              n_changes; /* before it began */

    ngx_event_t                             timer;
    ngx_msec_t                              started;

    ngx_http_jpp_row_t                     *rows;
    ngx_http_jpp_share_t        *shares;    /* of these */
    ngx_uint_t                              n;
    ngx_uint_t                              n_next;    /* not asked yet, and */
                                                       /*   zeros: from */
    ngx_uint_t                              n_done;
    ngx_uint_t                              n_answered;
    ngx_uint_t                              n_seen;    /* late ones that were */
                                                       /*   looked at */
    unsigned                                is_complete:1;
};


extern ngx_queue_t  ngx_http_jpp_collections;


/* One for INQUIRY that began recently, and after the last change; or NULL. */
ngx_http_jpp_collection_t *ngx_http_jpp_collections_shared(
    const ngx_http_jpp_inquiry_t *inquiry);

/* The first with all shares done (IS_DONE), or one to be asked; or NULL. */
ngx_http_jpp_collection_t *ngx_http_jpp_collections_next(ngx_uint_t is_done);


#endif /* _NGX_HTTP_JPP_COLLECTIONS_H_INCLUDED_ */
