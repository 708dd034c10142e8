
/*
 * As a program of its own it is a test; with an argument it prints what the
 * module would, "text" or "openmetrics", for promtool.
 */


#include "jpp_diagnosis.h"
#include "jpp_metrics.h"
#include "jpp_test_arena.h"
#include "jpp_test_fleet.h"
#include "jpp_test_golden.h"


typedef struct {
    jpp_worker_t      workers[4];
    jpp_missing_t     missing;
    jpp_control_t     wanted;
    jpp_fleet_t       fleet;
    jpp_system_t      system;
    jpp_cgroup_t      cgroup;
    char              name[4096];
    jpp_zone_t        zones[3];
    jpp_telemetry_t   telemetry;
} jpp_metrics_test_t;


static jpp_output_t         jpp_metrics_test_out;
static jpp_metrics_test_t   jpp_metrics_test;
static bool                 jpp_metrics_is_open;


void
jpp_before_each(void)
{
    size_t               i;
    jpp_worker_t        *worker;
    jpp_metrics_test_t  *test = &jpp_metrics_test;

    memset(test, 0, sizeof(jpp_metrics_test_t));

    for (i = 0; i < 4; i++) {
        worker = &test->workers[i];

        *worker = jpp_fleet_worker((uint32_t) i, JPP_JEMALLOC_READY);

        worker->is_exiting = i >= 2;
        worker->stats.allocated = 1000 * (i + 1);
        worker->stats.muzzy = JPP_NONE;
        worker->stats.small_mallocs = 40;
        worker->stats.large_mallocs = 2;
        worker->activity.usage.rss_anon = 7000 + i;
        worker->activity.usage.user_us = 1234567;
        worker->activity.usage.oom_score_adj = -1;
        worker->activity.connections = 512;
        jpp_loop_add(&worker->activity.loop, 3);
        jpp_loop_add(&worker->activity.loop, 9000);
        jpp_loop_add(&worker->activity.dumps, 20);
    }

    test->workers[1].has_stats = false;
    test->workers[1].sampler.is_on = true;
    test->workers[1].sampler.lg_sample = 12;
    test->workers[1].sampler.samples = 70;
    test->workers[1].sampler.live = 30;
    test->workers[1].sampler.dropped_live = 4;
    test->workers[1].sampler.dropped_sites = 3;
    test->workers[1].sampler.cut = 2;
    test->workers[1].sampler.bytes = 4096;

    strcpy(test->telemetry.noted.requested[0].name, "heap");
    test->telemetry.noted.requested[0].answers[0] = 11;
    test->telemetry.snapshots_taken[JPP_SNAPSHOT_LIMIT] = 3;
    test->telemetry.snapshots_failed = 1;
    test->telemetry.n_snapshots = 2;
    test->telemetry.noted.requested[0].answers[2] = 5;

    test->wanted.active = 1;
    test->wanted.lg_sample = -1;

    test->fleet.nginx = "1.22.1";
    test->fleet.host = "host";
    test->fleet.workers = test->workers;
    test->fleet.n = 4;
    test->fleet.n_missing = 1;
    test->fleet.missing = &test->missing;
    test->fleet.wanted = &test->wanted;

    jpp_system_read(&test->system, "t/data/system");
    (void) jpp_cgroup_read(&test->cgroup, "t/data/cgroup/v2", NULL);

    test->zones[0].name = "limit \"a\\b\"\n\x80{}";
    test->zones[0].name_len = strlen(test->zones[0].name);
    test->zones[0].size = 65536;
    test->zones[0].failures = 3;
    test->zones[1].name = "cache";
    test->zones[1].name_len = 5;

    test->telemetry.fleet = &test->fleet;
    test->telemetry.generation = 7;
    test->telemetry.loaded = 1795233720;
    test->telemetry.zones = test->zones;
    memset(test->name, '\xff', sizeof(test->name));
    test->zones[2].name = test->name;
    test->zones[2].name_len = sizeof(test->name);

    test->telemetry.n_zones = 3;
    test->telemetry.system = &test->system;
    test->telemetry.cgroup = &test->cgroup;
}


