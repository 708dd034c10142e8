
/* The sums and headings that tables for a terminal share. */


#include "jpp_view.h"

#include <math.h>


/* from here on decimals mean nothing */
#define JPP_ERROR_WHOLE  9.95


/*
 * A thing of value v that is seen with the probability p, independently of all
 * others, adds v/p to the estimate where it is seen, and nothing where it is
 * not.  Its variance is p (v/p)^2 - v^2 = v^2 (1 - p)/p.  Only things that were
 * seen can be added up, and each of these stands for 1/p things:
 *
 *     variance = sum over those seen of v^2 (1 - p)/p^2
 *
 * All n things of a stack count as equal: each has the share V/n = v/p of the
 * stack's estimate V, and the doubt (1 - p) = D/n, where D is their sum:
 *
 *     variance = n (V/n)^2 D/n = V^2 D/n^2
 *
 * For a heap p = 1 - exp(-size/period): what is much larger than the period is
 * always seen, its doubt is 0, and its figure is exact.  jemalloc counts the
 * things of a stack together, so that of things of different sizes only the
 * mean is known.
 *
 * In a difference n, V and D are changes.  What is in both captures cancels
 * out, rightly: those are the same samples.  If as many things came as went,
 * they cancel out as well, but their errors should not; so the error of a
 * difference is a lower bound.
 */

double
jpp_error_variance(const jpp_profile_t *profile, uint32_t type, uint32_t i)
{
    double    n, value, doubt;
    uint32_t  column;

    column = jpp_profile_seen(profile, profile->types[type].count);

    value = (double) jpp_profile_value(profile->columns[type], i);
    n = (double) jpp_profile_value(profile->columns[column], i);
    doubt = (double) jpp_profile_value(profile->columns[column + 1], i);

    return jpp_error_of_value(value, n, doubt / JPP_DOUBT_ONE);
}


double
jpp_error_of_value(double value, double n, double doubt)
{
    n = fabs(n);
    doubt = fabs(doubt);

    /* a difference with as many things, but of other sizes */

    n = n < 1 ? 1 : n;
    doubt = doubt > n ? n : doubt;

    return value * value * doubt / (n * n);
}


double
jpp_error_percent(double variance, int64_t value)
{
    return value != 0 ? 100 * sqrt(variance) / fabs((double) value) : 0;
}


const char *
jpp_error_text(double percent, char text[JPP_ERROR_TEXT])
{
    if (percent < JPP_ERROR_EXACT) {
        (void) snprintf(text, JPP_ERROR_TEXT, "exact");

    } else {
        (void) snprintf(text, JPP_ERROR_TEXT, "+- %.*f %%",
                        percent < JPP_ERROR_WHOLE ? 1 : 0,
                        percent < 1e6 ? percent : 1e6);
    }

    return text;
}


void
jpp_figures_comments(const jpp_profile_t *profile, jpp_sink_t *sink)
{
    size_t       i;
    const char  *comment;

    for (i = 0; (comment = jpp_profile_comment_at(profile, i)) != NULL; i++) {
        jpp_sink_str(sink, i == 0 ? "\n" : "");
        jpp_sink_str(sink, comment);
        jpp_sink_char(sink, '\n');
    }
}


void
jpp_figures_more(size_t n, const char *what, jpp_sink_t *sink)
{
    if (n != 0) {
        jpp_sink_printf(sink, "%zu more %s%s\n", n, what, n == 1 ? "" : "s");
    }
}


const char *
jpp_figures_text(const char *unit, int64_t value, char text[JPP_FIGURES_TEXT])
{
    if (strcmp(unit, "bytes") == 0) {
        return jpp_units_change(value, text);
    }

    if (strcmp(unit, "nanoseconds") == 0) {
        return jpp_units_time_change(value, text);
    }

    (void) snprintf(text, JPP_FIGURES_TEXT, "%" PRId64, value);

    return text;
}


void
jpp_figures_cells(const jpp_profile_t *profile, int64_t value, int64_t total,
    jpp_table_t *table)
{
    double  percent;

    percent = total != 0 ? 100 * (double) value / (double) total : 0;

    /* nothing is "-0.0%" */

    jpp_table_cell(table, "%s", jpp_figure(profile, value));
    jpp_table_cell(table, "%.1f%%", fabs(percent) < 0.05 ? 0 : percent);
}


void
jpp_sums_init(jpp_sums_t *sums, const jpp_profile_t *profile)
{
    uint32_t  i;

    sums->profile = profile;
    sums->type = profile->default_type;
    sums->objects = profile->types[sums->type].objects;
    sums->size = sums->objects;

    /* the first other type about these objects says how large they are */

    for (i = profile->n_types; i-- > 0; /* void */ ) {
        if (i != sums->objects
            && profile->types[i].objects == sums->objects)
        {
            sums->size = i;
        }
    }
}


bool
jpp_sums_sample(const jpp_sums_t *sums, uint32_t i, jpp_sum_t *sum)
{
    const jpp_profile_t  *profile;

    profile = sums->profile;

    sum->value = jpp_profile_value(profile->columns[sums->type], i);
    sum->objects = jpp_profile_value(profile->columns[sums->objects], i);
    sum->size = jpp_profile_value(profile->columns[sums->size], i);
    sum->variance = jpp_error_variance(profile, sums->type, i);

    return sum->value != 0;
}


void
jpp_sum_add(jpp_sum_t *sum, const jpp_sum_t *more)
{
    sum->value = jpp_add_i64(sum->value, more->value);
    sum->objects = jpp_add_i64(sum->objects, more->objects);
    sum->size = jpp_add_i64(sum->size, more->size);
    sum->variance += more->variance;
}


void
jpp_sums_columns(const jpp_sums_t *sums, jpp_table_t *table)
{
    const char  *p, *type;

    /* "objects" of "inuse_objects", "samples" of "samples" */

    type = sums->profile->types[sums->objects].type;
    p = strrchr(type, '_');

    jpp_table_column(table, p != NULL ? p + 1 : type, 5, 0);
    jpp_table_column(table, "mean", 6, 0);
    jpp_table_column(table, "error", 2, 0);
}


void
jpp_sums_cells(const jpp_sums_t *sums, const jpp_sum_t *sum,
    jpp_table_t *table)
{
    jpp_table_cell(table, "%" PRId64, sum->objects);

    if (sum->objects != 0 && sums->size != sums->objects
        && (sum->objects < 0) == (sum->size < 0))
    {
        jpp_table_cell(table, "%s",
                       jpp_figure_of(sums->profile->types[sums->size].unit,
                                     sum->size / sum->objects));

    } else {
        jpp_table_cell(table, "-");
    }

    jpp_error_cell(sum->variance, sum->value, table);
}


void
jpp_error_cell(double variance, int64_t value, jpp_table_t *table)
{
    const char  *error;

    error = value != 0 ? jpp_error(jpp_error_percent(variance, value)) : "-";

    /* the heading says "+-" already */

    jpp_table_cell(table, "%s", error[0] == '+' ? error + sizeof("+- ") - 1
                                                : error);
}


int
jpp_sums_compare(int64_t m, int64_t n)
{
    return jpp_sort_order_i64(llabs(n), llabs(m));
}
