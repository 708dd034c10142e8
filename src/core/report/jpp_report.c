
#include <string.h>

#include "jpp_intern.h"
#include "jpp_report.h"
#include "jpp_report_read.h"
#include "jpp_roots.h"


static const char *const  jpp_report_origins[] = {
    NULL,                                       /* JPP_ORIGIN_ALL */
    "origin=worker: without what was inherited from the master",
    "origin=master: only what was inherited from the master"
};


void
jpp_report_options_init(jpp_report_options_t *options)
{
    memset(options, 0, sizeof(jpp_report_options_t));

    jpp_report_args_init(&options->args);
    options->reader = &jpp_reader_heap;
    options->title = "";
    options->level = JPP_REPORT_LEVEL;
}


void
jpp_report_args_init(jpp_args_t *args)
{
    jpp_args_init(args, &jpp_format_words, jpp_reader_heap.types);
}


/* A FORMAT that is the dump itself. */

static jpp_code_t
jpp_report_unchanged(const jpp_report_options_t *options,
    const jpp_format_t *format, size_t n, jpp_err_t *err)
{
    if (n != 1) {
        return jpp_err_set(err, JPP_ERR_ARG, "format=%s serves a single dump "
                           "unchanged: choose one worker or file, and no "
                           "difference", format->name);
    }

    if (options->args.values[JPP_ARG_ORIGIN] != JPP_ORIGIN_ALL) {
        return jpp_err_set(err, JPP_ERR_ARG, "format=%s serves a single dump "
                           "unchanged, with all origins: choose origin=all "
                           "or another format", format->name);
    }

    if (options->args.values[JPP_ARG_OWNERS] != 0
        || options->args.is_set[JPP_ARG_BY])
    {
        return jpp_err_set(err, JPP_ERR_ARG, "format=%s serves a single dump "
                           "unchanged, whose threads are the owners: choose "
                           "neither owners=1 nor by=, or another format",
                           format->name);
    }

    return JPP_OK;
}


/* What stacks begin with. */

static jpp_code_t
jpp_report_by(const jpp_report_options_t *options, jpp_err_t *err)
{
    if (!options->args.is_set[JPP_ARG_BY]) {
        return JPP_OK;
    }

    if (options->reader->parts != NULL) {
        return jpp_err_set(err, JPP_ERR_ARG, "the stacks of %s begin with "
                           "servers and locations already: leave by out",
                           options->reader->name);
    }

    if (!jpp_roots_allow((jpp_by_t) options->args.values[JPP_ARG_BY])) {
        return jpp_err_set(err, JPP_ERR_ARG, "a profile takes by=server, "
                           "by=location and by=upstream: by=request and "
                           "by=connection are for requests");
    }

    return JPP_OK;
}


jpp_code_t
jpp_report_check(const jpp_report_options_t *options, size_t n,
    jpp_err_t *err)
{
    jpp_code_t           rc;
    const jpp_format_t  *format;

    format = jpp_format_of(&options->args);

    if (n == 0) {
        return jpp_err_set(err, JPP_ERR_ARG, "no dump given");
    }

    if (n > JPP_MAX_CAPTURES) {
        return jpp_err_set(err, JPP_ERR_LIMIT, "more than %d dumps",
                           JPP_MAX_CAPTURES);
    }

    if (format->reader != NULL && format->reader != options->reader) {
        return jpp_err_set(err, JPP_ERR_ARG, "format=%s has %s profiles only: "
                           "choose another format", format->name,
                           format->reader->name);
    }

    if (format->takes_one) {
        rc = jpp_report_unchanged(options, format, n, err);

        if (rc != JPP_OK) {
            return rc;
        }
    }

    rc = jpp_report_by(options, err);

    if (rc != JPP_OK) {
        return rc;
    }

    if (!options->reader->has_origins
        && options->args.values[JPP_ARG_ORIGIN] != JPP_ORIGIN_ALL)
    {
        return jpp_err_set(err, JPP_ERR_ARG, "origin is about memory: a "
                           "profile of %s has none: leave it out",
                           options->reader->name);
    }

    /* debug is for programs that want the text */

    if (format->policy != NULL
        && options->args.values[JPP_ARG_DEBUG] == 1)
    {
        return jpp_err_set(err, JPP_ERR_ARG, "format=%s has no debug=1, which "
                           "asks for format=text: choose one of the two",
                           format->name);
    }

    return JPP_OK;
}


