
/*
 * Memory over time on the console: a small picture for each worker, and a large
 * one of all, over the whole life of the oldest.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_CONSOLE_TIME_H_INCLUDED_
#define _JPP_CONSOLE_TIME_H_INCLUDED_


#include "jpp_console_parts.h"


/* The most that any worker of FLEET held, ever: the scale of the small ones. */
uint64_t jpp_console_most(const jpp_fleet_t *fleet);

/* Append the picture of WORKER to SINK, if it has a history. */
void jpp_console_trend(const jpp_worker_t *worker, uint64_t scale,
    jpp_sink_t *sink);

/* Append the section to SINK, if a worker has a history. */
void jpp_console_time(const jpp_console_t *console, jpp_sink_t *sink);


#endif /* _JPP_CONSOLE_TIME_H_INCLUDED_ */
