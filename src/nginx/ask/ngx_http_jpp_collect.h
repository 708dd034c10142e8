
/*
 * What the chosen workers answer to one question, this worker among them.
 *
 * Requests that ask the same question at about the same time share one
 * collection, unless it changes something or a change was made since it began.
 * When the time is over, it is complete with the answers that have come, and
 * the missing shares say why.
 *
 * A collection lives in pages of its own, is reference counted, and holds a
 * reference to itself until it is complete.  It ends early when its last reader
 * leaves; but a change is made in all workers even if nobody waits for it.  All
 * functions are for the event loop; the shares of a complete collection may be
 * read in any thread.
 */


#ifndef _NGX_HTTP_JPP_COLLECT_H_INCLUDED_
#define _NGX_HTTP_JPP_COLLECT_H_INCLUDED_


#include "ngx_http_jpp.h"
#include "ngx_http_jpp_share.h"


/*
 * All collections that are being made or read, and which of them is looked for.
 *
 * For the event loop.
 */

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


/*
 * Have READER, whose ready function is set, read the answer to INQUIRY.
 * NGX_OK: ready will be called, after this has returned.  NGX_DECLINED: no such
 * worker.  NGX_AGAIN: it is being started.  NGX_BUSY: the budget is used up.
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_http_jpp_collect(ngx_http_jpp_reader_t *reader,
    const ngx_http_jpp_inquiry_t *inquiry);

/*
 * How many of those that answered have samples that lack what was allocated
 * while sampling was off?  CO is complete.
 */
ngx_uint_t ngx_http_jpp_collect_gaps(const ngx_http_jpp_collection_t *co);

/*
 * This worker exits: what READER waits for ends now, with what there is by
 * then.  Allowed at any time.
 */
void ngx_http_jpp_collect_hurry(ngx_http_jpp_reader_t *reader);

/* READER no longer needs its collection.  Allowed at any time. */
void ngx_http_jpp_collect_leave(ngx_http_jpp_reader_t *reader);


#endif /* _NGX_HTTP_JPP_COLLECT_H_INCLUDED_ */
