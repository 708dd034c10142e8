
/*
 * Answers the questions of other workers: listens on this worker's socket,
 * reads one question from each connection, and sends the reply with its files.
 *
 * Only the kernel is trusted about the asker: that it runs as our user and is a
 * process of the registry.  A fixed number of questions is read at a time; the
 * others wait in the socket's queue, where each holds only its connection.
 *
 * The work that an answer takes is done one at a time: in the background
 * thread, or in slices on the event loop; for some types after a wait.  Whoever
 * asks the same before the work has begun gets the same answer, so many askers
 * cost a worker little more than one.  All functions are for the event loop.
 */


#ifndef _NGX_HTTP_JPP_ANSWERER_H_INCLUDED_
#define _NGX_HTTP_JPP_ANSWERER_H_INCLUDED_


#include "ngx_http_jpp_registry.h"


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


#endif /* _NGX_HTTP_JPP_ANSWERER_H_INCLUDED_ */
