
#include <string.h>

#include "jpp_folded.h"
#include "jpp_gzip.h"
#include "jpp_pprof.h"
#include "jpp_report_read.h"
#include "jpp_text.h"
#include "jpp_top.h"


static jpp_code_t jpp_report_prepare(jpp_reporter_t *report, jpp_err_t *err);
static bool jpp_report_has_type(const jpp_profile_t *profile);
static jpp_code_t jpp_report_symbolize(jpp_reporter_t *report,
    jpp_err_t *err);
static bool jpp_report_describe(jpp_reporter_t *report);
static bool jpp_report_write(jpp_reporter_t *report, jpp_sink_t *sink);
static bool jpp_report_pprof(jpp_profile_t *profile, int level,
    jpp_sink_t *sink);


static const char *const  jpp_report_origins[] = {
    NULL,                                       /* JPP_ORIGIN_ALL */
    "origin=worker: without what was inherited from the master",
    "origin=master: only what was inherited from the master"
};


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

    if (options->args.values[JPP_ARG_ORIGIN] != JPP_ORIGIN_ALL
        && jpp_args_format(&options->args) == JPP_FORMAT_JEMALLOC)
    {
        return jpp_err_set(err, JPP_ERR_ARG, "format=jemalloc is one dump as "
                           "it is, of all origins: choose origin=all or "
                           "another format");
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
    const char                   *origin;
    const char *const            *comments;
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

    origin = jpp_report_origins[options->args.values[JPP_ARG_ORIGIN]];

    if (done && origin != NULL) {
        done = jpp_profile_comment(profile, "%s", origin);
    }

    if (!done || !jpp_report_left_out(report)) {
        return false;
    }

    if (options->comments == NULL) {
        return true;
    }

    comments = options->comments(options->data, report->arena);

    if (comments == NULL) {
        return false;
    }

    for (i = 0; comments[i] != NULL; i++) {
        if (!jpp_profile_comment(profile, "%s", comments[i])) {
            return false;
        }
    }

    return true;
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
