
/*
 * The watcher of an event loop: a thread of the same process, which looks at it
 * once per threshold and finds iterations that last longer.  The loop itself
 * does nothing for that.
 *
 * Of a loop that is stuck it takes the stack at once.  If the loop's thread is
 * blocked, in a call or in the kernel, that is by its memory, and it sleeps on:
 * a signal would end most calls with EINTR, and change what is measured.  If it
 * runs, that is by SIGPROF, in its handler.
 *
 * One per process.  What begins with jpp_watch_ is for the loop's thread, and
 * outside signals.
 */


#ifndef _JPP_WATCH_H_INCLUDED_
#define _JPP_WATCH_H_INCLUDED_


#include "jpp_err.h"
#include "jpp_watch_loop.h"


/*
 * Watch LOOP, which is copied.  JPP_ERR_TAKEN: it is watched, but SIGPROF
 * belongs to somebody else, and a loop that runs has no stack.
 */
jpp_code_t jpp_watch_start(const jpp_watch_loop_t *loop, jpp_err_t *err);

/*
 * An iteration took MS, at least the threshold, and is over: fill STALL with
 * what is known, and store it.
 */
void jpp_watch_over(uint64_t ms, jpp_stall_t *stall);

/* The thread ends; at once if nothing is watched. */
void jpp_watch_stop(void);


#endif /* _JPP_WATCH_H_INCLUDED_ */
