
/*
 * The resource events: the past events of this nginx.  No worker is asked:
 * events and stalls lie in shared memory.
 */


#include "ngx_http_jpp_resources.h"
#include "ngx_http_jpp_worker.h"

#include "jpp_timeline.h"


/* Copied in the event loop: a single process may lose the zone by a reload. */

static ngx_int_t
ngx_http_jpp_events_init(ngx_http_jpp_job_t *job, void *data)
{
    jpp_events_t *events = job->state;

    ngx_http_jpp_registry_t  *registry;

    registry = ngx_http_jpp_self.registry;

    ngx_http_jpp_registry_lock(registry);
    *events = registry->notes.events;
    ngx_http_jpp_registry_unlock(registry);

    return NGX_OK;
}


static jpp_code_t
ngx_http_jpp_events_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    ngx_uint_t    n;
    jpp_stall_t  *stalls;

    stalls = jpp_arena_alloc(&job->arena, JPP_STALLS * sizeof(jpp_stall_t));

    if (stalls == NULL) {
        return jpp_err_memory(&job->err);
    }

    n = ngx_http_jpp_stall_list(0, stalls);

    return jpp_timeline_write(job->state, stalls, n, &job->question.args,
                              &job->arena, sink)
           ? JPP_OK : jpp_err_memory(&job->err);
}


const ngx_http_jpp_handler_t  ngx_http_jpp_events = {
    .formats = &jpp_words_top,
    .size = sizeof(jpp_events_t),
    .is_brief = 1,
    .init = ngx_http_jpp_events_init,
    .ask = ngx_http_jpp_job_run,
    .write = ngx_http_jpp_events_write
};
