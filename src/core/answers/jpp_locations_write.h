
/*
 * The forms of a list of locations: a row for each.
 */


#ifndef _JPP_LOCATIONS_WRITE_H_INCLUDED_
#define _JPP_LOCATIONS_WRITE_H_INCLUDED_


#include "jpp_locations.h"


/* the words of the parameter "format": top and json */
extern const jpp_words_t  jpp_locations_words;


/* Content-Type by ARGS. */
const char *jpp_locations_type(const jpp_args_t *args);

/*
 * Append LOCATIONS, which are closed, to SINK, which the caller flushes.
 * False: no memory.
 */
bool jpp_locations_write(const jpp_locations_t *locations, jpp_sink_t *sink);


#endif /* _JPP_LOCATIONS_WRITE_H_INCLUDED_ */
