
/*
 * A profile as profile.proto; the owner of protobuf-c.
 *
 * The message is written in pieces: several Profiles, each with some of the
 * samples or strings, are a valid Profile when concatenated.  So only one
 * batch at a time has the form that protobuf-c needs.
 */


#ifndef _JPP_PPROF_H_INCLUDED_
#define _JPP_PPROF_H_INCLUDED_


#include "jpp_view.h"


/* Append the profile of VIEW to SINK, gzip-ed. */
bool jpp_pprof_write(const jpp_view_t *view, jpp_sink_t *sink);

/*
 * Append PROFILE to SINK, which needs a buffer of JPP_SINK_BUFFER bytes, as it
 * is.  Strings are added to the profile, and its functions are marked
 * (jpp_passing_mark()).
 */
bool jpp_pprof_pack(jpp_profile_t *profile, jpp_sink_t *sink);


#endif /* _JPP_PPROF_H_INCLUDED_ */
