
/*
 * Includes libc and the headers of this room, for every file of the core.
 *
 * A file includes its own header first, then those of other rooms, then what
 * of the system only a few files need; nothing that another of them brings.
 */


#ifndef _JPP_CORE_H_INCLUDED_
#define _JPP_CORE_H_INCLUDED_


#include "jpp_arena.h"
#include "jpp_config.h"
#include "jpp_err.h"
#include "jpp_index.h"
#include "jpp_limits.h"
#include "jpp_sink.h"
#include "jpp_units.h"
#include "jpp_utf8.h"
#include "jpp_version.h"


#endif /* _JPP_CORE_H_INCLUDED_ */
