
/*
 * What exists once, whatever the number of workers, on the console: the
 * configuration, and each zone of shared memory.
 *
 * A pure function of the caller's values; any thread.
 */


#ifndef _JPP_CONSOLE_SHARED_H_INCLUDED_
#define _JPP_CONSOLE_SHARED_H_INCLUDED_


#include "jpp_console_parts.h"


/* Append the table to SINK. */
void jpp_console_shared(const jpp_console_t *console, jpp_sink_t *sink);


#endif /* _JPP_CONSOLE_SHARED_H_INCLUDED_ */
