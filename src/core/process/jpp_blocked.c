
/*
 * The grammar (fs/proc/base.c of the kernel):
 *
 *     line := "running" NL
 *           | call 6*( " 0x" hex ) " 0x" rsp " 0x" pc NL
 *           | "-1 0x" rsp " 0x" pc NL
 *
 * A call is decimal, and the rest hexadecimal.
 */


#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jpp_blocked.h"
#include "jpp_scan.h"


#define JPP_BLOCKED_PATH    64

/* nine numbers of 64 bits */
#define JPP_BLOCKED_LINE    256

#define JPP_BLOCKED_RUNNING "running"


/* what select() and its like are by now */

static const long  jpp_blocked_idle[] = {
#ifdef SYS_epoll_wait
    SYS_epoll_wait,
#endif
    SYS_epoll_pwait,
#ifdef SYS_epoll_pwait2
    SYS_epoll_pwait2,
#endif
#ifdef SYS_poll
    SYS_poll,
#endif
    SYS_ppoll,
#ifdef SYS_select
    SYS_select,
#endif
    SYS_pselect6
};


void
jpp_blocked_read(pid_t tid, jpp_blocked_t *blocked)
{
    int      fd;
    char     path[JPP_BLOCKED_PATH], line[JPP_BLOCKED_LINE];
    ssize_t  n;

    memset(blocked, 0, sizeof(jpp_blocked_t));
    blocked->state = JPP_BLOCKED_UNKNOWN;

    (void) snprintf(path, sizeof(path), "/proc/self/task/%d/syscall",
                    (int) tid);

    fd = open(path, O_RDONLY|O_CLOEXEC);

    if (fd == -1) {
        return;
    }

    do {
        n = read(fd, line, sizeof(line));
    } while (n == -1 && errno == EINTR);

    (void) close(fd);

    /* an error has no length that a line may have */

    jpp_blocked_parse(line, (size_t) n, blocked);
}


static const char *
jpp_blocked_hex(const char *p, uintptr_t *value)
{
    uint64_t  word;

    if (strncmp(p, " 0x", 3) != 0) {
        return NULL;
    }

    p = jpp_scan_hex(p + 3, &word);
    *value = p != NULL ? (uintptr_t) word : 0;

    return p;
}


void
jpp_blocked_parse(const char *text, size_t len, jpp_blocked_t *blocked)
{
    char         line[JPP_BLOCKED_LINE];
    unsigned     i;
    uint64_t     call;
    const char  *p;

    memset(blocked, 0, sizeof(jpp_blocked_t));
    blocked->state = JPP_BLOCKED_UNKNOWN;

    if (len == 0 || len >= sizeof(line) || text[len - 1] != '\n') {
        return;
    }

    memcpy(line, text, len - 1);
    line[len - 1] = '\0';

    if (strcmp(line, JPP_BLOCKED_RUNNING) == 0) {
        blocked->state = JPP_BLOCKED_RUNS;
        return;
    }

    if (strncmp(line, "-1 ", 3) == 0) {
        blocked->call = -1;
        p = line + 2;

    } else {
        p = jpp_scan_dec(line, &call);

        for (i = 0; p != NULL && i < JPP_BLOCKED_ARGS; i++) {
            p = jpp_blocked_hex(p, &blocked->args[i]);
        }

        blocked->call = p != NULL && call <= INT32_MAX ? (int64_t) call : 0;
    }

    p = p != NULL ? jpp_blocked_hex(p, &blocked->rsp) : NULL;
    p = p != NULL ? jpp_blocked_hex(p, &blocked->pc) : NULL;

    if (p != NULL && *p == '\0') {
        blocked->state = JPP_BLOCKED_WAITS;
    }
}


bool
jpp_blocked_is_idle(const jpp_blocked_t *blocked)
{
    size_t  i;

    for (i = 0; i < sizeof(jpp_blocked_idle) / sizeof(long); i++) {
        if (blocked->state == JPP_BLOCKED_WAITS
            && blocked->call == jpp_blocked_idle[i])
        {
            return true;
        }
    }

    return false;
}
