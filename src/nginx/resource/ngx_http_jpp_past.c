
/*
 * The resources about the past: events, and grown, the owners whose memory has
 * grown.  No worker is asked, because their data lies in shared memory.
 */


#include "ngx_http_jpp_resources.h"

#include "jpp_timeline.h"


typedef struct {
    jpp_events_t   events;
    jpp_held_t     held;
} ngx_http_jpp_past_t;


/* Copied in the event loop: a single process may lose the zone by a reload. */

static ngx_int_t
ngx_http_jpp_past_init(ngx_http_jpp_job_t *job, void *data)
{
    ngx_http_jpp_past_t *past = job->state;

    ngx_http_jpp_zone_t  *zone;

    zone = ngx_http_jpp_self.zone;

    ngx_http_jpp_zone_lock(zone);

    past->events = zone->notes.events;
    past->held = zone->notes.held;

    ngx_http_jpp_zone_unlock(zone);

    return NGX_OK;
}


static jpp_code_t
ngx_http_jpp_events_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    ngx_http_jpp_past_t *past = job->state;

    ngx_uint_t    n;
    jpp_stall_t  *stalls;

    stalls = jpp_arena_alloc(&job->arena, JPP_STALLS * sizeof(jpp_stall_t));

    if (stalls == NULL) {
        return jpp_err_memory(&job->err);
    }

    n = ngx_http_jpp_stall_list(0, stalls);

    return jpp_timeline_write(&past->events, stalls, n, &job->question.args,
                              &job->arena, sink)
           ? JPP_OK : jpp_err_memory(&job->err);
}


static jpp_code_t
ngx_http_jpp_grown_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    ngx_http_jpp_past_t *past = job->state;

    jpp_code_t    rc;
    jpp_cgroup_t  cgroup;

    rc = jpp_cgroup_read(&cgroup, "", NULL);

    return jpp_grown_write(&past->held, rc == JPP_OK ? &cgroup : NULL,
                           time(NULL), &job->question.args, &job->arena, sink)
           ? JPP_OK : jpp_err_memory(&job->err);
}


const ngx_http_jpp_handler_t  ngx_http_jpp_events = {
    .formats = &jpp_words_top,
    .size = sizeof(ngx_http_jpp_past_t),
    .is_brief = 1,
    .init = ngx_http_jpp_past_init,
    .ask = ngx_http_jpp_job_run,
    .write = ngx_http_jpp_events_write
};


const ngx_http_jpp_handler_t  ngx_http_jpp_grown = {
    .formats = &jpp_words_top,
    .size = sizeof(ngx_http_jpp_past_t),
    .is_brief = 1,
    .init = ngx_http_jpp_past_init,
    .ask = ngx_http_jpp_job_run,
    .write = ngx_http_jpp_grown_write
};
