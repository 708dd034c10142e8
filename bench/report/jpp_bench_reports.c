
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "jpp_bench.h"
#include "jpp_generate.h"
#include "jpp_report.h"
#include "jpp_sink.h"


typedef struct {
    const char   *name;         /* NULL: the number of stacks says it */
    uint32_t      stacks;
    uint32_t      depth;
    uint32_t      mappings;
    bool          has_accum;
    int           level;
} jpp_bench_row_t;


typedef struct {
    bool          failed;
    char          error[JPP_ERR_TEXT];
    uint32_t      runs;
    double        report;       /* milliseconds, medians */
    double        report_min;
    double        parse;
    double        deflate;
    double        floor_min;
    double        ratio;
    size_t        bytes;        /* of the answer */
    size_t        resident;     /* peak beside the input */
    size_t        arena;
} jpp_bench_result_t;


typedef struct {
    const char           *data;
    size_t                len;
    jpp_bench_result_t   *result;
    int                   level;

    jpp_vec_t            *raw;          /* what the report gave to zlib */
    uint8_t              *packed;
    size_t                packed_size;
    z_stream              zs;

    jpp_bench_times_t     report;
    jpp_bench_times_t     parse;
    jpp_bench_times_t     deflate;
    jpp_bench_times_t     floor;
    jpp_bench_times_t     ratio;        /* of a report to the floor after it */
} jpp_bench_t;


static bool jpp_bench_row(const jpp_bench_row_t *row);
static void jpp_bench_measure(void *result, const char *data, size_t len,
    const void *ctx);
static bool jpp_bench_first(jpp_bench_t *bench);
static bool jpp_bench_report(jpp_bench_t *bench, jpp_arena_t *arena,
    jpp_vec_t **answer);
static bool jpp_bench_unpack(jpp_bench_t *bench, const jpp_vec_t *answer);
static void jpp_bench_turns(jpp_bench_t *bench);
static bool jpp_bench_deflate(jpp_bench_t *bench);


static const jpp_bench_row_t  jpp_bench_rows[] = {
    { NULL,            100,     28, 100,   false, 1 },
    { NULL,            300,     28, 100,   false, 1 },
    { NULL,            1000,    28, 100,   false, 1 },
    { NULL,            10000,   28, 100,   false, 1 },
    { NULL,            100000,  28, 100,   false, 1 },
    { NULL,            1000000, 28, 100,   false, 1 },
    { "depth 8",       10000,   8,  100,   false, 1 },
    { "depth 60",      10000,   60, 100,   false, 1 },
    { "depth 8",       100000,  8,  100,   false, 1 },
    { "depth 60",      100000,  60, 100,   false, 1 },
    { "prof_accum",    10000,   28, 100,   true,  1 },
    { "prof_accum",    100000,  28, 100,   true,  1 },
    { "10,000 maps",   10000,   28, 10000, false, 1 },
    { "gzip level 6",  10000,   28, 100,   false, 6 },
    { "gzip level 6",  100000,  28, 100,   false, 6 },
};


static double  jpp_bench_seconds;    /* to measure a row for */


bool
jpp_bench_reports(uint32_t most, double seconds)
{
    bool    done;
    size_t  i, n;

    jpp_bench_seconds = seconds;

    done = true;
    n = sizeof(jpp_bench_rows) / sizeof(jpp_bench_rows[0]);

    printf("\nFrom a dump in memory to an unsymbolized profile.\n"
           "report, floor: medians, and the smallest in parentheses; "
           "floor = hex and hash + zlib\n"
           "peak: resident memory beside the dump; arena: the most that was "
           "mapped\n"
           "ratio: the median of each report's time over that of the floor "
           "next to it\n\n"
           "                         dump                report             "
           "    floor    hex+hash      zlib     pprof   peak  arena\n"
           " stacks                    MB                    ms             "
           "       ms          ms        ms     bytes    MiB    MiB  runs  "
           "ratio\n");

    for (i = 0; i < n; i++) {
        if (jpp_bench_rows[i].stacks <= most) {
            done = jpp_bench_row(&jpp_bench_rows[i]) && done;
        }
    }

    return done;
}


