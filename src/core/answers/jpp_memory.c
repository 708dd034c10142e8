
#include <string.h>

#include "jpp_findings.h"
#include "jpp_memory.h"
#include "jpp_memory_detail.h"
#include "jpp_memory_ledger.h"
#include "jpp_memory_zones.h"
#include "jpp_worker.h"


#define JPP_MEMORY_ROWS(rows)  rows, sizeof(rows) / sizeof((rows)[0])


#define JPP_MEMORY_STAT(name, ...)  { #name, offsetof(jpp_stats_t, name) },

static const jpp_keys_row_t  jpp_memory_stats[] = {
    JPP_STATS_SUMS(JPP_MEMORY_STAT)
    JPP_STATS_DETAILS(JPP_MEMORY_STAT)
};


#define JPP_MEMORY_USAGE(name, ...)  { #name, offsetof(jpp_usage_t, name) },

static const jpp_keys_row_t  jpp_memory_usage[] = {
    JPP_USAGE_STATUS(JPP_MEMORY_USAGE)
    JPP_USAGE_OTHER(JPP_MEMORY_USAGE)
};


static const jpp_keys_row_t  jpp_memory_line[] = {
    { "total_us", offsetof(jpp_pressure_line_t, total) },
    { "avg10_hundredths", offsetof(jpp_pressure_line_t, avg10) },
    { "avg60_hundredths", offsetof(jpp_pressure_line_t, avg60) },
    { "avg300_hundredths", offsetof(jpp_pressure_line_t, avg300) }
};


static bool
jpp_memory_has(const jpp_memory_t *memory, jpp_field_t field)
{
    return (memory->args->values[JPP_ARG_FIELDS] & (uint32_t) 1 << field) != 0;
}


static void
jpp_memory_findings(jpp_json_t *json, const jpp_telemetry_t *telemetry)
{
    size_t         n;
    jpp_finding_t  findings[JPP_FINDINGS];

    n = jpp_findings(telemetry, findings);

    jpp_findings_json(json, findings, n);
}


/* what workers share, files and shared memory, is counted once: the most */

static bool
jpp_memory_total(jpp_json_t *json, const jpp_memory_t *memory)
{
    bool                 is_done;
    size_t               i;
    uint64_t             allocated, resident, anon, swap, file, shmem;
    const jpp_usage_t   *usage;
    const jpp_fleet_t   *fleet;
    const jpp_worker_t  *worker;

    fleet = memory->telemetry->fleet;
    allocated = resident = anon = swap = JPP_NONE;
    file = shmem = 0;

    for (i = 0; i < fleet->n; i++) {
        worker = &fleet->workers[i];
        usage = &worker->activity.usage;

        if (worker->has_stats) {
            jpp_add_known(&allocated, worker->stats.allocated);
            jpp_add_known(&resident, worker->stats.resident);
        }

        jpp_add_known(&anon, usage->rss_anon);
        jpp_add_known(&swap, usage->swap);

        if (usage->rss_file != JPP_NONE && usage->rss_file > file) {
            file = usage->rss_file;
        }

        if (usage->rss_shmem != JPP_NONE && usage->rss_shmem > shmem) {
            shmem = usage->rss_shmem;
        }
    }

    jpp_json_open(json, "total", '{');

    jpp_json_known(json, "allocated", allocated);
    jpp_json_known(json, "resident", resident);
    jpp_json_known(json, "rss_anon", anon);
    jpp_json_known(json, "swap", swap);
    jpp_json_u64(json, "rss_file_once", file);
    jpp_json_u64(json, "rss_shmem_once", shmem);

    is_done = jpp_memory_ledger_total(json, memory);

    jpp_json_close(json, '}');

    return is_done;
}


static void
jpp_memory_rows(jpp_json_t *json, const char *key, const void *values,
    const jpp_keys_row_t *rows, size_t n)
{
    size_t    i;
    uint64_t  value;

    jpp_json_open(json, key, '{');

    for (i = 0; i < n; i++) {
        memcpy(&value, (const char *) values + rows[i].offset, sizeof(value));
        jpp_json_known(json, rows[i].key, value);
    }

    jpp_json_close(json, '}');
}


