
/*
 * Reads from /proc what a thread of this process is doing now.
 *
 * The grammar (fs/proc/base.c of the kernel):
 *
 *     line := "running" NL
 *           | call 6*( " 0x" hex ) " 0x" rsp " 0x" pc NL
 *           | "-1 0x" rsp " 0x" pc NL
 *
 * A call is decimal, and the rest hexadecimal.
 */


#include "jpp_backtrace.h"

#include <sys/syscall.h>


#define JPP_BLOCKED_PATH    64

/* nine numbers of 64 bits */
#define JPP_BLOCKED_LINE    256

/* what comes before the mask of blocked signals is about 700 bytes */
#define JPP_BLOCKED_STATUS  4096

#define JPP_BLOCKED_RUNNING "running"


/* the calls that event loops wait in; select() and its like are what they are
   by now */

static const struct {
    long    number;
    bool    is_epoll;
} jpp_blocked_calls[] = {
#ifdef SYS_epoll_wait
    { SYS_epoll_wait, true },
#endif
    { SYS_epoll_pwait, true },
#ifdef SYS_epoll_pwait2
    { SYS_epoll_pwait2, true },
#endif
#ifdef SYS_poll
    { SYS_poll, false },
#endif
    { SYS_ppoll, false },
#ifdef SYS_select
    { SYS_select, false },
#endif
    { SYS_pselect6, false }
};


/* The file NAME of thread TID; -1: there is none. */

static ssize_t
jpp_blocked_file(pid_t tid, const char *name, char *text, size_t size)
{
    char  path[JPP_BLOCKED_PATH];

    (void) snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int) tid,
                    name);

    return jpp_read_file(path, text, size);
}


void
jpp_blocked_read(pid_t tid, jpp_blocked_t *blocked)
{
    char     line[JPP_BLOCKED_LINE];
    ssize_t  n;

    n = jpp_blocked_file(tid, "syscall", line, sizeof(line));

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
        call = 0;
        p = jpp_scan_dec(line, &call);

        for (i = 0; p != NULL && i < JPP_BLOCKED_ARGS; i++) {
            p = jpp_blocked_hex(p, &blocked->args[i]);
        }

        blocked->call = (int64_t) call;
    }

    p = p != NULL ? jpp_blocked_hex(p, &blocked->rsp) : NULL;
    p = p != NULL ? jpp_blocked_hex(p, &blocked->pc) : NULL;

    if (p != NULL && *p == '\0') {
        blocked->state = JPP_BLOCKED_WAITS;
    }
}


static bool
jpp_blocked_is_in(const jpp_blocked_t *blocked, bool is_epoll)
{
    size_t  i;

    for (i = 0;
         i < sizeof(jpp_blocked_calls) / sizeof(jpp_blocked_calls[0]);
         i++)
    {
        if (blocked->state == JPP_BLOCKED_WAITS
            && blocked->call == jpp_blocked_calls[i].number)
        {
            return jpp_blocked_calls[i].is_epoll || !is_epoll;
        }
    }

    return false;
}


bool
jpp_blocked_is_idle(const jpp_blocked_t *blocked)
{
    return jpp_blocked_is_in(blocked, false);
}


bool
jpp_blocked_is_in_epoll(const jpp_blocked_t *blocked)
{
    return jpp_blocked_is_in(blocked, true);
}


bool
jpp_blocked_is_in_futex(const jpp_blocked_t *blocked)
{
    return blocked->call == SYS_futex;
}


bool
jpp_blocked_masks(pid_t tid, int signo)
{
    char         text[JPP_BLOCKED_STATUS];
    ssize_t      n;
    uint64_t     mask;
    const char  *p;

    static const char  key[] = "\nSigBlk:\t";

    n = jpp_blocked_file(tid, "status", text, sizeof(text) - 1);

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
jpp_blocked_name(pid_t tid, char name[JPP_BLOCKED_NAME])
{
    ssize_t  n;

    n = jpp_blocked_file(tid, "comm", name, JPP_BLOCKED_NAME - 1);
    n = n < 0 ? 0 : n;

    while (n > 0 && name[n - 1] == '\n') {
        n--;
    }

    name[n] = '\0';

    jpp_ascii_clean(name);
}
