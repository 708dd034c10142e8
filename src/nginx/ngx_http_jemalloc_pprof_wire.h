
/*
 * The sockets that workers talk by: their names, who is at the other end, and
 * one message at a time.  What the messages say is jpp_message.h.
 *
 * All functions are for the event loop, and none blocks.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_WIRE_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_WIRE_H_INCLUDED_


#include "ngx_http_jemalloc_pprof_table.h"

#include <sys/un.h>


/* Fill SUN with the name of the socket of PID and KEY; the length of it. */
socklen_t ngx_http_jemalloc_pprof_wire_name(struct sockaddr_un *sun,
    ngx_pid_t pid, const u_char key[NGX_HTTP_JEMALLOC_PPROF_KEY]);

/* Fill PID with the process at the other end; NGX_ERROR: of another user. */
ngx_int_t ngx_http_jemalloc_pprof_wire_process(ngx_socket_t s, ngx_pid_t *pid);

/*
 * Have HANDLER called, with a connection of DATA, when there is something to
 * be read.  NULL, and S stays open: there is no connection left.
 */
ngx_connection_t *ngx_http_jemalloc_pprof_wire_connection(ngx_socket_t s,
    ngx_event_handler_pt handler, void *data);

/* Send one message, with FD unless that is -1; as sendmsg() returns. */
ssize_t ngx_http_jemalloc_pprof_wire_send(ngx_socket_t s, const void *data,
    size_t size, int fd);

/*
 * One message of exactly SIZE bytes, and in *FD the descriptor that came with
 * it, or -1.  0 is the end; NGX_AGAIN, that there is none yet; NGX_ERROR, that
 * it was something else.
 */
ssize_t ngx_http_jemalloc_pprof_wire_receive(ngx_socket_t s, void *data,
    size_t size, int *fd);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_WIRE_H_INCLUDED_ */
