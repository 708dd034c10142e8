
/*
 * What the chosen workers answer to one question, this worker among them.
 *
 * At most two are asked at a time, by all collections there are: as many dumps
 * at once as there are workers would stall the whole server.  One that does not
 * answer in a part of the time no longer keeps others from being asked.
 * Requests that ask the same while it is being collected share one collection.
 * One that is not complete in its time is closed with what there is, and the
 * parts that are missing say why.
 *
 * A collection lives in pages of its own and is counted: it goes with the last
 * reader, but a change is made in all workers whether anybody waits or not.
 * All functions are for the event loop; the parts of a complete one may be read
 * in any thread.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_COLLECT_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_COLLECT_H_INCLUDED_


#include "ngx_http_jemalloc_pprof_peers.h"

#include "jpp_memfd.h"


typedef struct ngx_http_jemalloc_pprof_collection_s
    ngx_http_jemalloc_pprof_collection_t;

typedef struct ngx_http_jemalloc_pprof_reader_s
    ngx_http_jemalloc_pprof_reader_t;


/* What is asked of whom. */
typedef struct {
    jpp_message_question_t                  question;
    jpp_worker_kind_t                       who;
    uint64_t                                number;    /* of one worker */
    ngx_uint_t                              is_second; /* of a difference */
} ngx_http_jemalloc_pprof_inquiry_t;


/* One worker's part; peer.reply.err.code is JPP_OK where it answered. */
typedef struct {
    ngx_http_jemalloc_pprof_peer_t          peer;
    jpp_memfd_t                             dump;
    jpp_memfd_t                             inherited;   /* if it is ours */
    const jpp_memfd_t                      *baseline;    /* that, or another */
                                                         /*   part's; or NULL */
    ngx_http_jemalloc_pprof_collection_t   *collection;
    ngx_msec_t                              asked;       /* when */
    size_t                                  held;        /* bytes of memory */
    dev_t                                   dev;         /* of inherited */
    ino_t                                   ino;
    unsigned                                is_asked:1;
    unsigned                                is_refused:1;  /* and tried again */
    unsigned                                has_slot:1;    /* of the two */
    unsigned                                is_done:1;
    unsigned                                is_late:1;
    unsigned                                is_unfit:1;    /* for memory */
} ngx_http_jemalloc_pprof_part_t;


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

    jpp_arena_t                             memory;    /* it is in it, too */
    ngx_http_jemalloc_pprof_inquiry_t       inquiry;
    size_t                                  max_size;

    ngx_event_t                             timer;
    ngx_msec_t                              timeout;
    ngx_msec_t                              started;

    ngx_http_jemalloc_pprof_part_t         *parts;
    ngx_uint_t                              n;
    ngx_uint_t                              n_next;    /* not asked yet: from */
    ngx_uint_t                              n_done;
    ngx_uint_t                              n_answered;
    unsigned                                is_complete:1;
};


/*
 * Have READER, whose ready function is set, read the answer to INQUIRY.
 * NGX_OK: ready will be called, not before this returns.  NGX_DECLINED: there
 * is no such worker.  NGX_BUSY: too much is in memory.  NGX_ERROR: no memory.
 */
ngx_int_t ngx_http_jemalloc_pprof_collect(
    ngx_http_jemalloc_pprof_reader_t *reader,
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    const ngx_http_jemalloc_pprof_loc_conf_t *conf);

/* Fill MISSING with PART, which has no answer, and WHY. */
void ngx_http_jemalloc_pprof_miss(jpp_missing_t *missing,
    const ngx_http_jemalloc_pprof_part_t *part, const char *why);

/* READER needs its collection no more.  Allowed at any time. */
void ngx_http_jemalloc_pprof_collect_leave(
    ngx_http_jemalloc_pprof_reader_t *reader);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_COLLECT_H_INCLUDED_ */
