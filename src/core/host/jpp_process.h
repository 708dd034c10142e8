
/*
 * What the kernel says about another process: whether it runs, waits or is
 * stopped, where, and how much CPU time it has used.  This explains why a
 * worker does not answer, and distinguishes a process from a later one with
 * the same pid.
 *
 * Reads small files of /proc/PID, which takes some microseconds and never waits
 * for the process.  No allocation; any thread.
 */


#ifndef _JPP_PROCESS_H_INCLUDED_
#define _JPP_PROCESS_H_INCLUDED_


#include "jpp_core.h"


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
 * is stopped, by a signal or a debugger".  It was BEFORE, which may be NULL,
 * and is NOW, MS milliseconds later.
 */
const char *jpp_process_say(const jpp_process_t *before,
    const jpp_process_t *now, uint64_t ms, char text[JPP_PROCESS_TEXT]);


#endif /* _JPP_PROCESS_H_INCLUDED_ */
