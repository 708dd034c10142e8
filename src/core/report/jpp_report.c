
#include "jpp_report.h"


/*
 * The first half of a report: captures into a profile, bad ones left out.
 */


typedef struct {
    jpp_profile_t                 profile;
    jpp_vec_t                    *base[JPP_MAX_COLUMNS];  /* the values of */
                                             /*   bases, where they are kept */
    jpp_view_t                   *view;      /* the caller's */
    jpp_arena_t                  *arena;
    jpp_symbols_t                *symbols;

    jpp_capture_t                *captures;
    size_t                        n;
    const jpp_report_options_t   *options;
    const jpp_format_t           *format;

    bool                          has_baselines;  /* any to be read */
    bool                          is_split;       /* by origin */
    jpp_origin_split_t            split;
    bool                          is_spoiled;     /* by a bad baseline */
} jpp_reporter_t;


/* A dump, and where it lies if it was packed. */
typedef struct {
    jpp_dump_t    dump;
    jpp_vec_t    *unpacked;
} jpp_report_input_t;


static bool
jpp_report_has_baseline(const jpp_capture_t *capture)
{
    return capture->baseline != NULL && capture->baseline_err.code == JPP_OK;
}


/*
 * Should counts stay as sampled, baselines be read, and inherited memory be
 * kept apart?
 */

static void
jpp_report_choose(jpp_reporter_t *report, size_t n_read)
{
    bool                  is_base;
    const jpp_capture_t  *capture;

    is_base = false;

    /* the form has one period, and the counts of one dump */

    report->view->is_raw = n_read == 1
                           && report->format->is_raw
                           && report->format->parser == report->options->parser
                           && report->options->args.values[JPP_ARG_ORIGIN]
                              == JPP_ORIGIN_ALL;

    report->is_spoiled = false;
    report->has_baselines = false;

    jpp_each(capture, report->captures, report->n) {
        if (capture->err.code == JPP_OK) {
            is_base |= capture->is_base;
            report->has_baselines |= jpp_report_has_baseline(capture);
        }
    }

    report->view->base = is_base && report->format->keeps_base ? report->base
                                                               : NULL;

    report->has_baselines &= !is_base && !report->view->is_raw
                             && !report->format->takes_one;

    report->is_split = report->has_baselines
                       || report->options->args.values[JPP_ARG_ORIGIN]
                          != JPP_ORIGIN_ALL;
}


/* Add the samples of DUMP.  OPTIONS get where the allocator lies. */

static jpp_code_t
jpp_report_dump(jpp_reporter_t *report, const jpp_dump_t *dump,
    jpp_read_options_t *options, jpp_err_t *err)
{
    jpp_vec_t   *ranges;
    jpp_code_t   rc;

    ranges = jpp_vec_create(report->arena);
    if (ranges == NULL) {
        return jpp_err_memory(err);
    }

    if (dump->program != 0) {
        rc = jpp_symbolize_ranges(report->symbols, &report->profile,
                                  dump->program, jpp_allocator_is_function,
                                  ranges, err);
        if (rc != JPP_OK) {
            return rc;
        }
    }

    options->allocator = jpp_vec_items(ranges, jpp_range_t);
    options->n_allocator = jpp_vec_count(ranges, jpp_range_t);

    return report->options->parser->read(&report->profile, dump, options, err);
}


/* LEN bytes of dump at DATA, gzip-ed or not, opened. */

static jpp_code_t
jpp_report_open(jpp_reporter_t *report, jpp_report_input_t *input,
    const char *data, size_t len, const char *tail, jpp_err_t *err)
{
    jpp_code_t  rc;

    memset(input, 0, sizeof(jpp_report_input_t));

    if (jpp_gzip_is((const uint8_t *) data, len)) {

        input->unpacked = jpp_vec_create(report->arena);
        if (input->unpacked == NULL) {
            return jpp_err_memory(err);
        }

        rc = jpp_gunzip((const uint8_t *) data, len, JPP_MAX_DUMP,
                        input->unpacked, err);
        if (rc != JPP_OK) {
            return rc;
        }

        data = (const char *) input->unpacked->data;
        len = input->unpacked->len;
    }

    return report->options->parser->open(&input->dump, &report->profile, data,
                                         len, tail, err);
}


