
/*
 * One value of a profile as a table for a terminal: what each function holds
 * itself (flat) and with what it calls (cum), the number of objects, their
 * mean size and the error; the largest first.
 *
 * A heading says what the figures rest on; the comments of the profile, such
 * as which workers are missing, follow.
 *
 * With owners=1 or by=, a table of whom the samples belong to (jpp_owned.h)
 * comes first.
 *
 * Unless callers=0 is set, functions that only pass memory on (jpp_passing.h)
 * are passed over: the rows are the functions that hold it.
 */


#ifndef _JPP_TOP_H_INCLUDED_
#define _JPP_TOP_H_INCLUDED_


#include "jpp_view.h"


/* Append the table of the profile of VIEW, which has counts, to SINK. */
bool jpp_top_write(const jpp_view_t *view, jpp_sink_t *sink);


#endif /* _JPP_TOP_H_INCLUDED_ */
