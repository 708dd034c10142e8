
/*
 * The resources about the past: events, grown, the owners whose memory has
 * grown, snapshots, and what was recorded with these.  No worker is asked,
 * because their data lies in shared memory.
 */


#include "ngx_http_jpp_resources.h"

#include "jpp_timeline.h"


/* of an archive, unpacked, as a multiple of jemalloc_pprof_max_size */
#define NGX_HTTP_JPP_PAST_TIMES  4


typedef struct {
    jpp_events_t      events;
    jpp_telemetry_t   grown;       /* what this resource needs */
    jpp_snapshot_t    snapshots[JPP_SNAPSHOTS];
    ngx_uint_t        n;
    jpp_snapshots_t  *zone;
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
    past->grown.held = zone->notes.held;
    past->zone = ngx_http_jpp_self.snapshots;

    if (past->zone != NULL) {
        past->n = jpp_snapshots_list(past->zone, past->snapshots);
    }

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

    past->grown.cgroup = rc == JPP_OK ? &cgroup : NULL;
    past->grown.now = time(NULL);
    past->grown.snapshots = past->snapshots;
    past->grown.n_snapshots = past->n;

    return jpp_grown_write(&past->grown, &job->question.args, &job->arena, sink)
           ? JPP_OK : jpp_err_memory(&job->err);
}


static jpp_code_t
ngx_http_jpp_snapshots_list(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    ngx_http_jpp_past_t *past = job->state;

    return jpp_timeline_snapshots(past->snapshots, past->n,
                                  &job->question.args, &job->arena, sink)
           ? JPP_OK : jpp_err_memory(&job->err);
}


/* The archive itself is a file to save. */

static void
ngx_http_jpp_recorded_describe(ngx_http_request_t *r,
    const ngx_http_jpp_question_t *question, ngx_http_jpp_answer_t *answer)
{
    if (question->resource->handler == &ngx_http_jpp_snapshots) {
        answer->type = "application/gzip";
        answer->disposition =
            "attachment; filename=\"nginx-snapshot.tar.gz\"";
        return;
    }

    answer->type = jpp_args_is_top(&question->args) ? "text/plain"
                                                    : "application/json";
}


/* What a resource answered then is a member of the archive. */

static jpp_code_t
ngx_http_jpp_recorded_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    ngx_http_jpp_past_t *past = job->state;

    char                            name[JPP_TAR_NAME];
    size_t                          max;
    jpp_tar_t                       tar;
    jpp_vec_t                      *packed, *out;
    jpp_code_t                      rc;
    jpp_snapshot_t                  about;
    const ngx_http_jpp_resource_t  *resource;

    resource = job->question.resource;
    packed = jpp_vec_create(&job->arena);
    out = jpp_vec_create(&job->arena);

    if (packed == NULL || out == NULL) {
        return jpp_err_memory(&job->err);
    }

    max = NGX_HTTP_JPP_PAST_TIMES * job->question.conf->max_size;

    rc = ngx_http_jpp_recorded_open(past->zone, job->question.at, max, packed,
                                    resource->handler == &ngx_http_jpp_snapshots
                                    ? NULL : out, &about, &job->err);
    if (rc != JPP_OK) {
        return rc;
    }

    if (resource->handler == &ngx_http_jpp_snapshots) {
        jpp_sink_write(sink, packed->data, packed->len);
        return JPP_OK;
    }

    jpp_print(name, "%.64s.%s", resource->name.data,
              jpp_args_is_top(&job->question.args) ? "txt" : "json");

    jpp_tar_init(&tar, out->data, out->len);

    while ((rc = jpp_tar_next(&tar, &job->err)) == JPP_OK && tar.data != NULL) {

        if (strcmp(tar.name, name) == 0) {
            jpp_sink_write(sink, tar.data, tar.len);
            return JPP_OK;
        }
    }

    return rc != JPP_OK ? rc
           : jpp_err_set(&job->err, JPP_ERR_MISSING, "snapshots do not contain "
                         "%s: use heap, allocs, pools, memory, events or grown",
                         (char *) resource->name.data);
}


const ngx_http_jpp_handler_t  ngx_http_jpp_snapshots = {
    .formats = &jpp_words_top,
    .size = sizeof(ngx_http_jpp_past_t),
    .is_brief = 1,
    .init = ngx_http_jpp_past_init,
    .ask = ngx_http_jpp_job_run,
    .write = ngx_http_jpp_snapshots_list
};


const ngx_http_jpp_handler_t  ngx_http_jpp_recorded = {
    .describe = ngx_http_jpp_recorded_describe,
    .size = sizeof(ngx_http_jpp_past_t),
    .init = ngx_http_jpp_past_init,
    .ask = ngx_http_jpp_job_run,
    .write = ngx_http_jpp_recorded_write
};


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
