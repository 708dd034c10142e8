
/*
 * Reads another process's state from /proc.
 *
 * /proc/PID/stat (proc(5)): one line,
 *
 *     pid " (" comm ") " state " " field*
 *
 * where comm may hold anything, parentheses and newlines included, so that its
 * end is the last one; fields are numbers.  Counted from pid, which is 1, the
 * user's time is 14, the system's 15, and the start 22.
 */


#include "jpp_host.h"


/* room for the line, whose comm is 15 bytes at most */
#define JPP_PROCESS_LINE  1024

/* per cent of the time: a process that used more is computing */
#define JPP_PROCESS_BUSY  50


/* Why a process in this state does not answer. */

typedef struct {
    const char    *states;
    const char    *wchan;      /* how it begins; NULL: any */
    const char    *sentence;
} jpp_process_row_t;


/* the first row that fits counts */

static const jpp_process_row_t  jpp_process_rows[] = {

    { "Tt", NULL,
      "it is stopped, by a signal or a debugger" },

    { "ZXx", NULL,
      "it has ended" },

    { "D", NULL,
      "it waits for a disk or another device, and cannot be interrupted" },

    { "R", NULL,
      "it waits for a CPU" },

    { "S", "ep_poll",
      "its event loop is idle, so its background thread is still busy" },

    { "S", "do_epoll_wait",
      "its event loop is idle, so its background thread is still busy" },

    { "S", NULL,
      "it sleeps in a system call, which blocks its event loop" },

    { NULL, NULL,
      "the kernel reports no state that explains it" }
};


static size_t
jpp_process_file(int64_t pid, const char *name, char *data, size_t size)
{
    char  path[64];

    jpp_print(path, "/proc/%" PRId64 "/%s", pid, name);

    return jpp_read_text(path, data, size);
}


bool
jpp_process_read(int64_t pid, jpp_process_t *process)
{
    char    line[JPP_PROCESS_LINE];
    size_t  n;

    memset(process, 0, sizeof(jpp_process_t));

    n = jpp_process_file(pid, "stat", line, sizeof(line));

    if (!jpp_process_parse(line, n, process)) {
        return false;
    }

    (void) jpp_process_file(pid, "wchan", process->wchan,
                            sizeof(process->wchan));

    /* "0": it runs, or it is none of our business */

    if (process->wchan[0] == '0') {
        process->wchan[0] = '\0';
    }

    return true;
}


/* statm: pages of size, resident, shared with files or others, and more */

uint64_t
jpp_process_anon(int64_t pid)
{
    char      line[JPP_PROCESS_LINE];
    size_t    n;
    uint64_t  pages[3];

    n = jpp_process_file(pid, "statm", line, sizeof(line));

    if (n == 0 || line[n - 1] != '\n'
        || jpp_scan_numbers(line, "d d d ", pages) == NULL)
    {
        return JPP_NONE;
    }

    return jpp_less(pages[1], pages[2]) * (uint64_t) sysconf(_SC_PAGESIZE);
}


bool
jpp_process_parse(const char *text, size_t len, jpp_process_t *process)
{
    int          n;
    char         line[JPP_PROCESS_LINE];
    uint64_t     user, system, hz;
    const char  *name;

    name = memrchr(text, ')', len);

    if (name == NULL) {
        return false;
    }

    len = jpp_smaller(len - (size_t) (name - text), JPP_PROCESS_LINE - 1);

    memcpy(line, name, len);
    line[len] = '\0';
    n = 0;

    (void) sscanf(line, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
                  "%" SCNu64 " %" SCNu64 " %*d %*d %*d %*d %*d %*d "
                  "%" SCNu64 "%n", &process->state, &user, &system,
                  &process->started, &n);

    /* a line that was cut may have a part of the last number */

    if (n == 0 || line[n] != ' ') {
        return false;
    }

    user += system;
    hz = (uint64_t) sysconf(_SC_CLK_TCK);

    process->cpu_ms = jpp_smaller(user, UINT64_MAX / 1000) * 1000 / hz;

    return true;
}


const char *
jpp_process_say(const jpp_process_t *before, const jpp_process_t *now,
    uint64_t ms, char text[JPP_PROCESS_TEXT])
{
    uint64_t                  used;
    const jpp_process_row_t  *row;

    used = jpp_less(now->cpu_ms, before->cpu_ms);

    for (row = jpp_process_rows; row->states != NULL; row++) {

        if (strchr(row->states, now->state) != NULL && now->state != '\0'
            && (row->wchan == NULL
                || strncmp(row->wchan, now->wchan, strlen(row->wchan)) == 0))
        {
            break;
        }
    }

    (void) snprintf(text, JPP_PROCESS_TEXT, "%s (state %c%s%s",
                    used * 100 > ms * JPP_PROCESS_BUSY ? "it is computing"
                                                       : row->sentence,
                    now->state != '\0' ? now->state : '?',
                    now->wchan[0] != '\0' ? " in " : "", now->wchan);

    if (ms != 0) {
        jpp_text_add(text, JPP_PROCESS_TEXT,
                     ", %.1f s of CPU in the last %.1f s",
                     (double) used / 1000, (double) ms / 1000);
    }

    jpp_text_add(text, JPP_PROCESS_TEXT, ")");

    return text;
}
