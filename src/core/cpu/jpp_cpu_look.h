
/*
 * What else the kernel says about a thread of this process, besides what it
 * does (jpp_blocked.h): its name, which signals it blocks, and whether its
 * sleep is one that it has chosen.
 *
 * No state, no memory from malloc(); any thread, but not in handlers.
 */


#ifndef _JPP_CPU_LOOK_H_INCLUDED_
#define _JPP_CPU_LOOK_H_INCLUDED_


#include "jpp_blocked.h"


/*
 * Does a thread that is BLOCKED wait for events, as the event loop does?  Or
 * for another thread?
 */
bool jpp_look_is_in_epoll(const jpp_blocked_t *blocked);
bool jpp_look_is_in_futex(const jpp_blocked_t *blocked);

/* Does thread TID block SIGNO? */
bool jpp_look_blocks(pid_t tid, int signo);

/* The name of thread TID, with question marks for what is not printable. */
#define JPP_LOOK_NAME  16

void jpp_look_name(pid_t tid, char name[JPP_LOOK_NAME]);


#endif /* _JPP_CPU_LOOK_H_INCLUDED_ */
