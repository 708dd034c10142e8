
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


#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jpp_metrics.h"
#include "jpp_metrics_rows.h"
#include "jpp_utf8.h"
#include "jpp_version.h"


/* the bytes of a name that are shown, and those that they may become */
#define JPP_METRICS_NAME   256
#define JPP_METRICS_LABEL  (2 * JPP_UTF8_ESCAPED(JPP_METRICS_NAME) + 16)

/* of workers: all that are exiting */
#define JPP_METRICS_EXITING  "worker=\"exiting\""


typedef struct {
    const jpp_telemetry_t   *telemetry;
    bool                     is_openmetrics;
    jpp_sink_t              *sink;
    jpp_metrics_nginx_t      nginx;
    jpp_metrics_worker_t    *workers;      /* as in telemetry->fleet */
    jpp_metrics_worker_t     exiting;
} jpp_metrics_t;


static const char  *jpp_metrics_types[JPP_METRICS_TYPES] = {
    "gauge", "counter", "info", "histogram"
};

/* of a sample */
static const char  *jpp_metrics_suffixes[JPP_METRICS_TYPES] = {
    "", "_total", "_info", ""
};


static void
jpp_metrics_head(const jpp_metrics_t *metrics, const jpp_metrics_row_t *family)
{
    size_t       i, len, unit_len;
    jpp_sink_t  *sink;
    const char  *suffix, *type;

    static const char  *units[] = { "bytes", "seconds" };

    sink = metrics->sink;
    type = jpp_metrics_types[family->type];
    suffix = "";

    /* the text of Prometheus knows no info, and counts "_total" as a name */

    if (!metrics->is_openmetrics) {
        suffix = jpp_metrics_suffixes[family->type];
        type = family->type == JPP_METRICS_INFO ? "gauge" : type;
    }

    jpp_sink_printf(sink, "# HELP %s%s %s\n", family->name, suffix,
                    family->help);
    jpp_sink_printf(sink, "# TYPE %s%s %s\n", family->name, suffix, type);

    if (!metrics->is_openmetrics) {
        return;
    }

    len = strlen(family->name);

    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        unit_len = strlen(units[i]);

        if (len > unit_len && family->name[len - unit_len - 1] == '_'
            && strcmp(family->name + len - unit_len, units[i]) == 0)
        {
            jpp_sink_printf(sink, "# UNIT %s %s\n", family->name, units[i]);
        }
    }
}


static void
jpp_metrics_number(jpp_sink_t *sink, uint64_t value, jpp_metrics_scale_t scale)
{
    switch (scale) {

    case JPP_METRICS_PLAIN:
        jpp_sink_u64(sink, value);
        break;

    case JPP_METRICS_SIGNED:
        jpp_sink_i64(sink, (int64_t) value);
        break;

    case JPP_METRICS_MICRO:
        jpp_sink_printf(sink, "%" PRIu64 ".%06" PRIu64, value / 1000000,
                        value % 1000000);
        break;

    case JPP_METRICS_MILLI:
        jpp_sink_printf(sink, "%" PRIu64 ".%03" PRIu64, value / 1000,
                        value % 1000);
        break;
    }
}


static void
jpp_metrics_histogram(const jpp_metrics_t *metrics,
    const jpp_metrics_row_t *family, const jpp_loop_t *loop, const char *label)
{
    unsigned     i;
    uint64_t     count, bound;
    jpp_sink_t  *sink;

    sink = metrics->sink;

    for (i = 0, count = 0; i < JPP_LOOP_BOUNDS; i++) {
        count += loop->counts[i];
        bound = jpp_loop_bounds[i];

        jpp_sink_printf(sink, "%s_bucket{%s,le=\"%" PRIu64 ".%0*" PRIu64
                        "\"} %" PRIu64 "\n", family->name, label,
                        bound / 1000, bound % 1000 == 0 ? 1 : 3, bound % 1000,
                        count);
    }

    count += loop->counts[i];

    jpp_sink_printf(sink, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n",
                    family->name, label, count);
    jpp_sink_printf(sink, "%s_count{%s} %" PRIu64 "\n", family->name, label,
                    count);
    jpp_sink_printf(sink, "%s_sum{%s} ", family->name, label);
    jpp_metrics_number(sink, loop->sum, family->scale);
    jpp_sink_char(sink, '\n');
}


