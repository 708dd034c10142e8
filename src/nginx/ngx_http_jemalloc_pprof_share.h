
/*
 * One worker's share in what is collected: whether it was asked, what came
 * back, in memory that is counted, or why nothing did.
 *
 * At most two workers are asked at a time, by all collections there are: as
 * many dumps at once as there are workers would stall the whole server.  One
 * that does not answer in a part of the time no longer keeps others from being
 * asked.  All functions are for the event loop; an answered share may be read
 * in any thread.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_SHARE_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_SHARE_H_INCLUDED_


#include "ngx_http_jemalloc_pprof_asker.h"
#include "ngx_http_jemalloc_pprof_kinds.h"

#include "jpp_args.h"
#include "jpp_process.h"
#include "jpp_status.h"


/* how often a share is looked at that is not answered, part of the timeout */
#define NGX_HTTP_JEMALLOC_PPROF_SLICES  8


/* What is asked of whom, and what the answer may take. */
typedef struct {
    jpp_message_question_t                    question;
    jpp_selector_t                            selector;
    ngx_uint_t                                is_second; /* of a difference */
    size_t                                    max_size;  /* of a dump */
    ngx_msec_t                                timeout;
} ngx_http_jemalloc_pprof_inquiry_t;


typedef enum {
    NGX_HTTP_JEMALLOC_PPROF_SHARE_WAITING = 0,
    NGX_HTTP_JEMALLOC_PPROF_SHARE_REFUSED,   /* for now: is asked again */
    NGX_HTTP_JEMALLOC_PPROF_SHARE_ASKED,
    NGX_HTTP_JEMALLOC_PPROF_SHARE_ANSWERED,
    NGX_HTTP_JEMALLOC_PPROF_SHARE_FAILED     /* peer.reply.err says why */
} ngx_http_jemalloc_pprof_state_t;


typedef struct ngx_http_jemalloc_pprof_share_s
    ngx_http_jemalloc_pprof_share_t;


struct ngx_http_jemalloc_pprof_share_s {
    ngx_http_jemalloc_pprof_peer_t            peer;
    ngx_http_jemalloc_pprof_state_t           state;
    const ngx_http_jemalloc_pprof_inquiry_t  *inquiry;

    /* of the same inquiry, this one among them */
    ngx_http_jemalloc_pprof_share_t          *all;
    ngx_uint_t                                n_all;

    jpp_memfd_t                               dump;
    jpp_memfd_t                               inherited;   /* if it is ours */
    const jpp_memfd_t                        *baseline;    /* that, or */
                                        /* another share's; NULL: none came */
    jpp_err_t                                 baseline_err;
    dev_t                                     dev;         /* of inherited */
    ino_t                                     ino;
    size_t                                    held;        /* bytes */

    ngx_msec_t                                asked;       /* when */
    ngx_msec_t                                looked;      /* 0: never */
    jpp_process_t                             process;     /* as it was then */
    unsigned                                  has_slot:1;  /* of the two */

    /* answered or failed, not before ask returns */
    void                                    (*done)(
        ngx_http_jemalloc_pprof_share_t *share);
    void                                     *data;
};


/* Fill the zeroed SHARE of ROW's worker; done and data are the caller's. */
void ngx_http_jemalloc_pprof_share_init(ngx_http_jemalloc_pprof_share_t *share,
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    const ngx_http_jemalloc_pprof_row_t *row);

/* May another one be asked now? */
ngx_uint_t ngx_http_jemalloc_pprof_share_has_room(void);

/* Ask.  It may have failed when this returns, and done is not called then. */
void ngx_http_jemalloc_pprof_share_ask(ngx_http_jemalloc_pprof_share_t *share);

/* Time passes: ask again where it was refused, look why it is slow. */
void ngx_http_jemalloc_pprof_share_look(
    ngx_http_jemalloc_pprof_share_t *share);

/* The time is over: fail unless it is done. */
void ngx_http_jemalloc_pprof_share_give_up(
    ngx_http_jemalloc_pprof_share_t *share);

/* Is it answered, or failed? */
ngx_uint_t ngx_http_jemalloc_pprof_share_is_done(
    const ngx_http_jemalloc_pprof_share_t *share);

/* Give back all that it holds. */
void ngx_http_jemalloc_pprof_share_close(
    ngx_http_jemalloc_pprof_share_t *share);

/* Fill MISSING with the worker of SHARE, and WHY it is missing. */
void ngx_http_jemalloc_pprof_share_missing(
    const ngx_http_jemalloc_pprof_share_t *share, const char *why,
    jpp_missing_t *missing);

/*
 * Bytes that may be held with the answers to INQUIRY.  A difference that was
 * begun is to end: for its second dumps there is as much again.
 */
size_t ngx_http_jemalloc_pprof_share_cap(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_SHARE_H_INCLUDED_ */