bool
jpp_report_has_names(const jpp_report_options_t *options)
{
    return options->args.values[JPP_ARG_SYMBOLIZE] == 1
           && jpp_format_of(&options->args)->names != JPP_NAMES_NONE;
}


static uint32_t
jpp_report_type(const jpp_reporter_t *report)
{
    uint32_t                     i, n, shown[JPP_MAX_TYPES];
    const jpp_report_options_t  *options;

    options = report->options;

    if (options->prefers == NULL || options->args.is_set[JPP_ARG_TYPE]) {
        return options->args.values[JPP_ARG_TYPE];
    }

    n = jpp_profile_types(&report->profile, shown);

    for (i = 0; i < n; i++) {
        if (strcmp(report->profile.types[shown[i]].type, options->prefers)
            == 0)
        {
            return shown[i];
        }
    }

    return options->args.values[JPP_ARG_TYPE];
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

    switch (report->format->names) {

    case JPP_NAMES_OPTIONAL:
        return jpp_symbolize_build_ids(report->symbols, &report->profile, err);

    case JPP_NAMES_ALWAYS:
        return jpp_symbolize_addresses(&report->profile, err);

    case JPP_NAMES_NONE:
        break;
    }

    return JPP_OK;
}


/* A comment for each baseline that was left out. */

static bool
jpp_report_left_out(jpp_reporter_t *report)
{
    bool               is_done;
    size_t             i;
    const char        *name;
    const jpp_err_t   *errors, *why;

    errors = report->options->errors;

    for (i = 0; i < report->n; i++) {

        name = report->captures[i].name;
        why = &report->baselines[i];

        /* the baseline of a capture that is left out does not matter */

        if (why->code == JPP_OK
            || (errors != NULL && errors[i].code != JPP_OK))
        {
            continue;
        }

        is_done = name != NULL
                  ? jpp_profile_comment(&report->profile, "left out the "
                                        "baseline of %.256s: %s", name,
                                        why->text)
                  : jpp_profile_comment(&report->profile, "left out the "
                                        "baseline of dump %zu: %s", i + 1,
                                        why->text);

        if (!is_done) {
            return false;
        }
    }

    return true;
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

    if (profile->is_difference || options->duration_nanos > 0) {
        profile->duration_nanos = options->duration_nanos > 0
                                  ? options->duration_nanos : 1;
    }

    done = options->reader->describe(profile);

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

    comments = options->comments(options->data, profile, report->arena);

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


/* Everything a profile needs after its samples. */

static jpp_code_t
jpp_report_prepare(jpp_reporter_t *report, jpp_err_t *err)
{
    jpp_code_t      rc;
    jpp_profile_t  *profile;

    profile = &report->profile;

    jpp_profile_close(profile);

    profile->default_type = jpp_report_type(report);

    if (!jpp_report_has_type(profile)) {
        return jpp_err_set(err, JPP_ERR_ARG,
                           "%s is not in this profile: %s",
                           profile->types[profile->default_type].type,
                           report->options->reader->absent);
    }

    if (report->options->args.is_set[JPP_ARG_BY]
        && !report->format->has_owners
        && !jpp_roots_add(profile, (jpp_by_t)
                          report->options->args.values[JPP_ARG_BY]))
    {
        return jpp_err_memory(err);
    }

    rc = jpp_report_symbolize(report, err);
    if (rc != JPP_OK) {
        return rc;
    }

    return jpp_report_describe(report) ? JPP_OK : jpp_err_memory(err);
}


static bool
jpp_report_write(jpp_reporter_t *report, jpp_sink_t *sink)
{
    jpp_view_t  view;

    memset(&view, 0, sizeof(jpp_view_t));

    view.profile = &report->profile;
    view.args = &report->options->args;
    view.parts = report->options->reader->parts;
    view.base = report->has_base ? report->base : NULL;
    view.title = report->options->title;
    view.is_raw = report->is_raw;
    view.level = report->options->level;
    view.capture = report->dump;
    view.capture_len = report->dump_len;

    return report->options->take != NULL
           ? report->options->take(report->options->taker, &view)
           : report->format->write(&view, sink);
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
    report.format = jpp_format_of(&options->args);

    rc = jpp_report_check(options, n, err);

    if (rc == JPP_OK) {
        rc = jpp_report_read(&report, err);
    }

    if (rc == JPP_OK && !report.format->takes_one) {
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
