
/*
 * The resource grown: whose memory has grown.  No worker is asked: what the
 * owners held over time lies in shared memory.
 */


#include "ngx_http_jpp_resources.h"

#include "jpp_grown.h"


/* Copied in the event loop: a single process may lose the zone by a reload. */

static ngx_int_t
ngx_http_jpp_grown_init(ngx_http_jpp_job_t *job, void *data)
{
    jpp_held_t *held = job->state;

    ngx_http_jpp_registry_t  *registry;

    registry = ngx_http_jpp_self.registry;

    ngx_http_jpp_registry_lock(registry);
    *held = registry->notes.held;
    ngx_http_jpp_registry_unlock(registry);

    return NGX_OK;
}


static jpp_code_t
ngx_http_jpp_grown_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    jpp_code_t    rc;
    jpp_cgroup_t  cgroup;

    rc = jpp_cgroup_read(&cgroup, "", NULL);

    return jpp_grown_write(job->state, rc == JPP_OK ? &cgroup : NULL,
                           time(NULL), &job->question.args, &job->arena, sink)
           ? JPP_OK : jpp_err_memory(&job->err);
}


const ngx_http_jpp_handler_t  ngx_http_jpp_grown = {
    .formats = &jpp_words_top,
    .size = sizeof(jpp_held_t),
    .is_brief = 1,
    .init = ngx_http_jpp_grown_init,
    .ask = ngx_http_jpp_job_run,
    .write = ngx_http_jpp_grown_write
};
