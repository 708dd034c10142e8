
#include <string.h>

#include "jpp_gzip.h"
#include "jpp_intern.h"
#include "jpp_report_dump.h"
#include "jpp_report_read.h"


/* A dump, and where it lies if it was packed. */
typedef struct {
    jpp_dump_t    dump;
    jpp_vec_t    *unpacked;
} jpp_report_input_t;


/*
 * Should counts stay as sampled, baselines be read, and inherited memory be
 * kept apart?
 */

static void
jpp_report_choose(jpp_reporter_t *report, size_t n_read)
{
    bool              is_base;
    size_t            i;
    const jpp_err_t  *errors;

    errors = report->options->errors;
    is_base = false;

    /* the form has one period, and the counts of one dump */

    report->is_raw = n_read == 1
                     && report->format->is_raw
                     && report->options->args.values[JPP_ARG_ORIGIN]
                        == JPP_ORIGIN_ALL;

    report->is_spoiled = false;
    report->has_baselines = false;

    for (i = 0; i < report->n; i++) {

        if (errors != NULL && errors[i].code != JPP_OK) {
            continue;
        }

        is_base |= report->captures[i].is_base;
        report->has_baselines |= report->captures[i].baseline != NULL
                                 && report->baselines[i].code == JPP_OK;
    }

    report->has_base = is_base && report->format->keeps_base;

    report->has_baselines &= !is_base && !report->is_raw
                             && !report->format->takes_one;

    report->is_split = report->has_baselines
                       || report->options->args.values[JPP_ARG_ORIGIN]
                          != JPP_ORIGIN_ALL;
}


/* Bases get columns of their own: nothing is subtracted. */

static bool
jpp_report_keep_base(jpp_reporter_t *report)
{
    uint32_t  t;

    for (t = 0; t < report->profile.n_columns; t++) {

        report->base[t] = jpp_vec_create(report->arena);

        if (report->base[t] == NULL) {
            return false;
        }
    }

    report->profile.is_difference = true;

    return true;
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

    return report->options->reader->open(&input->dump, &report->profile, data,
                                         len, tail, err);
}


static void
jpp_report_close(jpp_report_input_t *input)
{
    jpp_vec_release(input->dump.maps);
    jpp_vec_release(input->unpacked);
}


static jpp_code_t
jpp_report_baseline_read(jpp_reporter_t *report, size_t i,
    const jpp_dump_t *dump, jpp_read_options_t *options, jpp_err_t *err)
{
    jpp_code_t            rc;
    jpp_report_input_t    input;
    const jpp_capture_t  *capture;

    capture = &report->captures[i];

    rc = jpp_report_open(report, &input, capture->baseline,
                         capture->baseline_len, capture->tail, err);

    if (rc == JPP_OK) {
        rc = jpp_origin_check(&input.dump, dump, err);
    }

    if (rc == JPP_OK) {
        options->is_baseline = true;
        options->baseline_of = dump;
        options->columns = report->split.baseline;

        rc = jpp_report_dump(&report->profile, report->symbols,
                             report->options->reader, &input.dump, options,
                             err);
    }

    jpp_report_close(&input);

    return rc;
}


/* A lack of memory is not a capture's error: the others would fail, too. */

static bool
jpp_report_can_leave_out(const jpp_err_t *err)
{
    return err->code == JPP_ERR_INPUT || err->code == JPP_ERR_CUT
           || err->code == JPP_ERR_TAIL || err->code == JPP_ERR_LIMIT;
}


/* The baseline of capture I, which is DUMP and whose samples begin at FROM. */

static jpp_code_t
jpp_report_baseline(jpp_reporter_t *report, size_t i, const jpp_dump_t *dump,
    jpp_read_options_t *options, uint32_t from, jpp_err_t *err)
{
    uint32_t              set;
    jpp_err_t             why;
    jpp_code_t            rc;
    const jpp_capture_t  *capture;

    memset(&why, 0, sizeof(jpp_err_t));

    capture = &report->captures[i];

    rc = jpp_report_baseline_read(report, i, dump, options, &why);

    if (rc == JPP_OK) {
        return jpp_profile_part(&report->profile, capture->inherited_labels,
                                capture->n_inherited_labels,
                                JPP_ORIGIN_GROUP | capture->group, &set)
               && jpp_origin_take(&report->split, from, set)
               ? JPP_OK : jpp_err_memory(err);
    }

    if (!jpp_report_can_leave_out(&why)) {
        *err = why;
        return rc;
    }

    report->baselines[i] = why;
    report->is_spoiled = true;

    return JPP_OK;
}


