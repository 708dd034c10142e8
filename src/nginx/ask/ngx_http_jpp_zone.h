
/*
 * The memory that all workers share: a zone of nginx's that survives reloads,
 * and another for snapshots, which is changed under the lock of the first.
 *
 * Its writers: registry (rows, exits), telemetry (notes, histories, findings,
 * events), control (settings, acknowledgments, events), request (counts), and
 * stall (stalls, which need no lock).
 *
 * For the event loop, and in a worker of a master for the background thread.
 * Only workers take the mutex, for a microsecond or some: nginx's master
 * unlocks it when a worker dies with it, and the others take it from a worker
 * that is stopped.
 */


#ifndef _NGX_HTTP_JPP_ZONE_H_INCLUDED_
#define _NGX_HTTP_JPP_ZONE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "jpp_control.h"
#include "jpp_diagnosis.h"


/* any more workers are not found by the others until some have exited */
#define NGX_HTTP_JPP_MAX_ROWS  JPP_NOTES

/* of a socket: 64 random bits in hex */
#define NGX_HTTP_JPP_KEY       JPP_RECORDED_KEY


typedef struct {
    jpp_identity_t  who;           /* pid 0: a free row */
    uint64_t        started;       /* see jpp_process_t; 0: unknown */
    u_char          key[NGX_HTTP_JPP_KEY];
    ngx_uint_t      place;         /* of its note, while it is entered */
    unsigned        can_listen:1;
} ngx_http_jpp_row_t;


/* What the workers share: rows and notes belong to whoever holds the lock. */
typedef struct {
    ngx_shmtx_t          *mutex;
    ngx_atomic_t          generation;  /* the present one, */
    volatile time_t       loaded;      /*   and when it was loaded */

    /* made by control in any worker: an answer may be from before a change */
    ngx_atomic_t          n_changes;
    jpp_settings_t        settings;    /* that every worker should have */

    jpp_stall_table_t     stalls;      /* of all workers */
    ngx_uint_t            n_rows;      /* ever used */
    ngx_http_jpp_row_t    rows[NGX_HTTP_JPP_MAX_ROWS];
    jpp_notes_t           notes;       /* the last */
} ngx_http_jpp_zone_t;


/* At configuration: the zone; NULL: an error, which was logged. */
ngx_shm_zone_t *ngx_http_jpp_zone_add(ngx_conf_t *cf);

/*
 * The same for a zone with room for SIZE bytes of snapshots, whose pages are
 * taken when they are used.
 */
ngx_shm_zone_t *ngx_http_jpp_snapshots_zone_add(ngx_conf_t *cf, size_t size);

/* Lock the zone, for some microseconds; and unlock it. */
void ngx_http_jpp_zone_lock(ngx_http_jpp_zone_t *zone);
void ngx_http_jpp_zone_unlock(ngx_http_jpp_zone_t *zone);


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


#endif /* _NGX_HTTP_JPP_ZONE_H_INCLUDED_ */
