
/*
 * Asks the chosen workers, including this worker, one question: a collection
 * with a part for each worker (collect, part).
 *
 * A part is what one worker answers, in memory that is counted, or why it did
 * not.  All collections together ask at most two workers at a time: a dump of
 * every worker at once would stall the whole server.  A worker that is slow to
 * answer gives up its turn to others, and may still answer.  For samples of
 * time all are asked at once: the time is the same.
 *
 * All functions are for the event loop; the parts of a complete collection may
 * be read in any thread.
 */


#ifndef _NGX_HTTP_JPP_ASK_H_INCLUDED_
#define _NGX_HTTP_JPP_ASK_H_INCLUDED_


#include "ngx_http_jpp.h"
#include "ngx_http_jpp_zone.h"


#include <sys/un.h>


/*
 * The table of request types between workers: how a worker answers each.
 * jpp_message.h defines the messages; part, answerer and socket send them;
 * collect and answerer schedule them.
 *
 * A new type is a row here, its functions, and its fields in jpp_message.
 */

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


/* how often an unanswered part is checked within the timeout */
#define NGX_HTTP_JPP_SLICES  8

/* dumps and answers together, as a multiple of jemalloc_pprof_max_size */
#define NGX_HTTP_JPP_TOTAL   4


typedef struct ngx_http_jpp_collection_s  ngx_http_jpp_collection_t;
typedef struct ngx_http_jpp_load_s        ngx_http_jpp_load_t;


/* A question, the workers it goes to, and the limits of the answer. */
typedef struct {
    jpp_message_question_t       question;
    jpp_selector_t               selector;
    uint64_t                     snapshot;     /* that has the answers; 0: */
                                               /*   workers give them */
    ngx_uint_t                   is_second;    /* of a difference */
    ngx_uint_t                   is_spare;     /* an answer without it is */
                                               /*   less, but is one */
    size_t                       max_size;     /* of a dump */
    ngx_msec_t                   delay;        /* before workers are asked */
    ngx_msec_t                   wait;         /* before an answer can be */
    ngx_msec_t                   timeout;      /* besides */
} ngx_http_jpp_inquiry_t;


typedef enum {
    NGX_HTTP_JPP_PART_WAITING = 0,
    NGX_HTTP_JPP_PART_REFUSED,     /* for now: try again */
    NGX_HTTP_JPP_PART_ASKED,
    NGX_HTTP_JPP_PART_ANSWERED,    /* from here on it is done */
    NGX_HTTP_JPP_PART_FAILED       /* reply.err says why */
} ngx_http_jpp_state_t;


typedef struct {
    ngx_http_jpp_row_t           row;
    ngx_http_jpp_collection_t   *collection;
    ngx_http_jpp_state_t         state;
    ngx_connection_t            *connection;   /* NULL: closed */
    jpp_message_reply_t          reply;

    jpp_memfd_t                  dump;         /* no data: no answer, or none */
                                               /*   with a file */
    jpp_memfd_t                  inherited;    /* if it is ours */
    const jpp_memfd_t           *baseline;     /* that, or another part's; */
                                               /*   NULL: none came */
    jpp_err_t                    baseline_err;
    dev_t                        dev;          /* of inherited */
    ino_t                        ino;
    size_t                       held;         /* bytes */

    ngx_msec_t                   asked;        /* when */
    ngx_msec_t                   checked;      /* 0: never */
    jpp_process_t                process;      /* what it did then, if that */
                                               /*   was looked at */
    ngx_uint_t                   slots;        /* of the two */
} ngx_http_jpp_part_t;


struct ngx_http_jpp_collection_s {
    ngx_queue_t                  queue;        /* of all collections */
    ngx_queue_t                  subscribers;  /* that wait */
    ngx_uint_t                   refs;

    ngx_http_jpp_inquiry_t       inquiry;
    const ngx_http_jpp_type_t   *type;
    ngx_uint_t                   n_changes;    /* before it began */
    ngx_http_jpp_load_t         *load;         /* of a snapshot; or NULL */

    ngx_event_t                  timer;
    ngx_msec_t                   started;

    ngx_http_jpp_part_t         *parts;
    ngx_uint_t                   n;
    ngx_uint_t                   n_next;       /* not asked yet: from it */
    ngx_uint_t                   n_done;
    ngx_uint_t                   n_answered;
    ngx_uint_t                   n_seen;       /* late ones that were looked */
                                               /*   at */
    unsigned                     is_complete:1;
};


typedef struct {
    ngx_queue_t                  queue;
    ngx_http_jpp_collection_t   *collection;   /* NULL: none */
    unsigned                     is_waiting:1;

    void                       (*ready)(void *data);
    void                        *data;
} ngx_http_jpp_subscriber_t;


/*
 * Have SUBSCRIBER, whose ready function is set, read the answer to INQUIRY.
 * NGX_OK: ready will be called, after this has returned.  NGX_DECLINED: no such
 * worker.  NGX_AGAIN: it is being started.  NGX_BUSY: the budget is used up.
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_http_jpp_collect(ngx_http_jpp_subscriber_t *subscriber,
    const ngx_http_jpp_inquiry_t *inquiry);

/*
 * This worker exits: what SUBSCRIBER waits for ends now, with what there is by
 * then.  Allowed at any time.
 */
void ngx_http_jpp_collect_hurry(ngx_http_jpp_subscriber_t *subscriber);

/* SUBSCRIBER no longer needs its collection.  Allowed at any time. */
void ngx_http_jpp_collect_leave(ngx_http_jpp_subscriber_t *subscriber);

/*
 * From an event of its own, since this ends requests: complete the collections
 * with all parts done, and ask on.
 */