static void
jpp_report_close(jpp_report_input_t *input)
{
    jpp_vec_release(input->dump.maps);
    jpp_vec_release(input->unpacked);
}


/* A lack of memory is not a capture's error: the others would fail, too. */

static bool
jpp_report_can_leave_out(const jpp_err_t *err)
{
    return err->code == JPP_ERR_INPUT || err->code == JPP_ERR_CUT
           || err->code == JPP_ERR_TAIL || err->code == JPP_ERR_LIMIT;
}


/* The baseline of CAPTURE, which is DUMP and whose samples begin at FROM. */

static jpp_code_t
jpp_report_baseline(jpp_reporter_t *report, jpp_capture_t *capture,
    const jpp_dump_t *dump, jpp_read_options_t *options, uint32_t from,
    jpp_err_t *err)
{
    uint32_t             set;
    jpp_err_t            why;
    jpp_code_t           rc;
    jpp_report_input_t   input;

    memset(&why, 0, sizeof(jpp_err_t));

    rc = jpp_report_open(report, &input, capture->baseline,
                         capture->baseline_len, capture->tail, &why);

    if (rc == JPP_OK) {
        rc = jpp_origin_check(&input.dump, dump, &why);
    }

    if (rc == JPP_OK) {
        options->baseline_of = dump;
        options->columns = report->split.baseline;

        rc = jpp_report_dump(report, &input.dump, options, &why);
    }

    jpp_report_close(&input);

    if (rc == JPP_OK) {
        return jpp_profile_labels(&report->profile, 0,
                                  JPP_ORIGIN_GROUP | capture->group,
                                  capture->inherited_labels,
                                  capture->n_inherited_labels, &set)
               && jpp_origin_take(&report->split, from, set)
               ? JPP_OK : jpp_err_memory(err);
    }

    if (!jpp_report_can_leave_out(&why)) {
        *err = why;
        return rc;
    }

    capture->baseline_err = why;
    report->is_spoiled = true;

    return JPP_OK;
}


static jpp_code_t
jpp_report_samples(jpp_reporter_t *report, jpp_capture_t *capture,
    jpp_read_options_t *options, bool has_baseline, jpp_err_t *err)
{
    uint32_t             from;
    jpp_code_t           rc;
    jpp_report_input_t   input;

    from = report->profile.n_samples;

    rc = jpp_report_open(report, &input, capture->data, capture->len,
                         capture->tail, err);

    if (rc == JPP_OK) {
        rc = jpp_report_dump(report, &input.dump, options, err);
    }

    if (rc == JPP_OK && has_baseline) {
        rc = jpp_report_baseline(report, capture, &input.dump, options, from,
                                 err);
    }

    if (report->format->takes_one) {
        report->view->capture = input.dump.data;
        report->view->capture_len = input.dump.len;

    } else {
        jpp_report_close(&input);
    }

    return rc;
}


static jpp_code_t
jpp_report_capture(jpp_reporter_t *report, jpp_capture_t *capture,
    jpp_err_t *err)
{
    bool                 has_baseline;
    jpp_read_options_t   options;

    memset(&options, 0, sizeof(jpp_read_options_t));

    options.is_base = capture->is_base && report->view->base == NULL;
    options.columns = capture->is_base ? report->view->base : NULL;
    options.is_raw = report->view->is_raw;
    options.says_owners = jpp_args_has_owners(&report->options->args);
    options.has_owners = options.says_owners
                         || (report->format->shows_owners
                             && !report->options->args.is_set[JPP_ARG_OWNERS]);

    options.has_ages = jpp_args_has_ages(&report->options->args);

    has_baseline = report->has_baselines && jpp_report_has_baseline(capture);

    /* a baseline must only meet samples of its own capture */

    return jpp_profile_labels(&report->profile, 0, has_baseline
                              ? (size_t) (capture - report->captures) + 1 : 0,
                              capture->labels, capture->n_labels,
                              &options.labels)
           ? jpp_report_samples(report, capture, &options, has_baseline, err)
           : jpp_err_memory(err);
}


/* The N_READ captures without an error, into a new profile. */