static void
jpp_memory_worker(jpp_json_t *json, const jpp_worker_t *worker)
{
    char                    text[JPP_STATUS_TIME];
    const jpp_activity_t   *activity;

    activity = &worker->activity;

    jpp_json_identity(json, &worker->who);
    jpp_json_bool(json, "exiting", worker->is_exiting);
    jpp_json_str(json, "started", jpp_status_time(worker->started, text));

    if (worker->has_stats) {
        jpp_memory_rows(json, "jemalloc", &worker->stats,
                        JPP_MEMORY_ROWS(jpp_memory_stats));

    } else {
        jpp_json_null(json, "jemalloc");
    }

    jpp_memory_rows(json, "process", &activity->usage,
                    JPP_MEMORY_ROWS(jpp_memory_usage));
    jpp_json_i64(json, "oom_score_adj", activity->usage.oom_score_adj);

    jpp_json_open(json, "nginx", '{');

    jpp_json_u64(json, "connections", activity->connections);
    jpp_json_u64(json, "connections_used", jpp_activity_used(activity));

    jpp_json_open(json, "loop", '{');

    jpp_json_u64(json, "iterations", jpp_loop_count(&activity->loop));
    jpp_json_u64(json, "p50_ms", jpp_loop_quantile(&activity->loop, 500));
    jpp_json_u64(json, "p99_ms", jpp_loop_quantile(&activity->loop, 990));
    jpp_json_u64(json, "max_ms", activity->loop.max);
    jpp_json_u64(json, "last_minute_max_ms", activity->minute.longest);
    jpp_json_u64(json, "last_minute_slow_ms", activity->minute.slow);

    jpp_json_close(json, '}');
    jpp_json_close(json, '}');

    jpp_history_json(json, worker->history);
}


