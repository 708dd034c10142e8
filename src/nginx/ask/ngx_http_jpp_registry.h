
/*
 * The registry: the rows of the zone, which are the workers of this nginx in
 * all generations.
 *
 * A worker writes its own row when it starts and clears it when it exits.  The
 * next reader clears the rows of killed workers.  A row is trusted only after
 * the kernel has confirmed it (part).
 *
 * For the event loop, and in a worker of a master for the background thread.
 */


#ifndef _NGX_HTTP_JPP_REGISTRY_H_INCLUDED_
#define _NGX_HTTP_JPP_REGISTRY_H_INCLUDED_


#include "ngx_http_jpp_zone.h"


/* In the master, for each configuration in use: the new generation. */
ngx_uint_t ngx_http_jpp_registry_advance(ngx_http_jpp_zone_t *zone);

/* In a worker: enter ROW, with an empty note.  NGX_DECLINED: no free row. */
ngx_int_t ngx_http_jpp_registry_join(ngx_http_jpp_zone_t *zone,
    ngx_http_jpp_row_t *row);

/* Clear ROW: in its worker, at its end; or it HAS_VANISHED without that. */
void ngx_http_jpp_registry_clear(ngx_http_jpp_zone_t *zone,
    const ngx_http_jpp_row_t *row, ngx_uint_t has_vanished);

/* Copy the rows of live workers to ROWS, by generation and index; how many. */
ngx_uint_t ngx_http_jpp_registry_list(ngx_http_jpp_zone_t *zone,
    ngx_http_jpp_row_t rows[NGX_HTTP_JPP_MAX_ROWS]);

/*
 * Is ROW, this worker's, the first of those of the present configuration that
 * live?  Clears the rows of killed ones before it.
 */
ngx_uint_t ngx_http_jpp_registry_leads(ngx_http_jpp_zone_t *zone,
    const ngx_http_jpp_row_t *row);

/* Are A and B of one worker?  A pid may be used again, a key is not. */
ngx_uint_t ngx_http_jpp_is_row(const ngx_http_jpp_row_t *a,
    const ngx_http_jpp_row_t *b);

/* Is there a row with PID? */
ngx_uint_t ngx_http_jpp_registry_has(ngx_http_jpp_zone_t *zone,
    ngx_pid_t pid);

/* While it is locked: the note of ROW's worker; NULL: it is not entered. */
jpp_note_t *ngx_http_jpp_registry_note(ngx_http_jpp_zone_t *zone,
    const ngx_http_jpp_row_t *row);


#endif /* _NGX_HTTP_JPP_REGISTRY_H_INCLUDED_ */
