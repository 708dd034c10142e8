
/*
 * The resource bundle: one file for a ticket, a tar.gz of what the other
 * resources would answer now, and of the last snapshots.
 *
 * All workers are asked once for their status, pools and heap.  What cannot be
 * had is a line in the README, which stands first: it is packed last, and gzip
 * allows to put one stream before another.
 */


#include "ngx_http_jpp_resources.h"


/* of README and headers, in jemalloc_pprof_max_size */
#define NGX_HTTP_JPP_BUNDLE_ROOM  (64 * 1024)


/* the third question; status and pools are the handler's */
enum {
    NGX_HTTP_JPP_BUNDLE_POOLS = 1,
    NGX_HTTP_JPP_BUNDLE_HEAP
};


typedef struct {
    ngx_http_jpp_archive_t     archive;    /* what a member gets is this */
    ngx_http_jpp_job_t        *job;
    ngx_http_jpp_main_conf_t   conf;
    jpp_snapshots_t           *zone;
    jpp_snapshot_t             snapshots[JPP_SNAPSHOTS];
    ngx_uint_t                 n;
    const jpp_snapshot_t      *snapshot;   /* at hand */
    jpp_sink_t                 readme;
} ngx_http_jpp_bundle_t;


static jpp_code_t ngx_http_jpp_bundle_nginx(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member, jpp_sink_t *sink);
static jpp_code_t ngx_http_jpp_bundle_profile(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member, jpp_sink_t *sink);
static jpp_code_t ngx_http_jpp_bundle_stalls(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member, jpp_sink_t *sink);


static const ngx_http_jpp_member_t  ngx_http_jpp_bundle_members[] = {

    { "nginx.txt", "the build of nginx, and what the module is set to",
      .write = ngx_http_jpp_bundle_nginx },

    { "heap.txt", "sampled memory by function, as a table",
      ngx_http_jpp_bundle_profile, .parser = &jpp_parser_heap,
      .format = "top", .question = NGX_HTTP_JPP_BUNDLE_HEAP },
    { "heap.pb.gz", "the same for go tool pprof, with names",
      ngx_http_jpp_bundle_profile, .parser = &jpp_parser_heap,
      .format = "pprof", .question = NGX_HTTP_JPP_BUNDLE_HEAP },
    { "heap.html", "the same as flame graphs, for a browser",
      ngx_http_jpp_bundle_profile, .parser = &jpp_parser_heap,
      .format = "html", .question = NGX_HTTP_JPP_BUNDLE_HEAP },

    { "pools.txt", "memory by server and location, as a table",
      ngx_http_jpp_bundle_profile, .parser = &jpp_parser_pools,
      .format = "top", .question = NGX_HTTP_JPP_BUNDLE_POOLS },
    { "pools.pb.gz", "the same for go tool pprof",
      ngx_http_jpp_bundle_profile, .parser = &jpp_parser_pools,
      .format = "pprof", .question = NGX_HTTP_JPP_BUNDLE_POOLS },
    { "pools.html", "the same as flame graphs, for a browser",
      ngx_http_jpp_bundle_profile, .parser = &jpp_parser_pools,
      .format = "html", .question = NGX_HTTP_JPP_BUNDLE_POOLS },

    { "stalls.txt", "code that blocked event loops, as a table",
      ngx_http_jpp_bundle_stalls, .parser = &jpp_parser_stalls,
      .format = "top" },
    { "stalls.pb.gz", "the same for go tool pprof",
      ngx_http_jpp_bundle_stalls, .parser = &jpp_parser_stalls,
      .format = "pprof" },

    { .name = NULL }
};


static ngx_int_t
ngx_http_jpp_bundle_init(ngx_http_jpp_job_t *job, void *data)
{
    ngx_http_jpp_job_question(job, JPP_MESSAGE_DUMP)->is_spare = 1;

    return NGX_OK;
}


