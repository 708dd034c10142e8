
/*
 * What this nginx knows about its memory beside what workers answer: the
 * configuration, its shared zones, and what the kernel says.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_TELEMETRY_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_TELEMETRY_H_INCLUDED_


#include "ngx_http_jemalloc_pprof_collect.h"

#include "jpp_telemetry.h"


/* In the master, once: what the kernel has counted before nginx. */
void ngx_http_jemalloc_pprof_telemetry_start(void);

/*
 * Fill TELEMETRY, in ARENA, with what CO collected and with that; NGX_ERROR: no
 * memory.  Reads about twenty small files of the kernel.
 */
ngx_int_t ngx_http_jemalloc_pprof_telemetry(
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_telemetry_t *telemetry);

/* The same for the workers of FLEET, without asking them. */
ngx_int_t ngx_http_jemalloc_pprof_telemetry_of(const jpp_fleet_t *fleet,
    jpp_arena_t *arena, jpp_telemetry_t *telemetry);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_TELEMETRY_H_INCLUDED_ */
