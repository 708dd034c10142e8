
/*
 * One value of a profile as a table for a terminal: per function what it
 * holds itself (flat) and with what it calls (cum), the largest first, under
 * a heading that says how many samples all of it rests on; and the comments,
 * since who is missing matters as much here as anywhere.
 */


#ifndef _JPP_TOP_H_INCLUDED_
#define _JPP_TOP_H_INCLUDED_


#include "jpp_view.h"


/* rows of the table; what is left out is summed up in a last line */
#define JPP_TOP_ROWS  50


/* Append the table of the profile of VIEW to SINK. */
bool jpp_top_write(const jpp_view_t *view, jpp_sink_t *sink);


#endif /* _JPP_TOP_H_INCLUDED_ */
