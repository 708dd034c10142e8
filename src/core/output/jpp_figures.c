
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jpp_figures.h"
#include "jpp_intern.h"
#include "jpp_units.h"


/* how values are shown, by their unit */

static const struct {
    const char   *unit;
    const char *(*show)(int64_t value, char text[JPP_UNITS_TEXT]);
} jpp_figures_units[] = {
    { "bytes", jpp_units_change },
    { "nanoseconds", jpp_units_time_change }
};


void
jpp_figures_comments(const jpp_profile_t *profile, jpp_sink_t *sink)
{
    size_t           i, n;
    jpp_str_t        comment;
    const uint32_t  *comments;

    comments = jpp_vec_items(profile->comments, uint32_t);
    n = jpp_vec_count(profile->comments, uint32_t);

    if (n != 0) {
        jpp_sink_char(sink, '\n');
    }

    for (i = 0; i < n; i++) {
        comment = jpp_profile_str(profile, comments[i]);

        jpp_sink_write(sink, comment.data, comment.len);
        jpp_sink_char(sink, '\n');
    }
}


const char *
jpp_figures_value(const jpp_profile_t *profile, uint32_t type, int64_t value,
    char text[JPP_FIGURES_TEXT])
{
    return jpp_figures_of(profile->types[type].unit, value, text);
}


const char *
jpp_figures_of(const char *unit, int64_t value, char text[JPP_FIGURES_TEXT])
{
    size_t  i, n;

    n = sizeof(jpp_figures_units) / sizeof(jpp_figures_units[0]);

    for (i = 0; i < n; i++) {

        if (strcmp(unit, jpp_figures_units[i].unit) == 0) {
            return jpp_figures_units[i].show(value, text);
        }
    }

    (void) snprintf(text, JPP_FIGURES_TEXT, "%" PRId64, value);

    return text;
}


double
jpp_figures_percent(int64_t value, int64_t total)
{
    double  percent;

    percent = total != 0 ? 100 * (double) value / (double) total : 0;

    /* nothing is "-0.0%" */

    return fabs(percent) < 0.05 ? 0 : percent;
}
