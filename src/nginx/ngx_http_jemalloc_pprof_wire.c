
/* struct ucred */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "ngx_http_jemalloc_pprof_wire.h"

#include <ngx_event.h>


socklen_t
ngx_http_jemalloc_pprof_wire_name(struct sockaddr_un *sun, ngx_pid_t pid,
    const u_char key[NGX_HTTP_JEMALLOC_PPROF_KEY])
{
    u_char  *p;

    ngx_memzero(sun, sizeof(struct sockaddr_un));

    sun->sun_family = AF_UNIX;

    /* the leading NUL is what makes it abstract: no file is left behind */

    p = ngx_sprintf((u_char *) sun->sun_path + 1, "jemalloc_pprof.%P.%*s", pid,
                    (size_t) NGX_HTTP_JEMALLOC_PPROF_KEY, key);

    return p - (u_char *) sun;
}


ngx_int_t
ngx_http_jemalloc_pprof_wire_process(ngx_socket_t s, ngx_pid_t *pid)
{
    socklen_t     len;
    struct ucred  cred;

    len = sizeof(struct ucred);

    if (getsockopt(s, SOL_SOCKET, SO_PEERCRED, &cred, &len) == -1
        || len != sizeof(struct ucred)
        || cred.uid != geteuid())
    {
        return NGX_ERROR;
    }

    *pid = cred.pid;

    return NGX_OK;
}


ngx_connection_t *
ngx_http_jemalloc_pprof_wire_connection(ngx_socket_t s,
    ngx_event_handler_pt handler, void *data)
{
    ngx_connection_t  *c;

    /* nginx would raise an alert, and close connections of clients */

    if (ngx_cycle->free_connection_n == 0) {
        return NULL;
    }

    c = ngx_get_connection(s, ngx_cycle->log);

    if (c == NULL) {
        return NULL;
    }

    c->data = data;
    c->read->handler = handler;
    c->read->log = c->log;
    c->write->log = c->log;

    /* it is nginx's own: no alert when the worker exits with it */

    c->read->channel = 1;
    c->write->channel = 1;

    if (ngx_add_event(c->read, NGX_READ_EVENT, 0) != NGX_OK) {
        ngx_free_connection(c);
        return NULL;
    }

    return c;
}


ssize_t
ngx_http_jemalloc_pprof_wire_send(ngx_socket_t s, const void *data,
    size_t size, int fd)
{
    ssize_t          n;
    struct iovec     iov;
    struct msghdr    msg;
    struct cmsghdr  *cmsg;

    union {
        struct cmsghdr  header;
        char            space[CMSG_SPACE(sizeof(int))];
    } control;

    ngx_memzero(&msg, sizeof(struct msghdr));
    ngx_memzero(&control, sizeof(control));

    iov.iov_base = (void *) data;
    iov.iov_len = size;

    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;

    if (fd != -1) {
        msg.msg_control = &control;
        msg.msg_controllen = sizeof(control);

        cmsg = CMSG_FIRSTHDR(&msg);
        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN(sizeof(int));
        ngx_memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
    }

    do {
        n = sendmsg(s, &msg, MSG_NOSIGNAL|MSG_DONTWAIT);
    } while (n == -1 && ngx_errno == NGX_EINTR);

    return n;
}


ssize_t
ngx_http_jemalloc_pprof_wire_receive(ngx_socket_t s, void *data, size_t size,
    int *fd)
{
    ssize_t          n;
    struct iovec     iov;
    struct msghdr    msg;
    struct cmsghdr  *cmsg;

    union {
        struct cmsghdr  header;
        char            space[CMSG_SPACE(sizeof(int))];
    } control;

    *fd = -1;

    ngx_memzero(&msg, sizeof(struct msghdr));
    ngx_memzero(&control, sizeof(control));

    iov.iov_base = data;
    iov.iov_len = size;

    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    msg.msg_control = &control;

    /* room for one, which CMSG_SPACE() is not: the kernel closes others */

    msg.msg_controllen = CMSG_LEN(sizeof(int));

    do {
        n = recvmsg(s, &msg, MSG_CMSG_CLOEXEC|MSG_DONTWAIT);
    } while (n == -1 && ngx_errno == NGX_EINTR);

    if (n == -1) {

        /* a reset is the end, too: of one that left a question unread */

        return ngx_errno == NGX_EAGAIN ? NGX_AGAIN
               : ngx_errno == NGX_ECONNRESET ? 0 : NGX_ERROR;
    }

    cmsg = CMSG_FIRSTHDR(&msg);

    if (cmsg != NULL && cmsg->cmsg_level == SOL_SOCKET
        && cmsg->cmsg_type == SCM_RIGHTS
        && cmsg->cmsg_len == CMSG_LEN(sizeof(int)))
    {
        ngx_memcpy(fd, CMSG_DATA(cmsg), sizeof(int));
    }

    if (n != 0 && ((size_t) n != size || msg.msg_flags & MSG_TRUNC)) {

        if (*fd != -1) {
            (void) close(*fd);
            *fd = -1;
        }

        return NGX_ERROR;
    }

    return n;
}
