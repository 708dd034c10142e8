
/*
 * A profile as profile.proto; the owner of protobuf-c.
 *
 * The message is written in pieces: a Profile that holds only some of the
 * samples, or only some of the strings, packed again and again, is a valid
 * Profile once the pieces stand behind each other.  So a batch is all that is
 * ever held in the form that protobuf-c wants.
 */


#ifndef _JPP_PPROF_H_INCLUDED_
#define _JPP_PPROF_H_INCLUDED_


#include "jpp_view.h"


/* Append the profile of VIEW to SINK, gzip-ed. */
bool jpp_pprof_write(const jpp_view_t *view, jpp_sink_t *sink);

/*
 * Append PROFILE to SINK, which needs a buffer of JPP_SINK_BUFFER bytes, as it
 * is.  Strings are added to the profile.
 */
bool jpp_pprof_pack(jpp_profile_t *profile, jpp_sink_t *sink);


#endif /* _JPP_PPROF_H_INCLUDED_ */
