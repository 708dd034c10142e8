
/*
 * System calls that a signal interrupts as they begin: sleeps and waits, which
 * the kernel ends with EINTR and does not begin again by itself, SA_RESTART or
 * not.
 *
 * [signal] No state.  amd64 only; elsewhere such calls end early.
 */


#ifndef _JPP_RESTART_H_INCLUDED_
#define _JPP_RESTART_H_INCLUDED_


#include <stdbool.h>


/*
 * [signal] If UCONTEXT, the third argument of a handler, is that of a thread
 * whose system call the signal has just ended, have it begin again, with the
 * same arguments: for a call that has lasted for no time to speak of.  True:
 * it will.
 *
 * The number of the call is not in UCONTEXT; it is taken from the instruction
 * before it.  Where that is another than libc has, the call ends early.
 */
bool jpp_restart(void *ucontext);


#endif /* _JPP_RESTART_H_INCLUDED_ */
