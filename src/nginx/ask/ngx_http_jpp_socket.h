
/*
 * The sockets between workers: their names, the identity of the peer process,
 * and one message at a time.  jpp_message.h defines the messages.
 *
 * All functions are for the event loop, and none blocks.
 */


#ifndef _NGX_HTTP_JPP_SOCKET_H_INCLUDED_
#define _NGX_HTTP_JPP_SOCKET_H_INCLUDED_


#include "ngx_http_jpp_registry.h"

#include <sys/un.h>


/* descriptors that a message may carry */
#define NGX_HTTP_JPP_FILES  2


/* Fill SUN with the name of the socket of PID and KEY; returns its length. */
socklen_t ngx_http_jpp_socket_name(struct sockaddr_un *sun, ngx_pid_t pid,
    const u_char key[NGX_HTTP_JPP_KEY]);

/* Set *PID to the process at the other end; NGX_ERROR: of another user. */
ngx_int_t ngx_http_jpp_socket_process(ngx_socket_t s, ngx_pid_t *pid);

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


#endif /* _NGX_HTTP_JPP_SOCKET_H_INCLUDED_ */
