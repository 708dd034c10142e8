
/*
 * What is wrong with the profiling, on the console: each problem once, with the
 * workers that have it; what failed last in each worker; and those that did not
 * answer.
 *
 * A pure function of the caller's values; any thread.
 */


#ifndef _JPP_CONSOLE_PROBLEMS_H_INCLUDED_
#define _JPP_CONSOLE_PROBLEMS_H_INCLUDED_


#include "jpp_console_parts.h"


/* Append the problems to SINK, if there are any. */
void jpp_console_problems(const jpp_fleet_t *fleet, jpp_sink_t *sink);

/* Append the last failure of each worker, if there is one. */
void jpp_console_failures(const jpp_fleet_t *fleet, jpp_sink_t *sink);

/* Append the workers that did not answer, as rows of the table of workers. */
void jpp_console_missing(const jpp_fleet_t *fleet, jpp_sink_t *sink);


#endif /* _JPP_CONSOLE_PROBLEMS_H_INCLUDED_ */
