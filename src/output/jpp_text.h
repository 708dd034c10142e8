
/*
 * A heap profile in the legacy text form, which google/pprof and jeprof both
 * read: one line a stack, return addresses, and the executable mappings.
 *
 * The readers scale.  A profile that was read raw is written with its period;
 * the estimates of any other (a difference, a merger) are written as they are,
 * with a period of 1, which no reader scales.  Values below zero that the form
 * cannot hold become 0.
 */


#ifndef _JPP_TEXT_H_INCLUDED_
#define _JPP_TEXT_H_INCLUDED_


#include "jpp_view.h"


/* Append the profile of VIEW, which is a heap's, to SINK. */
bool jpp_text_write(const jpp_view_t *view, jpp_sink_t *sink);


#endif /* _JPP_TEXT_H_INCLUDED_ */
