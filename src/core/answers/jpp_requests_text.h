
/*
 * A list of requests as a table for a terminal, with notes below.
 * Used by jpp_requests_write.c alone.
 */


#ifndef _JPP_REQUESTS_TEXT_H_INCLUDED_
#define _JPP_REQUESTS_TEXT_H_INCLUDED_


#include "jpp_requests_rows.h"


/* Append ROWS of REQUESTS to SINK; false: no memory. */
bool jpp_requests_text(const jpp_requests_t *requests,
    const jpp_requests_rows_t *rows, jpp_sink_t *sink);


#endif /* _JPP_REQUESTS_TEXT_H_INCLUDED_ */
