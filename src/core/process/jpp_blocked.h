
/*
 * What a thread of this process does at this moment, as the kernel says: it
 * runs, or it is blocked in a system call or by a missing page.  Of a blocked
 * one the place of its stack is known, so that another thread can read it: the
 * thread itself is not disturbed, as it would be by a signal, after which many
 * system calls fail with EINTR.
 *
 * And its name, and which signals it blocks.
 *
 * The owner of /proc/self/task/.../syscall.  No state, no memory; any thread,
 * but not in handlers.
 */


#ifndef _JPP_BLOCKED_H_INCLUDED_
#define _JPP_BLOCKED_H_INCLUDED_


#include "jpp_core.h"


typedef enum {
    JPP_BLOCKED_RUNS = 0,
    JPP_BLOCKED_WAITS,
    JPP_BLOCKED_UNKNOWN       /* this kernel does not say */
} jpp_blocked_state_t;


/* of a system call */
#define JPP_BLOCKED_ARGS  6


typedef struct {
    jpp_blocked_state_t   state;
    int64_t               call;    /* the system call; -1: none, a page */
    uintptr_t             args[JPP_BLOCKED_ARGS];    /* registers, in order */
    uintptr_t             rsp;
    uintptr_t             pc;      /* behind the call; of the access */
} jpp_blocked_t;


/* Fill BLOCKED with what the thread TID of this process does. */
void jpp_blocked_read(pid_t tid, jpp_blocked_t *blocked);

/* The same from the LEN bytes of the kernel's line at TEXT. */
void jpp_blocked_parse(const char *text, size_t len, jpp_blocked_t *blocked);

/* Is it one of the system calls that an event loop waits in?  One of epoll's?
   Or does it wait for another thread? */
bool jpp_blocked_is_idle(const jpp_blocked_t *blocked);
bool jpp_blocked_is_in_epoll(const jpp_blocked_t *blocked);
bool jpp_blocked_is_in_futex(const jpp_blocked_t *blocked);

/* Does thread TID block SIGNO? */
bool jpp_blocked_masks(pid_t tid, int signo);

/* The name of thread TID, with question marks for what is not printable. */
#define JPP_BLOCKED_NAME  16

void jpp_blocked_name(pid_t tid, char name[JPP_BLOCKED_NAME]);


#endif /* _JPP_BLOCKED_H_INCLUDED_ */
