
/*
 * Questions to workers: one connection for each.
 *
 * Every worker listens on an abstract unix socket of its own.  To ask one,
 * connect, check with the kernel that it is the process of the table and of
 * our user, and send the question with the file that the dump is to go to.
 * One that was killed is an end of file at once, one that is stuck is the
 * asker's deadline, and an answer cannot be of an older question.
 *
 * A worker asks itself in the same way, by a pair of sockets.  What comes from
 * a peer is unpacked as if it were hostile (jpp_message.h).  All functions are
 * for the event loop.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_PEERS_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_PEERS_H_INCLUDED_


#include "ngx_http_jemalloc_pprof.h"
#include "ngx_http_jemalloc_pprof_table.h"

#include "jpp_message.h"


typedef struct ngx_http_jemalloc_pprof_peer_s  ngx_http_jemalloc_pprof_peer_t;

/* The answer is there, or that there will be none: peer->reply.err says why. */
typedef void (*ngx_http_jemalloc_pprof_replied_pt)(
    ngx_http_jemalloc_pprof_peer_t *peer);


/* A question to one worker, in the memory of whoever asks. */
struct ngx_http_jemalloc_pprof_peer_s {
    ngx_http_jemalloc_pprof_row_t         row;
    jpp_message_reply_t                   reply;
    int                                   baseline;    /* -1: none */
    ngx_http_jemalloc_pprof_replied_pt    replied;
    void                                 *data;
    ngx_connection_t                     *connection;
};


/*
 * Ask the worker of PEER's row, which may be this one; FD is where a dump is to
 * go, -1 where none is.  NGX_OK: replied will be called.  NGX_ERROR, NGX_AGAIN:
 * it will not, the reply's err says why, and nothing is open; with NGX_AGAIN
 * the worker accepts nothing now, and may be asked again with the same PEER.
 */
ngx_int_t ngx_http_jemalloc_pprof_peer_ask(
    ngx_http_jemalloc_pprof_peer_t *peer,
    const jpp_message_question_t *question, int fd);

/* Stop waiting, and close what came.  Allowed at any time, before ask too. */
void ngx_http_jemalloc_pprof_peer_close(ngx_http_jemalloc_pprof_peer_t *peer);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_PEERS_H_INCLUDED_ */