void ngx_http_jpp_collect_proceed(ngx_event_t *ev);

/*
 * Set *ROWS to the workers that SELECTOR means and *N to their number; the rows
 * are valid until the next call.  NGX_DECLINED: no such worker.  NGX_AGAIN: it
 * is being started.
 */
ngx_int_t ngx_http_jpp_choose(const jpp_selector_t *selector,
    const ngx_http_jpp_row_t **rows, ngx_uint_t *n);

/*
 * Does SELECTOR mean the worker WHO, where GENERATION is the current one?
 * An index means its workers of all times.
 */
ngx_uint_t ngx_http_jpp_is_chosen(const jpp_selector_t *selector,
    const jpp_identity_t *who, ngx_uint_t generation);


/* May another worker be asked INQUIRY now? */
ngx_uint_t ngx_http_jpp_part_has_room(const ngx_http_jpp_inquiry_t *inquiry);

/* Ask the worker of PART. */
void ngx_http_jpp_part_ask(ngx_http_jpp_part_t *part);

/*
 * As time passes, while PART is not done: ask again where refused, and where it
 * is slow let others be asked and see what the worker does.
 */
void ngx_http_jpp_part_check(ngx_http_jpp_part_t *part);

/* This worker exits: others that were asked answer with what they have. */
void ngx_http_jpp_part_hurry(ngx_http_jpp_part_t *part);

/* The time is over, and PART is not done: it fails. */
void ngx_http_jpp_part_give_up(ngx_http_jpp_part_t *part);

/* Stop waiting, and free all that PART holds.  Allowed at any time. */
void ngx_http_jpp_part_close(ngx_http_jpp_part_t *part);


/* ngx_http_jpp_recorded.c */

/*
 * Load the parts of CO, which is empty, from the snapshot of its inquiry;
 * collect_proceed() goes on with it.  NGX_ERROR: no memory, or no thread.
 */
ngx_int_t ngx_http_jpp_recorded_load(ngx_http_jpp_collection_t *co);

/* CO, which has LOAD, is released. */
void ngx_http_jpp_recorded_leave(ngx_http_jpp_load_t *load);

/* In the thread: append PART, of a heap or of pools, to an archive. */
void ngx_http_jpp_recorded_add(jpp_sink_t *sink,
    const ngx_http_jpp_part_t *part, int64_t time);

/*
 * In the thread: copy the bytes of the snapshot ID to PACKED and, if OUT is not
 * NULL, unpack them there, MAX at most; and fill ABOUT.
 */
jpp_code_t ngx_http_jpp_recorded_open(const jpp_snapshots_t *snapshots,
    uint64_t id, size_t max, jpp_vec_t *packed, jpp_vec_t *out,
    jpp_snapshot_t *about, jpp_err_t *err);


/*
 * The memory that dumps and answers use in this worker: a count that bounds it,
 * however many scrapers there are and however slow.  Count LEN more bytes where
 * a dump may have MAX_SIZE; what IS_BEGUN may use as much again, so that it can
 * complete.  NGX_BUSY: there is no room, and nothing is counted.
 */
ngx_int_t ngx_http_jpp_budget_hold(size_t len, size_t max_size,
    ngx_uint_t is_begun);

/* Give LEN bytes back. */
void ngx_http_jpp_budget_release(size_t len);


/* ngx_http_jpp_answerer.c */

/*
 * Once per worker: listen.  KEY names the socket.  NGX_ERROR was logged: only
 * this worker itself can query it.
 */
ngx_int_t ngx_http_jpp_answerer_listen(ngx_cycle_t *cycle,
    const u_char key[NGX_HTTP_JPP_KEY]);

/*
 * Answer the question that will come from S, and take over S.  NGX_ERROR: no
 * connection or memory is left, and S stays the caller's.
 */
ngx_int_t ngx_http_jpp_answerer_open(ngx_socket_t s);


/* ngx_http_jpp_socket.c */

/* descriptors that a message may carry */
#define NGX_HTTP_JPP_FILES  2


/* Fill SUN with the name of the socket of PID and KEY; returns its length. */
socklen_t ngx_http_jpp_socket_name(struct sockaddr_un *sun, ngx_pid_t pid,
    const u_char key[NGX_HTTP_JPP_KEY]);

/* The process at the other end; NGX_INVALID_PID: it is another user's. */
ngx_pid_t ngx_http_jpp_socket_process(ngx_socket_t s);

/*
 * A connection with DATA for S, whose HANDLER is called when something can be
 * read.  NULL: no connection is free, and S stays open.
 */
ngx_connection_t *ngx_http_jpp_socket_connection(ngx_socket_t s,
    ngx_event_handler_pt handler, void *data);

/*
 * Send one message with the FILES that are not -1, which come first.  Returns
 * what sendmsg() returns.
 */
ssize_t ngx_http_jpp_socket_send(ngx_socket_t s, const void *data, size_t size,
    const int files[NGX_HTTP_JPP_FILES]);

/*
 * Receive one message of exactly SIZE bytes, and its descriptors in FILES, -1
 * for each that did not come: the kernel drops them if this process has none
 * free.  0: end of file.  NGX_AGAIN: nothing has come yet.  NGX_ERROR: it was
 * something else, and nothing is open.
 */
ssize_t ngx_http_jpp_socket_receive(ngx_socket_t s, void *data, size_t size,
    int files[NGX_HTTP_JPP_FILES]);

/* Close those of the FILES that are open. */
void ngx_http_jpp_socket_close(int files[NGX_HTTP_JPP_FILES]);


#endif /* _NGX_HTTP_JPP_ASK_H_INCLUDED_ */
