
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


#include "jpp_proc.h"

#include <sys/syscall.h>


#define JPP_BLOCKED_PATH    64

/* nine numbers of 64 bits */
#define JPP_BLOCKED_LINE    256

/* what comes before the mask of blocked signals is about 700 bytes */
#define JPP_BLOCKED_STATUS  4096

#define JPP_BLOCKED_RUNNING "running\n"


/* select() and its like are what they are by now */

typedef struct {
    long                call;
    jpp_blocked_for_t   waits_for;
} jpp_blocked_call_t;

static const jpp_blocked_call_t  jpp_blocked_calls[] = {
#ifdef SYS_epoll_wait
    { SYS_epoll_wait, JPP_BLOCKED_FOR_EPOLL },
#endif
    { SYS_epoll_pwait, JPP_BLOCKED_FOR_EPOLL },
#ifdef SYS_epoll_pwait2
    { SYS_epoll_pwait2, JPP_BLOCKED_FOR_EPOLL },
#endif
#ifdef SYS_poll
    { SYS_poll, JPP_BLOCKED_FOR_POLL },
#endif
    { SYS_ppoll, JPP_BLOCKED_FOR_POLL },
#ifdef SYS_select
    { SYS_select, JPP_BLOCKED_FOR_POLL },
#endif
    { SYS_pselect6, JPP_BLOCKED_FOR_POLL },
    { SYS_futex, JPP_BLOCKED_FOR_THREAD }
};


/* The file NAME of thread TID, a string; 0: there is none. */

static size_t
jpp_blocked_file(pid_t tid, const char *name, char *text, size_t size)
{
    char  path[JPP_BLOCKED_PATH];

    jpp_print(path, "/proc/self/task/%d/%s", (int) tid, name);

    return jpp_read_text(path, text, size);
}


void
jpp_blocked_read(pid_t tid, jpp_blocked_t *blocked)
{
    char    line[JPP_BLOCKED_LINE];
    size_t  len;

    len = jpp_blocked_file(tid, "syscall", line, sizeof(line));

    jpp_blocked_parse(line, len, blocked);
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
    unsigned     i;
    uint64_t     call;
    const char  *p;

    memset(blocked, 0, sizeof(jpp_blocked_t));
    blocked->state = JPP_BLOCKED_UNKNOWN;

    /* no number, and nothing that is looked for, goes past its end */

    if (len == 0 || text[len - 1] != '\n') {
        return;
    }

    if (strncmp(text, JPP_BLOCKED_RUNNING, len) == 0) {
        blocked->state = JPP_BLOCKED_RUNS;
        return;
    }

    if (strncmp(text, "-1 ", 3) == 0) {
        blocked->call = -1;
        p = text + 2;

    } else {
        call = 0;
        p = jpp_scan_dec(text, &call);

        for (i = 0; p != NULL && i < JPP_BLOCKED_ARGS; i++) {
            p = jpp_blocked_hex(p, &blocked->args[i]);
        }

        blocked->call = (int64_t) call;
    }

    p = p != NULL ? jpp_blocked_hex(p, &blocked->rsp) : NULL;
    p = p != NULL ? jpp_blocked_hex(p, &blocked->pc) : NULL;

    if (p == text + len - 1) {
        blocked->state = JPP_BLOCKED_WAITS;
    }
}


jpp_blocked_for_t
jpp_blocked_for(const jpp_blocked_t *blocked)
{
    const jpp_blocked_call_t  *row;

    jpp_each_of(row, jpp_blocked_calls) {
        if (blocked->state == JPP_BLOCKED_WAITS && blocked->call == row->call) {
            return row->waits_for;
        }
    }

    return JPP_BLOCKED_FOR_OTHER;
}


bool
jpp_blocked_masks(pid_t tid, int signo)
{
    char         text[JPP_BLOCKED_STATUS];
    uint64_t     mask;
    const char  *p;

    static const char  key[] = "\nSigBlk:\t";

    (void) jpp_blocked_file(tid, "status", text, sizeof(text));

    p = strstr(text, key);

    return p != NULL
           && jpp_scan_hex(p + strlen(key), &mask) != NULL
           && (mask >> (signo - 1) & 1) != 0;
}


void
jpp_blocked_name(pid_t tid, char name[JPP_BLOCKED_NAME])
{
    (void) jpp_blocked_file(tid, "comm", name, JPP_BLOCKED_NAME);

    name[strcspn(name, "\n")] = '\0';

    jpp_ascii_clean(name);
}
