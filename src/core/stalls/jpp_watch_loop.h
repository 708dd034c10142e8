
/*
 * An event loop, as its watcher knows it.
 */


#ifndef _JPP_WATCH_LOOP_H_INCLUDED_
#define _JPP_WATCH_LOOP_H_INCLUDED_


#include <stdbool.h>

#include "jpp_peek.h"
#include "jpp_stall.h"


/* All functions are for any thread. */
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


#endif /* _JPP_WATCH_LOOP_H_INCLUDED_ */
