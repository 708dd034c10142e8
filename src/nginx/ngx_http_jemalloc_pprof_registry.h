
/*
 * The workers of this nginx, of every generation: a table in a shared zone
 * that survives reloads.
 *
 * A worker writes its own row when it starts and clears it when it exits.  The
 * rows of those that were killed are cleared by whoever looks next.  What is
 * read here is believed only after the kernel has confirmed it (see asker).
 *
 * For the event loop.  The zone's mutex is held for a look at the rows only,
 * and by workers only: nginx's master unlocks it when one dies with it.
 */


#ifndef _NGX_HTTP_JEMALLOC_PPROF_REGISTRY_H_INCLUDED_
#define _NGX_HTTP_JEMALLOC_PPROF_REGISTRY_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>


/* more workers than that are not found by the others, until some have gone */
#define NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS  1024

/* of a socket: 64 random bits in hex */
#define NGX_HTTP_JEMALLOC_PPROF_KEY       16


typedef struct {
    ngx_pid_t       pid;           /* 0: a free row */
    ngx_uint_t      index;
    ngx_uint_t      generation;
    uint64_t        started;       /* see jpp_process_t; 0: unknown */
    u_char          key[NGX_HTTP_JEMALLOC_PPROF_KEY];
    unsigned        can_listen:1;
} ngx_http_jemalloc_pprof_row_t;


/* What every worker is to be set to. */
typedef struct {
    ngx_int_t       active;        /* 0, 1; NGX_CONF_UNSET: as it is */
    ngx_int_t       lg_sample;     /* NGX_CONF_UNSET: as it is */
} ngx_http_jemalloc_pprof_wanted_t;


/* At configuration: have the zone; NULL is an error that was logged. */
ngx_shm_zone_t *ngx_http_jemalloc_pprof_registry_add(ngx_conf_t *cf);

/* In the master, for each configuration that is used: the new generation. */
ngx_uint_t ngx_http_jemalloc_pprof_registry_advance(ngx_shm_zone_t *zone);

/* In a worker: enter ROW.  NGX_DECLINED: there is no room. */
ngx_int_t ngx_http_jemalloc_pprof_registry_join(ngx_shm_zone_t *zone,
    const ngx_http_jemalloc_pprof_row_t *row);

/* In a worker, at its end. */
void ngx_http_jemalloc_pprof_registry_leave(ngx_shm_zone_t *zone);

/* Clear ROW, whose worker is known to be gone. */
void ngx_http_jemalloc_pprof_registry_forget(ngx_shm_zone_t *zone,
    const ngx_http_jemalloc_pprof_row_t *row);

/*
 * Copy the rows of the living to ROWS, by generation and index; the number as
 * the result, and in *GENERATION the one that is running.
 */
ngx_uint_t ngx_http_jemalloc_pprof_registry_list(ngx_shm_zone_t *zone,
    ngx_http_jemalloc_pprof_row_t rows[NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS],
    ngx_uint_t *generation);

/* Is there a row with PID? */
ngx_uint_t ngx_http_jemalloc_pprof_registry_has(ngx_shm_zone_t *zone,
    ngx_pid_t pid);

/* What every worker is to be set to: read it, and change it. */
void ngx_http_jemalloc_pprof_registry_wanted(ngx_shm_zone_t *zone,
    ngx_http_jemalloc_pprof_wanted_t *wanted);
void ngx_http_jemalloc_pprof_registry_want(ngx_shm_zone_t *zone,
    const ngx_http_jemalloc_pprof_wanted_t *wanted);

/*
 * How many changes were made by control so far, in whichever worker; and that
 * another one is done.  What was collected before a change may be of before.
 */
ngx_uint_t ngx_http_jemalloc_pprof_registry_changes(ngx_shm_zone_t *zone);
void ngx_http_jemalloc_pprof_registry_changed(ngx_shm_zone_t *zone);


#endif /* _NGX_HTTP_JEMALLOC_PPROF_REGISTRY_H_INCLUDED_ */
