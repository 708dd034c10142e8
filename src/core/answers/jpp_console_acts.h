
/*
 * What can be done on the console, where control is on: a form for each change
 * that makes sense now, and the outcome of the last one.
 *
 * The forms need no script.  One that loses something is folded: the first
 * press opens it and says what, the second one does it.
 *
 * A pure function of the caller's values; any thread.
 */


#ifndef _JPP_CONSOLE_ACTS_H_INCLUDED_
#define _JPP_CONSOLE_ACTS_H_INCLUDED_


#include "jpp_console_parts.h"


/* Append the section to SINK. */
void jpp_console_acts(const jpp_console_t *console, jpp_sink_t *sink);


#endif /* _JPP_CONSOLE_ACTS_H_INCLUDED_ */
