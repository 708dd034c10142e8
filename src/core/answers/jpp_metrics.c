
/*
 * https://prometheus.io/docs/instrumenting/exposition_formats/ and OpenMetrics
 * 1.0.0 differ in the heads of families, and in the end:
 *
 *     # HELP nginx_jemalloc_mallocs_total Allocations.
 *     # TYPE nginx_jemalloc_mallocs_total counter
 *     nginx_jemalloc_mallocs_total{worker="0"} 12
 *
 *     # TYPE nginx_jemalloc_mallocs counter
 *     # HELP nginx_jemalloc_mallocs Allocations.
 *     nginx_jemalloc_mallocs_total{worker="0"} 12
 *     # EOF
 */


#include "jpp_metrics.h"
#include "jpp_answers.h"


/* the bytes of a name that are shown, and those that they may become */
#define JPP_METRICS_NAME   256
#define JPP_METRICS_LABEL  (2 * JPP_UTF8_ESCAPED(JPP_METRICS_NAME) + 128)
#define JPP_METRICS_KEY    16


typedef struct {
    const jpp_telemetry_t     *telemetry;
    bool                       is_openmetrics;
    jpp_sink_t                *sink;
    jpp_metrics_nginx_t        nginx;
    jpp_metrics_worker_t      *workers;    /* as in telemetry->fleet */
    jpp_metrics_worker_t       exiting;
    const jpp_metrics_row_t   *family;     /* the one that is written, */
    const jpp_metrics_row_t   *end;        /*   and the next one */
} jpp_metrics_t;


static const struct {
    const char  *name;
    const char  *suffix;           /* of a sample */
} jpp_metrics_types[JPP_METRICS_TYPES] = {
    [JPP_METRICS_GAUGE] = { "gauge", "" },
    [JPP_METRICS_SIGNED] = { "gauge", "" },
    [JPP_METRICS_COUNTER] = { "counter", "_total" },
    [JPP_METRICS_MICRO] = { "counter", "_total" },
    [JPP_METRICS_INFO] = { "info", "_info" },
    [JPP_METRICS_HISTOGRAM] = { "histogram", "" }
};


