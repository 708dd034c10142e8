
#include <stdio.h>
#include <string.h>

#include "jpp_bench.h"
#include "jpp_heap.h"
#include "jpp_parsers.h"
#include "jpp_profile.h"
#include "jpp_report.h"


#define JPP_BENCH_NAMINGS  21


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


static void jpp_bench_names(void *result, const char *data, size_t len,
    const void *ctx);
static void jpp_bench_names_warm(void *result, const char *data, size_t len,
    const void *ctx);
static bool jpp_bench_name(jpp_bench_names_t *names, const char *data,
    size_t len, jpp_symbols_t *symbols, jpp_bench_times_t *times,
    bool only_build_ids);
static void jpp_bench_count(jpp_bench_names_t *names,
    const jpp_profile_t *profile);
static bool jpp_bench_read_file(const char *path, jpp_vec_t *vec);


bool
jpp_bench_symbols(const char *path)
{
    bool                done;
    jpp_vec_t          *dump;
    jpp_arena_t         arena;
    jpp_bench_names_t   names;

    jpp_arena_init(&arena, JPP_BENCH_CAP);
    dump = jpp_vec_create(&arena);

    printf("\nNames for the addresses of a real dump (files in the page "
           "cache):\n\n");

    if (dump == NULL || !jpp_bench_read_file(path, dump)) {
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

    rc = jpp_parser_init(&jpp_parser_heap, &profile, &arena)
         ? jpp_parser_heap.open(&dump, &profile, data, len, NULL, &err)
         : jpp_err_memory(&err);

    if (rc == JPP_OK) {
        rc = jpp_parser_heap.read(&profile, &dump, &options, &err);
    }

    if (rc == JPP_OK) {
        start = jpp_bench_now();

        rc = only_build_ids
             ? jpp_symbolize(symbols, &profile, JPP_SYMBOLIZE_BUILD_IDS, &err)
             : jpp_symbolize(symbols, &profile, JPP_SYMBOLIZE_NAMES, &err);

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
