
/*
 * What the tables for a terminal share: values by their unit, percentages, and
 * the comments below.
 */


#ifndef _JPP_FIGURES_H_INCLUDED_
#define _JPP_FIGURES_H_INCLUDED_


#include "jpp_profile.h"
#include "jpp_sink.h"


#define JPP_FIGURES_TEXT  24


/* Write VALUE of TYPE, an index, to TEXT, which is the result. */
const char *jpp_figures_value(const jpp_profile_t *profile, uint32_t type,
    int64_t value, char text[JPP_FIGURES_TEXT]);

/* The same of a UNIT; a number as it is if it is none for people. */
const char *jpp_figures_of(const char *unit, int64_t value,
    char text[JPP_FIGURES_TEXT]);

/* VALUE as a percentage of TOTAL. */
double jpp_figures_percent(int64_t value, int64_t total);

/* Append the comments of PROFILE to SINK, behind an empty line. */
void jpp_figures_comments(const jpp_profile_t *profile, jpp_sink_t *sink);


#endif /* _JPP_FIGURES_H_INCLUDED_ */
