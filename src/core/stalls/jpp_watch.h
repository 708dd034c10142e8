
/*
 * The watcher of an event loop: a thread of the same process, which checks the
 * loop once per threshold and finds iterations that last longer.  The loop
 * itself does nothing for it.
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


#include "jpp_proc.h"
#include "jpp_stall.h"


/* An event loop, as its watcher knows it.  All functions are for any thread. */
typedef struct {
    uint64_t          threshold;           /* ms, above 0 */

    uint64_t        (*iteration)(void);    /* [signal] the same number only */
                                           /*   within an iteration */
    uint64_t        (*age)(void);          /* for how long the present one */
                                           /*   lasts, ms, if it has events */
    uintptr_t         waits;               /* the function that waits for */
                                           /*   events */

    /*
     * [signal] If WORD, one of the stack's, says what is served, add that to
     * STALL; false: it does not.  Memory that may not be there is read by PEEK.
     */
    bool            (*serves)(const jpp_peek_t *peek, uintptr_t word,
                              jpp_stall_t *stall);

    /*
     * Store STALL where it outlives this process; *ID is 0 the first time, and
     * the caller's to keep.
     */
    void            (*store)(const jpp_stall_t *stall, uint64_t *id);

    jpp_stall_t       who;                 /* whose stalls: index, pid and */
                                           /*   generation */
} jpp_watch_loop_t;


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


/*
 * Say where STALL, one of this process, was: "blocked in clock_nanosleep
 * (libc.so.6), called by Perl_pp_sleep (libperl.so)" or, without a stack, why.
 * Outside signals.
 */
void jpp_where(jpp_stall_t *stall);


#endif /* _JPP_WATCH_H_INCLUDED_ */
