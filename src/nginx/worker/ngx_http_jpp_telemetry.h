
/*
 * Telemetry: everything known about this nginx's memory, from the workers, the
 * configuration, the shared zones, and the kernel.
 *
 * It is put together in two places.  What lies in nginx, and is little, is
 * taken on the event loop; what grows with the workers, and what the kernel may
 * take its time for, is added in the background thread.
 *
 * This worker's own part is known at small cost: for variables, for whoever
 * asks for its status, and over time.  Every few seconds it writes down in
 * shared memory what it holds.  One worker, the first of the newest
 * configuration, then looks at what all have written, and logs findings as they
 * rise: nobody needs to ask for them.  The timer is cancelable: no worker waits
 * for it.
 */


#ifndef _NGX_HTTP_JPP_TELEMETRY_H_INCLUDED_
#define _NGX_HTTP_JPP_TELEMETRY_H_INCLUDED_


#include "ngx_http_jpp_ask.h"
#include "ngx_http_jpp_self.h"


typedef struct {
    jpp_telemetry_t   all;         /* of what follows */
    jpp_fleet_t       fleet;
    jpp_worker_t     *workers;     /* of the fleet */
    jpp_history_t    *histories;   /* of each of them */
    jpp_control_t     wanted;
    jpp_finding_t     findings[JPP_FINDINGS];
    jpp_verdict_t     verdict;
    char              unnamed[JPP_UNNAMED_TEXT];
    jpp_system_t      system;
    jpp_cgroup_t      cgroup;
    jpp_event_t      *marks;
    jpp_err_t         err;
    ngx_http_jpp_zone_t
                     *zone;        /* this worker may forget its own */
} ngx_http_jpp_telemetry_t;


/* In the master, once: what the kernel has counted before nginx. */
void ngx_http_jpp_telemetry_start(void);

/*
 * On the event loop: what nginx knows, in ARENA; no worker yet.  NULL: no
 * memory, or no registry any more.
 */
ngx_http_jpp_telemetry_t *ngx_http_jpp_telemetry(jpp_arena_t *arena);

/*
 * In the thread: add what CO collected, what about twenty small files of the
 * kernel say, and who holds memory, by the tables of POOLS, or NULL.
 * NGX_ERROR: no memory in ARENA.
 */
ngx_int_t ngx_http_jpp_telemetry_collected(ngx_http_jpp_telemetry_t *telemetry,
    const ngx_http_jpp_collection_t *co,
    const ngx_http_jpp_collection_t *pools, jpp_arena_t *arena);


/* how long dumps of this worker took */
extern jpp_loop_t  ngx_http_jpp_dumps;


/*
 * Fill in WORKER's stats, connections and event loop.  There are no stats while
 * a task runs in the thread: they would wait for the end of a dump.
 */
void ngx_http_jpp_figures_read(jpp_worker_t *worker);

/*
 * This worker as it was AGE ms ago at most, without what takes more than a
 * small file of the kernel; its stats may be those of an earlier time.
 */
const jpp_worker_t *ngx_http_jpp_figures(ngx_msec_t age);


/*
 * Write the first point, and go on; for each row of this worker.  Nothing in a
 * process that is not a worker yet.
 */
void ngx_http_jpp_history_init(ngx_cycle_t *cycle);


#endif /* _NGX_HTTP_JPP_TELEMETRY_H_INCLUDED_ */
