
/*
 * A profile of places as a table for a terminal: what each place holds by all
 * types, what it holds most, and where it is, root first; the largest first, by
 * the type that is shown.
 *
 * A place is a stack without what it is held for; jpp_readers.h says which
 * frames begin that.
 */


#ifndef _JPP_PLACES_H_INCLUDED_
#define _JPP_PLACES_H_INCLUDED_


#include "jpp_view.h"


/* Append the table of the profile of VIEW, which has parts, to SINK. */
bool jpp_places_write(const jpp_view_t *view, jpp_sink_t *sink);


#endif /* _JPP_PLACES_H_INCLUDED_ */
