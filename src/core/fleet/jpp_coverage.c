
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jpp_coverage.h"
#include "jpp_status_time.h"


/*
 * Where all samples are forgotten, none is left from before.  A clock that was
 * set back makes no gap shorter than nothing.
 */

void
jpp_coverage_changed(jpp_coverage_t *coverage,
    const jpp_control_result_t *result, int64_t now)
{
    bool  was_active;

    was_active = result->was_active;

    if (result->is_reset) {
        memset(coverage, 0, sizeof(jpp_coverage_t));
        was_active = false;
    }

    if (result->is_active && !was_active) {
        coverage->since = now > coverage->off ? now : coverage->off;

    } else if (was_active && !result->is_active && coverage->n_off++ == 0) {
        coverage->off = now;
    }
}


const char *
jpp_coverage_gap(const jpp_coverage_t *coverage, char text[JPP_COVERAGE_TEXT])
{
    char  from[JPP_STATUS_TIME], to[JPP_STATUS_TIME];

    (void) jpp_status_time(coverage->off, from);
    (void) jpp_status_time(coverage->since, to);

    if (coverage->n_off == 1) {
        (void) snprintf(text, JPP_COVERAGE_TEXT, "from %s to %s", from, to);

    } else {
        (void) snprintf(text, JPP_COVERAGE_TEXT, "%" PRIu64 " times between "
                        "%s and %s", coverage->n_off, from, to);
    }

    return text;
}
