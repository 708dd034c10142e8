
/*
 * One worker's share of a collection: whether the worker was asked, and what it
 * answered, in memory that is counted, or why it did not.
 *
 * All collections together ask at most two workers at a time: a dump of every
 * worker at once would stall the whole server.  A worker that is slow to answer
 * gives up its turn to others, and may still answer.  For samples of time all
 * are asked at once: the time is the same.  All functions are for the event
 * loop; an answered share may be read in any thread.
 */


#ifndef _NGX_HTTP_JPP_SHARE_H_INCLUDED_
#define _NGX_HTTP_JPP_SHARE_H_INCLUDED_


#include "ngx_http_jpp.h"
#include "ngx_http_jpp_asker.h"
#include "ngx_http_jpp_kinds.h"

#include "jpp_args.h"
#include "jpp_process.h"
#include "jpp_fleet.h"


/* how often an unanswered share is checked within the timeout */
#define NGX_HTTP_JPP_SLICES  8


/* A question, the workers it goes to, and the limits of the answer. */
typedef struct {
    jpp_message_question_t                    question;
    jpp_selector_t                            selector;
    ngx_uint_t                                is_second; /* of a difference */
    size_t                                    max_size;  /* of a dump */
    ngx_msec_t                                delay;     /* before workers */
                                                         /*   are asked */
    ngx_msec_t                                wait;      /* before an answer */
                                                         /*   can be */
    ngx_msec_t                                timeout;   /* besides */
} ngx_http_jpp_inquiry_t;


typedef enum {
    NGX_HTTP_JPP_SHARE_WAITING = 0,
    NGX_HTTP_JPP_SHARE_REFUSED,   /* for now: try again */
    NGX_HTTP_JPP_SHARE_ASKED,
    NGX_HTTP_JPP_SHARE_ANSWERED,
    NGX_HTTP_JPP_SHARE_FAILED     /* peer.reply.err says why */
} ngx_http_jpp_state_t;


typedef struct ngx_http_jpp_share_s
    ngx_http_jpp_share_t;


struct ngx_http_jpp_share_s {
    ngx_http_jpp_peer_t            peer;
    ngx_http_jpp_state_t           state;
    const ngx_http_jpp_inquiry_t  *inquiry;

    /* of the same inquiry, this one among them */
    ngx_http_jpp_share_t                     *all;
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
    ngx_msec_t                                checked;     /* 0: never */
    ngx_uint_t                                is_seen;     /* and what it did */
    jpp_process_t                             process;     /* that */
    ngx_uint_t                                slots;       /* of the two */

    /* answered or failed, not before ask returns */
    void                                    (*done)(
        ngx_http_jpp_share_t *share);
    void                                     *data;
};


/* Fill INQUIRY with a question of KIND to the workers that ARGS select. */
void ngx_http_jpp_inquiry_init(ngx_http_jpp_inquiry_t *inquiry,
    jpp_message_kind_t kind, const jpp_args_t *args,
    const ngx_http_jpp_loc_conf_t *conf);

/* Do A and B ask the same workers the same? */
ngx_uint_t ngx_http_jpp_inquiry_is_same(const ngx_http_jpp_inquiry_t *a,
    const ngx_http_jpp_inquiry_t *b);

/* Fill the zeroed SHARE of ROW's worker; done and data are the caller's. */
void ngx_http_jpp_share_init(ngx_http_jpp_share_t *share,
    const ngx_http_jpp_inquiry_t *inquiry, const ngx_http_jpp_row_t *row);

/* May another worker be asked INQUIRY now? */
ngx_uint_t ngx_http_jpp_share_has_room(const ngx_http_jpp_inquiry_t *inquiry);

/* Ask.  Where this fails at once, done is not called. */
void ngx_http_jpp_share_ask(ngx_http_jpp_share_t *share);

/*
 * As time passes: ask again where refused, and where it is slow let others be
 * asked.  Then it MAY_LOOK what the worker does, which takes reading two files;
 * 1: it has.
 */
ngx_uint_t ngx_http_jpp_share_check(ngx_http_jpp_share_t *share,
    ngx_uint_t may_look);

/* This worker exits: others that were asked answer with what they have. */
void ngx_http_jpp_share_hurry(ngx_http_jpp_share_t *share);

/* The time is over: fail unless done. */
void ngx_http_jpp_share_give_up(ngx_http_jpp_share_t *share);

/* Has it been answered, or failed? */
ngx_uint_t ngx_http_jpp_share_is_done(const ngx_http_jpp_share_t *share);

/* Free all that it holds. */
void ngx_http_jpp_share_close(ngx_http_jpp_share_t *share);

/* Fill MISSING with the worker of SHARE, and WHY it is missing. */
void ngx_http_jpp_share_missing(const ngx_http_jpp_share_t *share,
    const char *why, jpp_missing_t *missing);

/*
 * The bytes that may be held, counting the answers to INQUIRY.  The second
 * dumps of a difference may use as much again, so that it can complete.
 */
size_t ngx_http_jpp_share_cap(const ngx_http_jpp_inquiry_t *inquiry);


#endif /* _NGX_HTTP_JPP_SHARE_H_INCLUDED_ */
