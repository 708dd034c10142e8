
/*
 * The result of a console form: encoded as a query, decoded from one, and as a
 * sentence.
 */


#include "jpp_args.h"
#include "jpp_console.h"
#include "jpp_problems.h"


/* more digits than any number of bytes here has */
#define JPP_OUTCOME_DIGITS  18


typedef struct {
    const char    *key;
    size_t         offset;         /* of a uint64_t */
    uint64_t       max;
} jpp_outcome_row_t;


#define JPP_OUTCOME_ROW(name, max)                                            \
    { #name, offsetof(jpp_outcome_t, name), max }

static const jpp_outcome_row_t  jpp_outcome_rows[] = {
    JPP_OUTCOME_ROW(active, 1),
    JPP_OUTCOME_ROW(sampler, 1),
    JPP_OUTCOME_ROW(lg_sample, JPP_JEMALLOC_LG_MAX),
    JPP_OUTCOME_ROW(stall, JPP_CONTROL_MAX_STALL),
    JPP_OUTCOME_ROW(owners, 1),
    JPP_OUTCOME_ROW(reset, 1),
    JPP_OUTCOME_ROW(purge, 1),
    JPP_OUTCOME_ROW(purged, UINT64_MAX),
    JPP_OUTCOME_ROW(acknowledged, JPP_FINDINGS - 1),
    JPP_OUTCOME_ROW(done, UINT32_MAX),
    JPP_OUTCOME_ROW(asked, UINT32_MAX)
};

#define JPP_OUTCOME_ROWS                                                      \
    (sizeof(jpp_outcome_rows) / sizeof(jpp_outcome_rows[0]))


static uint64_t *
jpp_outcome_value(jpp_outcome_t *outcome, const jpp_outcome_row_t *row)
{
    return (uint64_t *) ((char *) outcome + row->offset);
}


void
jpp_outcome_fill(jpp_outcome_t *outcome, const jpp_control_t *control,
    const jpp_controlled_t *workers, size_t n)
{
    size_t                       i;
    const jpp_control_result_t  *result;

    /* -1 is JPP_NONE, too */

    outcome->active = (uint64_t) control->active;
    outcome->sampler = (uint64_t) control->sampler;
    outcome->lg_sample = (uint64_t) control->lg_sample;
    outcome->stall = (uint64_t) control->stall;
    outcome->owners = (uint64_t) control->owners;
    outcome->reset = control->reset ? 1 : JPP_NONE;
    outcome->purge = control->purge ? 1 : JPP_NONE;
    outcome->purged = JPP_NONE;
    outcome->acknowledged = JPP_NONE;
    outcome->asked = n;
    outcome->done = 0;

    for (i = 0; i < n; i++) {
        result = &workers[i].result;

        if (workers[i].error != NULL) {
            continue;
        }

        outcome->done++;

        /* other threads may have taken more meanwhile */

        if (control->purge && result->has_stats) {
            jpp_add_known(&outcome->purged,
                          jpp_less(result->held_before,
                                   result->held_after));
        }
    }
}


void
jpp_outcome_query(const jpp_outcome_t *outcome, jpp_sink_t *sink)
{
    size_t         i;
    uint64_t       value;
    bool           is_first;
    jpp_outcome_t  copy;

    copy = *outcome;
    is_first = true;

    for (i = 0; i < JPP_OUTCOME_ROWS; i++) {
        value = *jpp_outcome_value(&copy, &jpp_outcome_rows[i]);

        if (value == JPP_NONE) {
            continue;
        }

        jpp_sink_printf(sink, "%s%s=%" PRIu64, is_first ? "" : "&",
                        jpp_outcome_rows[i].key, value);
        is_first = false;
    }
}


static const jpp_outcome_row_t *
jpp_outcome_row(const jpp_query_t *pair)
{
    size_t       i;
    const char  *key;

    for (i = 0; i < JPP_OUTCOME_ROWS; i++) {
        key = jpp_outcome_rows[i].key;

        if (strlen(key) == pair->key_len
            && memcmp(key, pair->key, pair->key_len) == 0)
        {
            return &jpp_outcome_rows[i];
        }
    }

    return NULL;
}


/* JPP_NONE: not a number up to MAX */

static uint64_t
jpp_outcome_number(const jpp_query_t *pair, uint64_t max)
{
    char         text[JPP_OUTCOME_DIGITS + 1];
    uint64_t     n;
    const char  *end;

    if (pair->value_len > JPP_OUTCOME_DIGITS) {
        return JPP_NONE;
    }

    memcpy(text, pair->value, pair->value_len);
    text[pair->value_len] = '\0';

    end = jpp_scan_dec(text, &n);

    return end == text + pair->value_len && n <= max ? n : JPP_NONE;
}


bool
jpp_outcome_read(jpp_outcome_t *outcome, const char *text, size_t len)
{
    size_t                    i;
    jpp_query_t               query;
    const jpp_outcome_row_t  *row;

    for (i = 0; i < JPP_OUTCOME_ROWS; i++) {
        *jpp_outcome_value(outcome, &jpp_outcome_rows[i]) = JPP_NONE;
    }

    if (jpp_query_init(&query, text, len, NULL) != JPP_OK) {
        return false;
    }

    while (jpp_query_next(&query)) {
        row = jpp_outcome_row(&query);

        if (row != NULL) {
            *jpp_outcome_value(outcome, row) = jpp_outcome_number(&query,
                                                                  row->max);
        }
    }

    if (outcome->lg_sample < JPP_JEMALLOC_LG_MIN) {
        outcome->lg_sample = JPP_NONE;
    }

    if (outcome->acknowledged != JPP_NONE) {
        outcome->done = outcome->asked = 0;
        return true;
    }

    return outcome->done != JPP_NONE
           && outcome->asked != JPP_NONE
           && outcome->done <= outcome->asked;
}


void
jpp_outcome_text(const jpp_outcome_t *outcome, jpp_sink_t *sink)
{
    char  text[JPP_UNITS_TEXT];

    if (outcome->acknowledged != JPP_NONE) {
        jpp_sink_printf(sink, "The finding %s is acknowledged until it is "
                        "over.", jpp_finding_ids[outcome->acknowledged]);
        return;
    }

    jpp_sink_printf(sink, "%" PRIu64 " of %" PRIu64 " workers have done it",
                    outcome->done, outcome->asked);

    if (outcome->active != JPP_NONE) {
        jpp_sink_printf(sink, "; jemalloc's sampling is %s",
                        outcome->active == 1 ? "on" : "off");
    }

    if (outcome->sampler != JPP_NONE) {
        jpp_sink_printf(sink, "; the module's sampler is %s",
                        outcome->sampler == 1 ? "on" : "off");
    }

    if (outcome->lg_sample != JPP_NONE) {
        jpp_sink_printf(sink, "; one sample every %s from now on",
                        jpp_problems_rate((uint32_t) outcome->lg_sample,
                                          text));
    }

    if (outcome->stall != JPP_NONE && outcome->stall != 0) {
        jpp_sink_printf(sink, "; stalls are recorded from %" PRIu64 " ms on",
                        outcome->stall);

    } else if (outcome->stall == 0) {
        jpp_sink_str(sink, "; stalls are not recorded");
    }

    if (outcome->owners != JPP_NONE) {
        jpp_sink_printf(sink, "; new samples have %s",
                        outcome->owners == 1 ? "owners" : "no owners");
    }

    if (outcome->reset == 1) {
        jpp_sink_str(sink, "; all samples are forgotten");
    }

    if (outcome->purge == 1) {
        jpp_sink_printf(sink, "; %s went back to the kernel",
                        outcome->purged != JPP_NONE
                        ? jpp_bytes(outcome->purged) : "unused memory");
    }

    jpp_sink_char(sink, '.');
}
