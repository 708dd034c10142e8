
/*
 * What a stall's addresses lie in, for whoever reports it later.
 */


#ifndef _JPP_WATCH_MAPS_H_INCLUDED_
#define _JPP_WATCH_MAPS_H_INCLUDED_


#include "jpp_stall.h"


/*
 * Give STALL, one of this process, the lines of /proc/self/maps that its
 * addresses lie in, as many as there is room for.  Outside signals.
 */
void jpp_watch_maps(jpp_stall_t *stall);


#endif /* _JPP_WATCH_MAPS_H_INCLUDED_ */
