
#include "ngx_http_jemalloc_pprof_self.h"
#include "ngx_http_jemalloc_pprof_status.h"
#include "ngx_http_jemalloc_pprof_telemetry.h"
#include "ngx_http_jemalloc_pprof_zones.h"


static ngx_int_t ngx_http_jemalloc_pprof_telemetry_histories(
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_fleet_t *fleet);


void
ngx_http_jemalloc_pprof_telemetry_start(void)
{
    jpp_cgroup_t       cgroup;

    static ngx_uint_t  is_started;

    if (is_started) {
        return;
    }

    is_started = 1;

    ngx_http_jemalloc_pprof_self.oom_kills =
        jpp_cgroup_read(&cgroup, "", NULL) == JPP_OK ? cgroup.events.oom_kill
                                                     : JPP_NONE;
}


ngx_int_t
ngx_http_jemalloc_pprof_telemetry(
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_telemetry_t *telemetry)
{
    jpp_fleet_t  *fleet;

    fleet = jpp_arena_alloc(arena, sizeof(jpp_fleet_t));

    /* a single process may have lost its zone by a reload meanwhile */

    return fleet != NULL
           && ngx_http_jemalloc_pprof_self.zone != NULL
           && ngx_http_jemalloc_pprof_status_fleet(co, arena, fleet) == NGX_OK
           && ngx_http_jemalloc_pprof_telemetry_histories(co, arena, fleet)
              == NGX_OK
           ? ngx_http_jemalloc_pprof_telemetry_of(fleet, arena, telemetry)
           : NGX_ERROR;
}


ngx_int_t
ngx_http_jemalloc_pprof_telemetry_of(const jpp_fleet_t *fleet,
    jpp_arena_t *arena, jpp_telemetry_t *telemetry)
{
    jpp_err_t     *err;
    jpp_cgroup_t  *cgroup;
    jpp_system_t  *system;

    ngx_memzero(telemetry, sizeof(jpp_telemetry_t));

    err = jpp_arena_alloc(arena, sizeof(jpp_err_t));
    cgroup = jpp_arena_alloc(arena, sizeof(jpp_cgroup_t));
    system = jpp_arena_alloc(arena, sizeof(jpp_system_t));

    if (err == NULL || cgroup == NULL || system == NULL
        || ngx_http_jemalloc_pprof_zones(arena, telemetry) != NGX_OK)
    {
        return NGX_ERROR;
    }

    telemetry->fleet = fleet;
    telemetry->oom_kills = ngx_http_jemalloc_pprof_self.oom_kills;

    ngx_http_jemalloc_pprof_registry_facts(ngx_http_jemalloc_pprof_self.zone,
                                           &telemetry->generation,
                                           &telemetry->loaded);

    jpp_notes_facts(ngx_http_jemalloc_pprof_registry_lock(
                        ngx_http_jemalloc_pprof_self.zone), telemetry);
    ngx_http_jemalloc_pprof_registry_unlock(ngx_http_jemalloc_pprof_self.zone);

    jpp_system_read(system, "");
    telemetry->system = system;

    if (jpp_cgroup_read(cgroup, "", err) == JPP_OK) {
        telemetry->cgroup = cgroup;

    } else {
        telemetry->cgroup_why = err->text;
    }

    return NGX_OK;
}


/* of the workers that answered, in their order */

static ngx_int_t
ngx_http_jemalloc_pprof_telemetry_histories(
    const ngx_http_jemalloc_pprof_collection_t *co, jpp_arena_t *arena,
    jpp_fleet_t *fleet)
{
    ngx_uint_t         i;
    jpp_worker_t      *worker;
    jpp_history_t     *history;
    ngx_shm_zone_t    *zone;
    const jpp_note_t  *note;

    history = jpp_arena_alloc(arena, fleet->n * sizeof(jpp_history_t));
    if (history == NULL) {
        return NGX_ERROR;
    }

    worker = (jpp_worker_t *) fleet->workers;
    zone = ngx_http_jemalloc_pprof_self.zone;

    (void) ngx_http_jemalloc_pprof_registry_lock(zone);

    for (i = 0; i < co->n; i++) {

        if (co->shares[i].state != NGX_HTTP_JEMALLOC_PPROF_SHARE_ANSWERED) {
            continue;
        }

        note = ngx_http_jemalloc_pprof_registry_note(zone,
                                                     &co->shares[i].peer.row);

        if (note != NULL && note->worker.started != 0) {
            *history = note->history;
            worker->history = history++;
        }

        worker++;
    }

    ngx_http_jemalloc_pprof_registry_unlock(zone);

    return NGX_OK;
}
