
/* memmem() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jpp_ascii.h"
#include "jpp_cpu_look.h"
#include "jpp_scan.h"


/* what comes before the mask of blocked signals is about 700 bytes */
#define JPP_LOOK_STATUS  4096


bool
jpp_look_is_in_epoll(const jpp_blocked_t *blocked)
{
#ifdef SYS_epoll_wait
    if (blocked->call == SYS_epoll_wait) {
        return true;
    }
#endif

#ifdef SYS_epoll_pwait2
    if (blocked->call == SYS_epoll_pwait2) {
        return true;
    }
#endif

    return blocked->call == SYS_epoll_pwait;
}


bool
jpp_look_is_in_futex(const jpp_blocked_t *blocked)
{
    return blocked->call == SYS_futex;
}


static ssize_t
jpp_look_read(pid_t tid, const char *name, char *text, size_t size)
{
    int      fd;
    char     path[64];
    ssize_t  n;

    (void) snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int) tid,
                    name);

    fd = open(path, O_RDONLY|O_CLOEXEC);

    if (fd == -1) {
        return -1;
    }

    n = read(fd, text, size);

    (void) close(fd);

    return n;
}


bool
jpp_look_blocks(pid_t tid, int signo)
{
    char         text[JPP_LOOK_STATUS];
    ssize_t      n;
    uint64_t     mask;
    const char  *p;

    static const char  key[] = "\nSigBlk:\t";

    n = jpp_look_read(tid, "status", text, sizeof(text) - 1);

    if (n <= 0) {
        return false;
    }

    text[n] = '\0';

    p = memmem(text, (size_t) n, key, sizeof(key) - 1);

    return p != NULL
           && jpp_scan_hex(p + sizeof(key) - 1, &mask) != NULL
           && (mask >> (signo - 1) & 1) != 0;
}


void
jpp_look_name(pid_t tid, char name[JPP_LOOK_NAME])
{
    ssize_t  n;

    n = jpp_look_read(tid, "comm", name, JPP_LOOK_NAME - 1);
    n = n < 0 ? 0 : n;

    while (n > 0 && name[n - 1] == '\n') {
        n--;
    }

    name[n] = '\0';

    jpp_ascii_clean(name);
}
