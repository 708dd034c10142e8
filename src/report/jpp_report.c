
#include <string.h>

#include "jpp_allocator.h"
#include "jpp_folded.h"
#include "jpp_gzip.h"
#include "jpp_pprof.h"
#include "jpp_report.h"
#include "jpp_text.h"
#include "jpp_top.h"


typedef struct {
    jpp_profile_t                 profile;
    jpp_arena_t                  *arena;
    jpp_symbols_t                *symbols;

    const jpp_capture_t          *captures;
    size_t                        n;
    const jpp_report_options_t   *options;
    jpp_format_t                  format;

    const char                   *dump;      /* the last one read, where */
    size_t                        dump_len;  /*   the format is jemalloc */
} jpp_reporter_t;


static jpp_code_t jpp_report_read(jpp_reporter_t *report, jpp_err_t *err);
static jpp_code_t jpp_report_captures(jpp_reporter_t *report, size_t n_read,
    jpp_err_t *err);
static bool jpp_report_can_leave_out(const jpp_err_t *err);
static size_t jpp_report_leave_out(jpp_reporter_t *report);
static jpp_code_t jpp_report_capture(jpp_reporter_t *report,
    const jpp_capture_t *capture, bool is_raw, jpp_err_t *err);
static jpp_code_t jpp_report_dump(jpp_profile_t *profile,
    jpp_symbols_t *symbols, jpp_heap_options_t *options, const char *data,
    size_t len, jpp_err_t *err);
static jpp_code_t jpp_report_allocator(jpp_profile_t *profile,
    jpp_symbols_t *symbols, const char *data, size_t len, jpp_vec_t *ranges,
    jpp_err_t *err);
static jpp_code_t jpp_report_prepare(jpp_reporter_t *report, jpp_err_t *err);
static bool jpp_report_has_type(const jpp_profile_t *profile);
static jpp_code_t jpp_report_symbolize(jpp_reporter_t *report,
    jpp_err_t *err);
static bool jpp_report_describe(jpp_reporter_t *report);
static bool jpp_report_left_out(jpp_reporter_t *report);
static bool jpp_report_write(jpp_reporter_t *report, jpp_sink_t *sink);
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
jpp_report_check(const jpp_report_options_t *options, size_t n,
    jpp_err_t *err)
{
    if (n == 0) {
        return jpp_err_set(err, JPP_ERR_ARG, "there is no dump to report");
    }

    if (n > JPP_MAX_CAPTURES) {
        return jpp_err_set(err, JPP_ERR_LIMIT, "more than %d dumps",
                           JPP_MAX_CAPTURES);
    }

    if (n != 1 && jpp_args_format(&options->args) == JPP_FORMAT_JEMALLOC) {
        return jpp_err_set(err, JPP_ERR_ARG, "format=jemalloc is one dump as "
                           "it is: choose one worker or file, and no "
                           "difference");
    }

    return JPP_OK;
}


bool
jpp_report_has_names(const jpp_report_options_t *options)
{
    jpp_format_t  format;

    format = jpp_args_format(&options->args);

    /* the readers of the text form find their names themselves */

    return options->args.values[JPP_ARG_SYMBOLIZE] == 1
           && format != JPP_FORMAT_TEXT
           && format != JPP_FORMAT_JEMALLOC;
}


jpp_code_t
jpp_report(jpp_arena_t *arena, jpp_symbols_t *symbols,
    const jpp_capture_t *captures, size_t n,
    const jpp_report_options_t *options, jpp_sink_t *sink, jpp_err_t *err)
{
    jpp_code_t      rc;
    jpp_reporter_t  report;

    memset(&report, 0, sizeof(jpp_reporter_t));

    report.arena = arena;
    report.symbols = symbols;
    report.captures = captures;
    report.n = n;
    report.options = options;
    report.format = jpp_args_format(&options->args);

    rc = jpp_report_check(options, n, err);

    if (rc == JPP_OK) {
        rc = jpp_report_read(&report, err);
    }

    if (rc == JPP_OK && report.format != JPP_FORMAT_JEMALLOC) {
        rc = jpp_report_prepare(&report, err);
    }

    if (rc != JPP_OK) {
        return rc;
    }

    if (!jpp_report_write(&report, sink)) {
        return jpp_err_memory(err);
    }

    if (jpp_sink_flush(sink) != 0) {
        (void) jpp_err_sys(err, sink->error, "the report cannot be written");
        err->code = JPP_ERR_WRITE;
        return JPP_ERR_WRITE;
    }

    return JPP_OK;
}


