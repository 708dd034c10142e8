
/*
 * What a report costs, against a floor measured in the same run.
 *
 *     jpp_bench [-n most] [-s seconds] [dump]
 *
 * The floor is what no converter of this kind can do without: turning the
 * text's hexadecimal digits into addresses and hashing each stack, and zlib on
 * exactly the bytes that the report gave to zlib, at the same level.  It has
 * no table, no validation, no allocation and no protobuf.  Report and floor
 * take turns, so that a machine that changes its speed does so for both.
 *
 * Every row is measured in a process of its own, whose memory before the
 * report is the generated dump; the rest of its peak is the report's.
 *
 * The second part measures the naming of a real dump's addresses, with an
 * empty cache of symbols and with a full one.
 */


#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <zlib.h>

#include "jpp_gzip.h"
#include "jpp_heap_file.h"
#include "jpp_heap_stacks.h"
#include "jpp_intern.h"
#include "jpp_report.h"

/* core.mk makes one program of each file here */
#define JPP_GENERATE_AS_PART
#include "jpp_generate.c"


#define JPP_BENCH_RUNS  1001
#define JPP_BENCH_NAMINGS  21
#define JPP_BENCH_CAP   ((size_t) 16 << 30)
#define JPP_BENCH_DUMP  "t/data/nginx-530.heap"


typedef struct {
    const char   *name;         /* NULL: the number of stacks says it */
    uint32_t      stacks;
    uint32_t      depth;
    uint32_t      mappings;
    bool          has_accum;
    int           level;
} jpp_bench_row_t;


typedef struct {
    uint32_t      n;
    double        ms[JPP_BENCH_RUNS];
} jpp_bench_times_t;


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


/* What naming costs; times in milliseconds. */
typedef struct {
    bool          failed;
    char          error[JPP_ERR_TEXT];
    uint32_t      locations;
    uint32_t      named;
    uint32_t      mappings;
    uint32_t      read;         /* mappings whose file could be used */
    double        build_ids;    /* jpp_symbolize_build_ids(), empty cache */
    double        cold;
    double        warm;
    size_t        resident;     /* peak beside the profile, empty cache */
    size_t        resident_warm;
    size_t        cache;        /* bytes that are kept */
} jpp_bench_names_t;


typedef void (*jpp_bench_child_pt)(void *result, const char *data, size_t len,
    const void *ctx);


static bool jpp_bench_options(int argc, char **argv);
static void jpp_bench_machine(void);
static bool jpp_bench_reports(void);
static bool jpp_bench_row(const jpp_bench_row_t *row);
static void jpp_bench_measure(void *result, const char *data, size_t len,
    const void *ctx);
static bool jpp_bench_first(jpp_bench_t *bench);
static bool jpp_bench_report(jpp_bench_t *bench, jpp_arena_t *arena,
    jpp_vec_t **answer);
static bool jpp_bench_unpack(jpp_bench_t *bench, const jpp_vec_t *answer);
static void jpp_bench_turns(jpp_bench_t *bench);
static uint64_t jpp_bench_parse(const char *p, const char *end);
static bool jpp_bench_deflate(jpp_bench_t *bench);
static bool jpp_bench_symbols(void);
static void jpp_bench_names(void *result, const char *data, size_t len,
    const void *ctx);
static void jpp_bench_names_warm(void *result, const char *data, size_t len,
    const void *ctx);
static bool jpp_bench_name(jpp_bench_names_t *names, const char *data,
    size_t len, jpp_symbols_t *symbols, jpp_bench_times_t *times,
    bool only_build_ids);
static void jpp_bench_count(jpp_bench_names_t *names,
    const jpp_profile_t *profile);
static bool jpp_bench_child(jpp_bench_child_pt measure, void *result,
    size_t size, const char *data, size_t len, const void *ctx);
static bool jpp_bench_read_file(const char *path, jpp_vec_t *vec);
static size_t jpp_bench_resident(const char *field);
static double jpp_bench_now(void);
static void jpp_bench_add(jpp_bench_times_t *times, double ms);
static double jpp_bench_median(jpp_bench_times_t *times);
static int jpp_bench_cmp(const void *a, const void *b);


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


static uint32_t     jpp_bench_most = 1000000;
static double       jpp_bench_seconds = 1.5;
static const char  *jpp_bench_dump = JPP_BENCH_DUMP;


