
/*
 * Archives of answers: adds members to a tar, and writes what memory, events
 * and grown answer, which snapshots and bundles contain, and what else bundles
 * do.
 */


#include "ngx_http_jpp_worker.h"

#include "jpp_metrics.h"
#include "jpp_timeline.h"


ngx_int_t
ngx_http_jpp_archive_init(ngx_http_jpp_archive_t *archive,
    ngx_http_jpp_telemetry_t *telemetry, jpp_arena_t *arena, jpp_err_t *err)
{
    archive->telemetry = telemetry;
    archive->arena = arena;
    archive->err = err;
    archive->time = ngx_time();
    archive->left = NGX_MAX_SIZE_T_VALUE;
    archive->buffer = jpp_arena_alloc(arena, JPP_SINK_BUFFER);
    archive->events = jpp_arena_alloc(arena, sizeof(jpp_events_t));

    if (archive->buffer == NULL || archive->events == NULL) {
        return NGX_ERROR;
    }

    /* a single process may lose the zone by a reload */

    ngx_http_jpp_zone_lock(telemetry->zone);
    *archive->events = telemetry->zone->notes.events;
    ngx_http_jpp_zone_unlock(telemetry->zone);

    return NGX_OK;
}


jpp_code_t
ngx_http_jpp_archive_add(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member)
{
    jpp_vec_t   *out;
    jpp_code_t   rc;
    jpp_sink_t   sink;

    out = jpp_vec_create(archive->arena);
    if (out == NULL) {
        return jpp_err_memory(archive->err);
    }

    jpp_sink_init(&sink, archive->buffer, JPP_SINK_BUFFER, jpp_sink_to_vec,
                  out);

    rc = member->write(archive, member, &sink);

    if (rc == JPP_OK && jpp_sink_flush(&sink) != 0) {
        rc = jpp_err_memory(archive->err);
    }

    if (rc == JPP_OK && out->len > archive->left) {
        rc = jpp_err_set(archive->err, JPP_ERR_LIMIT, "it has %s, and "
                         "jemalloc_pprof_max_size leaves %s",
                         jpp_bytes(out->len), jpp_bytes(archive->left));
    }

    if (rc == JPP_OK) {
        archive->left -= out->len;
        jpp_tar_add(archive->sink, member->name, archive->time, out->data,
                    out->len);
    }

    jpp_vec_release(out);

    return rc;
}


/* The arguments that ask for the form of MEMBER. */

static void
ngx_http_jpp_archive_args(const ngx_http_jpp_member_t *member, jpp_args_t *args)
{
    jpp_args_init(args, &jpp_words_top, jpp_parser_heap.types);

    for (args->values[JPP_ARG_FORMAT] = 0;
         jpp_args_is_top(args) != member->is_text;
         args->values[JPP_ARG_FORMAT]++)
    {
        /* void */
    }

    args->values[JPP_ARG_TOP] = JPP_MAX_ROWS;
}


static jpp_code_t
ngx_http_jpp_archive_memory(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member, jpp_sink_t *sink)
{
    jpp_args_t    args;
    jpp_memory_t  from;

    ngx_http_jpp_archive_args(member, &args);
    ngx_memzero(&from, sizeof(jpp_memory_t));

    from.telemetry = &archive->telemetry->all;
    from.args = &args;
    from.arena = archive->arena;
    from.detail = JPP_DETAIL_NONE;

    return jpp_memory_write(&from, sink) ? JPP_OK
                                         : jpp_err_memory(archive->err);
}


static jpp_code_t
ngx_http_jpp_archive_events(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member, jpp_sink_t *sink)
{
    ngx_uint_t    n;
    jpp_args_t    args;
    jpp_stall_t  *stalls;

    ngx_http_jpp_archive_args(member, &args);

    stalls = jpp_arena_alloc(archive->arena, JPP_STALLS * sizeof(jpp_stall_t));
    if (stalls == NULL) {
        return jpp_err_memory(archive->err);
    }

    n = ngx_http_jpp_stall_list(0, stalls);

    return jpp_timeline_write(archive->events, stalls, n, &args, archive->arena,
                              sink)
           ? JPP_OK : jpp_err_memory(archive->err);
}


static jpp_code_t
ngx_http_jpp_archive_grown(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member, jpp_sink_t *sink)
{
    jpp_args_t  args;

    ngx_http_jpp_archive_args(member, &args);

    return jpp_grown_write(&archive->telemetry->all, &args, archive->arena,
                           sink)
           ? JPP_OK : jpp_err_memory(archive->err);
}


static jpp_code_t
ngx_http_jpp_archive_status(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member, jpp_sink_t *sink)
{
    jpp_status_json(&archive->telemetry->fleet, sink);

    return JPP_OK;
}


static jpp_code_t
ngx_http_jpp_archive_metrics(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member, jpp_sink_t *sink)
{
    return jpp_metrics_write(&archive->telemetry->all, false, archive->arena,
                             sink)
           ? JPP_OK : jpp_err_memory(archive->err);
}


const ngx_http_jpp_member_t  ngx_http_jpp_archive_members[] = {

    { "memory.txt", "memory of all workers: verdict and findings",
      ngx_http_jpp_archive_memory, .is_text = 1, .is_recorded = 1 },
    { "memory.json", "the same for programs",
      ngx_http_jpp_archive_memory, .is_recorded = 1 },
    { "grown.txt", "whose memory has grown, and how fast",
      ngx_http_jpp_archive_grown, .is_text = 1, .is_recorded = 1 },
    { "grown.json", "the same for programs",
      ngx_http_jpp_archive_grown, .is_recorded = 1 },
    { "events.txt", "reloads, crashes, findings, stalls and changes",
      ngx_http_jpp_archive_events, .is_text = 1, .is_recorded = 1 },
    { "events.json", "the same for programs",
      ngx_http_jpp_archive_events, .is_recorded = 1 },
    { "status.json", "state of each worker and of its profiler",
      .write = ngx_http_jpp_archive_status },
    { "metrics.txt", "all metrics, in the format of Prometheus",
      .write = ngx_http_jpp_archive_metrics },

    { .name = NULL }
};
