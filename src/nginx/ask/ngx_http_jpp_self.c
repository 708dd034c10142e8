
#include "ngx_http_jpp_self.h"


ngx_http_jpp_self_t  ngx_http_jpp_self = {
    .inherited = JPP_NONE,
    .baseline = { .fd = -1 }
};

ngx_connection_t  ngx_http_jpp_no_connection = {
    .fd = (ngx_socket_t) -1
};


void
ngx_http_jpp_describe(jpp_worker_t *worker)
{
    ngx_memzero(worker, sizeof(jpp_worker_t));

    worker->who.index = ngx_worker;
    worker->who.pid = ngx_pid;
    worker->who.generation = ngx_http_jpp_self.generation;
    worker->is_exiting = ngx_exiting != 0;
    worker->started = ngx_http_jpp_self.started;
    worker->inherited = ngx_http_jpp_self.inherited;
    worker->last_error = ngx_http_jpp_self.last_error;

    jpp_jemalloc_read(&worker->jemalloc);
    worker->coverage = ngx_http_jpp_self.coverage;
    jpp_sampler_state(&worker->sampler);
    worker->stalling = ngx_http_jpp_self.stalling;
    worker->has_owners = ngx_http_jpp_self.has_owners;
}


ngx_uint_t
ngx_http_jpp_findings(jpp_finding_t findings[JPP_FINDINGS])
{
    ngx_uint_t       n;
    ngx_shm_zone_t  *zone;

    zone = ngx_http_jpp_self.zone;

    /* of a single process, after a reload without a location that serves */

    if (zone == NULL) {
        return 0;
    }

    n = jpp_active_findings(ngx_http_jpp_registry_lock(zone)->active, findings);

    ngx_http_jpp_registry_unlock(zone);

    return n;
}


void
ngx_http_jpp_fleet(jpp_fleet_t *fleet, const jpp_worker_t *workers,
    ngx_uint_t n, ngx_uint_t n_asked)
{
    ngx_memzero(fleet, sizeof(jpp_fleet_t));

    fleet->nginx = NGINX_VERSION;
    fleet->host = ngx_http_jpp_self.host;
    fleet->n_asked = n_asked;
    fleet->workers = workers;
    fleet->n = n;
}