static bool
jpp_bench_row(const jpp_bench_row_t *row)
{
    jpp_vec_t           *dump;
    jpp_sink_t           sink;
    jpp_arena_t          arena;
    jpp_generate_t       options;
    jpp_bench_result_t   result;

    static uint8_t  buffer[JPP_SINK_BUFFER];

    jpp_generate_init(&options);

    options.stacks = row->stacks;
    options.depth = row->depth;
    options.mappings = row->mappings;
    options.has_accum = row->has_accum;

    jpp_arena_init(&arena, JPP_BENCH_CAP);
    dump = jpp_vec_create(&arena);

    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_sink_to_vec, dump);

    if (dump == NULL || !jpp_generate(&options, &sink)
        || jpp_sink_flush(&sink) != 0
        || !jpp_bench_child(jpp_bench_measure, &result, sizeof(result),
                            (const char *) dump->data, dump->len, row))
    {
        printf("%10u: no memory\n", row->stacks);
        jpp_arena_destroy(&arena);
        return false;
    }

    if (result.failed) {
        printf("%10u: %s\n", row->stacks, result.error);
        jpp_arena_destroy(&arena);
        return false;
    }

    printf("%7u %-12s %8.1f %9.2f (%8.2f) %9.2f (%8.2f) %9.2f %9.2f %9zu "
           "%6.1f %6.1f %5u %6.2f\n",
           row->stacks, row->name != NULL ? row->name : "",
           (double) dump->len / 1e6, result.report, result.report_min,
           result.parse + result.deflate, result.floor_min, result.parse,
           result.deflate, result.bytes,
           (double) result.resident / JPP_MEGABYTE,
           (double) result.arena / JPP_MEGABYTE, result.runs, result.ratio);
    (void) fflush(stdout);

    jpp_arena_destroy(&arena);

    return true;
}


static void
jpp_bench_measure(void *result, const char *data, size_t len, const void *ctx)
{
    const jpp_bench_row_t  *row;

    static jpp_bench_t  bench;

    row = ctx;

    bench.result = result;
    bench.data = data;
    bench.len = len;
    bench.level = row->level;

    if (jpp_bench_first(&bench)) {
        jpp_bench_turns(&bench);
    }
}


/* The first report: its memory, and its bytes for the floor. */

static bool
jpp_bench_first(jpp_bench_t *bench)
{
    bool                 done;
    size_t               before;
    jpp_vec_t           *answer;
    jpp_arena_t          arena, *kept;
    jpp_bench_result_t  *result;

    result = bench->result;
    before = jpp_bench_resident("VmRSS:");

    jpp_arena_init(&arena, JPP_BENCH_CAP);

    if (!jpp_bench_report(bench, &arena, &answer)) {
        return false;
    }

    result->resident = jpp_bench_resident("VmHWM:") - before;
    result->arena = arena.peak;
    result->bytes = answer->len;

    /* lives as long as this process */

    kept = malloc(sizeof(jpp_arena_t));
    if (kept == NULL) {
        result->failed = true;
        return false;
    }

    jpp_arena_init(kept, JPP_BENCH_CAP);
    bench->raw = jpp_vec_create(kept);

    done = bench->raw != NULL && jpp_bench_unpack(bench, answer);

    result->failed = !done;
    jpp_arena_destroy(&arena);

    return done;
}