/*
 * What was read of a capture that turns out to be bad cannot be taken out of
 * the profile again.  So all are read; only where some were bad, everything is
 * thrown away and the others are read once more.
 */

static jpp_code_t
jpp_report_read(jpp_reporter_t *report, jpp_err_t *err)
{
    size_t       n, n_read;
    jpp_err_t   *errors;
    jpp_vec_t   *vec, *before;
    jpp_code_t   rc;

    errors = report->options->errors;

    if (errors != NULL) {
        memset(errors, 0, report->n * sizeof(jpp_err_t));
    }

    before = report->arena->vecs;

    for (n_read = report->n; /* void */ ; n_read = n) {

        rc = jpp_report_captures(report, n_read, err);

        if (rc != JPP_OK || errors == NULL) {
            return rc;
        }

        n = jpp_report_leave_out(report);

        if (n == n_read) {
            return JPP_OK;
        }

        if (n == 0) {
            *err = errors[0];
            return err->code;
        }

        for (vec = report->arena->vecs; vec != before; vec = vec->next) {
            jpp_vec_release(vec);
        }
    }
}


/* The N_READ captures without an error, into a new profile. */

static jpp_code_t
jpp_report_captures(jpp_reporter_t *report, size_t n_read, jpp_err_t *err)
{
    bool         is_raw;
    size_t       i;
    jpp_err_t   *errors;
    jpp_code_t   rc;

    errors = report->options->errors;

    /* only of a single dump can what was sampled be told to the reader */

    is_raw = n_read == 1 && report->format == JPP_FORMAT_TEXT;

    if (!jpp_heap_init(&report->profile, report->arena)) {
        return jpp_err_memory(err);
    }

    for (i = 0; i < report->n; i++) {

        if (errors != NULL && errors[i].code != JPP_OK) {
            continue;
        }

        rc = jpp_report_capture(report, &report->captures[i], is_raw, err);

        if (rc == JPP_OK) {
            continue;
        }

        err->capture = i;

        if (errors == NULL || !jpp_report_can_leave_out(err)) {
            return rc;
        }

        errors[i] = *err;
    }

    return JPP_OK;
}


/* Limits of the input are met in a line of it, and that of memory is not. */

static bool
jpp_report_can_leave_out(const jpp_err_t *err)
{
    return err->code == JPP_ERR_INPUT
           || err->code == JPP_ERR_CUT
           || (err->code == JPP_ERR_LIMIT && err->line != 0);
}


/* What is wrong with one capture is so with its source.  How many are right? */

static size_t
jpp_report_leave_out(jpp_reporter_t *report)
{
    size_t                i, k, n;
    jpp_err_t            *errors;
    const jpp_capture_t  *captures;

    captures = report->captures;
    errors = report->options->errors;

    for (i = 0; i < report->n; i++) {

        if (errors[i].code == JPP_OK || captures[i].source == 0) {
            continue;
        }

        for (k = 0; k < report->n; k++) {

            if (captures[k].source == captures[i].source
                && errors[k].code == JPP_OK)
            {
                errors[k] = errors[i];
            }
        }
    }

    n = 0;

    for (i = 0; i < report->n; i++) {
        n += errors[i].code == JPP_OK;
    }

    return n;
}


