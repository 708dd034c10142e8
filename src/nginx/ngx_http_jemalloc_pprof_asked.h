
/*
 * What this worker is asked by others: it listens on a socket of its own, works
 * on a question in its background thread, and answers, with its baseline.
 *
 * Nothing is believed of who asks but what the kernel says: that it is of our
 * user, and a process of the table.  All functions are for the event loop.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_ASKED_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_ASKED_H_INCLUDED_


#include "ngx_http_jemalloc_pprof.h"
#include "ngx_http_jemalloc_pprof_table.h"


/*
 * Once per worker: listen.  KEY names the socket.  NGX_ERROR, which was logged:
 * this worker is reached by nobody but itself.
 */
ngx_int_t ngx_http_jemalloc_pprof_asked_listen(ngx_cycle_t *cycle,
    const u_char key[NGX_HTTP_JEMALLOC_PPROF_KEY]);

/*
 * Answer the question that will come from S, which belongs to it from here on.
 * NGX_ERROR, and S stays the caller's: there is no connection or memory left.
 */
ngx_int_t ngx_http_jemalloc_pprof_asked_create(ngx_socket_t s);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_ASKED_H_INCLUDED_ */
