
/*
 * The handler of SIGPROF, the signal that records stacks.  Each signal carries
 * the number of its user, one of a few; any other SIGPROF is ignored.
 *
 * The handler is set while somebody has claimed it.  Where the process already
 * has another one (google_perftools_profiles), there is no claim.  Afterwards
 * the signal is ignored, not fatal as it would be by default: one may still be
 * on its way.
 *
 * A signal restarts what it interrupts (SA_RESTART), but for sleep(), poll(),
 * epoll_wait() and their like, which return early, with EINTR: a thread that
 * waits in one of them is not to be sent any.  Threads that block SIGPROF get
 * none.
 *
 * Claims are for any thread; everything marked [signal] is safe in a handler:
 * no lock, no memory, errno untouched.
 */


#ifndef _JPP_SIGNAL_H_INCLUDED_
#define _JPP_SIGNAL_H_INCLUDED_


#include "jpp_core.h"


typedef enum {
    JPP_SIGNAL_CPU = 0,
    JPP_SIGNAL_STALL,
    JPP_SIGNAL_USERS
} jpp_signal_user_t;


/* a signal's number is less */
#define JPP_SIGNAL_NUMBERS  65536


typedef struct {
    void             *ucontext;    /* what was interrupted, for */
                                   /*   jpp_backtrace_interrupted() */
    uint32_t          number;      /* the sender's */
    uint32_t          missed;      /* how often a timer has fired besides */
} jpp_signal_t;


/* [signal] In the thread that was interrupted; several may be in it. */
typedef void (*jpp_signal_pt)(const jpp_signal_t *signal);


/*
 * From now on RECEIVE gets the signals of USER.  JPP_ERR_TAKEN: SIGPROF belongs
 * to somebody else.  Claiming again changes nothing, but finds that out.
 */
jpp_code_t jpp_signal_claim(jpp_signal_user_t user, jpp_signal_pt receive,
    jpp_err_t *err);

/*
 * USER gets no more signals.  A thread may still be in its receiver until
 * jpp_signal_is_left().
 */
void jpp_signal_release(jpp_signal_user_t user);

/* Is no thread in USER's receiver?  Asked after the release. */
bool jpp_signal_is_left(jpp_signal_user_t user);

/* What a timer's sigev_value.sival_ptr is, for signals of USER. */
void *jpp_signal_value(jpp_signal_user_t user, uint32_t number);

/*
 * Send a signal of USER to thread THREAD of process PROCESS, which may be
 * another one.  USER must have claimed there, too: a process where nobody ever
 * has is ended by it.  False: errno says why.
 */
bool jpp_signal_send(pid_t process, pid_t thread, jpp_signal_user_t user,
    uint32_t number);

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


#endif /* _JPP_SIGNAL_H_INCLUDED_ */
