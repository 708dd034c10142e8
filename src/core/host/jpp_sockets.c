
#include <errno.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include "jpp_sockets.h"


/* beyond it nobody has descriptors: the kernel's default for fs.nr_open */
#define JPP_SOCKETS_FDS  1048576


/* what is queued for sending is counted by the socket or by its packets */

static uint64_t
jpp_sockets_of(const uint32_t info[SK_MEMINFO_VARS])
{
    uint64_t  queued;

    queued = info[SK_MEMINFO_WMEM_QUEUED] > info[SK_MEMINFO_WMEM_ALLOC]
             ? info[SK_MEMINFO_WMEM_QUEUED] : info[SK_MEMINFO_WMEM_ALLOC];

    return queued + info[SK_MEMINFO_RMEM_ALLOC] + info[SK_MEMINFO_FWD_ALLOC]
           + info[SK_MEMINFO_OPTMEM] + info[SK_MEMINFO_BACKLOG];
}


uint64_t
jpp_sockets_bytes(uint64_t n_fds, uint64_t *n)
{
    int        fd;
    uint32_t   info[SK_MEMINFO_VARS] = { 0 };
    uint64_t   n_seen, bytes;
    socklen_t  len;

    *n = 0;
    bytes = 0;

    for (fd = 0, n_seen = 0; fd < JPP_SOCKETS_FDS && n_seen < n_fds; fd++) {
        len = sizeof(info);

        if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len) == 0) {
            bytes += jpp_sockets_of(info);
            n_seen++;
            ++*n;

        } else {
            n_seen += errno != EBADF;
        }
    }

    return bytes;
}
