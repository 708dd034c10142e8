
/*
 * The resource memory as tables for a terminal: what there is to say, the
 * workers, and the ledger of all of them.
 */


#ifndef _JPP_MEMORY_TEXT_H_INCLUDED_
#define _JPP_MEMORY_TEXT_H_INCLUDED_


#include "jpp_memory_input.h"


/* Append MEMORY to SINK, which the caller flushes.  False: no memory. */
bool jpp_memory_text(const jpp_memory_t *memory, jpp_sink_t *sink);


#endif /* _JPP_MEMORY_TEXT_H_INCLUDED_ */