int
main(int argc, char **argv)
{
    bool  done;

    if (!jpp_bench_options(argc, argv)) {
        (void) fputs("usage: jpp_bench [options] [dump]\n"
                     "  -n stacks   leave out larger rows (1000000)\n"
                     "  -s seconds  to measure a row for (1.5)\n"
                     "  dump        to name the addresses of ("
                     JPP_BENCH_DUMP ")\n", stderr);
        return 2;
    }

    jpp_bench_machine();

    done = jpp_bench_reports();
    done = jpp_bench_symbols() && done;

    return done ? 0 : 1;
}


static bool
jpp_bench_options(int argc, char **argv)
{
    int       c;
    char     *end;
    uint64_t  n;

    while ((c = getopt(argc, argv, "n:s:")) != -1) {

        switch (c) {

        case 'n':
            n = strtoull(optarg, &end, 10);
            jpp_bench_most = (uint32_t) n;

            if (*end != '\0' || n < 100 || n > UINT32_MAX) {
                return false;
            }

            break;

        case 's':
            jpp_bench_seconds = strtod(optarg, &end);

            if (*end != '\0' || !(jpp_bench_seconds > 0)) {
                return false;
            }

            break;

        default:
            return false;
        }
    }

    if (optind < argc) {
        jpp_bench_dump = argv[optind++];
    }

    return optind == argc;
}


static void
jpp_bench_machine(void)
{
    printf("%ld processors, zlib %s, compiled by "
#ifdef __clang__
           "clang " __clang_version__
#else
           "gcc " __VERSION__
#endif
           "\n", sysconf(_SC_NPROCESSORS_ONLN), zlibVersion());
}


