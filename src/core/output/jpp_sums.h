
/*
 * What tables for people share: values by their unit, percentages, the comments
 * below; and what they add up over the samples of a profile, by the type that
 * is shown: its value, the objects behind it, and how far off it may be.
 *
 * No state but the caller's; any thread.
 */


#ifndef _JPP_SUMS_H_INCLUDED_
#define _JPP_SUMS_H_INCLUDED_


#include "jpp_profile.h"


#define JPP_FIGURES_TEXT  24


/*
 * The error of a figure that is a sum of estimates: jpp_error_variance() of
 * each sample, summed up, then jpp_error_percent() and jpp_error_text().
 */

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


/* Write VALUE of TYPE, an index, to TEXT, which is the result. */
const char *jpp_figures_value(const jpp_profile_t *profile, uint32_t type,
    int64_t value, char text[JPP_FIGURES_TEXT]);

/* The same of a UNIT; a number as it is if it is none for people. */
const char *jpp_figures_of(const char *unit, int64_t value,
    char text[JPP_FIGURES_TEXT]);

/* VALUE as a percentage of TOTAL. */
double jpp_figures_percent(int64_t value, int64_t total);

/* Append that N rows of WHAT are not shown to SINK, if there are any. */
void jpp_figures_more(size_t n, const char *what, jpp_sink_t *sink);

/* Append the comments of PROFILE to SINK, behind an empty line. */
void jpp_figures_comments(const jpp_profile_t *profile, jpp_sink_t *sink);


typedef struct {
    int64_t                value;
    int64_t                objects;
    int64_t                size;       /* of these objects */
    double                 variance;
} jpp_sum_t;


/* The types that are added up: the default one, and those that explain it. */
typedef struct {
    const jpp_profile_t   *profile;
    uint32_t               type;
    uint32_t               objects;
    uint32_t               size;       /* the type of objects: there is none */
} jpp_sums_t;


/* Initialize the caller's SUMS of PROFILE, which has counts. */
void jpp_sums_init(jpp_sums_t *sums, const jpp_profile_t *profile);

/* What sample I has, in *SUM; false: its value is 0. */
bool jpp_sums_sample(const jpp_sums_t *sums, uint32_t i, jpp_sum_t *sum);

void jpp_sum_add(jpp_sum_t *sum, const jpp_sum_t *more);

/*
 * "objects" of "inuse_objects", "samples" of "samples": what is counted; and
 * the cells of SUM: their mean size, and the error of the value without its
 * sign.  Both in TEXT, which is the result; "-": there is none.
 */
const char *jpp_sums_things(const jpp_sums_t *sums);
const char *jpp_sums_mean(const jpp_sums_t *sums, const jpp_sum_t *sum,
    char text[JPP_FIGURES_TEXT]);
const char *jpp_sums_error(const jpp_sum_t *sum, char text[JPP_ERROR_TEXT]);

/*
 * Which of two values comes first: what shrank by much in a difference is as
 * interesting as what grew.  As qsort() has it.
 */
int jpp_sums_compare(int64_t m, int64_t n);


#endif /* _JPP_SUMS_H_INCLUDED_ */
