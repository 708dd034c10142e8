
#include <string.h>

#include "jpp_allocator.h"
#include "jpp_folded.h"
#include "jpp_gzip.h"
#include "jpp_pprof.h"
#include "jpp_report.h"
#include "jpp_text.h"
#include "jpp_top.h"


static jpp_code_t jpp_report_read(jpp_profile_t *profile,
    jpp_symbols_t *symbols, const jpp_capture_t *capture, bool is_raw,
    jpp_err_t *err);
static jpp_code_t jpp_report_dump(jpp_profile_t *profile,
    jpp_symbols_t *symbols, jpp_heap_options_t *options, const char *data,
    size_t len, jpp_err_t *err);
static jpp_code_t jpp_report_allocator(jpp_profile_t *profile,
    jpp_symbols_t *symbols, const char *data, size_t len, jpp_vec_t *ranges,
    jpp_err_t *err);
static bool jpp_report_has_type(const jpp_profile_t *profile);
static bool jpp_report_describe(jpp_profile_t *profile,
    const jpp_report_options_t *options);
static jpp_code_t jpp_report_symbolize(jpp_profile_t *profile,
    jpp_symbols_t *symbols, const jpp_report_options_t *options,
    jpp_err_t *err);
static bool jpp_report_write(jpp_profile_t *profile,
    const jpp_report_options_t *options, jpp_sink_t *sink);
static bool jpp_report_pprof(jpp_profile_t *profile, int level,
    jpp_sink_t *sink);


void
jpp_report_options_init(jpp_report_options_t *options)
{
    memset(options, 0, sizeof(jpp_report_options_t));

    jpp_args_init(&options->args);
    options->level = JPP_REPORT_LEVEL;
}


jpp_code_t
jpp_report(jpp_arena_t *arena, jpp_symbols_t *symbols,
    const jpp_capture_t *captures, size_t n,
    const jpp_report_options_t *options, jpp_sink_t *sink, jpp_err_t *err)
{
    bool           is_raw;
    size_t         i;
    jpp_code_t     rc;
    jpp_profile_t  profile;

    if (n == 0) {
        return jpp_err_set(err, JPP_ERR_ARG, "there is no dump to report");
    }

    if (n > JPP_MAX_CAPTURES) {
        return jpp_err_set(err, JPP_ERR_LIMIT, "more than %d dumps",
                           JPP_MAX_CAPTURES);
    }

    if (!jpp_heap_init(&profile, arena)) {
        return jpp_err_memory(err);
    }

    /* only of a single dump can what was sampled be told to the reader */

    is_raw = n == 1 && jpp_args_format(&options->args) == JPP_FORMAT_TEXT;

    for (i = 0; i < n; i++) {
        rc = jpp_report_read(&profile, symbols, &captures[i], is_raw, err);

        if (rc != JPP_OK) {
            err->capture = i;
            return rc;
        }
    }

    jpp_profile_close(&profile);

    profile.default_type = options->args.values[JPP_ARG_TYPE];

    if (!jpp_report_has_type(&profile)) {
        return jpp_err_set(err, JPP_ERR_ARG,
                           "%s is not in this profile: jemalloc counts what "
                           "was ever allocated only with prof_accum:true",
                           profile.types[profile.default_type].type);
    }

    rc = jpp_report_symbolize(&profile, symbols, options, err);
    if (rc != JPP_OK) {
        return rc;
    }

    if (!jpp_report_describe(&profile, options)
        || !jpp_report_write(&profile, options, sink))
    {
        return jpp_err_memory(err);
    }

    if (jpp_sink_flush(sink) != 0) {
        (void) jpp_err_sys(err, sink->error, "the report cannot be written");
        err->code = JPP_ERR_WRITE;
        return JPP_ERR_WRITE;
    }

    return JPP_OK;
}


static jpp_code_t
jpp_report_read(jpp_profile_t *profile, jpp_symbols_t *symbols,
    const jpp_capture_t *capture, bool is_raw, jpp_err_t *err)
{
    jpp_vec_t           *unpacked;
    jpp_code_t           rc;
    jpp_heap_options_t   options;

    memset(&options, 0, sizeof(jpp_heap_options_t));

    options.is_base = capture->is_base;
    options.is_raw = is_raw;
    options.tail = capture->tail;

    if (capture->n_labels > JPP_MAX_LABELS) {
        return jpp_err_set(err, JPP_ERR_LIMIT, "more than %d labels",
                           JPP_MAX_LABELS);
    }

    if (!jpp_profile_labels(profile, capture->labels, capture->n_labels,
                            &options.labels))
    {
        return jpp_err_memory(err);
    }

    if (!jpp_gzip_is((const uint8_t *) capture->data, capture->len)) {
        return jpp_report_dump(profile, symbols, &options, capture->data,
                               capture->len, err);
    }

    unpacked = jpp_vec_create(profile->arena);
    if (unpacked == NULL) {
        return jpp_err_memory(err);
    }

    rc = jpp_gunzip((const uint8_t *) capture->data, capture->len,
                    JPP_MAX_DUMP, unpacked, err);

    if (rc == JPP_OK) {
        rc = jpp_report_dump(profile, symbols, &options,
                             (const char *) unpacked->data, unpacked->len,
                             err);
    }

    jpp_vec_release(unpacked);

    return rc;
}