static bool
jpp_bench_reports(void)
{
    bool    done;
    size_t  i, n;

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
        if (jpp_bench_rows[i].stacks <= jpp_bench_most) {
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


/*
 * The floor's first half: " 0x" and digits, eight at a time where there are
 * twelve, as nearly always; nothing is checked.  Returns what depends on
 * every digit, so that the compiler cannot leave anything out.
 */

static uint64_t
jpp_bench_parse(const char *p, const char *end)
{
    uint64_t  word, address, hash, sum;
    unsigned  digit;

    sum = 0;

    while ((p = memchr(p, '\n', (size_t) (end - p))) != NULL) {

        if (*++p != '@') {

            if (*p == '\n') {
                break;
            }

            continue;
        }

        hash = 0;

        for (p++; *p == ' '; /* void */ ) {
            p += 3;

            memcpy(&word, p, 8);

            word = (word & 0x0f0f0f0f0f0f0f0f)
                   + (word >> 6 & 0x0101010101010101) * 9;
            word = (word << 4 | word >> 8) & 0x00ff00ff00ff00ff;
            word = (word << 8 | word >> 16) & 0x0000ffff0000ffff;
            address = (word << 16 | word >> 32) & 0xffffffff;

            if (p[12] == ' ' || p[12] == '\n') {
                memcpy(&word, p + 4, 8);
                word >>= 32;

                word = (word & 0x0f0f0f0f) + (word >> 6 & 0x01010101) * 9;
                word = (word << 4 | word >> 8) & 0x00ff00ff;
                address = address << 16 | ((word << 8 | word >> 16) & 0xffff);
                p += 12;

            } else {
                for (address = 0; *p > ' '; p++) {
                    digit = (unsigned) *p;
                    digit = (digit & 0xf) + (digit >> 6) * 9;
                    address = address << 4 | digit;
                }
            }

            hash = (hash ^ address) * 0x9e3779b97f4a7c15;
        }

        sum += hash ^ hash >> 32;
    }

    return sum;
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


static bool
jpp_bench_symbols(void)
{
    bool                done;
    jpp_vec_t          *dump;
    jpp_arena_t         arena;
    jpp_bench_names_t   names;

    jpp_arena_init(&arena, JPP_BENCH_CAP);
    dump = jpp_vec_create(&arena);

    printf("\nNames for the addresses of a real dump (files in the page "
           "cache):\n\n");

    if (dump == NULL || !jpp_bench_read_file(jpp_bench_dump, dump)) {
        printf("    the dump cannot be read\n");
        jpp_arena_destroy(&arena);
        return false;
    }

    done = jpp_bench_child(jpp_bench_names, &names, sizeof(names),
                           (const char *) dump->data, dump->len, NULL)
           && !names.failed;

    jpp_arena_destroy(&arena);

    if (!done) {
        printf("    %s\n", names.error);
        return false;
    }

    printf("    %u addresses in %u mappings; %u mappings had their file, "
           "%u addresses a symbol\n\n"
           "    cache      ms  peak MiB  kept MiB\n"
           "    empty %7.2f %9.1f %9.1f\n"
           "    full  %7.2f %9.1f\n"
           "    build ids only, empty cache: %.2f ms\n",
           names.locations, names.mappings, names.read, names.named,
           names.cold, (double) names.resident / JPP_MEGABYTE,
           (double) names.cache / JPP_MEGABYTE,
           names.warm, (double) names.resident_warm / JPP_MEGABYTE,
           names.build_ids);

    return true;
}


static void
jpp_bench_names(void *result, const char *data, size_t len, const void *ctx)
{
    bool                done;
    size_t              i, before;
    jpp_symbols_t       symbols, empty;
    jpp_bench_names_t  *names;

    /* cold, warm, build ids */

    static jpp_bench_times_t  times[3];

    (void) ctx;

    names = result;

    jpp_symbols_init(&symbols, JPP_SYMBOLS_CAP);

    before = jpp_bench_resident("VmRSS:");

    done = jpp_bench_name(names, data, len, &symbols, NULL, false);

    names->resident = jpp_bench_resident("VmHWM:") - before;
    names->cache = symbols.bytes;

    /* a process that begins with the full cache has a peak of its own */

    done = done && jpp_bench_child(jpp_bench_names_warm,
                                   &names->resident_warm,
                                   sizeof(names->resident_warm), data, len,
                                   &symbols);

    for (i = 0; i < JPP_BENCH_NAMINGS && done; i++) {

        jpp_symbols_init(&empty, JPP_SYMBOLS_CAP);
        done = jpp_bench_name(names, data, len, &empty, &times[0], false);
        jpp_symbols_destroy(&empty);

        done = done && jpp_bench_name(names, data, len, &symbols, &times[1],
                                      false);

        jpp_symbols_init(&empty, JPP_SYMBOLS_CAP);
        done = done && jpp_bench_name(names, data, len, &empty, &times[2],
                                      true);
        jpp_symbols_destroy(&empty);
    }

    names->failed = !done;

    if (done) {
        names->cold = jpp_bench_median(&times[0]);
        names->warm = jpp_bench_median(&times[1]);
        names->build_ids = jpp_bench_median(&times[2]);
    }
}


static void
jpp_bench_names_warm(void *result, const char *data, size_t len,
    const void *ctx)
{
    size_t              before;
    jpp_symbols_t       symbols;
    jpp_bench_names_t   names;

    symbols = *(const jpp_symbols_t *) ctx;

    before = jpp_bench_resident("VmRSS:");

    (void) jpp_bench_name(&names, data, len, &symbols, NULL, false);

    *(size_t *) result = jpp_bench_resident("VmHWM:") - before;
}


/* Only the naming is timed; the memory includes the profile that is named. */

static bool
jpp_bench_name(jpp_bench_names_t *names, const char *data, size_t len,
    jpp_symbols_t *symbols, jpp_bench_times_t *times, bool only_build_ids)
{
    double               start;
    jpp_err_t            err;
    jpp_code_t           rc;
    jpp_arena_t          arena;
    jpp_profile_t        profile;
    jpp_dump_t           dump;
    jpp_read_options_t   options;

    memset(&err, 0, sizeof(jpp_err_t));
    memset(&options, 0, sizeof(jpp_read_options_t));

    jpp_arena_init(&arena, JPP_BENCH_CAP);

    rc = jpp_heap_init(&profile, &arena)
         ? jpp_heap_open(&dump, &profile, data, len, NULL, &err)
         : jpp_err_memory(&err);

    if (rc == JPP_OK) {
        rc = jpp_heap_read(&profile, &dump, &options, &err);
    }

    if (rc == JPP_OK) {
        start = jpp_bench_now();

        rc = only_build_ids
             ? jpp_symbolize_build_ids(symbols, &profile, &err)
             : jpp_symbolize(symbols, &profile, &err);

        if (times != NULL) {
            jpp_bench_add(times, jpp_bench_now() - start);
        }
    }

    if (rc == JPP_OK && !only_build_ids) {
        jpp_bench_count(names, &profile);
    }

    memcpy(names->error, err.text, sizeof(err.text));
    jpp_arena_destroy(&arena);

    return rc == JPP_OK;
}


/* A name without a "+0x" is one of a symbol table. */

static void
jpp_bench_count(jpp_bench_names_t *names, const jpp_profile_t *profile)
{
    uint32_t                i, n;
    jpp_str_t               name;
    const jpp_mapping_t    *mapping;
    const jpp_location_t   *location;
    const jpp_function_t   *function;

    names->named = 0;
    names->read = 0;

    n = (uint32_t) jpp_vec_count(profile->locations, jpp_location_t);
    names->locations = n;

    for (i = 1; i <= n; i++) {
        location = jpp_profile_location_at(profile, i);

        if (location->function != 0) {
            function = jpp_profile_function_at(profile, location->function);
            name = jpp_profile_str(profile, function->name);

            names->named += strstr(name.data, "+0x") == NULL
                            && location->mapping != 0;
        }
    }

    n = (uint32_t) jpp_vec_count(profile->mappings, jpp_mapping_t);
    names->mappings = n;

    for (i = 1; i <= n; i++) {
        mapping = jpp_profile_mapping_at(profile, i);
        names->read += mapping->build_id != 0;
    }
}


/*
 * Calls MEASURE in a child, whose SIZE bytes of RESULT come back.  The peak of
 * a child's memory begins with what it has when it is born.
 */

static bool
jpp_bench_child(jpp_bench_child_pt measure, void *result, size_t size,
    const char *data, size_t len, const void *ctx)
{
    int     status;
    void   *shared;
    pid_t   pid;

    shared = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS,
                  -1, 0);

    if (shared == MAP_FAILED) {
        return false;
    }

    (void) fflush(stdout);

    pid = fork();

    if (pid == 0) {
        measure(shared, data, len, ctx);
        _exit(0);
    }

    status = -1;

    if (pid > 0) {
        (void) waitpid(pid, &status, 0);
    }

    memcpy(result, shared, size);
    (void) munmap(shared, size);

    return status == 0;
}


static bool
jpp_bench_read_file(const char *path, jpp_vec_t *vec)
{
    FILE     *file;
    size_t    n;
    uint8_t  *p;

    file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }

    do {
        p = jpp_vec_reserve(vec, JPP_MEGABYTE);
        n = p != NULL ? fread(p, 1, JPP_MEGABYTE, file) : 0;
        vec->len += n;
    } while (n != 0);

    (void) fclose(file);

    return vec->len != 0;
}


/* A FIELD of /proc/self/status, in bytes. */

static size_t
jpp_bench_resident(const char *field)
{
    int      fd;
    char    *p, text[8192];
    ssize_t  n;

    /* no stdio: it would allocate */

    fd = open("/proc/self/status", O_RDONLY|O_CLOEXEC);
    if (fd == -1) {
        return 0;
    }

    n = read(fd, text, sizeof(text) - 1);
    (void) close(fd);

    if (n <= 0) {
        return 0;
    }

    text[n] = '\0';
    p = strstr(text, field);

    return p != NULL ? strtoull(p + strlen(field), NULL, 10) * 1024 : 0;
}


static double
jpp_bench_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (double) ts.tv_sec * 1e3 + (double) ts.tv_nsec / 1e6;
}


static void
jpp_bench_add(jpp_bench_times_t *times, double ms)
{
    if (times->n < JPP_BENCH_RUNS) {
        times->ms[times->n++] = ms;
    }
}


/* Sorts them, so that the first is the smallest. */

static double
jpp_bench_median(jpp_bench_times_t *times)
{
    qsort(times->ms, times->n, sizeof(double), jpp_bench_cmp);

    return times->ms[times->n / 2];
}


static int
jpp_bench_cmp(const void *a, const void *b)
{
    double  x, y;

    x = *(const double *) a;
    y = *(const double *) b;

    return (x > y) - (x < y);
}