static void
jpp_metrics_test_writer(const jpp_fleet_t *fleet, jpp_sink_t *sink)
{
    (void) fleet;

    jpp_test_anew();
    (void) jpp_metrics_write(&jpp_metrics_test.telemetry,
                             jpp_metrics_is_open, &arena, sink);
}


static const char *
jpp_metrics_test_write(bool is_openmetrics)
{
    jpp_metrics_is_open = is_openmetrics;
    (void) jpp_output_fill(&jpp_metrics_test_out, jpp_metrics_test_writer,
                           NULL, 0);

    return jpp_metrics_test_out.text;
}


/* is LINE a line of TEXT, or the beginning of one if it ends in "..."? */

static bool
jpp_metrics_test_has(const char *text, const char *line)
{
    size_t       len;
    const char  *p;

    len = strlen(line);

    for (p = text; *p != '\0'; p += strcspn(p, "\n") + 1) {

        if (strncmp(p, line, len) == 0 && (p[len] == '\n')) {
            return true;
        }
    }

    return false;
}


JPP_TEST(jpp_metrics_test_text)
{
    jpp_metrics_test.telemetry.n_zones = 2;

    jpp_shows(jpp_metrics_test_write(false), "text");
    jpp_shows(jpp_metrics_test_write(true), "OpenMetrics");
}


/* what a worker says of its jemalloc may be any text */

JPP_TEST(jpp_metrics_test_version)
{
    strcpy(jpp_metrics_test.workers[0].jemalloc.version, "5\"} 2 \\");

    jpp_ok(jpp_metrics_test_has(jpp_metrics_test_write(false),
                                "nginx_jemalloc_pprof_build_info{version=\""
                                JPP_VERSION "\",nginx=\"1.22.1\","
                                "jemalloc=\"5\\\"} 2 \\\\\"} 1"),
           "a version of anything");
}


/* no jemalloc, no cgroup, no zone: what is left is still valid */

JPP_TEST(jpp_metrics_test_unknown)
{
    const char  *text;

    jpp_metrics_test.fleet.n = 1;
    jpp_metrics_test.fleet.wanted = NULL;
    jpp_metrics_test.workers[0] = jpp_fleet_worker(0, JPP_JEMALLOC_ABSENT);
    jpp_metrics_test.telemetry.cgroup = NULL;
    jpp_metrics_test.telemetry.n_zones = 0;

    text = jpp_metrics_test_write(false);

    jpp_lacks(text, "\nnginx_jemalloc_allocated_bytes", "no jemalloc");
    jpp_lacks(text, "\nnginx_cgroup_", "no cgroup");
    jpp_lacks(text, "\nnginx_zone_", "no zone");
    jpp_ok(strstr(text, "\"exiting\"} ") != NULL
           && strstr(text, "worker=\"exiting\"") == NULL, "nobody exits");
    jpp_ok(jpp_metrics_test_has(text, "nginx_worker_connections{worker=\"0\"} "
                                "0"), "but a worker");
}


/* three of the four: one unknown, one without a profiler, one that exits */

JPP_TEST(jpp_metrics_test_workers)
{
    unsigned     i;
    const char  *text;
    struct {
        jpp_metrics_worker_t  exiting;
        uint64_t              behind;
    } sums;

    jpp_metrics_worker_t  values[4];

    jpp_metrics_test.fleet.n = 3;
    jpp_metrics_test.workers[0].activity.usage.rss = JPP_NONE;
    jpp_metrics_test.workers[1].jemalloc.state = JPP_JEMALLOC_OFF;

    text = jpp_metrics_test_write(false);

    jpp_ok(jpp_metrics_test_has(text, "nginx_workers{state=\"running\"} 2"),
           "two run");
    jpp_ok(jpp_metrics_test_has(text, "nginx_workers{state=\"exiting\"} 1"),
           "one exits");
    jpp_ok(jpp_metrics_test_has(text, "nginx_jemalloc_pprof_probe_errors{"
                                "probe=\"process\"} 1"),
           "one has no status");
    jpp_ok(jpp_metrics_test_has(text, "nginx_jemalloc_prof_active{"
                                "worker=\"0\"} 1"), "one profiles");
    jpp_lacks(text, "prof_active{worker=\"1\"", "one could not");

    memset(values, 1, sizeof(values));
    values[3].started = 77;
    sums.behind = 5;

    jpp_metrics_workers(&jpp_metrics_test.telemetry, values, &sums.exiting);

    jpp_is_u64(sums.exiting.started, 1795233720, "of one that exits");
    jpp_is_u64(sums.behind, 5, "and no more");
    jpp_is_u64(values[3].started, 77, "a fourth is not there");

    for (i = 0; i < JPP_RESOURCES; i++) {
        jpp_print(jpp_metrics_test.telemetry.noted.requested[i].name, "r%u", i);
    }

    jpp_has(jpp_metrics_test_write(false), "resource=\"r23\"",
            "as many resources as there may be");
}


