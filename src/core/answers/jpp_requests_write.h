
/*
 * The forms of a list of requests: a row for each.
 */


#ifndef _JPP_REQUESTS_WRITE_H_INCLUDED_
#define _JPP_REQUESTS_WRITE_H_INCLUDED_


#include "jpp_requests.h"


/* the words of the parameter "format": top and json */
extern const jpp_words_t  jpp_requests_words;


/* Content-Type by ARGS. */
const char *jpp_requests_type(const jpp_args_t *args);

/* Append REQUESTS to SINK, which the caller flushes.  False: no memory. */
bool jpp_requests_write(const jpp_requests_t *requests, jpp_sink_t *sink);


#endif /* _JPP_REQUESTS_WRITE_H_INCLUDED_ */
