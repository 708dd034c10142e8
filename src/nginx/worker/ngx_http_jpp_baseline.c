
#include "ngx_http_jpp_baseline.h"
#include "ngx_http_jpp_self.h"

#include "jpp_heap_file.h"


static jpp_code_t ngx_http_jpp_baseline_dump(jpp_memfd_t *baseline,
    jpp_err_t *err);
static void ngx_http_jpp_baseline_drop(void *data);


/*
 * In the master, because a worker allocates before a module can take a dump:
 * its connections and events, for example.  A single process is started once,
 * and what it has at a reload is its own.
 */

void
ngx_http_jpp_baseline_take(ngx_cycle_t *cycle)
{
    jpp_err_t             err;
    jpp_jemalloc_t        jemalloc;
    ngx_pool_cleanup_t   *cln;
    ngx_http_jpp_self_t  *self;

    self = &ngx_http_jpp_self;

    if (ngx_process == NGX_PROCESS_SINGLE && self->row.pid != 0) {
        return;
    }

    jpp_memfd_close(&self->baseline);
    jpp_jemalloc_read(&jemalloc);

    if (jemalloc.state != JPP_JEMALLOC_READY) {
        return;
    }

    cln = ngx_pool_cleanup_add(cycle->pool, 0);
    if (cln == NULL) {
        return;
    }

    cln->handler = ngx_http_jpp_baseline_drop;
    cln->data = (void *) self->generation;

    if (ngx_http_jpp_baseline_dump(&self->baseline, &err) != JPP_OK) {
        jpp_memfd_close(&self->baseline);

        ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                      "jemalloc_pprof: memory inherited from the master will "
                      "be reported as the workers' own: %s", err.text);
    }
}


/*
 * Mapping seals it; all readers share the pages.  jemalloc ignores a full disk,
 * and every worker would hold half a dump for nothing.
 */

static jpp_code_t
ngx_http_jpp_baseline_dump(jpp_memfd_t *baseline, jpp_err_t *err)
{
    jpp_code_t  rc;

    rc = jpp_memfd_open(baseline, ngx_http_jpp_self.directory, err);

    if (rc == JPP_OK) {
        rc = jpp_jemalloc_dump(baseline->fd, err);
    }

    if (rc == JPP_OK) {
        rc = jpp_memfd_map(baseline, NGX_MAX_SIZE_T_VALUE, err);
    }

    if (rc == JPP_OK
        && !jpp_heap_is_whole(baseline->data, baseline->len))
    {
        rc = jpp_err_set(err, JPP_ERR_CUT,
                         "its dump came back incomplete: it needs two free "
                         "descriptors, /proc, and room where it is written");
    }

    return rc;
}


/* A configuration without the module does not call it. */

static void
ngx_http_jpp_baseline_drop(void *data)
{
    if (ngx_http_jpp_self.generation == (ngx_uint_t) data) {
        jpp_memfd_close(&ngx_http_jpp_self.baseline);
    }
}


/*
 * A reset of jemalloc forgets the inherited samples, too.  The sampler has
 * none: that of the master is never switched on.
 */

void
ngx_http_jpp_baseline_changed(const jpp_control_result_t *result)
{
    if (result->is_reset) {
        jpp_memfd_close(&ngx_http_jpp_self.baseline);
    }

    if (result->is_other) {
        ngx_http_jpp_self.n_resets++;
    }

    jpp_coverage_changed(&ngx_http_jpp_self.coverage, result, ngx_time());
}