static ngx_int_t
ngx_http_jpp_bundle_asked(ngx_http_jpp_job_t *job, ngx_http_request_t *r)
{
    ngx_http_jpp_bundle_t *bundle = job->state;

    const ngx_http_jpp_main_conf_t  *jmcf;

    jmcf = ngx_http_get_module_main_conf(r, ngx_http_jemalloc_pprof_module);

    bundle->job = job;
    bundle->conf = *jmcf;
    bundle->zone = ngx_http_jpp_self.snapshots;

    if (ngx_http_jpp_archive_init(&bundle->archive, job->telemetry, &job->arena,
                                  &job->err)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    bundle->archive.left = jpp_less(job->question.conf->max_size,
                                    NGX_HTTP_JPP_BUNDLE_ROOM);

    if (bundle->zone != NULL) {
        ngx_http_jpp_zone_lock(job->telemetry->zone);
        bundle->n = jpp_snapshots_list(bundle->zone, bundle->snapshots);
        ngx_http_jpp_zone_unlock(job->telemetry->zone);
    }

    return ngx_http_jpp_job_run(job, r);
}


/* Values only: nothing that stands in the configuration is repeated. */

static jpp_code_t
ngx_http_jpp_bundle_nginx(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member, jpp_sink_t *sink)
{
    ngx_http_jpp_bundle_t *bundle = (void *) archive;

    const ngx_http_jpp_loc_conf_t   *conf;
    const ngx_http_jpp_main_conf_t  *jmcf;

    conf = bundle->job->question.conf;
    jmcf = &bundle->conf;

    jpp_sink_printf(sink, "nginx version: %s\nconfigure arguments:%s\n"
                    "ngx_http_jemalloc_pprof_module: %s\n\n",
                    NGINX_VER, NGX_CONFIGURE, JPP_VERSION);

    struct {
        const char  *name;
        int64_t      value;        /* negative: it is not set */
    } *row, rows[] = {
        { "max_size", (int64_t) conf->max_size },
        { "timeout (ms)", (int64_t) conf->timeout },
        { "max_seconds", conf->max_seconds },
        { "gzip_level", conf->gzip_level },
        { "control", conf->control },
        { "clients", conf->clients },
        { "active", jmcf->active },
        { "sample", jmcf->sampler > 0 ? jmcf->sampler_lg : jmcf->lg_sample },
        { "source sampler", jmcf->sampler > 0 },
        { "unwind", jmcf->unwind },
        { "owners", jmcf->owners },
        { "stall (ms)", jmcf->stall },
        { "snapshots", jmcf->snapshots.is_on },
        { "snapshots zone", (int64_t) jmcf->snapshots.zone },
        { "snapshots limit", (int64_t) jmcf->snapshots.limit },
        { "snapshots growth", (int64_t) jmcf->snapshots.growth },
        { "snapshots keep", (int64_t) jmcf->snapshots.keep },
        { "snapshots size", (int64_t) jmcf->snapshots.size }
    };

    jpp_each_of(row, rows) {
        if (row->value >= 0) {
            jpp_sink_printf(sink, "jemalloc_pprof_%s %" PRId64 "\n", row->name,
                            row->value);
        }
    }

    return JPP_OK;
}


static void
ngx_http_jpp_bundle_options(const ngx_http_jpp_bundle_t *bundle,
    const ngx_http_jpp_member_t *member, jpp_report_options_t *options)
{
    uint32_t  *values;

    jpp_report_options_init(options);

    options->parser = member->parser;
    options->title = member->parser->name;
    options->level = bundle->job->question.conf->gzip_level;

    jpp_args_init(&options->args, &jpp_format_words, member->parser->types);

    values = options->args.values;
    values[JPP_ARG_FORMAT] = (uint32_t) (jpp_format_find(member->format)
                                         - jpp_formats);
}


/* Why nobody has answered: all workers mostly have the reason of the first. */

static jpp_code_t
ngx_http_jpp_bundle_none(const ngx_http_jpp_collection_t *co, jpp_err_t *err)
{
    jpp_problem_t               problems[JPP_MAX_PROBLEMS];
    const jpp_message_reply_t  *reply;

    if (co == NULL) {
        return jpp_err_set(err, JPP_ERR_FULL, "what is held by other requests "
                           "left no room to ask for it");
    }

    reply = &co->parts[0].reply;

    if (co->type->is_sampled && reply->err.code == JPP_ERR_STATE
        && jpp_problems(&reply->worker, problems) != 0
        && problems[0].is_fatal)
    {
        return jpp_err_set(err, JPP_ERR_STATE, "%s: %s", problems[0].what,
                           problems[0].why);
    }

    return jpp_err_set(err, JPP_ERR_LATE, "no worker answered: %s: %s",
                       jpp_worker_name(&co->parts[0].row.who),
                       reply->err.text);
}


static jpp_code_t
ngx_http_jpp_bundle_profile(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member, jpp_sink_t *sink)
{
    ngx_http_jpp_bundle_t *bundle = (void *) archive;

    jpp_code_t                        rc;
    jpp_view_t                        view;
    jpp_arena_t                       arena;
    ngx_http_jpp_report_t            *report;
    const ngx_http_jpp_collection_t  *co;

    co = bundle->job->subscribers[member->question].collection;

    if (co == NULL || co->n_answered == 0) {
        return ngx_http_jpp_bundle_none(co, archive->err);
    }

    report = jpp_arena_alloc(archive->arena, sizeof(ngx_http_jpp_report_t));
    if (report == NULL) {
        return jpp_err_memory(archive->err);
    }

    ngx_http_jpp_bundle_options(bundle, member, &report->options);

    report->last = co;

    jpp_arena_init(&arena, archive->arena->cap);

    rc = ngx_http_jpp_report(report, &arena, &view, archive->err);

    if (rc == JPP_OK) {
        rc = jpp_report_write(&view, sink, archive->err);
    }

    jpp_arena_destroy(&arena);

    return rc;
}


static jpp_code_t
ngx_http_jpp_bundle_stalls(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member, jpp_sink_t *sink)
{
    jpp_stall_t           *stalls;
    jpp_capture_t          capture;
    jpp_report_options_t   options;

    stalls = jpp_arena_alloc(archive->arena, JPP_STALLS * sizeof(jpp_stall_t));
    if (stalls == NULL) {
        return jpp_err_memory(archive->err);
    }

    ngx_http_jpp_bundle_options((void *) archive, member, &options);
    ngx_memzero(&capture, sizeof(jpp_capture_t));

    options.time_nanos = archive->time * 1000000000;
    capture.data = (char *) stalls;
    capture.len = ngx_http_jpp_stall_list(0, stalls) * sizeof(jpp_stall_t);

    return jpp_report(archive->arena, &ngx_http_jpp_self.symbols, &capture, 1,
                      &options, sink, archive->err);
}


static jpp_code_t
ngx_http_jpp_bundle_snapshot(ngx_http_jpp_archive_t *archive,
    const ngx_http_jpp_member_t *member, jpp_sink_t *sink)
{
    ngx_http_jpp_bundle_t *bundle = (void *) archive;

    jpp_vec_t       *packed;
    jpp_code_t       rc;
    jpp_snapshot_t   about;

    packed = jpp_vec_create(archive->arena);
    if (packed == NULL) {
        return jpp_err_memory(archive->err);
    }

    rc = ngx_http_jpp_recorded_open(bundle->zone, bundle->snapshot->id, 0,
                                    packed, NULL, &about, archive->err);
    if (rc == JPP_OK) {
        jpp_sink_write(sink, packed->data, packed->len);
    }

    jpp_vec_release(packed);

    return rc;
}


/* Add MEMBER, and its line; what is not there is no failure. */

static jpp_code_t
ngx_http_jpp_bundle_add(ngx_http_jpp_bundle_t *bundle,
    const ngx_http_jpp_member_t *member)
{
    jpp_code_t  rc;

    rc = ngx_http_jpp_archive_add(&bundle->archive, member);

    if (rc == JPP_OK) {
        jpp_sink_printf(&bundle->readme, "%-24s %s\n", member->name,
                        member->about);

    } else if (rc != JPP_ERR_MEMORY) {
        jpp_sink_printf(&bundle->readme, "%-24s is missing: %s\n", member->name,
                        bundle->archive.err->text);
        rc = JPP_OK;
    }

    return rc;
}


/* The snapshots of the last rise of memory, the newest first. */

static jpp_code_t
ngx_http_jpp_bundle_past(ngx_http_jpp_bundle_t *bundle)
{
    char                    name[JPP_TAR_NAME], about[2 * JPP_SNAPSHOT_TEXT];
    jpp_code_t              rc;
    ngx_uint_t              i;
    ngx_http_jpp_member_t   member;

    ngx_memzero(&member, sizeof(ngx_http_jpp_member_t));

    member.name = name;
    member.about = about;
    member.write = ngx_http_jpp_bundle_snapshot;

    for (i = bundle->n, rc = JPP_OK; i-- != 0 && rc == JPP_OK; ) {
        bundle->snapshot = &bundle->snapshots[i];

        if (bundle->snapshot->rise != bundle->snapshots[bundle->n - 1].rise) {
            break;
        }

        jpp_print(name, "snapshots/%" PRIu64 ".tar.gz", bundle->snapshot->id);
        jpp_print(about, "snapshot (%s): %s",
                  jpp_snapshot_reasons[bundle->snapshot->reason],
                  bundle->snapshot->text);

        rc = ngx_http_jpp_bundle_add(bundle, &member);
    }

    if (bundle->n == 0) {
        jpp_sink_printf(&bundle->readme, "%-24s is missing: none was taken\n",
                        "snapshots/");
    }

    return rc;
}


static jpp_code_t
ngx_http_jpp_bundle_members_add(ngx_http_jpp_bundle_t *bundle,
    const ngx_http_jpp_member_t *member)
{
    jpp_code_t  rc;

    for (rc = JPP_OK; rc == JPP_OK && member->name != NULL; member++) {
        rc = ngx_http_jpp_bundle_add(bundle, member);
    }

    return rc;
}


/* All but the README, which says what was added. */

static jpp_code_t
ngx_http_jpp_bundle_parts(ngx_http_jpp_bundle_t *bundle)
{
    jpp_code_t  rc;

    jpp_sink_printf(&bundle->readme, "nginx on %s, %s: %d of %d workers "
                    "answered.\n\n"
                    "    jemalloc-pprof --list bundle.tar.gz\n"
                    "    jemalloc-pprof --member=heap.pb.gz --format=html "
                    "bundle.tar.gz\n"
                    "    jemalloc-pprof --pools --member=snapshots/N.tar.gz "
                    "bundle.tar.gz\n\n"
                    "Contains names of functions, files, servers and "
                    "locations; no addresses of\nclients, no URIs, no text "
                    "of the configuration.\n\n",
                    ngx_http_jpp_self.host,
                    jpp_date(bundle->archive.time),
                    (int) bundle->job->n_answered,
                    (int) bundle->job->n_asked);

    rc = ngx_http_jpp_bundle_members_add(bundle, ngx_http_jpp_archive_members);

    if (rc == JPP_OK) {
        rc = ngx_http_jpp_bundle_members_add(bundle,
                                             ngx_http_jpp_bundle_members);
    }

    return rc == JPP_OK ? ngx_http_jpp_bundle_past(bundle) : rc;
}


static jpp_code_t
ngx_http_jpp_bundle_write(ngx_http_jpp_job_t *job, jpp_sink_t *sink)
{
    ngx_http_jpp_bundle_t *bundle = job->state;

    int          level;
    uint8_t     *buffers;
    jpp_vec_t   *parts, *readme;
    jpp_code_t   rc;
    jpp_gzip_t   gz;
    jpp_sink_t   packed;

    level = (int) job->question.conf->gzip_level;
    buffers = jpp_arena_alloc(&job->arena, 2 * JPP_SINK_BUFFER);
    parts = jpp_vec_create(&job->arena);
    readme = jpp_vec_create(&job->arena);

    if (buffers == NULL || parts == NULL || readme == NULL) {
        return jpp_err_memory(&job->err);
    }

    jpp_sink_init(&bundle->readme, buffers, JPP_SINK_BUFFER, jpp_sink_to_vec,
                  readme);
    jpp_sink_init(&packed, buffers + JPP_SINK_BUFFER, JPP_SINK_BUFFER,
                  jpp_sink_to_vec, parts);

    if (!jpp_gzip_open(&gz, &job->arena, level, &packed)) {
        return jpp_err_memory(&job->err);
    }

    bundle->archive.sink = &gz.sink;

    rc = ngx_http_jpp_bundle_parts(bundle);

    if (rc != JPP_OK) {
        return rc;
    }

    jpp_tar_end(&gz.sink);

    if (jpp_gzip_close(&gz) != 0 || jpp_sink_flush(&packed) != 0
        || jpp_sink_flush(&bundle->readme) != 0
        || !jpp_gzip_open(&gz, &job->arena, level, sink))
    {
        return jpp_err_memory(&job->err);
    }

    jpp_tar_add(&gz.sink, "README", bundle->archive.time, readme->data,
                readme->len);

    if (jpp_gzip_close(&gz) != 0) {
        return jpp_err_memory(&job->err);
    }

    jpp_sink_write(sink, parts->data, parts->len);

    return JPP_OK;
}


const ngx_http_jpp_handler_t  ngx_http_jpp_bundle = {
    .answer = {
        .type = "application/gzip",
        .disposition = "attachment; filename=\"nginx-bundle.tar.gz\""
    },
    .size = sizeof(ngx_http_jpp_bundle_t),
    .has_workers = 1,
    .has_telemetry = 1,
    .has_holders = 1,
    .init = ngx_http_jpp_bundle_init,
    .asked = ngx_http_jpp_bundle_asked,
    .write = ngx_http_jpp_bundle_write
};