static void
jpp_metrics_series(const jpp_metrics_t *metrics,
    const jpp_metrics_row_t *family, const jpp_metrics_row_t *end,
    const void *values, const char *label)
{
    uint64_t                  value;
    jpp_sink_t               *sink;
    const char               *at, *comma;
    const jpp_metrics_row_t  *row;

    sink = metrics->sink;

    for (row = family; row < end; row++) {
        at = (const char *) values + row->offset;

        if (family->type == JPP_METRICS_HISTOGRAM) {
            jpp_metrics_histogram(metrics, family,
                                  (const jpp_loop_t *) (const void *) at,
                                  label);
            continue;
        }

        memcpy(&value, at, sizeof(value));

        if (value == JPP_NONE && family->scale != JPP_METRICS_SIGNED) {
            continue;
        }

        jpp_sink_str(sink, family->name);
        jpp_sink_str(sink, jpp_metrics_suffixes[family->type]);

        if (label[0] != '\0' || row->label[0] != '\0') {
            comma = label[0] != '\0' && row->label[0] != '\0' ? "," : "";

            jpp_sink_char(sink, '{');
            jpp_sink_str(sink, label);
            jpp_sink_str(sink, comma);
            jpp_sink_str(sink, row->label);
            jpp_sink_char(sink, '}');
        }

        jpp_sink_char(sink, ' ');
        jpp_metrics_number(sink, value, family->scale);
        jpp_sink_char(sink, '\n');
    }
}


static void
jpp_metrics_each(const jpp_metrics_t *metrics,
    const jpp_metrics_row_t *family, const jpp_metrics_row_t *end)
{
    char                   label[JPP_METRICS_LABEL];
    size_t                 i;
    const jpp_worker_t    *worker;

    for (i = 0; i < metrics->telemetry->fleet->n; i++) {
        worker = &metrics->telemetry->fleet->workers[i];

        if (worker->is_exiting) {
            continue;
        }

        (void) snprintf(label, sizeof(label), "worker=\"%" PRIu32 "\"",
                        worker->who.index);

        jpp_metrics_series(metrics, family, end, &metrics->workers[i], label);
    }

    if (family->is_sum && metrics->nginx.exiting != 0) {
        jpp_metrics_series(metrics, family, end, &metrics->exiting,
                           JPP_METRICS_EXITING);
    }
}


/*
 * The formats want UTF-8, and a name may be anything.  Escaped, two names never
 * become one, which would make two series one; a name too long is cut.
 */

