
/*
 * What sampled counts stand for.  A pure function.
 */


#ifndef _JPP_SCALE_H_INCLUDED_
#define _JPP_SCALE_H_INCLUDED_


#include <stdint.h>


/*
 * What OBJECTS of together BYTES stand for when one byte in PERIOD was
 * sampled: VALUES[0] objects and VALUES[1] bytes, held at INT64_MAX.
 */
void jpp_scale(uint64_t period, uint64_t objects, uint64_t bytes,
    int64_t values[2]);

#endif /* _JPP_SCALE_H_INCLUDED_ */
