
/*
 * The stack of a loop's thread that is stuck, and what it serves: by its memory
 * where it is blocked, by a signal where it runs.  For jpp_watch alone.
 */


#ifndef _JPP_WATCH_TAKE_H_INCLUDED_
#define _JPP_WATCH_TAKE_H_INCLUDED_


#include "jpp_blocked.h"
#include "jpp_err.h"
#include "jpp_watch_loop.h"


/*
 * In the loop's thread; LOOP outlives it.  JPP_ERR_TAKEN: SIGPROF belongs to
 * somebody else, so that nothing is taken of a thread that runs.
 */
jpp_code_t jpp_watch_take_init(const jpp_watch_loop_t *loop, jpp_err_t *err);
void jpp_watch_take_exit(void);

/*
 * In the watcher's thread, which has descriptors of its own: before it looks
 * and after.  All below is for that thread, too.
 */
void jpp_watch_take_begin(void);
void jpp_watch_take_end(void);

/* Does the loop wait for events, and not somebody within it for something? */
bool jpp_watch_take_is_idle(void);

/*
 * If the thread is blocked in ITERATION, fill STALL with its stack and what it
 * serves.  Returns what it does.
 */
jpp_blocked_state_t jpp_watch_take_blocked(uint64_t iteration,
    jpp_stall_t *stall);

/* Is STALL, as it was filled there, a wait for events?  Then it is none. */
bool jpp_watch_take_was_idle(const jpp_stall_t *stall);

/* Let it record that itself, if it is still in ITERATION; false: it cannot. */
bool jpp_watch_take_ask(uint64_t iteration);

/* Has STALL, as it answered, just been waiting?  Then it is none. */
bool jpp_watch_take_is_woken(const jpp_stall_t *stall);

/* Was that taken back, because it was blocked for a moment? */
bool jpp_watch_take_is_cancelled(void);

/* Has it?  Then STALL is filled with it. */
bool jpp_watch_take_answer(uint64_t iteration, jpp_stall_t *stall);


#endif /* _JPP_WATCH_TAKE_H_INCLUDED_ */