static void
jpp_memory_workers(jpp_json_t *json, const jpp_memory_t *memory)
{
    size_t               i;
    const jpp_fleet_t   *fleet;

    fleet = memory->telemetry->fleet;

    jpp_json_open(json, "workers", '[');

    for (i = 0; i < fleet->n; i++) {
        jpp_json_open(json, NULL, '{');
        jpp_memory_worker(json, &fleet->workers[i]);
        jpp_memory_detail_json(json, memory, &fleet->workers[i].who);
        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');
}


static void
jpp_memory_levels(jpp_json_t *json, const jpp_cgroup_t *cgroup)
{
    size_t                     i;
    const jpp_cgroup_level_t  *level;

    jpp_json_open(json, "levels", '[');

    for (i = 0; i < cgroup->n_levels; i++) {
        level = &cgroup->levels[i];

        jpp_json_open(json, NULL, '{');

        jpp_json_name(json, "path", level->len != 0 ? cgroup->path : "/",
                      level->len != 0 ? level->len : 1);
        jpp_json_known(json, "usage", level->usage);
        jpp_json_known(json, "limit", level->limit);
        jpp_json_known(json, "high", level->high);
        jpp_json_bool(json, "binding", i == cgroup->binding);

        jpp_json_close(json, '}');
    }

    jpp_json_close(json, ']');
}


static void
jpp_memory_pressure(jpp_json_t *json, const jpp_pressure_t *pressure)
{
    jpp_json_open(json, "pressure", '{');

    jpp_memory_rows(json, "some", &pressure->some,
                    JPP_MEMORY_ROWS(jpp_memory_line));
    jpp_memory_rows(json, "full", &pressure->full,
                    JPP_MEMORY_ROWS(jpp_memory_line));

    jpp_json_close(json, '}');
}


static void
jpp_memory_cgroup(jpp_json_t *json, const jpp_cgroup_t *cgroup)
{
    if (cgroup == NULL) {
        jpp_json_null(json, "cgroup");
        return;
    }

    jpp_json_open(json, "cgroup", '{');

    jpp_json_u64(json, "version", cgroup->version);
    jpp_json_name(json, "path", cgroup->path, strlen(cgroup->path));
    jpp_json_known(json, "usage", cgroup->usage);
    jpp_json_known(json, "working_set", cgroup->working_set);
    jpp_json_known(json, "headroom", cgroup->headroom);
    jpp_json_known(json, "low", cgroup->low);
    jpp_json_known(json, "peak", cgroup->peak);
    jpp_json_known(json, "swap_usage", cgroup->swap_usage);
    jpp_json_known(json, "swap_limit", cgroup->swap_limit);

    jpp_memory_levels(json, cgroup);

    jpp_memory_rows(json, "stat", &cgroup->stat,
                    jpp_cgroup_stat_rows, jpp_cgroup_n_stat_rows);
    jpp_memory_rows(json, "events", &cgroup->events,
                    jpp_cgroup_events_rows, jpp_cgroup_n_events_rows);
    jpp_memory_pressure(json, &cgroup->pressure);

    jpp_json_close(json, '}');
}


static void
jpp_memory_system(jpp_json_t *json, const jpp_system_t *system)
{
    jpp_json_open(json, "system", '{');

    jpp_json_known(json, "total", system->total);
    jpp_json_known(json, "available", system->available);
    jpp_json_known(json, "swap_total", system->swap_total);
    jpp_json_known(json, "swap_free", system->swap_free);
    jpp_json_known(json, "commit_limit", system->commit_limit);
    jpp_json_known(json, "committed", system->committed);
    jpp_json_known(json, "overcommit", system->overcommit);
    jpp_json_str(json, "thp", system->thp[0] != '\0' ? system->thp : NULL);
    jpp_memory_pressure(json, &system->pressure);

    jpp_json_close(json, '}');
}


/* why something is null */

static void
jpp_memory_unavailable(jpp_json_t *json, const jpp_memory_t *memory)
{
    jpp_json_open(json, "unavailable", '{');

    if (memory->telemetry->cgroup == NULL) {
        jpp_json_str(json, "cgroup", memory->telemetry->cgroup_why);
    }

    jpp_memory_zones_why(json, memory->telemetry);
    jpp_memory_detail_why(json, memory);

    jpp_json_close(json, '}');
}


bool
jpp_memory_json(const jpp_memory_t *memory, jpp_sink_t *sink)
{
    char                    text[JPP_STATUS_TIME];
    jpp_json_t              json;
    const jpp_fleet_t      *fleet;
    const jpp_telemetry_t  *telemetry;

    telemetry = memory->telemetry;
    fleet = telemetry->fleet;

    jpp_json_init(&json, sink);

    jpp_json_open(&json, NULL, '{');

    jpp_json_str(&json, "time", jpp_status_time(memory->seconds, text));
    jpp_json_str(&json, "host", fleet->host);
    jpp_json_u64(&json, "generation", telemetry->generation);
    jpp_json_str(&json, "loaded", jpp_status_time(telemetry->loaded, text));
    jpp_json_u64(&json, "asked", fleet->n_asked);
    jpp_json_u64(&json, "answered", fleet->n);
    jpp_json_u64(&json, "unclean_exits", telemetry->unclean_exits);

    if (jpp_memory_has(memory, JPP_FIELD_FINDINGS)) {
        jpp_memory_findings(&json, telemetry);
    }

    if (jpp_memory_has(memory, JPP_FIELD_TOTAL)
        && !jpp_memory_total(&json, memory))
    {
        return false;
    }

    if (jpp_memory_has(memory, JPP_FIELD_WORKERS)) {
        jpp_memory_workers(&json, memory);
    }

    if (jpp_memory_has(memory, JPP_FIELD_MISSING)) {
        jpp_missing_json(&json, fleet->missing, fleet->n_missing);
    }

    if (jpp_memory_has(memory, JPP_FIELD_CGROUP)) {
        jpp_memory_cgroup(&json, telemetry->cgroup);
    }

    if (jpp_memory_has(memory, JPP_FIELD_SYSTEM)) {
        jpp_memory_system(&json, telemetry->system);
    }

    if (jpp_memory_has(memory, JPP_FIELD_ZONES)) {
        jpp_memory_zones_json(&json, telemetry);
    }

    if (jpp_memory_has(memory, JPP_FIELD_UNAVAILABLE)) {
        jpp_memory_unavailable(&json, memory);
    }

    jpp_json_close(&json, '}');

    return true;
}