static const char *
jpp_metrics_label(char label[JPP_METRICS_LABEL], const char *name,
    const char *value, size_t len)
{
    char    *p, escaped[JPP_UTF8_ESCAPED(JPP_METRICS_NAME)];
    size_t   i, n;

    n = jpp_utf8_escape(escaped, value,
                        len < JPP_METRICS_NAME ? len : JPP_METRICS_NAME);

    p = label + snprintf(label, JPP_METRICS_LABEL, "%s=\"", name);

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
jpp_metrics_zones(const jpp_metrics_t *metrics,
    const jpp_metrics_row_t *family, const jpp_metrics_row_t *end)
{
    char               label[JPP_METRICS_LABEL];
    size_t             i;
    const jpp_zone_t  *zone;

    for (i = 0; i < metrics->telemetry->n_zones; i++) {
        zone = &metrics->telemetry->zones[i];

        jpp_metrics_series(metrics, family, end, zone,
                           jpp_metrics_label(label, "zone", zone->name,
                                             zone->name_len));
    }
}


static void
jpp_metrics_requests(const jpp_metrics_t *metrics,
    const jpp_metrics_row_t *family, const jpp_metrics_row_t *end)
{
    char                    label[JPP_METRICS_LABEL];
    size_t                  i;
    const jpp_requested_t  *requested;

    requested = metrics->telemetry->requested;

    for (i = 0; i < JPP_RESOURCES && requested[i].name[0] != '\0'; i++) {
        jpp_metrics_series(metrics, family, end, &requested[i],
                           jpp_metrics_label(label, "resource",
                                             requested[i].name,
                                             strlen(requested[i].name)));
    }
}


/* the labels are what they say; a label names the one family of a cgroup */

static void
jpp_metrics_build(const jpp_metrics_t *metrics,
    const jpp_metrics_row_t *family)
{
    char                 label[JPP_METRICS_LABEL];
    size_t               i;
    const char          *jemalloc;
    const jpp_fleet_t   *fleet;
    const jpp_cgroup_t  *cgroup;

    fleet = metrics->telemetry->fleet;
    cgroup = metrics->telemetry->cgroup;

    if (family->label[0] != '\0') {

        if (cgroup != NULL) {
            jpp_sink_printf(metrics->sink, "%s_info{version=\"%" PRIu32
                            "\"} 1\n", family->name, cgroup->version);
        }

        return;
    }

    for (i = 0, jemalloc = ""; i < fleet->n && jemalloc[0] == '\0'; i++) {
        jemalloc = fleet->workers[i].jemalloc.version;
    }

    jpp_sink_printf(metrics->sink, "%s_info{version=\"%s\",nginx=\"%s\",",
                    family->name, JPP_VERSION, fleet->nginx);
    jpp_sink_str(metrics->sink, jpp_metrics_label(label, "jemalloc", jemalloc,
                                                  strlen(jemalloc)));
    jpp_sink_str(metrics->sink, "} 1\n");
}


static void
jpp_metrics_identities(const jpp_metrics_t *metrics,
    const jpp_metrics_row_t *family)
{
    size_t                 i;
    const jpp_worker_t    *worker;

    for (i = 0; i < metrics->telemetry->fleet->n; i++) {
        worker = &metrics->telemetry->fleet->workers[i];

        if (!worker->is_exiting) {
            jpp_sink_printf(metrics->sink, "%s_info{worker=\"%" PRIu32
                            "\",pid=\"%" PRId64 "\",generation=\"%" PRIu64
                            "\"} 1\n", family->name, worker->who.index,
                            worker->who.pid, worker->who.generation);
        }
    }
}


static void
jpp_metrics_family(const jpp_metrics_t *metrics,
    const jpp_metrics_row_t *family, const jpp_metrics_row_t *end)
{
    switch (family->source) {

    case JPP_METRICS_NGINX:
        jpp_metrics_series(metrics, family, end, &metrics->nginx, "");
        break;

    case JPP_METRICS_WORKER:
        jpp_metrics_each(metrics, family, end);
        break;

    case JPP_METRICS_CGROUP:
        if (metrics->telemetry->cgroup != NULL) {
            jpp_metrics_series(metrics, family, end,
                               metrics->telemetry->cgroup, "");
        }

        break;

    case JPP_METRICS_SYSTEM:
        jpp_metrics_series(metrics, family, end, metrics->telemetry->system,
                           "");
        break;

    case JPP_METRICS_ZONE:
        jpp_metrics_zones(metrics, family, end);
        break;

    case JPP_METRICS_REQUEST:
        jpp_metrics_requests(metrics, family, end);
        break;

    case JPP_METRICS_BUILD:
        jpp_metrics_build(metrics, family);
        break;

    case JPP_METRICS_IDENTITY:
        jpp_metrics_identities(metrics, family);
        break;
    }
}


bool
jpp_metrics_write(const jpp_telemetry_t *telemetry, bool is_openmetrics,
    jpp_arena_t *arena, jpp_sink_t *sink)
{
    jpp_metrics_t             metrics;
    const jpp_metrics_row_t  *family, *end;

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

    for (family = jpp_metrics_rows; family->label != NULL; family = end) {

        for (end = family + 1; end->name == NULL && end->label != NULL; end++) {
            /* void */
        }

        jpp_metrics_head(&metrics, family);
        jpp_metrics_family(&metrics, family, end);
    }

    if (is_openmetrics) {
        jpp_sink_str(sink, "# EOF\n");
    }

    return true;
}
