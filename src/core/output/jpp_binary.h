
/*
 * A profile of CPU time in the legacy binary form of gperftools, which jeprof
 * and google/pprof both read: words of 8 bytes as the machine has them, then
 * the executable mappings as text.
 *
 *     file   := 0 3 0 period 0 stack* 0 1 0 maps
 *     stack  := samples n address{n}
 *
 * The period is microseconds; addresses are those of returns, leaf first.  The
 * form has no labels and no comments.
 */


#ifndef _JPP_BINARY_H_INCLUDED_
#define _JPP_BINARY_H_INCLUDED_


#include "jpp_view.h"


/* Append the profile of VIEW, which is one of CPU time, to SINK. */
bool jpp_binary_write(const jpp_view_t *view, jpp_sink_t *sink);


#endif /* _JPP_BINARY_H_INCLUDED_ */
