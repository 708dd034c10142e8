
#include <string.h>

#include "jpp_metrics_values.h"
#include "jpp_status.h"


void
jpp_metrics_nginx(const jpp_telemetry_t *telemetry, jpp_metrics_nginx_t *nginx)
{
    size_t                    i;
    const jpp_fleet_t        *fleet;
    const jpp_cgroup_t       *cgroup;
    const jpp_worker_t       *worker;

    fleet = telemetry->fleet;
    cgroup = telemetry->cgroup;

    nginx->exiting = 0;
    nginx->no_status = 0;
    nginx->no_stats = 0;
    nginx->no_cgroup = cgroup == NULL;
    nginx->no_system = telemetry->system->total == JPP_NONE;

    for (i = 0; i < fleet->n; i++) {
        worker = &fleet->workers[i];

        nginx->exiting += worker->is_exiting;
        nginx->no_status += worker->activity.usage.rss == JPP_NONE;
        nginx->no_stats += worker->jemalloc.state != JPP_JEMALLOC_ABSENT
                           && !worker->has_stats;
    }

    nginx->running = fleet->n - nginx->exiting;
    nginx->missing = fleet->n_missing;
    nginx->generation = telemetry->generation;
    nginx->loaded = (uint64_t) telemetry->loaded;
    nginx->unclean_exits = telemetry->unclean_exits;
    nginx->limit = cgroup != NULL ? cgroup->levels[0].limit : JPP_NONE;
    nginx->high = cgroup != NULL ? cgroup->levels[0].high : JPP_NONE;
}


static void
jpp_metrics_worker(const jpp_telemetry_t *telemetry,
    const jpp_worker_t *worker, jpp_metrics_worker_t *values)
{
    int                         in_step;
    const jpp_stats_t          *stats;
    const jpp_sampler_state_t  *sampler;

    sampler = &worker->sampler;

    memset(values, 0xff, sizeof(jpp_metrics_worker_t));

    values->activity = worker->activity;
    values->started = (uint64_t) worker->started;

    if (worker->has_stats) {
        stats = &worker->stats;

        values->stats = *stats;
        values->mallocs = jpp_stats_add(stats->small_mallocs,
                                        stats->large_mallocs);
        values->frees = jpp_stats_add(stats->small_frees, stats->large_frees);
        values->purged = jpp_stats_add(stats->dirty_purged,
                                       stats->muzzy_purged);
    }

    if (worker->jemalloc.state > JPP_JEMALLOC_OFF) {
        values->prof_active = worker->jemalloc.active;
        values->interval = (uint64_t) 1 << worker->jemalloc.lg_sample;
    }

    in_step = jpp_status_in_step(worker, telemetry->fleet->wanted);

    if (in_step != -1) {
        values->in_step = (uint64_t) in_step;
    }

    values->sampler = sampler->is_on;

    if (sampler->is_on) {
        values->sampler_interval = (uint64_t) 1 << sampler->lg_sample;
        values->sampler_samples = sampler->samples;
        values->sampler_live = sampler->live;
        values->sampler_dropped = sampler->dropped_live
                                  + sampler->dropped_sites;
        values->sampler_cut = sampler->cut;
        values->sampler_bytes = sampler->bytes;
    }
}


/* numbers that no worker has stay unknown */

static void
jpp_metrics_add(jpp_metrics_worker_t *sums, const jpp_metrics_worker_t *values)
{
    size_t           i;
    uint64_t        *sum;
    const uint64_t  *value;

    sum = (uint64_t *) (void *) sums;
    value = (const uint64_t *) (const void *) values;

    for (i = 0; i < sizeof(jpp_metrics_worker_t) / sizeof(uint64_t); i++) {

        if (value[i] != JPP_NONE) {
            sum[i] = sum[i] == JPP_NONE ? value[i] : sum[i] + value[i];
        }
    }
}


void
jpp_metrics_workers(const jpp_telemetry_t *telemetry,
    jpp_metrics_worker_t *workers, jpp_metrics_worker_t *exiting)
{
    size_t              i;
    const jpp_fleet_t  *fleet;

    fleet = telemetry->fleet;

    memset(exiting, 0xff, sizeof(jpp_metrics_worker_t));

    for (i = 0; i < fleet->n; i++) {
        jpp_metrics_worker(telemetry, &fleet->workers[i], &workers[i]);

        if (fleet->workers[i].is_exiting) {
            jpp_metrics_add(exiting, &workers[i]);
        }
    }
}