static bool
jpp_bench_report(jpp_bench_t *bench, jpp_arena_t *arena, jpp_vec_t **answer)
{
    jpp_err_t              err;
    jpp_code_t             rc;
    jpp_sink_t             sink;
    jpp_symbols_t          symbols;
    jpp_capture_t          capture;
    jpp_report_options_t   options;

    static uint8_t  buffer[JPP_SINK_BUFFER];

    memset(&err, 0, sizeof(jpp_err_t));
    memset(&capture, 0, sizeof(jpp_capture_t));

    capture.data = bench->data;
    capture.len = bench->len;
    capture.tail = "[vsyscall]";

    jpp_report_options_init(&options);
    options.args.values[JPP_ARG_SYMBOLIZE] = 0;
    options.level = bench->level;

    jpp_symbols_init(&symbols, JPP_SYMBOLS_CAP);

    *answer = jpp_vec_create(arena);
    jpp_sink_init(&sink, buffer, sizeof(buffer), jpp_sink_to_vec, *answer);

    rc = jpp_report(arena, &symbols, &capture, 1, &options, &sink, &err);

    jpp_symbols_destroy(&symbols);

    if (rc != JPP_OK) {
        bench->result->failed = true;
        memcpy(bench->result->error, err.text, sizeof(err.text));
    }

    return rc == JPP_OK;
}


static bool
jpp_bench_unpack(jpp_bench_t *bench, const jpp_vec_t *answer)
{
    z_stream  *zs;

    if (jpp_gunzip(answer->data, answer->len, JPP_BENCH_CAP, bench->raw, NULL)
        != JPP_OK)
    {
        return false;
    }

    zs = &bench->zs;

    /* the report's own settings, see jpp_gzip.c */

    if (deflateInit2(zs, bench->level, Z_DEFLATED, 15 + 16, 8,
                     Z_DEFAULT_STRATEGY)
        != Z_OK)
    {
        return false;
    }

    bench->packed_size = deflateBound(zs, bench->raw->len);
    bench->packed = malloc(bench->packed_size);

    if (bench->packed == NULL) {
        return false;
    }

    memset(bench->packed, 0xff, bench->packed_size);

    return true;
}


static void
jpp_bench_turns(jpp_bench_t *bench)
{
    double               start, end, parsed, deflated, until;
    jpp_vec_t           *answer;
    jpp_arena_t          arena;
    jpp_bench_result_t  *result;

    static volatile uint64_t  sum;

    result = bench->result;
    until = jpp_bench_now() + jpp_bench_seconds * 1000;

    while (bench->report.n < 3
           || (bench->report.n < JPP_BENCH_RUNS && jpp_bench_now() < until))
    {
        start = jpp_bench_now();

        jpp_arena_init(&arena, JPP_BENCH_CAP);

        if (!jpp_bench_report(bench, &arena, &answer)) {
            return;
        }

        jpp_arena_destroy(&arena);

        end = jpp_bench_now();
        sum = jpp_bench_parse(bench->data, bench->data + bench->len);
        parsed = jpp_bench_now();

        if (!jpp_bench_deflate(bench)) {
            result->failed = true;
            return;
        }

        deflated = jpp_bench_now();

        jpp_bench_add(&bench->report, end - start);
        jpp_bench_add(&bench->parse, parsed - end);
        jpp_bench_add(&bench->deflate, deflated - parsed);
        jpp_bench_add(&bench->floor, deflated - end);
        jpp_bench_add(&bench->ratio, (end - start) / (deflated - end));
    }

    (void) sum;

    result->runs = bench->report.n;
    result->report = jpp_bench_median(&bench->report);
    result->report_min = bench->report.ms[0];
    result->parse = jpp_bench_median(&bench->parse);
    result->deflate = jpp_bench_median(&bench->deflate);
    result->ratio = jpp_bench_median(&bench->ratio);

    (void) jpp_bench_median(&bench->floor);
    result->floor_min = bench->floor.ms[0];
}


static bool
jpp_bench_deflate(jpp_bench_t *bench)
{
    z_stream  *zs;

    zs = &bench->zs;

    if (deflateReset(zs) != Z_OK) {
        return false;
    }

    zs->next_in = bench->raw->data;
    zs->avail_in = (uInt) bench->raw->len;
    zs->next_out = bench->packed;
    zs->avail_out = (uInt) bench->packed_size;

    return deflate(zs, Z_FINISH) == Z_STREAM_END;
}
