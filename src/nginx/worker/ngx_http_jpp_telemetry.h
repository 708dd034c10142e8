
/*
 * What this nginx knows about its memory: the workers, the configuration, its
 * shared zones, and what the kernel says.
 *
 * It is put together in two places.  What lies in nginx, and is little, is
 * taken on the event loop; what grows with the workers, and what the kernel may
 * take its time for, is added in the background thread.
 */


#ifndef _NGX_HTTP_JPP_TELEMETRY_H_INCLUDED_
#define _NGX_HTTP_JPP_TELEMETRY_H_INCLUDED_


#include "ngx_http_jpp_collect.h"
#include "ngx_http_jpp_registry.h"

#include "jpp_findings.h"
#include "jpp_symbolize.h"
#include "jpp_telemetry.h"


typedef struct {
    jpp_telemetry_t   all;         /* of what follows */
    jpp_fleet_t       fleet;
    jpp_control_t     wanted;
    jpp_finding_t     findings[JPP_FINDINGS];
    char              unnamed[JPP_UNNAMED_TEXT];
    jpp_system_t      system;
    jpp_cgroup_t      cgroup;
    jpp_err_t         err;
    time_t            now;
    ngx_shm_zone_t    zone;        /* the registry: a copy, since the thread */
                                   /*   may outlive the configuration */
} ngx_http_jpp_telemetry_t;


/* In the master, once: what the kernel has counted before nginx. */
void ngx_http_jpp_telemetry_start(void);

/*
 * On the event loop: what nginx knows, in ARENA; no worker yet.  NULL: no
 * memory, or no registry any more.
 */
ngx_http_jpp_telemetry_t *ngx_http_jpp_telemetry(jpp_arena_t *arena);

/*
 * In the thread: add what CO collected; or what the workers of the N ROWS have
 * written down.  NGX_ERROR: no memory in ARENA.
 */
ngx_int_t ngx_http_jpp_telemetry_collected(ngx_http_jpp_telemetry_t *telemetry,
    const ngx_http_jpp_collection_t *co, jpp_arena_t *arena);
ngx_int_t ngx_http_jpp_telemetry_noted(ngx_http_jpp_telemetry_t *telemetry,
    const ngx_http_jpp_row_t *rows, ngx_uint_t n, jpp_arena_t *arena);

/* In the thread: add what about twenty small files of the kernel say. */
void ngx_http_jpp_telemetry_kernel(ngx_http_jpp_telemetry_t *telemetry);


#endif /* _NGX_HTTP_JPP_TELEMETRY_H_INCLUDED_ */
