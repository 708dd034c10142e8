
/*
 * One value of a profile as a table for a terminal: per function what it
 * holds itself (flat) and with what it calls (cum), how many objects that is
 * and of which mean size, and how far off it may be; the largest first.
 *
 * A heading says what all of it rests on, and the comments of the profile
 * follow: which workers are missing matters as much here as anywhere.
 *
 * Functions that only pass memory on (jpp_passing.h) are passed over, unless
 * callers=0 is asked for: the first row is the function that wanted it.
 */


#ifndef _JPP_TOP_H_INCLUDED_
#define _JPP_TOP_H_INCLUDED_


#include "jpp_view.h"


/* Append the table of the profile of VIEW, which counts, to SINK. */
bool jpp_top_write(const jpp_view_t *view, jpp_sink_t *sink);


#endif /* _JPP_TOP_H_INCLUDED_ */