static jpp_code_t
jpp_report_capture(jpp_reporter_t *report, const jpp_capture_t *capture,
    bool is_raw, jpp_err_t *err)
{
    size_t               len;
    jpp_vec_t           *unpacked;
    jpp_code_t           rc;
    const char          *data;
    jpp_profile_t       *profile;
    jpp_heap_options_t   options;

    memset(&options, 0, sizeof(jpp_heap_options_t));

    options.is_base = capture->is_base;
    options.is_raw = is_raw;
    options.tail = capture->tail;

    if (capture->n_labels > JPP_MAX_LABELS) {
        return jpp_err_set(err, JPP_ERR_LIMIT, "more than %d labels",
                           JPP_MAX_LABELS);
    }

    profile = &report->profile;

    if (!jpp_profile_labels(profile, capture->labels, capture->n_labels,
                            &options.labels))
    {
        return jpp_err_memory(err);
    }

    data = capture->data;
    len = capture->len;
    unpacked = NULL;

    if (jpp_gzip_is((const uint8_t *) data, len)) {

        unpacked = jpp_vec_create(report->arena);
        if (unpacked == NULL) {
            return jpp_err_memory(err);
        }

        rc = jpp_gunzip((const uint8_t *) data, len, JPP_MAX_DUMP, unpacked,
                        err);
        if (rc != JPP_OK) {
            jpp_vec_release(unpacked);
            return rc;
        }

        data = (const char *) unpacked->data;
        len = unpacked->len;
    }

    rc = jpp_report_dump(profile, report->symbols, &options, data, len, err);

    if (report->format == JPP_FORMAT_JEMALLOC) {
        report->dump = data;
        report->dump_len = len;

    } else {
        jpp_vec_release(unpacked);
    }

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

    if (maps->len == 0) {
        return JPP_OK;
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


/* All that is missing of the profile when its samples are there. */

static jpp_code_t
jpp_report_prepare(jpp_reporter_t *report, jpp_err_t *err)
{
    jpp_code_t      rc;
    jpp_profile_t  *profile;

    profile = &report->profile;

    jpp_profile_close(profile);

    profile->default_type = report->options->args.values[JPP_ARG_TYPE];

    if (!jpp_report_has_type(profile)) {
        return jpp_err_set(err, JPP_ERR_ARG,
                           "%s is not in this profile: jemalloc counts what "
                           "was ever allocated only with prof_accum:true",
                           profile->types[profile->default_type].type);
    }

    rc = jpp_report_symbolize(report, err);
    if (rc != JPP_OK) {
        return rc;
    }

    return jpp_report_describe(report) ? JPP_OK : jpp_err_memory(err);
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
jpp_report_symbolize(jpp_reporter_t *report, jpp_err_t *err)
{
    if (jpp_report_has_names(report->options)) {
        return jpp_symbolize(report->symbols, &report->profile, err);
    }

    switch (report->format) {

    case JPP_FORMAT_PPROF:
        return jpp_symbolize_build_ids(report->symbols, &report->profile, err);

    case JPP_FORMAT_TEXT:
        return JPP_OK;

    default: /* JPP_FORMAT_FOLDED, JPP_FORMAT_TOP */
        return jpp_symbolize_addresses(&report->profile, err);
    }
}


static bool
jpp_report_describe(jpp_reporter_t *report)
{
    bool                          done;
    size_t                        i;
    jpp_profile_t                *profile;
    const jpp_report_options_t   *options;

    profile = &report->profile;
    options = report->options;

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

    if (!done || !jpp_report_left_out(report)) {
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


/* A profile that lacks something says so itself. */

static bool
jpp_report_left_out(jpp_reporter_t *report)
{
    bool              done;
    size_t            i;
    const char       *name;
    const jpp_err_t  *errors;

    errors = report->options->errors;
    done = true;

    for (i = 0; errors != NULL && done && i < report->n; i++) {

        if (errors[i].code == JPP_OK) {
            continue;
        }

        name = report->captures[i].name;

        done = name != NULL
               ? jpp_profile_comment(&report->profile, "left out %.256s: %s",
                                     name, errors[i].text)
               : jpp_profile_comment(&report->profile,
                                     "left out dump %zu: %s", i + 1,
                                     errors[i].text);
    }

    return done;
}


static bool
jpp_report_write(jpp_reporter_t *report, jpp_sink_t *sink)
{
    uint32_t        type;
    jpp_profile_t  *profile;

    profile = &report->profile;
    type = profile->default_type;

    switch (report->format) {

    case JPP_FORMAT_TEXT:
        jpp_text_write(profile, sink);
        return true;

    case JPP_FORMAT_JEMALLOC:
        jpp_sink_write(sink, report->dump, report->dump_len);
        return true;

    case JPP_FORMAT_FOLDED:
        jpp_folded_write(profile, type, sink);
        return true;

    case JPP_FORMAT_TOP:
        return jpp_top_write(profile, type, sink);

    default: /* JPP_FORMAT_PPROF */
        return jpp_report_pprof(profile, report->options->level, sink);
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
