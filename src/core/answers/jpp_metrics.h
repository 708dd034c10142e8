
/*
 * Telemetry as metrics: the text of Prometheus, version 0.0.4, or OpenMetrics
 * 1.0.0.
 *
 * One table has every family with its type, unit and help.  Workers are known
 * by their index; pid and generation are in nginx_worker_info alone, so
 * that a reload starts no new series.  Workers that are exiting are one, with
 * the sum of what can be added up: not counters, whose sum would fall when one
 * of them ends.  A value that is not known has no line.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_METRICS_H_INCLUDED_
#define _JPP_METRICS_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_telemetry.h"


/*
 * Write TELEMETRY to SINK, which the caller flushes, with some memory of ARENA.
 * False: it has none, and nothing is written.
 */
bool jpp_metrics_write(const jpp_telemetry_t *telemetry, bool is_openmetrics,
    jpp_arena_t *arena, jpp_sink_t *sink);


#endif /* _JPP_METRICS_H_INCLUDED_ */
