
/*
 * The result of a console form: encoded as a query, decoded from one, and as a
 * sentence.
 */


#include "jpp_answers.h"


/* three numbers of 20 digits, and their keys */
#define JPP_OUTCOME_QUERY  (JPP_CONTROL_TEXT + 96)


void
jpp_outcome_fill(jpp_outcome_t *outcome, const jpp_control_t *control,
    const jpp_controlled_t *workers, size_t n)
{
    size_t  i;

    outcome->control = *control;
    outcome->done = 0;
    outcome->asked = n;
    outcome->purged = control->purge ? JPP_NONE : 0;

    for (i = 0; i < n; i++) {
        if (workers[i].error == NULL) {
            outcome->done++;

            jpp_add_known(&outcome->purged, workers[i].result.purged);
        }
    }
}


void
jpp_outcome_query(const jpp_outcome_t *outcome, jpp_sink_t *sink)
{
    char  text[JPP_CONTROL_TEXT];

    jpp_sink_printf(sink, "ok=%" PRIu64 "&of=%" PRIu64 "&bytes=%" PRIu64 "&%s",
                    outcome->done, outcome->asked, outcome->purged,
                    jpp_control_text(&outcome->control, text));
}


bool
jpp_outcome_read(jpp_outcome_t *outcome, const char *text, size_t len)
{
    char         query[JPP_OUTCOME_QUERY];
    uint64_t     numbers[3];
    jpp_args_t   args;
    const char  *p;

    if (len >= sizeof(query)) {
        return false;
    }

    /* numbers are read up to a byte that is no digit */

    jpp_print(query, "%.*s", (int) len, text);

    p = jpp_scan_numbers(query, "ok=d&of=d&bytes=d&", numbers);

    if (p == NULL || numbers[0] > numbers[1]) {
        return false;
    }

    outcome->done = numbers[0];
    outcome->asked = numbers[1];
    outcome->purged = numbers[2];

    jpp_control_init(&outcome->control);
    jpp_args_init(&args, &jpp_words_top, &jpp_words_top);

    return jpp_control_query(&outcome->control, &args, p, strlen(p), NULL)
           == JPP_OK;
}


void
jpp_outcome_text(const jpp_outcome_t *outcome, jpp_sink_t *sink)
{
    const jpp_control_t  *control;

    control = &outcome->control;

    if (control->acknowledge != -1) {
        jpp_sink_printf(sink, "The finding %s is acknowledged until it is "
                        "over.", jpp_finding_ids[control->acknowledge]);
        return;
    }

    if (control->snapshot != 0) {
        jpp_sink_str(sink, "A snapshot is being taken: it is listed within "
                     "seconds.");
        return;
    }

    jpp_sink_printf(sink, "%" PRIu64 " of %" PRIu64 " workers applied the "
                    "change", outcome->done, outcome->asked);

    if (control->active != -1) {
        jpp_sink_printf(sink, "; jemalloc's sampling is %s",
                        control->active == 1 ? "on" : "off");
    }

    if (control->sampler != -1) {
        jpp_sink_printf(sink, "; the module's sampler is %s",
                        control->sampler == 1 ? "on" : "off");
    }

    if (control->lg_sample != -1) {
        jpp_sink_printf(sink, "; one sample every %s from now on",
                        jpp_rate((uint64_t) control->lg_sample));
    }

    if (control->stall > 0) {
        jpp_sink_printf(sink, "; stalls are recorded from %d ms on",
                        control->stall);

    } else if (control->stall == 0) {
        jpp_sink_str(sink, "; stalls are not recorded");
    }

    if (control->owners != -1) {
        jpp_sink_printf(sink, "; new samples have %s",
                        control->owners == 1 ? "owners" : "no owners");
    }

    if (control->reset) {
        jpp_sink_str(sink, "; all samples are forgotten");
    }

    if (control->purge) {
        jpp_sink_printf(sink, "; %s went back to the kernel",
                        outcome->purged != JPP_NONE
                        ? jpp_bytes(outcome->purged) : "unused memory");
    }

    jpp_sink_char(sink, '.');
}
