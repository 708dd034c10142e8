
/*
 * How long the iterations of an event loop took of late: the longest of the
 * last minute, and how much of it slow ones took.  jpp_loop.h has all of them.
 *
 * One writer, in its event loop, who reads it as well.
 */


#ifndef _JPP_RECENT_H_INCLUDED_
#define _JPP_RECENT_H_INCLUDED_


#include <stdint.h>


/* milliseconds: an iteration of more is a slow one */
#define JPP_RECENT_SLOW   100

/* the last minute, and what has passed of the step after it */
#define JPP_RECENT_STEP   10000
#define JPP_RECENT_STEPS  7


/* in milliseconds */
typedef struct {
    uint64_t              longest;
    uint64_t              slow;        /* slow ones, together */
} jpp_minute_t;


typedef struct {
    uint64_t              number;      /* of the step, from 1 */
    jpp_minute_t          took;
} jpp_recent_step_t;


/* all zeros: nothing so far */
typedef struct {
    jpp_recent_step_t     steps[JPP_RECENT_STEPS];
} jpp_recent_t;


/* An iteration of MS milliseconds has ended at the time NOW, in ms. */
void jpp_recent_add(jpp_recent_t *recent, uint64_t now, uint64_t ms);

/* Fill MINUTE with the last minute before NOW. */
void jpp_recent_read(const jpp_recent_t *recent, uint64_t now,
    jpp_minute_t *minute);


#endif /* _JPP_RECENT_H_INCLUDED_ */
