
#include "ngx_http_jpp_figures.h"
#include "ngx_http_jpp_history.h"
#include "ngx_http_jpp_telemetry.h"
#include "ngx_http_jpp_thread.h"


/* for what all workers have written, and for what is read beside it */
#define NGX_HTTP_JPP_LOOK_CAP  (32 * 1024 * 1024)


/* One at a time. */
typedef struct {
    ngx_http_jpp_task_t                   task;
    ngx_uint_t                            is_taken;

    jpp_arena_t                arena;
    ngx_http_jpp_telemetry_t  *telemetry;
    jpp_finding_t              findings[JPP_FINDINGS];
    ngx_uint_t                 n;
    ngx_uint_t                 has_looked;
    ngx_http_jpp_row_t         rows[
                                          NGX_HTTP_JPP_MAX_ROWS];
} ngx_http_jpp_look_t;


static void ngx_http_jpp_history_tick(ngx_event_t *ev);
static void ngx_http_jpp_history_look(void);
static void ngx_http_jpp_history_work(ngx_http_jpp_task_t *task);
static void ngx_http_jpp_history_done(ngx_http_jpp_task_t *task);


static ngx_http_jpp_look_t  ngx_http_jpp_look = {
    .task.work = ngx_http_jpp_history_work,
    .task.done = ngx_http_jpp_history_done,
    .task.is_brief = 1
};

static ngx_event_t  ngx_http_jpp_history;
static ngx_msec_t   ngx_http_jpp_history_begun;


void
ngx_http_jpp_history_init(ngx_cycle_t *cycle)
{
    ngx_event_t          *ev;
    const jpp_worker_t   *worker;
    ngx_http_jpp_self_t  *self;

    ev = &ngx_http_jpp_history;
    self = &ngx_http_jpp_self;

    if (self->row.pid == 0 || self->zone == NULL) {
        return;
    }

    ngx_http_jpp_history_begun = ngx_current_msec;

    ev->handler = ngx_http_jpp_history_tick;
    ev->data = &ngx_http_jpp_no_connection;
    ev->log = cycle->log;
    ev->cancelable = 1;

    /* a single process inherits nothing */

    worker = ngx_http_jpp_figures(0);

    if (ngx_process == NGX_PROCESS_WORKER && worker->has_stats) {
        self->inherited = worker->stats.allocated;

        jpp_notes_inherited(ngx_http_jpp_registry_lock(self->zone),
                            self->generation, self->inherited);
        ngx_http_jpp_registry_unlock(self->zone);
    }

    ngx_http_jpp_history_tick(ev);
}


static void
ngx_http_jpp_history_tick(ngx_event_t *ev)
{
    jpp_note_t           *note;
    const jpp_worker_t   *worker;
    ngx_http_jpp_self_t  *self;

    self = &ngx_http_jpp_self;

    /* of a single process, after a reload without a location that serves */

    if (self->zone == NULL) {
        return;
    }

    worker = ngx_http_jpp_figures(0);

    (void) ngx_http_jpp_registry_lock(self->zone);

    note = ngx_http_jpp_registry_note(self->zone, &self->row);

    if (note != NULL) {
        jpp_note_write(note, worker, (ngx_current_msec
                        - ngx_http_jpp_history_begun) / 1000);
    }

    ngx_http_jpp_registry_unlock(self->zone);

    if (!ngx_http_jpp_look.is_taken
        && ngx_http_jpp_registry_leads(self->zone, &self->row))
    {
        ngx_http_jpp_history_look();
    }

    ngx_add_timer(ev, JPP_HISTORY_INTERVAL * 1000);
}


static void
ngx_http_jpp_history_look(void)
{
    ngx_http_jpp_look_t  *look;

    look = &ngx_http_jpp_look;

    jpp_arena_init(&look->arena, NGX_HTTP_JPP_LOOK_CAP);

    look->telemetry = ngx_http_jpp_telemetry(&look->arena);

    if (look->telemetry == NULL) {
        jpp_arena_destroy(&look->arena);
        return;
    }

    look->is_taken = 1;

    if (ngx_http_jpp_thread_post(&look->task) != NGX_OK) {
        ngx_http_jpp_history_work(&look->task);
        ngx_http_jpp_history_done(&look->task);
    }
}


static void
ngx_http_jpp_history_work(ngx_http_jpp_task_t *task)
{
    ngx_uint_t                 n, generation;
    ngx_http_jpp_look_t       *look;
    ngx_http_jpp_telemetry_t  *telemetry;

    look = &ngx_http_jpp_look;
    telemetry = look->telemetry;

    /* this finds out who was killed, too */

    n = ngx_http_jpp_registry_list(&telemetry->zone, look->rows, &generation);

    look->has_looked = ngx_http_jpp_telemetry_noted(telemetry, look->rows, n,
                                                    &look->arena)
                       == NGX_OK;

    if (look->has_looked) {
        ngx_http_jpp_telemetry_kernel(telemetry);

        look->n = jpp_findings(&telemetry->all, look->findings);
    }
}


static void
ngx_http_jpp_history_done(ngx_http_jpp_task_t *task)
{
    ngx_uint_t            i, n, level;
    jpp_notes_t          *notes;
    const jpp_finding_t  *finding;
    ngx_http_jpp_look_t  *look;

    look = &ngx_http_jpp_look;

    n = 0;

    if (look->has_looked) {
        notes = ngx_http_jpp_registry_lock(&look->telemetry->zone);
        n = jpp_standing_update(notes->standing, look->findings, look->n,
                                ngx_time());
        ngx_http_jpp_registry_unlock(&look->telemetry->zone);
    }

    for (i = 0; i < n; i++) {
        finding = &look->findings[i];
        level = finding->is_critical ? NGX_LOG_ERR : NGX_LOG_WARN;

        ngx_log_error(level, ngx_cycle->log, 0,
                      "jemalloc_pprof: finding %s: %s: %s. %s", finding->id,
                      finding->what, finding->because, finding->cure);
    }

    jpp_arena_destroy(&look->arena);

    look->is_taken = 0;
}
