
/*
 * A question to one worker: one connection for each.
 *
 * Every worker listens on an abstract unix socket of its own.  To ask one,
 * connect, check with the kernel that it is the process of the registry and of
 * our user, and send the question.  The files of the answer are the answering
 * worker's, so that a question which is never read holds nothing but its place.
 * A worker that was killed is an end of file at once, one that is stuck is the
 * asker's deadline, and an answer cannot be of an older question.
 *
 * A worker asks itself in the same way, by a pair of sockets.  What comes from
 * a peer is unpacked as if it were hostile (jpp_message.h).  All functions are
 * for the event loop.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_ASKER_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_ASKER_H_INCLUDED_


#include "ngx_http_jemalloc_pprof_registry.h"

#include "jpp_message.h"


typedef struct ngx_http_jemalloc_pprof_peer_s  ngx_http_jemalloc_pprof_peer_t;


/* A worker that is asked, in the memory of whoever asks. */
struct ngx_http_jemalloc_pprof_peer_s {
    ngx_http_jemalloc_pprof_row_t         row;
    jpp_message_reply_t                   reply;
    int                                   file;        /* -1: none */
    int                                   baseline;    /* -1: none */
    ngx_connection_t                     *connection;

    /* the answer is there, or none will come: reply.err says why */
    void                                (*replied)(
        ngx_http_jemalloc_pprof_peer_t *peer);
};


/*
 * Ask the worker of PEER's row, which may be this one.  NGX_OK: replied will be
 * called.  NGX_ERROR, NGX_AGAIN: it will not, the reply's err says why, and
 * nothing is open; with NGX_AGAIN the worker accepts nothing now, and may be
 * asked again with the same PEER.
 */
ngx_int_t ngx_http_jemalloc_pprof_ask(ngx_http_jemalloc_pprof_peer_t *peer,
    const jpp_message_question_t *question);

/* Stop waiting, and close what came.  Allowed at any time, before ask too. */
void ngx_http_jemalloc_pprof_ask_close(ngx_http_jemalloc_pprof_peer_t *peer);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_ASKER_H_INCLUDED_ */
