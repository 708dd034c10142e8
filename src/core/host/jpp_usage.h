
/*
 * This process's use of the machine: memory as the kernel counts it, CPU time,
 * page faults, descriptors.  A function of its own reads the sums of the page
 * tables (smaps_rollup), because the kernel stops the process meanwhile, 5 ms
 * for each GiB.
 *
 * Bytes; what a kernel does not have is JPP_NONE.  No allocation; any
 * thread.
 */


#ifndef _JPP_USAGE_H_INCLUDED_
#define _JPP_USAGE_H_INCLUDED_


#include "jpp_keys.h"


/*
 * The names of the values, in the order of their output: X(name), one uint64_t
 * each.
 */

#define JPP_USAGE_STATUS(X)                                                   \
    X(peak_size, "VmPeak")                                                    \
    X(size, "VmSize")                                                         \
    X(locked, "VmLck")                                                        \
    X(peak, "VmHWM")                                                          \
    X(rss, "VmRSS")                                                           \
    X(rss_anon, "RssAnon")                                                    \
    X(rss_file, "RssFile")                                                    \
    X(rss_shmem, "RssShmem")                                                  \
    X(page_tables, "VmPTE")                                                   \
    X(swap, "VmSwap")                                                         \
    X(threads, "Threads")                                                     \
    X(voluntary_switches, "voluntary_ctxt_switches")                          \
    X(involuntary_switches, "nonvoluntary_ctxt_switches")

#define JPP_USAGE_OTHER(X)                                                    \
    X(minor_faults)                                                           \
    X(major_faults)                                                           \
    X(user_us)                                                                \
    X(system_us)                                                              \
    X(private)                                                                \
    X(fds)                                                                    \
    X(max_fds)                                                                \
    X(oom_score)


typedef struct {
    JPP_USAGE_STATUS(JPP_KEYS_FIELD)
    JPP_USAGE_OTHER(JPP_KEYS_FIELD)
    int64_t  oom_score_adj;            /* -1000 .. 1000; 0 if unreadable */
} jpp_usage_t;


/* the text of smaps_rollup, some 800 bytes */
#define JPP_USAGE_SMAPS  4096


/* Fill USAGE for this process. */
void jpp_usage_read(jpp_usage_t *usage);

/* The same with nothing but what PATH, /proc/self/status, has: its memory. */
void jpp_usage_memory(jpp_usage_t *usage, const char *path);

/*
 * The bytes of pages that no other process has, as the page tables of PID say,
 * or with 0 of this process; JPP_NONE: unreadable.  The kernel needs 5 ms for
 * each GiB, and a process that maps memory meanwhile waits.
 */
uint64_t jpp_usage_private(int64_t pid);

/*
 * The bytes that the kernel holds for the sockets among N_FDS open descriptors,
 * and *N of how many: they count for the cgroup, and in no process.  A
 * descriptor that is closed meanwhile is left out.
 */
uint64_t jpp_sockets_bytes(uint64_t n_fds, uint64_t *n);


/*
 * What the kernel says about another process: whether it runs, waits or is
 * stopped, where, and how much CPU time it has used.  This explains why a
 * worker does not answer, and distinguishes a process from a later one with
 * the same pid.
 *
 * Reads small files of /proc/PID, which takes some microseconds and never waits
 * for the process.  No allocation; any thread.
 */

/* the longest sentence of jpp_process_say() */
#define JPP_PROCESS_TEXT   192

/* a function of the kernel */
#define JPP_PROCESS_WCHAN  48


typedef struct {
    char        state;         /* R, S, D, T, t, Z, X ... as in proc(5) */
    uint64_t    cpu_ms;        /* user and system time of all threads */
    uint64_t    started;       /* clock ticks from boot to its start */
    char        wchan[JPP_PROCESS_WCHAN];      /* "" if it is secret */
} jpp_process_t;


/* Fill PROCESS; false if PID is not a process, or /proc does not show it. */
bool jpp_process_read(int64_t pid, jpp_process_t *process);

/* The bytes of anonymous memory that PID has in RAM; JPP_NONE: unreadable. */
uint64_t jpp_process_anon(int64_t pid);

/*
 * Fill PROCESS, but for wchan, from the LEN bytes of /proc/PID/stat at TEXT;
 * false if they are not such a line.
 */
bool jpp_process_parse(const char *text, size_t len, jpp_process_t *process);

/*
 * Write to TEXT, which is the result, what keeps a process from answering: "it
 * is stopped, by a signal or a debugger".  It was BEFORE, and is NOW, MS
 * milliseconds later.
 */
const char *jpp_process_say(const jpp_process_t *before,
    const jpp_process_t *now, uint64_t ms, char text[JPP_PROCESS_TEXT]);


#endif /* _JPP_USAGE_H_INCLUDED_ */
