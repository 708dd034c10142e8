
#include "ngx_http_jpp_self.h"
#include "ngx_http_jpp_telemetry.h"
#include "ngx_http_jpp_worker.h"
#include "ngx_http_jpp_zones.h"

#include "jpp_status.h"


static ngx_int_t ngx_http_jpp_telemetry_room(
    ngx_http_jpp_telemetry_t *telemetry, ngx_uint_t n, jpp_worker_t **workers,
    jpp_history_t **histories, jpp_arena_t *arena);
static ngx_uint_t ngx_http_jpp_telemetry_note(
    ngx_http_jpp_telemetry_t *telemetry, const ngx_http_jpp_row_t *row,
    jpp_worker_t *worker, jpp_history_t *history);
static void ngx_http_jpp_telemetry_facts(ngx_http_jpp_telemetry_t *telemetry);


void
ngx_http_jpp_telemetry_start(void)
{
    jpp_cgroup_t       cgroup;

    static ngx_uint_t  is_started;

    if (is_started) {
        return;
    }

    is_started = 1;

    ngx_http_jpp_self.oom_kills =
        jpp_cgroup_read(&cgroup, "", NULL) == JPP_OK ? cgroup.events.oom_kill
                                                     : JPP_NONE;
}


ngx_http_jpp_telemetry_t *
ngx_http_jpp_telemetry(jpp_arena_t *arena)
{
    ngx_http_jpp_self_t       *self;
    ngx_http_jpp_telemetry_t  *telemetry;

    self = &ngx_http_jpp_self;

    telemetry = jpp_arena_alloc(arena, sizeof(ngx_http_jpp_telemetry_t));

    /* a single process may have lost its zone by a reload meanwhile */

    if (telemetry == NULL || self->zone == NULL
        || ngx_http_jpp_zones(arena, &telemetry->all) != NGX_OK)
    {
        return NULL;
    }

    telemetry->zone = *self->zone;
    telemetry->now = ngx_time();

    ngx_http_jpp_fleet(&telemetry->fleet, NULL, 0, 0);
    ngx_http_jpp_worker_wanted((ngx_cycle_t *) ngx_cycle, &telemetry->wanted);

    telemetry->fleet.wanted = &telemetry->wanted;

    if (self->unnamed[0] != '\0') {
        ngx_memcpy(telemetry->unnamed, self->unnamed, JPP_UNNAMED_TEXT);
        telemetry->fleet.unnamed = telemetry->unnamed;
    }

    telemetry->all.fleet = &telemetry->fleet;
    telemetry->all.oom_kills = self->oom_kills;

    ngx_http_jpp_registry_facts(&telemetry->zone, &telemetry->all.generation,
                                &telemetry->all.loaded);
    return telemetry;
}


ngx_int_t
ngx_http_jpp_telemetry_collected(ngx_http_jpp_telemetry_t *telemetry,
    const ngx_http_jpp_collection_t *co, jpp_arena_t *arena)
{
    ngx_uint_t                   i;
    jpp_fleet_t                 *fleet;
    jpp_worker_t                *workers, *worker;
    jpp_history_t               *history;
    jpp_missing_t               *missing;
    const ngx_http_jpp_share_t  *share;

    missing = jpp_arena_alloc(arena, co->n * sizeof(jpp_missing_t));

    if (missing == NULL
        || ngx_http_jpp_telemetry_room(telemetry, co->n, &workers, &history,
                                       arena)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    worker = workers;
    fleet = &telemetry->fleet;
    fleet->missing = missing;

    for (i = 0; i < co->n; i++) {
        share = &co->shares[i];

        if (share->state != NGX_HTTP_JPP_SHARE_ANSWERED) {
            ngx_http_jpp_share_missing(share, share->peer.reply.err.text,
                                       &missing[fleet->n_missing++]);
            continue;
        }

        *worker = share->peer.reply.worker;

        worker->history = ngx_http_jpp_telemetry_note(telemetry,
                                                      &share->peer.row, NULL,
                                                      history)
                          ? history : NULL;

        history++;
        worker++;
        fleet->n++;
    }

    jpp_status_former(workers, fleet->n);

    ngx_http_jpp_telemetry_facts(telemetry);

    return NGX_OK;
}


/* Without asking: the others may be busy, and numbers may be seconds old. */

ngx_int_t
ngx_http_jpp_telemetry_noted(ngx_http_jpp_telemetry_t *telemetry,
    const ngx_http_jpp_row_t *rows, ngx_uint_t n, jpp_arena_t *arena)
{
    ngx_uint_t      i;
    jpp_worker_t   *worker;
    jpp_history_t  *history;

    if (ngx_http_jpp_telemetry_room(telemetry, n, &worker, &history, arena)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {

        if (ngx_http_jpp_telemetry_note(telemetry, &rows[i], worker, history)) {
            worker->history = history;

            history++;
            worker++;
            telemetry->fleet.n++;
        }
    }

    ngx_http_jpp_telemetry_facts(telemetry);

    return NGX_OK;
}


static ngx_int_t
ngx_http_jpp_telemetry_room(ngx_http_jpp_telemetry_t *telemetry, ngx_uint_t n,
    jpp_worker_t **workers, jpp_history_t **histories, jpp_arena_t *arena)
{
    *workers = jpp_arena_alloc(arena, n * sizeof(jpp_worker_t));
    *histories = jpp_arena_alloc(arena, n * sizeof(jpp_history_t));

    telemetry->fleet.workers = *workers;
    telemetry->fleet.n_asked = n;

    return *workers != NULL && *histories != NULL ? NGX_OK : NGX_ERROR;
}


/*
 * What ROW's worker has written down; WORKER may be NULL.  0: nothing.  The
 * lock is held for one note at a time: all workers need it.
 */

static ngx_uint_t
ngx_http_jpp_telemetry_note(ngx_http_jpp_telemetry_t *telemetry,
    const ngx_http_jpp_row_t *row, jpp_worker_t *worker, jpp_history_t *history)
{
    ngx_uint_t         is_there;
    const jpp_note_t  *note;

    (void) ngx_http_jpp_registry_lock(&telemetry->zone);

    note = ngx_http_jpp_registry_note(&telemetry->zone, row);
    is_there = note != NULL && note->worker.started != 0;

    if (is_there) {
        *history = note->history;

        if (worker != NULL) {
            *worker = note->worker;
        }
    }

    ngx_http_jpp_registry_unlock(&telemetry->zone);

    return is_there;
}


static void
ngx_http_jpp_telemetry_facts(ngx_http_jpp_telemetry_t *telemetry)
{
    const jpp_notes_t  *notes;

    notes = ngx_http_jpp_registry_lock(&telemetry->zone);

    jpp_notes_facts(notes, &telemetry->all);

    telemetry->fleet.findings = telemetry->findings;
    telemetry->fleet.n_findings = jpp_standing_findings(notes->standing,
                                                        telemetry->findings);

    ngx_http_jpp_registry_unlock(&telemetry->zone);
}


void
ngx_http_jpp_telemetry_kernel(ngx_http_jpp_telemetry_t *telemetry)
{
    jpp_system_read(&telemetry->system, "");
    telemetry->all.system = &telemetry->system;

    if (jpp_cgroup_read(&telemetry->cgroup, "", &telemetry->err) == JPP_OK) {
        telemetry->all.cgroup = &telemetry->cgroup;

    } else {
        telemetry->all.cgroup_why = telemetry->err.text;
    }
}
