
/*
 * How long the iterations of an event loop keep everybody waiting: a histogram
 * that only grows.
 *
 * One writer, in its event loop; a copy may be read anywhere.
 */


#ifndef _JPP_LOOP_H_INCLUDED_
#define _JPP_LOOP_H_INCLUDED_


#include <stdint.h>


#define JPP_LOOP_BOUNDS  10


typedef struct {
    uint64_t  counts[JPP_LOOP_BOUNDS + 1];   /* up to each bound; beyond */
    uint64_t  sum;                           /* milliseconds */
    uint64_t  max;
} jpp_loop_t;


/* the bounds, in milliseconds */
extern const uint64_t  jpp_loop_bounds[JPP_LOOP_BOUNDS];


/* Count one iteration of MS milliseconds. */
void jpp_loop_add(jpp_loop_t *loop, uint64_t ms);

/* The number of iterations. */
uint64_t jpp_loop_count(const jpp_loop_t *loop);

/*
 * The bound below which PER_MILLE of the iterations stay, or the longest one,
 * if that is less; 0 if there is none.
 */
uint64_t jpp_loop_quantile(const jpp_loop_t *loop, uint64_t per_mille);


#endif /* _JPP_LOOP_H_INCLUDED_ */
