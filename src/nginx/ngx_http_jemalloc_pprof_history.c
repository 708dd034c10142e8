
#include "ngx_http_jemalloc_pprof_figures.h"
#include "ngx_http_jemalloc_pprof_history.h"
#include "ngx_http_jemalloc_pprof_telemetry.h"


/* for what all workers have written, and for what is read beside it */
#define NGX_HTTP_JEMALLOC_PPROF_LOOK                                          \
    (1024 * 1024 + sizeof(jpp_cgroup_t))
#define NGX_HTTP_JEMALLOC_PPROF_LOOK_WORKER                                   \
    (sizeof(jpp_worker_t) + sizeof(jpp_history_t))


static void ngx_http_jemalloc_pprof_history_tick(ngx_event_t *ev);
static void ngx_http_jemalloc_pprof_history_look(ngx_log_t *log);
static ngx_uint_t ngx_http_jemalloc_pprof_history_leads(
    const ngx_http_jemalloc_pprof_row_t *rows, ngx_uint_t n,
    ngx_uint_t generation);
static ngx_uint_t ngx_http_jemalloc_pprof_history_find(
    const ngx_http_jemalloc_pprof_row_t *rows, ngx_uint_t n,
    jpp_finding_t findings[JPP_FINDINGS]);


static ngx_event_t  ngx_http_jemalloc_pprof_history;
static ngx_msec_t   ngx_http_jemalloc_pprof_history_begun;


void
ngx_http_jemalloc_pprof_history_init(ngx_cycle_t *cycle)
{
    ngx_event_t                     *ev;
    const jpp_worker_t              *worker;
    ngx_http_jemalloc_pprof_self_t  *self;

    ev = &ngx_http_jemalloc_pprof_history;
    self = &ngx_http_jemalloc_pprof_self;

    if (self->row.pid == 0 || self->zone == NULL) {
        return;
    }

    ngx_http_jemalloc_pprof_history_begun = ngx_current_msec;

    ev->handler = ngx_http_jemalloc_pprof_history_tick;
    ev->data = &ngx_http_jemalloc_pprof_no_connection;
    ev->log = cycle->log;
    ev->cancelable = 1;

    /* a single process inherits nothing */

    worker = ngx_http_jemalloc_pprof_figures(0);

    if (ngx_process == NGX_PROCESS_WORKER && worker->has_stats) {
        self->inherited = worker->stats.allocated;

        jpp_notes_inherited(ngx_http_jemalloc_pprof_registry_lock(self->zone),
                            self->generation, self->inherited);
        ngx_http_jemalloc_pprof_registry_unlock(self->zone);
    }

    ngx_http_jemalloc_pprof_history_tick(ev);
}


static void
ngx_http_jemalloc_pprof_history_tick(ngx_event_t *ev)
{
    jpp_note_t                      *note;
    const jpp_worker_t              *worker;
    ngx_http_jemalloc_pprof_self_t  *self;

    self = &ngx_http_jemalloc_pprof_self;

    /* of a single process, after a reload without a location that serves */

    if (self->zone == NULL) {
        return;
    }

    worker = ngx_http_jemalloc_pprof_figures(0);

    (void) ngx_http_jemalloc_pprof_registry_lock(self->zone);

    note = ngx_http_jemalloc_pprof_registry_note(self->zone, &self->row);

    if (note != NULL) {
        jpp_note_write(note, worker,
                       (ngx_current_msec
                        - ngx_http_jemalloc_pprof_history_begun) / 1000);
    }

    ngx_http_jemalloc_pprof_registry_unlock(self->zone);

    ngx_http_jemalloc_pprof_history_look(ev->log);

    ngx_add_timer(ev, JPP_HISTORY_INTERVAL * 1000);
}


static void
ngx_http_jemalloc_pprof_history_look(ngx_log_t *log)
{
    ngx_uint_t     i, n, level, generation;
    jpp_notes_t   *notes;
    jpp_finding_t  findings[JPP_FINDINGS];

    static ngx_http_jemalloc_pprof_row_t
                                      rows[NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS];

    /* this finds out who was killed, too */

    n = ngx_http_jemalloc_pprof_registry_list(
            ngx_http_jemalloc_pprof_self.zone, rows, &generation);

    if (!ngx_http_jemalloc_pprof_history_leads(rows, n, generation)) {
        return;
    }

    n = ngx_http_jemalloc_pprof_history_find(rows, n, findings);

    notes = ngx_http_jemalloc_pprof_registry_lock(
                ngx_http_jemalloc_pprof_self.zone);
    n = jpp_standing_update(notes->standing, findings, n, ngx_time());
    ngx_http_jemalloc_pprof_registry_unlock(ngx_http_jemalloc_pprof_self.zone);

    for (i = 0; i < n; i++) {
        level = findings[i].is_critical ? NGX_LOG_ERR : NGX_LOG_WARN;

        ngx_log_error(level, log, 0, "jemalloc_pprof: finding %s: %s: %s. %s",
                      findings[i].id, findings[i].what, findings[i].because,
                      findings[i].cure);
    }
}


/* rows are sorted by generation and index */

static ngx_uint_t
ngx_http_jemalloc_pprof_history_leads(
    const ngx_http_jemalloc_pprof_row_t *rows, ngx_uint_t n,
    ngx_uint_t generation)
{
    ngx_uint_t  i;

    for (i = 0; i < n; i++) {
        if (rows[i].generation == generation) {
            return rows[i].pid == ngx_pid;
        }
    }

    return 0;
}


/* Without asking: the others may be busy, and numbers may be seconds old. */

static ngx_uint_t
ngx_http_jemalloc_pprof_history_find(
    const ngx_http_jemalloc_pprof_row_t *rows, ngx_uint_t n,
    jpp_finding_t findings[JPP_FINDINGS])
{
    ngx_uint_t        i, n_findings;
    jpp_arena_t       arena;
    jpp_fleet_t       fleet;
    jpp_worker_t     *workers;
    jpp_history_t    *histories;
    const jpp_note_t *note;
    jpp_telemetry_t   telemetry;

    jpp_arena_init(&arena, NGX_HTTP_JEMALLOC_PPROF_LOOK
                           + n * NGX_HTTP_JEMALLOC_PPROF_LOOK_WORKER);

    workers = jpp_arena_alloc(&arena, n * sizeof(jpp_worker_t));
    histories = jpp_arena_alloc(&arena, n * sizeof(jpp_history_t));

    n_findings = 0;

    if (workers == NULL || histories == NULL) {
        goto done;
    }

    ngx_http_jemalloc_pprof_fleet(&fleet, workers, 0, n);

    (void) ngx_http_jemalloc_pprof_registry_lock(
               ngx_http_jemalloc_pprof_self.zone);

    for (i = 0; i < n; i++) {
        note = ngx_http_jemalloc_pprof_registry_note(
                   ngx_http_jemalloc_pprof_self.zone, &rows[i]);

        if (note != NULL && note->worker.started != 0) {
            histories[fleet.n] = note->history;
            workers[fleet.n] = note->worker;
            workers[fleet.n].history = &histories[fleet.n];
            fleet.n++;
        }
    }

    ngx_http_jemalloc_pprof_registry_unlock(ngx_http_jemalloc_pprof_self.zone);

    if (ngx_http_jemalloc_pprof_telemetry_of(&fleet, &arena, &telemetry)
        == NGX_OK)
    {
        n_findings = jpp_findings(&telemetry, findings);
    }

done:

    jpp_arena_destroy(&arena);

    return n_findings;
}
