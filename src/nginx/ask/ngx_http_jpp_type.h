
/*
 * The table of request types between workers: how a worker answers each.
 * jpp_message.h defines the messages; part, answerer and socket send them;
 * collect and answerer schedule them.
 *
 * A new type is a row here, its functions, and its fields in jpp_message.
 */


#ifndef _NGX_HTTP_JPP_TYPE_H_INCLUDED_
#define _NGX_HTTP_JPP_TYPE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "jpp_proc.h"
#include "jpp_message.h"


/* An answer in the making, for everybody who asked for it in time. */
typedef struct {
    jpp_message_question_t   question;
    jpp_message_reply_t      reply;
    jpp_memfd_t              file;         /* that goes with it; fd -1: none */
    uint64_t                 took;         /* the work, ms */
    void                    *state;        /* what the type keeps, or NULL */
    const char              *why_early;    /* the wait was short; or NULL */
} ngx_http_jpp_reply_t;


typedef struct {

    /*
     * Can WORKER, which is this one, answer at all?  If not, ERR says why, and
     * nothing else is called.  Whoever only asks for the headers of a profile
     * gets this far.  NULL: always.
     */
    jpp_code_t             (*check)(const jpp_worker_t *worker, jpp_err_t *err);

    /*
     * In the event loop, at once; NULL: nothing.  An error in the reply is the
     * answer.
     */
    void                   (*begin)(ngx_http_jpp_reply_t *reply);

    /*
     * How long after that the work starts, in ms: earlier if nginx exits, and
     * for this asker alone.  Meanwhile others are answered, and as many workers
     * are asked at the same time as there are.  NULL: there is nothing to wait
     * for.
     */
    ngx_msec_t             (*wait)(const jpp_message_question_t *question);

    /*
     * In the background thread, without nginx: where the type has a file, it is
     * open, and empty.  NULL: slice or begin does it all.
     */
    void                   (*work)(ngx_http_jpp_reply_t *reply);

    /*
     * The same in the event loop, where nginx has to stand still meanwhile: at
     * most a millisecond at a time, from an event of its own.  NGX_AGAIN: there
     * is more to do here; NGX_OK: in the thread, by work; NGX_DONE: nowhere;
     * NGX_ERROR: the reply's error says why not.
     */
    ngx_int_t              (*slice)(ngx_http_jpp_reply_t *reply);

    /* in the event loop, after the work; NULL: nothing */
    void                   (*end)(ngx_http_jpp_reply_t *reply);

    /*
     * In the event loop: free the state of REPLY, which is done, or which
     * nobody waits for any longer.  NULL: there is none.
     */
    void                   (*release)(ngx_http_jpp_reply_t *reply);

    /*
     * For sentences.  What the answer has as a file, which work or slice
     * writes; NULL: none.  And what makes that smaller, besides a larger
     * jemalloc_pprof_max_size, behind a comma; or NULL.
     */
    const char              *file;
    const char              *smaller;

    unsigned                 is_sampled:1; /* jemalloc's samples are in it: */
                                           /*   a fork inherits them, so a */
                                           /*   baseline goes with the file, */
                                           /*   and a reset forgets them */
    unsigned                 is_alone:1;   /* one worker after the other: it */
                                           /*   may be stopped meanwhile */
    unsigned                 is_brief:1;   /* the work takes milliseconds, */
                                           /*   and waits for no other */
    unsigned                 is_change:1;  /* made in all that are asked, for */
                                           /*   one asker, who may leave */
} ngx_http_jpp_type_t;


/* By jpp_message_type_t. */
extern const ngx_http_jpp_type_t  ngx_http_jpp_types[JPP_MESSAGE_TYPES];


#endif /* _NGX_HTTP_JPP_TYPE_H_INCLUDED_ */
