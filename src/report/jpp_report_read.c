
#include <string.h>

#include "jpp_gzip.h"
#include "jpp_origin.h"
#include "jpp_report_dump.h"
#include "jpp_report_read.h"


static jpp_code_t jpp_report_captures(jpp_reporter_t *report, size_t n_read,
    jpp_err_t *err);
static void jpp_report_choose(jpp_reporter_t *report, bool is_raw);
static bool jpp_report_can_leave_out(const jpp_err_t *err);
static size_t jpp_report_leave_out(jpp_reporter_t *report);
static jpp_code_t jpp_report_capture(jpp_reporter_t *report, size_t i,
    bool is_raw, jpp_err_t *err);
static jpp_code_t jpp_report_baseline(jpp_reporter_t *report, size_t i,
    jpp_heap_options_t *options, uint32_t from, jpp_err_t *err);
static jpp_code_t jpp_report_unpack(jpp_reporter_t *report,
    jpp_heap_options_t *options, const char *data, size_t len, jpp_err_t *err);


/*
 * What was read of a capture or a baseline that turns out to be bad cannot be
 * taken out of the profile again.  So all are read; only where some were bad,
 * everything is thrown away and the others are read once more.
 */

jpp_code_t
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

    report->baselines = jpp_arena_alloc(report->arena,
                                        report->n * sizeof(jpp_err_t));
    if (report->baselines == NULL) {
        return jpp_err_memory(err);
    }

    before = report->arena->vecs;

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

        for (vec = report->arena->vecs; vec != before; vec = vec->next) {
            jpp_vec_release(vec);
        }
    }

    if (report->is_split) {
        jpp_origin_finish(&report->profile, (jpp_origin_t)
                          report->options->args.values[JPP_ARG_ORIGIN]);
    }

    return JPP_OK;
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

    is_raw = n_read == 1
             && report->format->is_raw
             && report->options->args.values[JPP_ARG_ORIGIN] == JPP_ORIGIN_ALL;

    jpp_report_choose(report, is_raw);

    if (!jpp_heap_init(&report->profile, report->arena)
        || (report->is_split && !jpp_origin_init(&report->profile)))
    {
        return jpp_err_memory(err);
    }

    for (i = 0; i < report->n; i++) {

        if (errors != NULL && errors[i].code != JPP_OK) {
            continue;
        }

        rc = jpp_report_capture(report, i, is_raw, err);

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


/* Are baselines to be read, and is what was inherited to be told apart? */

static void
jpp_report_choose(jpp_reporter_t *report, bool is_raw)
{
    bool              is_base;
    size_t            i;
    const jpp_err_t  *errors;

    errors = report->options->errors;
    is_base = false;

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

    report->has_baselines &= !is_base && !is_raw
                             && !report->format->takes_one;

    report->is_split = report->has_baselines
                       || report->options->args.values[JPP_ARG_ORIGIN]
                          != JPP_ORIGIN_ALL;
}


/* Want of memory is no error of a capture: the others would meet it, too. */

static bool
jpp_report_can_leave_out(const jpp_err_t *err)
{
    return err->code == JPP_ERR_INPUT || err->code == JPP_ERR_CUT
           || err->code == JPP_ERR_TAIL || err->code == JPP_ERR_LIMIT;
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
jpp_report_capture(jpp_reporter_t *report, size_t i, bool is_raw,
    jpp_err_t *err)
{
    bool                  done, has_baseline;
    uint32_t              from;
    jpp_code_t            rc;
    jpp_profile_t        *profile;
    jpp_heap_options_t    options;
    const jpp_capture_t  *capture;

    profile = &report->profile;
    capture = &report->captures[i];

    memset(&options, 0, sizeof(jpp_heap_options_t));

    options.is_base = capture->is_base;
    options.is_raw = is_raw;
    options.tail = capture->tail;

    if (capture->n_labels > JPP_MAX_LABELS
        || capture->n_inherited_labels > JPP_MAX_LABELS)
    {
        return jpp_err_set(err, JPP_ERR_ARG, "more than %d labels",
                           JPP_MAX_LABELS);
    }

    has_baseline = report->has_baselines && capture->baseline != NULL
                   && report->baselines[i].code == JPP_OK;

    /* what a baseline is compared with must be of this capture alone */

    done = has_baseline
           ? jpp_profile_part(profile, capture->labels, capture->n_labels,
                              (uint32_t) i + 1, false, &options.labels)
           : jpp_profile_labels(profile, capture->labels, capture->n_labels,
                                &options.labels);
    if (!done) {
        return jpp_err_memory(err);
    }

    from = profile->n_samples;

    rc = jpp_report_unpack(report, &options, capture->data, capture->len, err);

    return rc == JPP_OK && has_baseline
           ? jpp_report_baseline(report, i, &options, from, err) : rc;
}


/* The baseline of capture I, whose samples begin at FROM. */

static jpp_code_t
jpp_report_baseline(jpp_reporter_t *report, size_t i,
    jpp_heap_options_t *options, uint32_t from, jpp_err_t *err)
{
    uint32_t              set;
    jpp_err_t             why;
    jpp_code_t            rc;
    jpp_profile_t        *profile;
    const jpp_capture_t  *capture;

    memset(&why, 0, sizeof(jpp_err_t));

    profile = &report->profile;
    capture = &report->captures[i];

    options->is_baseline = true;

    rc = jpp_report_unpack(report, options, capture->baseline,
                         capture->baseline_len, &why);

    if (rc == JPP_OK) {
        return jpp_profile_part(profile, capture->inherited_labels,
                                capture->n_inherited_labels, capture->group,
                                true, &set)
               && jpp_origin_split(profile, from, set)
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


/* LEN bytes of dump at DATA, gzip-ed or not. */

static jpp_code_t
jpp_report_unpack(jpp_reporter_t *report, jpp_heap_options_t *options,
    const char *data, size_t len, jpp_err_t *err)
{
    jpp_vec_t   *unpacked;
    jpp_code_t   rc;

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

    rc = jpp_report_dump(&report->profile, report->symbols, options, data, len,
                         err);

    if (report->format->takes_one) {
        report->dump = data;
        report->dump_len = len;

    } else {
        jpp_vec_release(unpacked);
    }

    return rc;
}


/* A profile that lacks something says so itself. */

bool
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

        /* of what is left out it does not matter what was inherited */

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
