
/*
 * What the chosen workers answer to one question, this worker among them.
 *
 * Requests that ask the same while it is being collected share one collection,
 * but for changes, and unless a change was made since it began.  One that is
 * not complete in its time is closed with what there is, and the shares that
 * are missing say why.
 *
 * A collection lives in pages of its own, is counted, and holds itself until
 * it is complete.  When its last reader leaves before that, it ends; but a
 * change is made in all workers whether anybody waits or not.  All functions
 * are for the event loop; the shares of a complete one may be read in any
 * thread.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_COLLECT_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_COLLECT_H_INCLUDED_


#include "ngx_http_jemalloc_pprof.h"
#include "ngx_http_jemalloc_pprof_share.h"


typedef struct ngx_http_jemalloc_pprof_collection_s
    ngx_http_jemalloc_pprof_collection_t;

typedef struct ngx_http_jemalloc_pprof_reader_s
    ngx_http_jemalloc_pprof_reader_t;


struct ngx_http_jemalloc_pprof_reader_s {
    ngx_queue_t                             queue;
    ngx_http_jemalloc_pprof_collection_t   *collection;    /* NULL: none */
    void                                   *data;

    void                                  (*ready)(
        ngx_http_jemalloc_pprof_reader_t *reader);

    unsigned                                is_waiting:1;
};


struct ngx_http_jemalloc_pprof_collection_s {
    ngx_queue_t                             queue;     /* of all there are */
    ngx_queue_t                             readers;   /* that wait */
    ngx_uint_t                              refs;

    ngx_http_jemalloc_pprof_inquiry_t       inquiry;
    const ngx_http_jemalloc_pprof_kind_t   *kind;
    ngx_uint_t                              n_changes; /* before it began */

    ngx_event_t                             timer;
    ngx_msec_t                              started;

    ngx_http_jemalloc_pprof_share_t        *shares;
    ngx_uint_t                              n;
    ngx_uint_t                              n_next;    /* not asked yet: from */
    ngx_uint_t                              n_done;
    ngx_uint_t                              n_answered;
    unsigned                                is_complete:1;
};


/* Fill INQUIRY with a question of KIND to the workers that ARGS select. */
void ngx_http_jemalloc_pprof_inquire(
    ngx_http_jemalloc_pprof_inquiry_t *inquiry, jpp_message_kind_t kind,
    const jpp_args_t *args, const ngx_http_jemalloc_pprof_loc_conf_t *conf);

/*
 * Have READER, whose ready function is set, read the answer to INQUIRY.
 * NGX_OK: ready will be called, not before this returns.  NGX_DECLINED: there
 * is no such worker.  NGX_AGAIN: it is being started.  NGX_BUSY: too much is in
 * memory.  NGX_ERROR: no memory.
 */
ngx_int_t ngx_http_jemalloc_pprof_collect(
    ngx_http_jemalloc_pprof_reader_t *reader,
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry);

/* READER needs its collection no more.  Allowed at any time. */
void ngx_http_jemalloc_pprof_collect_leave(
    ngx_http_jemalloc_pprof_reader_t *reader);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_COLLECT_H_INCLUDED_ */
