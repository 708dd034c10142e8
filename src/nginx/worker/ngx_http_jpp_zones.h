
/*
 * The zones of shared memory: how full they are, and by which sizes.
 *
 * For the event loop: a zone's lock is held for a moment, by somebody who is
 * not to be stopped meanwhile.
 */


#ifndef _NGX_HTTP_JPP_ZONES_H_INCLUDED_
#define _NGX_HTTP_JPP_ZONES_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "jpp_arena.h"
#include "jpp_telemetry.h"


/* Fill in TELEMETRY's zones; NGX_ERROR: ARENA has no memory. */
ngx_int_t ngx_http_jpp_zones(jpp_arena_t *arena, jpp_telemetry_t *telemetry);


#endif /* _NGX_HTTP_JPP_ZONES_H_INCLUDED_ */