static jpp_code_t
jpp_report_captures(jpp_reporter_t *report, size_t n_read, jpp_err_t *err)
{
    jpp_code_t      rc;
    jpp_capture_t  *capture;

    jpp_report_choose(report, n_read);

    if (!jpp_parser_init(report->options->parser, &report->profile,
                         report->arena)
        || (report->format->is_counted && !jpp_profile_count(&report->profile))
        || (report->is_split
            && !jpp_origin_init(&report->split, &report->profile))
        || (report->view->base != NULL
            && !jpp_profile_columns(&report->profile, report->base, 0)))
    {
        return jpp_err_memory(err);
    }

    /* bases get columns of their own: nothing is subtracted */

    report->profile.is_difference = report->view->base != NULL;

    jpp_each(capture, report->captures, report->n) {

        rc = capture->err.code == JPP_OK
             ? jpp_report_capture(report, capture, err) : JPP_OK;

        if (rc == JPP_OK) {
            continue;
        }

        err->capture = (size_t) (capture - report->captures);

        if (!report->options->leaves_out || !jpp_report_can_leave_out(err)) {
            return rc;
        }

        capture->err = *err;
    }

    return JPP_OK;
}


/* A bad capture spoils its source.  Returns how many captures are good. */

static size_t
jpp_report_leave_out(jpp_reporter_t *report)
{
    size_t          n;
    jpp_capture_t  *bad, *other;

    jpp_each(bad, report->captures, report->n) {

        if (bad->err.code == JPP_OK || bad->source == 0) {
            continue;
        }

        jpp_each(other, report->captures, report->n) {
            if (other->source == bad->source && other->err.code == JPP_OK) {
                other->err = bad->err;
            }
        }
    }

    n = 0;

    jpp_each(other, report->captures, report->n) {
        n += other->err.code == JPP_OK;
    }

    return n;
}


static void
jpp_report_origin(jpp_reporter_t *report)
{
    jpp_origin_t    origin;
    jpp_profile_t   base;

    origin = (jpp_origin_t) report->options->args.values[JPP_ARG_ORIGIN];

    jpp_origin_keep(&report->profile, origin);

    if (report->view->base != NULL) {
        base = report->profile;
        memcpy(base.columns, report->base, sizeof(base.columns));
        jpp_origin_keep(&base, origin);
    }
}


/*
 * Read the captures of REPORT into its profile, which is initialized here.
 *
 * Samples of a capture or baseline that turns out to be bad cannot be removed
 * from the profile.  So all are read first; if some were bad, the profile is
 * thrown away and the others are read again.
 */

static jpp_code_t
jpp_report_read(jpp_reporter_t *report, jpp_err_t *err)
{
    size_t            n, n_read;
    jpp_code_t        rc;
    jpp_capture_t    *capture;
    const jpp_vec_t  *before;

    jpp_each(capture, report->captures, report->n) {
        capture->err.code = JPP_OK;
    }

    before = jpp_vec_last(report->arena);

    for (n_read = report->n; /* void */ ; n_read = n) {

        rc = jpp_report_captures(report, n_read, err);

        if (rc != JPP_OK) {
            return rc;
        }

        n = jpp_report_leave_out(report);

        if (n == n_read && !report->is_spoiled) {
            break;
        }

        if (n == 0) {
            *err = report->captures[0].err;
            return err->code;
        }

        jpp_vec_release_after(report->arena, before);
    }

    if (report->is_split) {
        jpp_report_origin(report);
    }

    return JPP_OK;
}


static const char *const  jpp_report_origins[] = {
    NULL,                                       /* JPP_ORIGIN_ALL */
    "origin=worker: without memory inherited from the master",
    "origin=master: only memory inherited from the master"
};


void
jpp_report_options_init(jpp_report_options_t *options)
{
    memset(options, 0, sizeof(jpp_report_options_t));

    jpp_args_init(&options->args, &jpp_format_words, jpp_parser_heap.types);
    options->parser = &jpp_parser_heap;
    options->title = "";
    options->level = JPP_REPORT_LEVEL;
}


/* A FORMAT that is the dump itself. */