static void
jpp_metrics_nginx(const jpp_telemetry_t *telemetry, jpp_metrics_nginx_t *nginx)
{
    const jpp_fleet_t        *fleet;
    const jpp_worker_t       *worker;

    fleet = telemetry->fleet;

    nginx->exiting = 0;
    nginx->no_status = 0;
    nginx->no_stats = 0;
    nginx->no_cgroup = telemetry->cgroup == NULL;
    nginx->no_system = telemetry->system->total == JPP_NONE;

    jpp_each(worker, fleet->workers, fleet->n) {
        nginx->exiting += worker->is_exiting;
        nginx->no_status += worker->activity.usage.rss == JPP_NONE;
        nginx->no_stats += worker->jemalloc.state != JPP_JEMALLOC_ABSENT
                           && !worker->has_stats;
    }

    nginx->running = fleet->n - nginx->exiting;
    nginx->missing = fleet->n_missing;
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
    memcpy(values->lua, worker->lua.bytes, sizeof(values->lua));

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


void
jpp_metrics_workers(const jpp_telemetry_t *telemetry,
    jpp_metrics_worker_t *workers, jpp_metrics_worker_t *exiting)
{
    size_t              i, k;
    uint64_t           *sum;
    const uint64_t     *value;
    const jpp_fleet_t  *fleet;

    fleet = telemetry->fleet;

    memset(exiting, 0xff, sizeof(jpp_metrics_worker_t));

    for (i = 0; i < fleet->n; i++) {
        jpp_metrics_worker(telemetry, &fleet->workers[i], &workers[i]);

        if (fleet->workers[i].is_exiting) {
            /* numbers that no worker has stay unknown */

            sum = (uint64_t *) (void *) exiting;
            value = (const uint64_t *) (const void *) &workers[i];

            for (k = 0;
                 k < sizeof(jpp_metrics_worker_t) / sizeof(uint64_t);
                 k++)
            {
                jpp_add_known(&sum[k], value[k]);
            }
        }
    }
}


static void
jpp_metrics_head(const jpp_metrics_t *metrics)
{
    jpp_sink_t         *sink;
    const char         *name, *suffix, *type, *end;
    const char *const  *unit;

    static const char *const  units[] = { "bytes", "seconds" };

    sink = metrics->sink;
    name = metrics->family->name;
    type = jpp_metrics_types[metrics->family->type].name;
    suffix = "";

    /* the text of Prometheus knows no info, and counts "_total" as a name */

    if (!metrics->is_openmetrics) {
        suffix = jpp_metrics_types[metrics->family->type].suffix;
        type = metrics->family->type == JPP_METRICS_INFO ? "gauge" : type;
    }

    jpp_sink_printf(sink, "# HELP %s%s %s\n", name, suffix,
                    metrics->family->help);
    jpp_sink_printf(sink, "# TYPE %s%s %s\n", name, suffix, type);

    if (!metrics->is_openmetrics) {
        return;
    }

    end = strrchr(name, '_') + 1;

    jpp_each_of(unit, units) {
        if (strcmp(end, *unit) == 0) {
            jpp_sink_printf(sink, "# UNIT %s %s\n", name, *unit);
        }
    }
}


static void
jpp_metrics_number(jpp_sink_t *sink, uint64_t value, jpp_metrics_type_t type)
{
    if (type == JPP_METRICS_SIGNED) {
        jpp_sink_i64(sink, (int64_t) value);

    } else if (type == JPP_METRICS_MICRO) {
        jpp_sink_printf(sink, "%" PRIu64 ".%06" PRIu64, value / 1000000,
                        value % 1000000);

    } else if (type == JPP_METRICS_HISTOGRAM) {
        jpp_sink_printf(sink, "%" PRIu64 ".%03" PRIu64, value / 1000,
                        value % 1000);

    } else {
        jpp_sink_u64(sink, value);
    }
}


static void
jpp_metrics_histogram(const jpp_metrics_t *metrics, const jpp_loop_t *loop,
    const char *label)
{
    unsigned     i;
    uint64_t     count, bound;
    jpp_sink_t  *sink;
    const char  *name;

    sink = metrics->sink;
    name = metrics->family->name;

    for (i = 0, count = 0; i < JPP_LOOP_BOUNDS; i++) {
        count += loop->counts[i];
        bound = jpp_loop_bounds[i];

        jpp_sink_printf(sink, "%s_bucket{%s,le=\"%" PRIu64 ".%0*" PRIu64
                        "\"} %" PRIu64 "\n", name, label, bound / 1000,
                        bound % 1000 == 0 ? 1 : 3, bound % 1000, count);
    }

    count += loop->counts[i];

    jpp_sink_printf(sink, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", name,
                    label, count);
    jpp_sink_printf(sink, "%s_count{%s} %" PRIu64 "\n", name, label, count);
    jpp_sink_printf(sink, "%s_sum{%s} ", name, label);
    jpp_metrics_number(sink, loop->sum, JPP_METRICS_HISTOGRAM);
    jpp_sink_char(sink, '\n');
}


/* A line for each row of the family; VALUES is its source's structure. */

static void
jpp_metrics_series(const jpp_metrics_t *metrics, const void *values,
    const char *label)
{
    uint64_t                  value;
    jpp_sink_t               *sink;
    const char               *at, *comma;
    jpp_metrics_type_t        type;
    const jpp_metrics_row_t  *row;

    sink = metrics->sink;
    type = metrics->family->type;

    for (row = metrics->family; row < metrics->end; row++) {
        at = (const char *) values + row->offset;

        if (type == JPP_METRICS_HISTOGRAM) {
            jpp_metrics_histogram(metrics,
                                  (const jpp_loop_t *) (const void *) at,
                                  label);
            continue;
        }

        memcpy(&value, at, sizeof(value));

        if (value == JPP_NONE && type != JPP_METRICS_SIGNED) {
            continue;
        }

        jpp_sink_str(sink, metrics->family->name);
        jpp_sink_str(sink, jpp_metrics_types[type].suffix);

        if (label[0] != '\0' || row->label[0] != '\0') {
            comma = label[0] != '\0' && row->label[0] != '\0' ? "," : "";

            jpp_sink_char(sink, '{');
            jpp_sink_str(sink, label);
            jpp_sink_str(sink, comma);
            jpp_sink_str(sink, row->label);
            jpp_sink_char(sink, '}');
        }

        jpp_sink_char(sink, ' ');
        jpp_metrics_number(sink, value, type);
        jpp_sink_char(sink, '\n');
    }
}


/* an info is always 1, and says something by its labels */
static const uint64_t  jpp_metrics_info = 1;


static void
jpp_metrics_each(const jpp_metrics_t *metrics)
{
    char                 label[JPP_METRICS_LABEL];
    size_t               i;
    const jpp_worker_t  *worker;

    for (i = 0; i < metrics->telemetry->fleet->n; i++) {
        worker = &metrics->telemetry->fleet->workers[i];

        if (worker->is_exiting) {
            continue;
        }

        if (metrics->family->type == JPP_METRICS_INFO) {
            jpp_print(label, "worker=\"%" PRIu32 "\",pid=\"%" PRId64
                      "\",generation=\"%" PRIu64 "\"", worker->who.index,
                      worker->who.pid, worker->who.generation);
            jpp_metrics_series(metrics, &jpp_metrics_info, label);

        } else {
            jpp_print(label, "worker=\"%" PRIu32 "\"", worker->who.index);
            jpp_metrics_series(metrics, &metrics->workers[i], label);
        }
    }
}


/*
 * The formats want UTF-8, and a name may be anything.  Escaped, two names never
 * become one, which would make two series one; a name too long is cut.
 */

static const char *
jpp_metrics_label(char *label, const char *name, const char *value, size_t len)
{
    char    *p, escaped[JPP_UTF8_ESCAPED(JPP_METRICS_NAME)];
    size_t   i, n;

    n = jpp_utf8_escape(escaped, value,
                        len < JPP_METRICS_NAME ? len : JPP_METRICS_NAME);

    p = label + snprintf(label, JPP_METRICS_KEY, "%s=\"", name);

    for (i = 0; i < n; i++) {

        if (escaped[i] == '"' || escaped[i] == '\\') {
            *p++ = '\\';
        }

        *p++ = escaped[i];
    }

    *p++ = '"';
    *p = '\0';

    return label;
}


static void
jpp_metrics_build(const jpp_metrics_t *metrics)
{
    int                  n;
    char                 label[JPP_METRICS_LABEL];
    const char          *jemalloc;
    const jpp_fleet_t   *fleet;
    const jpp_worker_t  *worker;

    fleet = metrics->telemetry->fleet;

    jemalloc = "";

    jpp_each(worker, fleet->workers, fleet->n) {
        jemalloc = jemalloc[0] == '\0' ? worker->jemalloc.version : jemalloc;
    }

    n = snprintf(label, sizeof(label), "version=\"%s\",nginx=\"%.32s\",",
                 JPP_VERSION, fleet->nginx);
    (void) jpp_metrics_label(label + n, "jemalloc", jemalloc, strlen(jemalloc));

    jpp_metrics_series(metrics, &jpp_metrics_info, label);
}


static void
jpp_metrics_family(const jpp_metrics_t *metrics)
{
    char                    label[JPP_METRICS_LABEL];
    size_t                  i;
    const jpp_zone_t       *zone;
    const jpp_telemetry_t  *telemetry;
    const jpp_requested_t  *requested;

    telemetry = metrics->telemetry;

    switch (metrics->family->source) {

    case JPP_METRICS_NGINX:
        jpp_metrics_series(metrics, &metrics->nginx, "");
        break;

    case JPP_METRICS_TELEMETRY:
        jpp_metrics_series(metrics, telemetry, "");
        break;

    case JPP_METRICS_WORKER:
    case JPP_METRICS_IDENTITY:
        jpp_metrics_each(metrics);
        break;

    case JPP_METRICS_WORKERS:
        jpp_metrics_each(metrics);

        if (metrics->nginx.exiting != 0) {
            jpp_metrics_series(metrics, &metrics->exiting,
                               "worker=\"exiting\"");
        }

        break;

    case JPP_METRICS_CGROUP:
        if (telemetry->cgroup != NULL) {
            jpp_metrics_series(metrics, telemetry->cgroup, "");
        }

        break;

    case JPP_METRICS_SYSTEM:
        jpp_metrics_series(metrics, telemetry->system, "");
        break;

    case JPP_METRICS_ZONE:

        jpp_each(zone, telemetry->zones, telemetry->n_zones) {
            jpp_metrics_series(metrics, zone,
                               jpp_metrics_label(label, "zone", zone->name,
                                                 zone->name_len));
        }

        break;

    case JPP_METRICS_REQUEST:

        requested = telemetry->noted.requested;

        for (i = 0; i < JPP_RESOURCES && requested[i].name[0] != '\0'; i++) {
            jpp_metrics_series(metrics, &requested[i],
                               jpp_metrics_label(label, "resource",
                                                 requested[i].name,
                                                 strlen(requested[i].name)));
        }

        break;

    case JPP_METRICS_BUILD:
        jpp_metrics_build(metrics);
        break;

    case JPP_METRICS_CGROUPS:
        if (telemetry->cgroup != NULL) {
            jpp_print(label, "version=\"%" PRIu32 "\"",
                      telemetry->cgroup->version);
            jpp_metrics_series(metrics, &jpp_metrics_info, label);
        }

        break;
    }
}


bool
jpp_metrics_write(const jpp_telemetry_t *telemetry, bool is_openmetrics,
    jpp_arena_t *arena, jpp_sink_t *sink)
{
    jpp_metrics_t             metrics;
    const jpp_metrics_row_t  *end;

    metrics.telemetry = telemetry;
    metrics.is_openmetrics = is_openmetrics;
    metrics.sink = sink;

    /* each is written by many families */

    metrics.workers = jpp_arena_alloc(arena, telemetry->fleet->n
                                             * sizeof(jpp_metrics_worker_t));

    if (metrics.workers == NULL) {
        return false;
    }

    jpp_metrics_nginx(telemetry, &metrics.nginx);
    jpp_metrics_workers(telemetry, metrics.workers, &metrics.exiting);

    for (end = jpp_metrics_rows; end->label != NULL; /* void */ ) {

        metrics.family = end++;

        while (end->name == NULL && end->label != NULL) {
            end++;
        }

        metrics.end = end;

        jpp_metrics_head(&metrics);
        jpp_metrics_family(&metrics);
    }

    if (is_openmetrics) {
        jpp_sink_str(sink, "# EOF\n");
    }

    return true;
}
