
#include <string.h>

#include "jpp_gzip.h"
#include "jpp_report_dump.h"
#include "jpp_report_read.h"


static jpp_code_t jpp_report_captures(jpp_reporter_t *report, size_t n_read,
    jpp_err_t *err);
static bool jpp_report_can_leave_out(const jpp_err_t *err);
static size_t jpp_report_leave_out(jpp_reporter_t *report);
static jpp_code_t jpp_report_capture(jpp_reporter_t *report,
    const jpp_capture_t *capture, bool is_raw, jpp_err_t *err);


/*
 * What was read of a capture that turns out to be bad cannot be taken out of
 * the profile again.  So all are read; only where some were bad, everything is
 * thrown away and the others are read once more.
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


/* A profile that lacks something says so itself. */

bool
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
