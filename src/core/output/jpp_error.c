
#include <math.h>
#include <stdio.h>

#include "jpp_error.h"


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

    if (n < 1) {
        n = 1;
    }

    if (doubt > n) {
        doubt = n;
    }

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
