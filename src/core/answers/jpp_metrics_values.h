
/*
 * Values of metrics that come from more than one place of the telemetry.
 */


#ifndef _JPP_METRICS_VALUES_H_INCLUDED_
#define _JPP_METRICS_VALUES_H_INCLUDED_


#include "jpp_telemetry.h"


/* of all workers together */
typedef struct {
    uint64_t               running;
    uint64_t               exiting;
    uint64_t               missing;
    uint64_t               generation;
    uint64_t               loaded;
    uint64_t               unclean_exits;
    uint64_t               no_status;  /* workers whose /proc failed */
    uint64_t               no_stats;   /* whose jemalloc did not answer */
    uint64_t               no_cgroup;  /* 0, 1 */
    uint64_t               no_system;  /* 0, 1 */
    uint64_t               limit;      /* of the cgroup's first level */
    uint64_t               high;
} jpp_metrics_nginx_t;


/* of one; nothing but numbers, so that they can be added up */
typedef struct {
    jpp_activity_t         activity;
    jpp_stats_t            stats;
    uint64_t               started;
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


/* Fill NGINX. */
void jpp_metrics_nginx(const jpp_telemetry_t *telemetry,
    jpp_metrics_nginx_t *nginx);

/*
 * Fill WORKERS with the values of each worker, and EXITING with the sums over
 * those that are exiting.
 */
void jpp_metrics_workers(const jpp_telemetry_t *telemetry,
    jpp_metrics_worker_t *workers, jpp_metrics_worker_t *exiting);


#endif /* _JPP_METRICS_VALUES_H_INCLUDED_ */
