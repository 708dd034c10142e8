
/*
 * A question to one worker: one connection for each.
 *
 * Every worker listens on an abstract unix socket of its own.  To ask one,
 * connect, check with the kernel that it is the process of the registry and
 * runs as our user, and send the question.  The answering worker creates the
 * files of the answer, so a question that nobody reads holds only its place in
 * the queue.  A killed worker is seen at once, as end of file; a stuck one runs
 * into the asker's deadline; and no answer can belong to an older question.
 *
 * A worker queries itself in the same way, through a socket pair.  What a peer
 * sends is unpacked as if it were hostile (jpp_message.h).  All functions are
 * for the event loop.
 */


#ifndef _NGX_HTTP_JPP_ASKER_H_INCLUDED_
#define _NGX_HTTP_JPP_ASKER_H_INCLUDED_


#include "ngx_http_jpp_registry.h"

#include "jpp_message.h"


typedef struct ngx_http_jpp_peer_s  ngx_http_jpp_peer_t;


/* A worker that is asked; the asker owns the memory. */
struct ngx_http_jpp_peer_s {
    ngx_http_jpp_row_t                    row;
    jpp_message_reply_t                   reply;
    int                                   file;        /* -1: none */
    int                                   baseline;    /* -1: none */
    ngx_connection_t                     *connection;

    /* the answer has come, or none will: then reply.err says why */
    void                                (*replied)(ngx_http_jpp_peer_t *peer);
};


/*
 * Ask the worker of PEER's row, which may be this one.  NGX_OK: replied will be
 * called.  NGX_ERROR, NGX_AGAIN: it will not, the reply's err says why, and
 * nothing is open.  NGX_AGAIN: the worker accepts no connection now, and PEER
 * may be used again.
 */
ngx_int_t ngx_http_jpp_ask(ngx_http_jpp_peer_t *peer,
    const jpp_message_question_t *question);

/* Ask PEER again: if it waits for a time to pass, it answers now. */
void ngx_http_jpp_ask_again(ngx_http_jpp_peer_t *peer,
    const jpp_message_question_t *question);

/* Stop waiting, and close what came.  Allowed at any time, before ask too. */
void ngx_http_jpp_ask_close(ngx_http_jpp_peer_t *peer);


#endif /* _NGX_HTTP_JPP_ASKER_H_INCLUDED_ */
