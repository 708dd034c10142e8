
/*
 * The sockets between workers: their names, the identity of the peer process,
 * and one message at a time.  jpp_message.h defines the messages.
 *
 * All functions are for the event loop, and none blocks.
 */


#include "ngx_http_jpp_ask.h"


socklen_t
ngx_http_jpp_socket_name(struct sockaddr_un *sun, ngx_pid_t pid,
    const u_char key[NGX_HTTP_JPP_KEY])
{
    u_char  *p;

    ngx_memzero(sun, sizeof(struct sockaddr_un));

    sun->sun_family = AF_UNIX;

    /* the leading NUL is what makes it abstract: no file is left behind */

    p = ngx_sprintf((u_char *) sun->sun_path + 1, "jemalloc_pprof.%P.%*s", pid,
                    (size_t) NGX_HTTP_JPP_KEY, key);

    return p - (u_char *) sun;
}


ngx_pid_t
ngx_http_jpp_socket_process(ngx_socket_t s)
{
    socklen_t     len;
    struct ucred  cred;

    len = sizeof(struct ucred);

    return getsockopt(s, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0
           && len == sizeof(struct ucred) && cred.uid == geteuid()
           ? cred.pid : NGX_INVALID_PID;
}


ngx_connection_t *
ngx_http_jpp_socket_connection(ngx_socket_t s, ngx_event_handler_pt handler,
    void *data)
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

    /* no alert when the worker exits with it open */

    c->read->channel = 1;
    c->write->channel = 1;

    if (ngx_add_event(c->read, NGX_READ_EVENT, 0) != NGX_OK) {
        ngx_free_connection(c);
        return NULL;
    }

    return c;
}


ssize_t
ngx_http_jpp_socket_send(ngx_socket_t s, const void *data, size_t size,
    const int files[NGX_HTTP_JPP_FILES])
{
    size_t           n_files;
    ssize_t          n;
    struct iovec     iov;
    struct msghdr    msg;
    struct cmsghdr  *cmsg;

    union {
        struct cmsghdr  header;
        char            space[CMSG_SPACE(NGX_HTTP_JPP_FILES * sizeof(int))];
    } control;

    ngx_memzero(&msg, sizeof(struct msghdr));
    ngx_memzero(&control, sizeof(control));

    iov.iov_base = (void *) data;
    iov.iov_len = size;

    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;

    n_files = 0;

    while (n_files < NGX_HTTP_JPP_FILES && files[n_files] != -1) {
        n_files++;
    }

    if (n_files != 0) {
        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE(n_files * sizeof(int));

        cmsg = CMSG_FIRSTHDR(&msg);
        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN(n_files * sizeof(int));
        ngx_memcpy(CMSG_DATA(cmsg), files, n_files * sizeof(int));
    }

    do {
        n = sendmsg(s, &msg, MSG_NOSIGNAL|MSG_DONTWAIT);
    } while (n == -1 && ngx_errno == NGX_EINTR);

    return n;
}


ssize_t
ngx_http_jpp_socket_receive(ngx_socket_t s, void *data, size_t size,
    int files[NGX_HTTP_JPP_FILES])
{
    ssize_t          n;
    struct iovec     iov;
    struct msghdr    msg;
    struct cmsghdr  *cmsg;

    union {
        struct cmsghdr  header;
        char            space[CMSG_SPACE(NGX_HTTP_JPP_FILES * sizeof(int))];
    } control;

    ngx_memset(files, 0xff, NGX_HTTP_JPP_FILES * sizeof(int));

    ngx_memzero(&msg, sizeof(struct msghdr));
    ngx_memzero(&control, sizeof(control));

    iov.iov_base = data;
    iov.iov_len = size;

    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    msg.msg_control = &control;

    /* room for these only: the kernel closes any others */

    msg.msg_controllen = CMSG_LEN(NGX_HTTP_JPP_FILES * sizeof(int));

    do {
        n = recvmsg(s, &msg, MSG_CMSG_CLOEXEC|MSG_DONTWAIT);
    } while (n == -1 && ngx_errno == NGX_EINTR);

    if (n == -1) {

        /* a peer that leaves a question unread resets the connection */

        return ngx_errno == NGX_EAGAIN ? NGX_AGAIN
               : ngx_errno == NGX_ECONNRESET ? 0 : NGX_ERROR;
    }

    cmsg = CMSG_FIRSTHDR(&msg);

    if (cmsg != NULL && cmsg->cmsg_level == SOL_SOCKET
        && cmsg->cmsg_type == SCM_RIGHTS)
    {
        ngx_memcpy(files, CMSG_DATA(cmsg),
                   ngx_min(cmsg->cmsg_len - CMSG_LEN(0),
                           NGX_HTTP_JPP_FILES * sizeof(int)));
    }

    if (n != 0 && ((size_t) n != size || msg.msg_flags & MSG_TRUNC)) {
        ngx_http_jpp_socket_close(files);
        return NGX_ERROR;
    }

    return n;
}


void
ngx_http_jpp_socket_close(int files[NGX_HTTP_JPP_FILES])
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_HTTP_JPP_FILES; i++) {
        if (files[i] != -1) {
            (void) close(files[i]);
            files[i] = -1;
        }
    }
}
