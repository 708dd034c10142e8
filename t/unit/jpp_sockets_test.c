
/* What the kernel holds for sockets: those of this process. */


#include "jpp_test_main.h"

#include <sys/socket.h>

#include "jpp_host.h"


#define JPP_ALL  1000


JPP_TEST(jpp_sockets_test)
{
    int       fds[2], other;
    char      data[4096];
    uint64_t  n, before, bytes, more;

    before = jpp_sockets_bytes(JPP_ALL, &n);
    jpp_ok(n < JPP_ALL, "%" PRIu64 " sockets", n);

    other = dup(1);

    if (!jpp_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0, "two more")) {
        return;
    }

    bytes = jpp_sockets_bytes(JPP_ALL, &more);
    jpp_is_u64(more, n + 2, "are counted, and no other file is");
    jpp_is_u64(bytes, before, "and hold nothing");

    memset(data, 0, sizeof(data));
    jpp_is_i64(write(fds[0], data, sizeof(data)), sizeof(data), "what is sent");

    bytes = jpp_sockets_bytes(JPP_ALL, &more) - before;
    jpp_ok(bytes >= sizeof(data) && bytes < 1 << 20,
           "is held until it is read: %" PRIu64, bytes);

    jpp_is_i64(read(fds[1], data, sizeof(data)), sizeof(data), "it is read");
    jpp_is_u64(jpp_sockets_bytes(JPP_ALL, &more), before, "and not held");

    /* no more descriptors than there are */

    (void) jpp_sockets_bytes((uint64_t) fds[1], &more);
    jpp_is_u64(more, n + 1, "as far as is asked for");
    (void) jpp_sockets_bytes(0, &more);
    jpp_is_u64(more, 0, "none");

    /* without a size, as that of fd was before Linux 6.2 */

    jpp_is_u64(jpp_usage_fds("/proc/self/task"), 0, "one entry, but for one");
    n = jpp_usage_fds("/proc/self/fdinfo");
    jpp_ok(n < JPP_ALL && n == jpp_usage_fds("/proc/self/fd"), "all of them");
    jpp_is_u64(jpp_usage_fds("/proc/none"), JPP_NONE, "nobody knows");

    (void) close(other);
    (void) close(fds[0]);
    (void) close(fds[1]);
}
