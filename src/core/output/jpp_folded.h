
/*
 * One value of a profile as folded stacks: "root;...;leaf value" lines, as
 * flame graph tools, speedscope and the Firefox profiler read them.
 *
 * With callers=1, functions that only pass memory on (jpp_passing.h) are left
 * out.  A semicolon in a name becomes a colon.  A sample without a stack is
 * "[no stack]".  Samples whose value is 0 are left out; in a difference a
 * value may be negative.
 */


#ifndef _JPP_FOLDED_H_INCLUDED_
#define _JPP_FOLDED_H_INCLUDED_


#include "jpp_view.h"


/* Append the values of the profile of VIEW to SINK. */
bool jpp_folded_write(const jpp_view_t *view, jpp_sink_t *sink);


#endif /* _JPP_FOLDED_H_INCLUDED_ */
