
/*
 * The error of a figure that is a sum of estimates.
 *
 *     jpp_error_variance() of each sample, summed up, then
 *     jpp_error_percent() and jpp_error_text()
 *
 * No state but the caller's; any thread.
 */


#ifndef _JPP_ERROR_H_INCLUDED_
#define _JPP_ERROR_H_INCLUDED_


#include "jpp_profile.h"


#define JPP_ERROR_TEXT   24

/* per cent: a smaller error is shown as exact */
#define JPP_ERROR_EXACT  0.05


/* The variance of sample I of PROFILE, which has counts, in type TYPE. */
double jpp_error_variance(const jpp_profile_t *profile, uint32_t type,
    uint32_t i);

/* The variance of VALUE, of N things with DOUBT; both may be changes. */
double jpp_error_of_value(double value, double n, double doubt);

/*
 * The standard error of VALUE in per cent of it; 0 if it is exact or VALUE is
 * 0.
 */
double jpp_error_percent(double variance, int64_t value);

/*
 * The same for people: "+- 0.5 %", or "exact" below JPP_ERROR_EXACT; in TEXT,
 * which is the result.
 */
const char *jpp_error_text(double percent, char text[JPP_ERROR_TEXT]);


#endif /* _JPP_ERROR_H_INCLUDED_ */
