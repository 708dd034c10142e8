
/*
 * A profile as a picture: a flame graph in SVG, for tickets, mail and README.
 *
 * It has no script, its style knows light and dark, and pointing at a box says
 * what it is.  Colours are owners (jpp_tree_owner()); in a difference red is
 * more and blue is less, and what is less than two standard errors is grey.
 */


#ifndef _JPP_SVG_H_INCLUDED_
#define _JPP_SVG_H_INCLUDED_


#include "jpp_view.h"


/* What an answer with the picture has as its Content-Security-Policy. */
extern const char  jpp_svg_policy[];


/* Append the picture of the profile of VIEW, which has counts, to SINK. */
bool jpp_svg_write(const jpp_view_t *view, jpp_sink_t *sink);


#endif /* _JPP_SVG_H_INCLUDED_ */