static jpp_code_t
jpp_report_samples(jpp_reporter_t *report, size_t i,
    jpp_read_options_t *options, bool has_baseline, jpp_err_t *err)
{
    uint32_t              from;
    jpp_code_t            rc;
    jpp_report_input_t    input;
    const jpp_capture_t  *capture;

    capture = &report->captures[i];
    from = report->profile.n_samples;

    rc = jpp_report_open(report, &input, capture->data, capture->len,
                         capture->tail, err);

    if (rc == JPP_OK) {
        rc = jpp_report_dump(&report->profile, report->symbols,
                             report->options->reader, &input.dump, options,
                             err);
    }

    if (rc == JPP_OK && has_baseline) {
        rc = jpp_report_baseline(report, i, &input.dump, options, from, err);
    }

    if (report->format->takes_one) {
        report->dump = input.dump.data;
        report->dump_len = input.dump.len;

    } else {
        jpp_report_close(&input);
    }

    return rc;
}


static jpp_code_t
jpp_report_capture(jpp_reporter_t *report, size_t i, jpp_err_t *err)
{
    bool                  is_done, has_baseline;
    jpp_profile_t        *profile;
    jpp_read_options_t    options;
    const jpp_capture_t  *capture;

    profile = &report->profile;
    capture = &report->captures[i];

    if (capture->n_labels > JPP_MAX_LABELS
        || capture->n_inherited_labels > JPP_MAX_LABELS)
    {
        return jpp_err_set(err, JPP_ERR_ARG, "more than %d labels",
                           JPP_MAX_LABELS);
    }

    memset(&options, 0, sizeof(jpp_read_options_t));

    options.is_base = capture->is_base && !report->has_base;
    options.columns = capture->is_base && report->has_base ? report->base
                                                           : NULL;
    options.is_raw = report->is_raw;
    options.has_owners = report->options->args.values[JPP_ARG_OWNERS] != 0
                         || report->options->args.is_set[JPP_ARG_BY];

    has_baseline = report->has_baselines && capture->baseline != NULL
                   && report->baselines[i].code == JPP_OK;

    /* a baseline must only meet samples of its own capture */

    is_done = has_baseline
              ? jpp_profile_part(profile, capture->labels, capture->n_labels,
                                 i + 1, &options.labels)
              : jpp_profile_labels(profile, capture->labels,
                                   capture->n_labels, &options.labels);

    return is_done
           ? jpp_report_samples(report, i, &options, has_baseline, err)
           : jpp_err_memory(err);
}


/* The N_READ captures without an error, into a new profile. */

static jpp_code_t
jpp_report_captures(jpp_reporter_t *report, size_t n_read, jpp_err_t *err)
{
    size_t       i;
    jpp_err_t   *errors;
    jpp_code_t   rc;

    errors = report->options->errors;

    jpp_report_choose(report, n_read);

    if (!report->options->reader->init(&report->profile, report->arena)
        || (report->format->is_counted && !jpp_profile_count(&report->profile))
        || (report->is_split
            && !jpp_origin_init(&report->split, &report->profile))
        || (report->has_base && !jpp_report_keep_base(report)))
    {
        return jpp_err_memory(err);
    }

    for (i = 0; i < report->n; i++) {

        if (errors != NULL && errors[i].code != JPP_OK) {
            continue;
        }

        rc = jpp_report_capture(report, i, err);

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


/* A bad capture spoils its source.  Returns how many captures are good. */

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


static void
jpp_report_origin(jpp_reporter_t *report)
{
    jpp_origin_t    origin;
    jpp_profile_t   base;

    origin = (jpp_origin_t) report->options->args.values[JPP_ARG_ORIGIN];

    jpp_origin_keep(&report->profile, origin);

    if (report->has_base) {
        base = report->profile;
        memcpy(base.columns, report->base, sizeof(base.columns));
        jpp_origin_keep(&base, origin);
    }
}


/*
 * Samples of a capture or baseline that turns out to be bad cannot be removed
 * from the profile.  So all are read first; if some were bad, the profile is
 * thrown away and the others are read again.
 */

jpp_code_t
jpp_report_read(jpp_reporter_t *report, jpp_err_t *err)
{
    size_t            n, n_read;
    jpp_err_t        *errors;
    jpp_code_t        rc;
    const jpp_vec_t  *before;

    errors = report->options->errors;

    if (errors != NULL) {
        memset(errors, 0, report->n * sizeof(jpp_err_t));
    }

    report->baselines = report->options->baselines;

    if (report->baselines == NULL) {
        report->baselines = jpp_arena_alloc(report->arena,
                                            report->n * sizeof(jpp_err_t));
    }

    if (report->baselines == NULL) {
        return jpp_err_memory(err);
    }

    before = jpp_vec_last(report->arena);

    for (n_read = report->n; /* void */ ; n_read = n) {

        rc = jpp_report_captures(report, n_read, err);

        if (rc != JPP_OK) {
            return rc;
        }

        n = errors != NULL ? jpp_report_leave_out(report) : n_read;

        if (n == n_read && !report->is_spoiled) {
            break;
        }

        if (n == 0) {
            *err = errors[0];
            return err->code;
        }

        jpp_vec_release_after(report->arena, before);
    }

    if (report->is_split) {
        jpp_report_origin(report);
    }

    return JPP_OK;
}
