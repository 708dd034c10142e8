
/*
 * How many bytes to let pass until the next sample: exponentially distributed,
 * so that each byte has the same chance, whatever came before it.
 *
 * In integers: malloc() leaves the state of floating point alone.  Everything
 * but jpp_draw_init() is [signal] and for any thread with a state of its own.
 */


#ifndef _JPP_SAMPLES_DRAW_H_INCLUDED_
#define _JPP_SAMPLES_DRAW_H_INCLUDED_


#include <stdint.h>


/* the largest lg */
#define JPP_DRAW_LG_MAX  24


/* To be called once, before the first draw. */
void jpp_draw_init(void);

/* A draw with the mean 2^LG; advances STATE, which may start as anything. */
int64_t jpp_draw(uint64_t *state, uint32_t lg);


#endif /* _JPP_SAMPLES_DRAW_H_INCLUDED_ */
