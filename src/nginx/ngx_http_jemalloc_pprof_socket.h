
/*
 * The sockets that workers talk by: their names, who is at the other end, and
 * one message at a time.  What the messages say is jpp_message.h.
 *
 * All functions are for the event loop, and none blocks.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_SOCKET_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_SOCKET_H_INCLUDED_


#include "ngx_http_jemalloc_pprof_registry.h"

#include <sys/un.h>


/* descriptors that a message may carry */
#define NGX_HTTP_JEMALLOC_PPROF_FILES  2


/* Fill SUN with the name of the socket of PID and KEY; the length of it. */
socklen_t ngx_http_jemalloc_pprof_socket_name(struct sockaddr_un *sun,
    ngx_pid_t pid, const u_char key[NGX_HTTP_JEMALLOC_PPROF_KEY]);

/* Fill PID with the process at the other end; NGX_ERROR: of another user. */
ngx_int_t ngx_http_jemalloc_pprof_socket_process(ngx_socket_t s,
    ngx_pid_t *pid);

/*
 * Have HANDLER called, with a connection of DATA, when there is something to
 * be read.  NULL, and S stays open: there is no connection left.
 */
ngx_connection_t *ngx_http_jemalloc_pprof_socket_connection(ngx_socket_t s,
    ngx_event_handler_pt handler, void *data);

/*
 * Send one message with those of the FILES that are not -1, which are the first
 * ones; as sendmsg() returns.
 */
ssize_t ngx_http_jemalloc_pprof_socket_send(ngx_socket_t s, const void *data,
    size_t size, const int files[NGX_HTTP_JEMALLOC_PPROF_FILES]);

/*
 * One message of exactly SIZE bytes, and in FILES the descriptors that came
 * with it, -1 for those that did not: where this process has no free ones the
 * kernel drops them.  0 is the end; NGX_AGAIN, that there is none yet;
 * NGX_ERROR, that it was something else, and nothing is open.
 */
ssize_t ngx_http_jemalloc_pprof_socket_receive(ngx_socket_t s, void *data,
    size_t size, int files[NGX_HTTP_JEMALLOC_PPROF_FILES]);

/* Close those of the FILES that are open. */
void ngx_http_jemalloc_pprof_socket_close(
    int files[NGX_HTTP_JEMALLOC_PPROF_FILES]);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_SOCKET_H_INCLUDED_ */