static jpp_code_t
jpp_report_dump(jpp_profile_t *profile, jpp_symbols_t *symbols,
    jpp_heap_options_t *options, const char *data, size_t len, jpp_err_t *err)
{
    jpp_vec_t   *ranges;
    jpp_code_t   rc;

    ranges = jpp_vec_create(profile->arena);
    if (ranges == NULL) {
        return jpp_err_memory(err);
    }

    rc = jpp_report_allocator(profile, symbols, data, len, ranges, err);
    if (rc != JPP_OK) {
        return rc;
    }

    options->allocator = jpp_vec_items(ranges, jpp_range_t);
    options->n_allocator = jpp_vec_count(ranges, jpp_range_t);

    return jpp_heap_read(profile, options, data, len, err);
}


/*
 * Where no mapping is a libjemalloc, the allocator is in the main program: its
 * symbol table tells where.  What is wrong with the dump is not said here.
 */

static jpp_code_t
jpp_report_allocator(jpp_profile_t *profile, jpp_symbols_t *symbols,
    const char *data, size_t len, jpp_vec_t *ranges, jpp_err_t *err)
{
    jpp_vec_t             *maps;
    jpp_code_t             rc;
    const char            *text;
    jpp_map_t             *map, *end;
    const jpp_mapping_t   *mapping;

    text = len != 0 && data[len - 1] == '\n' ? jpp_heap_maps(data, len) : NULL;

    maps = jpp_vec_create(profile->arena);
    if (maps == NULL) {
        return jpp_err_memory(err);
    }

    if (text == NULL) {
        return JPP_OK;
    }

    rc = jpp_maps_read(profile, text, (size_t) (data + len - text), NULL,
                       maps, err);

    if (rc != JPP_OK) {
        return err->line != 0 ? JPP_OK : rc;
    }

    map = jpp_vec_items(maps, jpp_map_t);
    end = map + jpp_vec_count(maps, jpp_map_t);

    for ( /* void */ ; map < end; map++) {
        if (map->is_allocator) {
            return JPP_OK;
        }
    }

    /* the main program is the file that lies lowest */

    for (map = jpp_vec_items(maps, jpp_map_t); map < end; map++) {
        mapping = jpp_profile_mapping_at(profile, map->mapping);

        if (mapping->path[0] == '/') {
            return jpp_symbolize_ranges(symbols, profile, map->mapping,
                                        jpp_allocator_is_function, ranges,
                                        err);
        }
    }

    return JPP_OK;
}


static bool
jpp_report_has_type(const jpp_profile_t *profile)
{
    uint32_t  i, n, shown[JPP_MAX_TYPES];

    n = jpp_profile_types(profile, shown);

    for (i = 0; i < n; i++) {
        if (shown[i] == profile->default_type) {
            return true;
        }
    }

    return false;
}


static jpp_code_t
jpp_report_symbolize(jpp_profile_t *profile, jpp_symbols_t *symbols,
    const jpp_report_options_t *options, jpp_err_t *err)
{
    jpp_format_t  format;

    format = jpp_args_format(&options->args);

    if (options->args.values[JPP_ARG_SYMBOLIZE] == 1) {

        /* the readers of the text form find their names themselves */

        return format == JPP_FORMAT_TEXT
               ? JPP_OK : jpp_symbolize(symbols, profile, err);
    }

    return format == JPP_FORMAT_PPROF
           ? jpp_symbolize_build_ids(symbols, profile, err)
           : jpp_symbolize_addresses(profile, err);
}


static bool
jpp_report_describe(jpp_profile_t *profile,
    const jpp_report_options_t *options)
{
    bool    done;
    size_t  i;

    profile->time_nanos = options->time_nanos;

    if (profile->is_difference) {
        profile->duration_nanos = options->duration_nanos > 0
                                  ? options->duration_nanos : 1;
    }

    done = profile->has_periods
           ? jpp_profile_comment(profile, "dumps of different sampling "
                                 "periods: each was scaled by its own")
           : jpp_profile_comment(profile, "lg_sample %d",
                                 __builtin_ctzll((uint64_t) profile->period));

    if (done && profile->columns[JPP_HEAP_ALLOC_OBJECTS]->len != 0) {
        done = jpp_profile_comment(profile, "prof_accum true");
    }

    if (!done) {
        return false;
    }

    for (i = 0; options->comments != NULL && options->comments[i] != NULL;
         i++)
    {
        if (!jpp_profile_comment(profile, "%s", options->comments[i])) {
            return false;
        }
    }

    return true;
}


static bool
jpp_report_write(jpp_profile_t *profile, const jpp_report_options_t *options,
    jpp_sink_t *sink)
{
    uint32_t  type;

    type = profile->default_type;

    switch (jpp_args_format(&options->args)) {

    case JPP_FORMAT_TEXT:
        jpp_text_write(profile, sink);
        return true;

    case JPP_FORMAT_FOLDED:
        jpp_folded_write(profile, type, sink);
        return true;

    case JPP_FORMAT_TOP:
        return jpp_top_write(profile, type, sink);

    default: /* JPP_FORMAT_PPROF */
        return jpp_report_pprof(profile, options->level, sink);
    }
}


static bool
jpp_report_pprof(jpp_profile_t *profile, int level, jpp_sink_t *sink)
{
    bool        written;
    jpp_gzip_t  gz;

    if (!jpp_gzip_open(&gz, profile->arena, level, sink)) {
        return false;
    }

    written = jpp_pprof_write(profile, &gz.sink);

    if (jpp_gzip_close(&gz) != 0) {
        jpp_sink_fail(sink, gz.sink.error);
    }

    return written;
}
