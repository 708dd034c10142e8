
/*
 * Telemetry as metrics, in the text format of Prometheus 0.0.4 or OpenMetrics
 * 1.0.0.
 *
 * One table has every family (jpp_metrics_rows.c) with its type, unit and help.
 * Workers are known by their index; pid and generation are in nginx_worker_info
 * alone, so that a reload starts no new series.  Workers that are exiting are
 * one, with the sum of what can be added up: not counters, whose sum would fall
 * when one of them ends.  A value that is not known has no line.
 *
 * Pure functions of the caller's values; any thread.
 */


#ifndef _JPP_METRICS_H_INCLUDED_
#define _JPP_METRICS_H_INCLUDED_


#include "jpp_fleet.h"


typedef enum {
    JPP_METRICS_GAUGE = 0,
    JPP_METRICS_SIGNED,            /* a gauge, signed in spite of its type */
    JPP_METRICS_COUNTER,
    JPP_METRICS_MICRO,             /* one of microseconds, shown as seconds */
    JPP_METRICS_INFO,
    JPP_METRICS_HISTOGRAM,         /* of milliseconds, shown as seconds */
    JPP_METRICS_TYPES
} jpp_metrics_type_t;


/* what a family has values of: its structure, and its labels */
typedef enum {
    JPP_METRICS_NGINX = 0,         /* jpp_metrics_nginx_t: no label */
    JPP_METRICS_TELEMETRY,         /* jpp_telemetry_t: none */
    JPP_METRICS_WORKER,            /* jpp_metrics_worker_t: worker */
    JPP_METRICS_WORKERS,           /* and exiting ones add up to a series */
    JPP_METRICS_CGROUP,            /* jpp_cgroup_t: none */
    JPP_METRICS_SYSTEM,            /* jpp_system_t: none */
    JPP_METRICS_ZONE,              /* jpp_zone_t: zone */
    JPP_METRICS_REQUEST,           /* jpp_requested_t: resource */
    JPP_METRICS_BUILD,             /* an info of versions */
    JPP_METRICS_CGROUPS,           /* one of that of cgroups */
    JPP_METRICS_IDENTITY           /* one of each worker */
} jpp_metrics_source_t;


/*
 * A row is a series; the rows of a family follow each other, and only the first
 * has its NAME and what belongs to it.  The name of a counter is that without
 * "_total", that of an info without "_info"; units are its suffix.
 */
typedef struct {
    const char            *name;
    const char            *help;
    jpp_metrics_type_t     type;
    jpp_metrics_source_t   source;
    const char            *label;      /* besides that of the source; "" */
    size_t                 offset;     /* of a uint64_t; JPP_NONE: unknown */
} jpp_metrics_row_t;


/* the last row's NAME and LABEL are NULL */
extern const jpp_metrics_row_t  jpp_metrics_rows[];


/*
 * Values that come from more than one place of the telemetry.
 */

/* of all workers together */
typedef struct {
    uint64_t               running;
    uint64_t               exiting;
    uint64_t               missing;
    uint64_t               no_status;  /* workers whose /proc failed */
    uint64_t               no_stats;   /* whose jemalloc did not answer */
    uint64_t               no_cgroup;  /* 0, 1 */
    uint64_t               no_system;  /* 0, 1 */
} jpp_metrics_nginx_t;


/* of one; nothing but numbers, so that they can be added up */
typedef struct {
    jpp_activity_t         activity;
    jpp_stats_t            stats;
    uint64_t               started;
    uint64_t               lua[JPP_LUA_VMS];
    uint64_t               mallocs;
    uint64_t               frees;
    uint64_t               purged;
    uint64_t               prof_active;
    uint64_t               interval;
    uint64_t               in_step;
    uint64_t               sampler;    /* 0, 1 */
    uint64_t               sampler_interval;
    uint64_t               sampler_samples;
    uint64_t               sampler_live;
    uint64_t               sampler_dropped;
    uint64_t               sampler_cut;
    uint64_t               sampler_bytes;
} jpp_metrics_worker_t;


/*
 * Fill WORKERS with the values of each worker, and EXITING with the sums over
 * those that are exiting.
 */
void jpp_metrics_workers(const jpp_telemetry_t *telemetry,
    jpp_metrics_worker_t *workers, jpp_metrics_worker_t *exiting);

/*
 * Write TELEMETRY to SINK, which the caller flushes, with some memory of ARENA.
 * False: it has none, and nothing is written.
 */
bool jpp_metrics_write(const jpp_telemetry_t *telemetry, bool is_openmetrics,
    jpp_arena_t *arena, jpp_sink_t *sink);


#endif /* _JPP_METRICS_H_INCLUDED_ */