/* of the table: names are unique, and of the units that their values have */

JPP_TEST(jpp_metrics_test_families)
{
    size_t                    len, wrong;
    const jpp_metrics_row_t  *row, *other;

    wrong = 0;

    for (row = jpp_metrics_rows; row->label != NULL; row++) {

        if (row->name == NULL) {
            continue;
        }

        len = strlen(row->name);

        wrong += strncmp(row->name, "nginx_", 6) != 0;
        wrong += row->help[strlen(row->help) - 1] != '.';
        wrong += len > 6 && strcmp(row->name + len - 6, "_total") == 0;
        wrong += (row->type == JPP_METRICS_MICRO
                  || row->type == JPP_METRICS_HISTOGRAM)
                 && strcmp(row->name + len - 8, "_seconds") != 0;

        for (other = row + 1; other->label != NULL; other++) {
            wrong += other->name != NULL && strcmp(row->name, other->name) == 0;
        }
    }

    jpp_is_u64(wrong, 0, "the families keep the rules of names");
}


JPP_TEST(jpp_metrics_test_failing)
{
    uint8_t      buffer[256];
    jpp_sink_t   sink;

    jpp_output_fails(&jpp_metrics_test_out, jpp_metrics_test_writer, NULL);

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_output_write,
                  &jpp_metrics_test_out);
    arena.fail_at = arena.n_calls + 1;
    jpp_ok(!jpp_metrics_write(&jpp_metrics_test.telemetry, false, &arena,
                              &sink), "no memory");
}


static int
jpp_metrics_test_count(void *ctx, const uint8_t *data, size_t len)
{
    size_t  i, *lines = ctx;

    for (i = 0; i < len; i++) {
        *lines += data[i] == '\n';
    }

    return 0;
}


/* As many as there may be: each has the lines that one alone has. */

JPP_TEST(jpp_metrics_test_many)
{
    size_t      i, k, lines[2];
    jpp_sink_t  sink;

    static const size_t    sizes[] = { 1, JPP_NOTES };
    static jpp_worker_t    workers[JPP_NOTES];
    static uint8_t         buffer[4096];

    for (i = 0; i < JPP_NOTES; i++) {
        workers[i] = jpp_metrics_test.workers[0];
        workers[i].who.index = (uint32_t) i;
    }

    jpp_metrics_test.fleet.workers = workers;

    for (i = 0, k = 0; i < 2; i++) {
        lines[i] = 0;
        jpp_metrics_test.fleet.n = sizes[i];

        jpp_test_anew();
        jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_metrics_test_count,
                      &lines[i]);

        k += jpp_metrics_write(&jpp_metrics_test.telemetry, false, &arena,
                               &sink)
             && jpp_sink_flush(&sink) == 0;
    }

    jpp_is_u64(k, 2, "metrics of %zu workers", sizes[1]);
    jpp_ok(lines[1] > sizes[1] && (lines[1] - lines[0]) % (sizes[1] - 1) == 0,
           "%zu lines for each", (lines[1] - lines[0]) / (sizes[1] - 1));
}


int
main(int argc, char **argv)
{
    if (argc == 2) {
        jpp_test_begin();
        printf("%s", jpp_metrics_test_write(strcmp(argv[1], "openmetrics")
                                            == 0));
        return 0;
    }

    jpp_tests_all();

    return jpp_done();
}
