
/*
 * The questions of others: this worker listens on a socket of its own, reads
 * one question from each connection, and sends the answer with its files.  What
 * it does for the answer is service.
 *
 * Nothing is believed of who asks but what the kernel says: that it runs as our
 * user, and is a process of the registry.  As many are heard at a time as there
 * may be; the others wait in the socket's queue, where they hold nothing but
 * their connection.  All functions are for the event loop.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_ANSWERER_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_ANSWERER_H_INCLUDED_


#include "ngx_http_jemalloc_pprof_registry.h"


/*
 * Once per worker: listen.  KEY names the socket.  NGX_ERROR, which was logged:
 * this worker is reached by nobody but itself.
 */
ngx_int_t ngx_http_jemalloc_pprof_answerer_listen(ngx_cycle_t *cycle,
    const u_char key[NGX_HTTP_JEMALLOC_PPROF_KEY]);

/*
 * Answer the question that will come from S, which belongs to it from here on.
 * NGX_ERROR, and S stays the caller's: there is no connection or memory left.
 */
ngx_int_t ngx_http_jemalloc_pprof_answerer_hear(ngx_socket_t s);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_ANSWERER_H_INCLUDED_ */
