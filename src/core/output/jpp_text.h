
/*
 * A heap profile in the legacy text form, which google/pprof and jeprof both
 * read: one line per stack, return addresses, and the executable mappings.
 *
 * The readers scale.  So a profile with raw counts is written with its period;
 * estimates (of a difference, or a sum) are written with a period of 1, which
 * no reader scales.  The form cannot hold some negative values; these become
 * 0.
 */


#ifndef _JPP_TEXT_H_INCLUDED_
#define _JPP_TEXT_H_INCLUDED_


#include "jpp_view.h"


/* Append the profile of VIEW, which is a heap's, to SINK. */
bool jpp_text_write(const jpp_view_t *view, jpp_sink_t *sink);

/* Append the mappings of PROFILE to SINK, as lines of /proc/PID/maps. */
void jpp_text_mappings(const jpp_profile_t *profile, jpp_sink_t *sink);


#endif /* _JPP_TEXT_H_INCLUDED_ */