static jpp_code_t
jpp_report_unchanged(const jpp_report_options_t *options,
    const jpp_format_t *format, size_t n, jpp_err_t *err)
{
    const char  *why;

    why = n != 1 ? ": choose one worker or file, and no difference"
          : options->args.values[JPP_ARG_ORIGIN] != JPP_ORIGIN_ALL
          ? ", with all origins: choose origin=all or another format"
          : jpp_args_has_owners(&options->args)
          ? ", whose threads are the owners: choose neither owners=1 nor by=, "
            "or another format"
          : NULL;

    return why == NULL
           ? JPP_OK
           : jpp_err_set(err, JPP_ERR_ARG, "format=%s serves a single dump "
                         "unchanged%s", format->name, why);
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

    if (format->parser != NULL
        && format->parser->values != options->parser->values)
    {
        return jpp_err_set(err, JPP_ERR_ARG, "format=%s has %s profiles only: "
                           "choose another format", format->name,
                           format->parser->name);
    }

    if (format->takes_one) {
        rc = jpp_report_unchanged(options, format, n, err);

        if (rc != JPP_OK) {
            return rc;
        }
    }

    if (options->args.is_set[JPP_ARG_BY]) {

        if (options->parser->parts != NULL) {
            return jpp_err_set(err, JPP_ERR_ARG, "the stacks of %s begin with "
                               "servers and locations already: leave by out",
                               options->parser->name);
        }

        if (!jpp_roots_allow((jpp_by_t) options->args.values[JPP_ARG_BY])) {
            return jpp_err_set(err, JPP_ERR_ARG, "a profile accepts by=server, "
                               "by=location or by=upstream; use by=request "
                               "and by=connection with the resource requests");
        }
    }

    if (jpp_args_has_ages(&options->args)
        && (options->parser->values != jpp_parser_heap.values
            || options->args.values[JPP_ARG_SECONDS] != 0
            || options->args.is_set[JPP_ARG_AT]
            || options->args.is_set[JPP_ARG_BASE]))
    {
        return jpp_err_set(err, JPP_ERR_ARG, "age and ages are about live heap "
                           "samples of the present: ask for the resource heap, "
                           "without seconds, at and base");
    }

    if (!options->parser->has_origins
        && options->args.values[JPP_ARG_ORIGIN] != JPP_ORIGIN_ALL)
    {
        return jpp_err_set(err, JPP_ERR_ARG, "origin is about memory: a "
                           "profile of %s has none: leave it out",
                           options->parser->name);
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


/* The type that is shown: as asked for, or what is preferred. */

static jpp_code_t
jpp_report_type(jpp_reporter_t *report, jpp_err_t *err)
{
    uint32_t                     i, n, type, shown[JPP_MAX_TYPES];
    jpp_profile_t               *profile;
    const jpp_report_options_t  *options;

    profile = &report->profile;
    options = report->options;
    type = options->args.values[JPP_ARG_TYPE];
    n = jpp_profile_types(profile, shown);

    for (i = 0;
         i < n && options->prefers != NULL
         && !options->args.is_set[JPP_ARG_TYPE];
         i++)
    {
        if (strcmp(profile->types[shown[i]].type, options->prefers) == 0) {
            type = shown[i];
        }
    }

    profile->default_type = type;

    for (i = 0; i < n; i++) {
        if (shown[i] == type) {
            return JPP_OK;
        }
    }

    return jpp_err_set(err, JPP_ERR_ARG, "%s is not in this profile: %s",
                       profile->types[type].type, options->parser->absent);
}


static jpp_code_t
jpp_report_symbolize(jpp_reporter_t *report, jpp_err_t *err)
{
    jpp_symbolize_what_t  what;

    if (report->format->names == JPP_NAMES_NONE) {
        return JPP_OK;
    }

    what = jpp_report_has_names(report->options) ? JPP_SYMBOLIZE_NAMES
           : report->format->names == JPP_NAMES_OPTIONAL
             ? JPP_SYMBOLIZE_BUILD_IDS : JPP_SYMBOLIZE_ADDRESSES;

    return jpp_symbolize(report->symbols, &report->profile, what, err);
}


/* A comment for each baseline that was left out. */

static void
jpp_report_left_out(jpp_reporter_t *report)
{
    const jpp_err_t      *why;
    const jpp_capture_t  *capture;

    jpp_each(capture, report->captures, report->n) {
        why = &capture->baseline_err;

        /* the baseline of a capture that is left out does not matter */

        if (why->code == JPP_OK || capture->err.code != JPP_OK) {
            continue;
        }

        if (capture->name != NULL) {
            jpp_profile_comment(&report->profile, "left out the baseline of "
                                "%.256s: %s", capture->name, why->text);
        } else {
            jpp_profile_comment(&report->profile, "left out the baseline of "
                                "dump %zu: %s",
                                (size_t) (capture - report->captures) + 1,
                                why->text);
        }
    }
}


static bool
jpp_report_describe(jpp_reporter_t *report)
{
    const char                   *origin;
    jpp_profile_t                *profile;
    const jpp_report_options_t   *options;

    profile = &report->profile;
    options = report->options;
    profile->time_nanos = options->time_nanos;

    if (profile->is_difference || options->duration_nanos > 0) {
        profile->duration_nanos = options->duration_nanos > 0
                                  ? options->duration_nanos : 1;
    }

    options->parser->describe(profile);

    origin = jpp_report_origins[options->args.values[JPP_ARG_ORIGIN]];

    if (origin != NULL) {
        jpp_profile_comment(profile, "%s", origin);
    }

    if (options->args.values[JPP_ARG_AGE] != 0) {
        jpp_profile_comment(profile, "live memory is at least %s old: age=%"
                            PRIu32 "s", jpp_span(options->args.values
                                                 [JPP_ARG_AGE]),
                            options->args.values[JPP_ARG_AGE]);
    }

    jpp_report_left_out(report);

    if (options->comments != NULL) {
        options->comments(options->data, profile);
    }

    return !profile->is_mute;
}


/* Everything a profile needs after its samples. */

static jpp_code_t
jpp_report_prepare(jpp_reporter_t *report, jpp_err_t *err)
{
    jpp_code_t      rc;
    jpp_profile_t  *profile;

    profile = &report->profile;

    /* no samples are added any more, so nobody looks for known stacks */

    jpp_vec_release(profile->stack_index.vec);

    rc = jpp_report_type(report, err);
    if (rc != JPP_OK) {
        return rc;
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


jpp_code_t
jpp_report_profile(jpp_arena_t *arena, jpp_symbols_t *symbols,
    jpp_capture_t *captures, size_t n,
    const jpp_report_options_t *options, jpp_view_t *view, jpp_err_t *err)
{
    jpp_code_t       rc;
    jpp_reporter_t  *report;

    report = jpp_arena_alloc(arena, sizeof(jpp_reporter_t));
    if (report == NULL) {
        return jpp_err_memory(err);
    }

    memset(view, 0, sizeof(jpp_view_t));

    view->profile = &report->profile;
    view->args = &options->args;
    view->parts = options->parser->parts;
    view->title = options->title;
    view->level = options->level;

    report->view = view;
    report->arena = arena;
    report->symbols = symbols;
    report->captures = captures;
    report->n = n;
    report->options = options;
    report->format = jpp_format_of(&options->args);

    rc = jpp_report_check(options, n, err);

    if (rc == JPP_OK) {
        rc = jpp_report_read(report, err);
    }

    return rc == JPP_OK && !report->format->takes_one
           ? jpp_report_prepare(report, err) : rc;
}


jpp_code_t
jpp_report_write(const jpp_view_t *view, jpp_sink_t *sink, jpp_err_t *err)
{
    if (!jpp_format_of(view->args)->write(view, sink)) {
        return jpp_err_memory(err);
    }

    if (jpp_sink_flush(sink) != 0) {
        (void) jpp_err_sys(err, sink->error, "the report cannot be written");
        err->code = JPP_ERR_WRITE;
        return JPP_ERR_WRITE;
    }

    return JPP_OK;
}


jpp_code_t
jpp_report(jpp_arena_t *arena, jpp_symbols_t *symbols,
    jpp_capture_t *captures, size_t n,
    const jpp_report_options_t *options, jpp_sink_t *sink, jpp_err_t *err)
{
    jpp_code_t  rc;
    jpp_view_t  view;

    rc = jpp_report_profile(arena, symbols, captures, n, options, &view, err);

    return rc == JPP_OK ? jpp_report_write(&view, sink, err) : rc;
}
