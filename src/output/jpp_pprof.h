
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


#include "jpp_profile.h"
#include "jpp_sink.h"


/*
 * Append PROFILE to SINK, which needs a buffer of JPP_SINK_BUFFER bytes.
 * Strings are added to the profile.  False: no memory; the sink's own errors
 * stay in the sink.
 */
bool jpp_pprof_write(jpp_profile_t *profile, jpp_sink_t *sink);


#endif /* _JPP_PPROF_H_INCLUDED_ */
