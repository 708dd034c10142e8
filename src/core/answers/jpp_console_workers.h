
/*
 * The workers on the console: a table with a row for each that was asked, those
 * of former configurations in a group of their own, and what all of them share.
 *
 * A pure function of the caller's values; any thread.
 */


#ifndef _JPP_CONSOLE_WORKERS_H_INCLUDED_
#define _JPP_CONSOLE_WORKERS_H_INCLUDED_


#include "jpp_console_parts.h"


/* Append the section to SINK. */
void jpp_console_workers(const jpp_console_t *console, jpp_sink_t *sink);


#endif /* _JPP_CONSOLE_WORKERS_H_INCLUDED_ */
