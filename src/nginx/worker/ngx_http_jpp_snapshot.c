
/*
 * Takes snapshots: looks once a second whether one is due, asks all workers for
 * their heaps, pools and status, and stores the answers as an archive in shared
 * memory and, if there is a directory, in a file.
 *
 * One worker of all looks; it asks as a request does, and writes in the
 * background thread.
 */


#include "ngx_http_jpp_thread.h"
#include "ngx_http_jpp_worker.h"



#define NGX_HTTP_JPP_SNAPSHOT_TIMEOUT  1500
#define NGX_HTTP_JPP_SNAPSHOT_DUMP     (16 * 1024 * 1024)
#define NGX_HTTP_JPP_SNAPSHOT_CAP      (256 * 1024 * 1024)

/* requests of which each worker says what bounds them */
#define NGX_HTTP_JPP_SNAPSHOT_UNITS    8

/* how often the limit is looked up, ms: that takes parsing mountinfo */
#define NGX_HTTP_JPP_SNAPSHOT_LIMITS   10000

/* per cent of the machine's memory in use that are near its end */
#define NGX_HTTP_JPP_SNAPSHOT_MACHINE  90


/* what all workers are asked; the first two are for telemetry */

static const jpp_message_type_t  ngx_http_jpp_snapshot_types[] = {
    JPP_MESSAGE_STATUS,
    JPP_MESSAGE_POOLS,
    JPP_MESSAGE_DUMP
};

#define NGX_HTTP_JPP_SNAPSHOT_TYPES  3


/* One at a time. */
typedef struct {
    ngx_http_jpp_task_t        task;
    ngx_http_jpp_subscriber_t  subscribers[NGX_HTTP_JPP_SNAPSHOT_TYPES];
    ngx_uint_t                 n_waiting;
    ngx_uint_t                 is_taken;
    ngx_uint_t                 is_sampled;     /* there are heaps */

    ngx_http_jpp_zone_t       *zone;
    jpp_snapshots_t           *snapshots;
    ngx_http_jpp_telemetry_t  *telemetry;
    ngx_http_jpp_archive_t     archive;
    jpp_arena_t                arena;

    jpp_snapshot_t             about;
    jpp_code_t                 rc;
    jpp_err_t                  err;
    jpp_code_t                 file_rc;
    jpp_err_t                  file_err;
} ngx_http_jpp_shot_t;


/* A look whether one is due, one at a time. */
typedef struct {
    ngx_http_jpp_task_t   task;
    ngx_uint_t            is_taken;
    ngx_uint_t            is_sampled;
    jpp_trigger_look_t    look;
} ngx_http_jpp_glance_t;


static ngx_http_jpp_shot_t    ngx_http_jpp_shot;
static ngx_http_jpp_glance_t  ngx_http_jpp_glance;
static ngx_event_t          ngx_http_jpp_snapshot_timer;

static ngx_http_jpp_snapshots_conf_t  ngx_http_jpp_snapshots_conf;
static char  ngx_http_jpp_snapshots_path[NGX_MAX_PATH];


void
ngx_http_jpp_snapshot_configured(ngx_cycle_t *cycle,
    const ngx_http_jpp_main_conf_t *jmcf)
{
    const ngx_core_conf_t          *ccf;
    ngx_http_jpp_snapshots_conf_t  *conf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    conf = &ngx_http_jpp_snapshots_conf;
    *conf = jmcf->snapshots;

    /* a thread may outlive the configuration */

    ngx_http_jpp_snapshots_path[0] = '\0';

    if (conf->path.len != 0 && conf->path.len < NGX_MAX_PATH) {
        (void) ngx_cpystrn((u_char *) ngx_http_jpp_snapshots_path,
                           conf->path.data, conf->path.len + 1);
    }

    /* the thread of a single process may find the zone unmapped */

    ngx_http_jpp_self.snapshots = conf->shm != NULL && ccf->master != 0
                                  ? conf->shm->data : NULL;

    if (ngx_http_jpp_self.snapshots != NULL) {
        ngx_http_jpp_self.snapshots->keep = conf->keep;
    }
}


/* Is the worker WHO among the MOST that hold most? */

static ngx_uint_t
ngx_http_jpp_shot_is_among(const ngx_http_jpp_shot_t *shot,
    const jpp_identity_t *who, ngx_uint_t most)
{
    uint64_t             own;
    ngx_uint_t           n;
    const jpp_fleet_t   *fleet;
    const jpp_worker_t  *worker;

    fleet = &shot->telemetry->fleet;
    own = 0;
    n = 0;

    jpp_each(worker, fleet->workers, fleet->n) {
        if (worker->who.pid == who->pid) {
            own = jpp_worker_own(worker);
        }
    }

    jpp_each(worker, fleet->workers, fleet->n) {
        n += jpp_worker_own(worker) > own
             || (jpp_worker_own(worker) == own
                 && worker->who.pid < who->pid);
    }

    return n < most;
}


/* The archive, with the captures of the MOST workers that hold most. */

static jpp_vec_t *
ngx_http_jpp_shot_archive(ngx_http_jpp_shot_t *shot, ngx_uint_t most)
{
    uint8_t                          *buffer;
    jpp_vec_t                        *out;
    ngx_uint_t                        i;
    jpp_gzip_t                        gz;
    jpp_sink_t                        sink;
    ngx_http_jpp_part_t               left;
    const ngx_http_jpp_part_t        *part;
    const ngx_http_jpp_collection_t  *co;

    buffer = jpp_arena_alloc(&shot->arena, JPP_SINK_BUFFER);
    out = jpp_vec_create(&shot->arena);

    if (buffer == NULL || out == NULL) {
        return NULL;
    }

    jpp_sink_init(&sink, buffer, JPP_SINK_BUFFER, jpp_sink_to_vec, out);

    if (!jpp_gzip_open(&gz, &shot->arena, JPP_REPORT_LEVEL, &sink)) {
        return NULL;
    }

    shot->archive.sink = &gz.sink;
    shot->archive.time = shot->about.time;

    for (i = 0; ngx_http_jpp_archive_members[i].name != NULL; i++) {
        if (ngx_http_jpp_archive_members[i].is_recorded
            && ngx_http_jpp_archive_add(&shot->archive,
                                        &ngx_http_jpp_archive_members[i])
               != JPP_OK)
        {
            return NULL;
        }
    }

    shot->about.n_asked = 0;
    shot->about.n_workers = 0;

    for (i = 1; i < NGX_HTTP_JPP_SNAPSHOT_TYPES; i++) {
        co = shot->subscribers[i].collection;

        if (co == NULL) {
            continue;
        }

        shot->about.n_asked = co->n;
        shot->about.n_workers = 0;
        shot->about.n_left_out = 0;

        jpp_each(part, co->parts, co->n) {
            if (ngx_http_jpp_shot_is_among(shot, &part->row.who, most)) {
                ngx_http_jpp_recorded_add(&gz.sink, part, shot->about.time);
                shot->about.n_workers += part->state
                                         == NGX_HTTP_JPP_PART_ANSWERED;
                continue;
            }

            left = *part;
            left.dump.data = NULL;
            left.inherited.data = NULL;

            (void) jpp_err_set(&left.reply.err, JPP_ERR_LIMIT, "the snapshot "
                               "has no room for it: raise zone= of "
                               "jemalloc_pprof_snapshots");

            ngx_http_jpp_recorded_add(&gz.sink, &left, shot->about.time);
            shot->about.n_left_out++;
        }
    }

    jpp_tar_end(&gz.sink);

    return jpp_gzip_close(&gz) == 0 && jpp_sink_flush(&sink) == 0 ? out : NULL;
}


static jpp_code_t
ngx_http_jpp_shot_store(ngx_http_jpp_shot_t *shot, const jpp_vec_t *archive)
{
    jpp_code_t            rc;
    ngx_uint_t            is_listed;
    jpp_snapshot_place_t  place;

    shot->about.len = archive->len;
    shot->about.sum = jpp_hash_bytes(archive->data, archive->len);

    ngx_http_jpp_zone_lock(shot->zone);
    rc = jpp_snapshots_begin(shot->snapshots, &shot->about, &place, &shot->err);
    ngx_http_jpp_zone_unlock(shot->zone);

    if (rc != JPP_OK) {
        return rc;
    }

    jpp_snapshots_write(shot->snapshots, &place, archive->data, archive->len);

    ngx_http_jpp_zone_lock(shot->zone);
    is_listed = jpp_snapshots_end(shot->snapshots, &place);
    ngx_http_jpp_zone_unlock(shot->zone);

    return is_listed ? JPP_OK
           : jpp_err_set(&shot->err, JPP_ERR_LATE, "it took more than a minute "
                         "to write it, and another has its room");
}


/*
 * What those that answered hold, and who has most of it: what is in no worker
 * is not in that.
 */

static void
ngx_http_jpp_shot_held(ngx_http_jpp_shot_t *shot)
{
    const jpp_holder_t     *holder;
    const jpp_telemetry_t  *all;

    all = &shot->telemetry->all;

    shot->about.held = jpp_fleet_held(all->fleet);

    jpp_each(holder, all->holders, all->n_holders) {
        if (holder->worker.pid != 0) {
            shot->about.owner_bytes = holder->bytes;
            jpp_print(shot->about.owner, "%s", holder->who);
            jpp_print(shot->about.place, "%s", holder->place);
            return;
        }
    }
}


/* In the thread; what does not fit is taken of fewer workers. */

static void
ngx_http_jpp_shot_work(ngx_http_jpp_task_t *task)
{
    ngx_http_jpp_shot_t *shot = (void *) task;

    ngx_uint_t        most;
    const jpp_vec_t  *archive;

    shot->rc = jpp_err_memory(&shot->err);
    shot->file_rc = JPP_OK;

    if (ngx_http_jpp_telemetry_collected(shot->telemetry,
                                         shot->subscribers[0].collection,
                                         shot->subscribers[1].collection,
                                         &shot->arena)
        != NGX_OK)
    {
        return;
    }

    ngx_http_jpp_shot_held(shot);

    most = shot->subscribers[0].collection->n;

    do {
        archive = ngx_http_jpp_shot_archive(shot, most);

        if (archive == NULL) {
            shot->rc = jpp_err_memory(&shot->err);
            return;
        }

        shot->rc = ngx_http_jpp_shot_store(shot, archive);
        most /= 2;

    } while (shot->rc == JPP_ERR_LIMIT && most != 0);

    if (ngx_http_jpp_snapshots_path[0] != '\0') {
        shot->file_rc = jpp_snapshot_file(ngx_http_jpp_snapshots_path,
                                          ngx_http_jpp_self.host, &shot->about,
                                          archive->data, archive->len,
                                          ngx_http_jpp_snapshots_conf.keep,
                                          ngx_http_jpp_snapshots_conf.size,
                                          &shot->file_err);
    }
}


static void
ngx_http_jpp_shot_leave(ngx_http_jpp_shot_t *shot)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_HTTP_JPP_SNAPSHOT_TYPES; i++) {
        ngx_http_jpp_collect_leave(&shot->subscribers[i]);
    }

    jpp_arena_destroy(&shot->arena);

    shot->is_taken = 0;
}


static void
ngx_http_jpp_shot_done(ngx_http_jpp_task_t *task)
{
    ngx_http_jpp_shot_t *shot = (void *) task;

    const jpp_snapshot_t  *about;

    about = &shot->about;

    if (shot->rc != JPP_OK) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "jemalloc_pprof: no snapshot (%s: %s) was stored: %s",
                      jpp_snapshot_reasons[about->reason], about->text,
                      shot->err.text);

    } else {
        ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                      "jemalloc_pprof: snapshot %uL (%s: %s) of %uD of %uD "
                      "workers, %uL bytes", about->id,
                      jpp_snapshot_reasons[about->reason], about->text,
                      about->n_workers, about->n_asked, about->len);
    }

    if (shot->rc == JPP_OK && about->n_left_out != 0) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "jemalloc_pprof: snapshot %uL lacks %uD workers, for "
                      "which there is no room: raise zone= of "
                      "jemalloc_pprof_snapshots", about->id,
                      about->n_left_out);
    }

    if (shot->file_rc != JPP_OK) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "jemalloc_pprof: snapshot %uL has no file: %s",
                      about->id, shot->file_err.text);

        jpp_status_failed(&ngx_http_jpp_self.last_error, ngx_time(),
                          shot->file_err.text);
    }

    if (ngx_http_jpp_self.zone != NULL) {
        ngx_http_jpp_zone_lock(ngx_http_jpp_self.zone);

        if (shot->rc == JPP_OK) {
            jpp_events_add(&ngx_http_jpp_self.zone->notes.events,
                           JPP_EVENT_SNAPSHOT, about->time, NULL,
                           "snapshot %" PRIu64 ", %s: %s", about->id,
                           jpp_snapshot_reasons[about->reason], about->text);

        } else {
            shot->snapshots->n_failed++;
        }

        ngx_http_jpp_zone_unlock(ngx_http_jpp_self.zone);
    }

    ngx_http_jpp_shot_leave(shot);
}


static void
ngx_http_jpp_shot_ready(void *data)
{
    ngx_http_jpp_shot_t *shot = data;

    if (--shot->n_waiting != 0) {
        return;
    }

    shot->telemetry = ngx_http_jpp_telemetry(&shot->arena);

    if (shot->telemetry == NULL
        || ngx_http_jpp_archive_init(&shot->archive, shot->telemetry,
                                     &shot->arena, &shot->err)
           != NGX_OK
        || shot->subscribers[0].collection == NULL
        || ngx_http_jpp_thread_post(&shot->task) != NGX_OK)
    {
        shot->rc = jpp_err_set(&shot->err, JPP_ERR_SYS, "this worker has no "
                               "memory or no thread for it: the error log says "
                               "why");
        shot->file_rc = JPP_OK;
        ngx_http_jpp_shot_done(&shot->task);
    }
}


/* Workers that sample nothing are not asked for their heaps. */

static void
ngx_http_jpp_shot_take(ngx_http_jpp_shot_t *shot)
{
    ngx_int_t                rc;
    ngx_uint_t               i;
    ngx_http_jpp_inquiry_t   inquiry;

    shot->is_taken = 1;
    shot->zone = ngx_http_jpp_self.zone;
    shot->snapshots = ngx_http_jpp_self.snapshots;
    shot->about.time = ngx_time();
    shot->task.work = ngx_http_jpp_shot_work;
    shot->task.done = ngx_http_jpp_shot_done;
    shot->n_waiting = 1;

    jpp_arena_init(&shot->arena, NGX_HTTP_JPP_SNAPSHOT_CAP);

    for (i = 0; i < NGX_HTTP_JPP_SNAPSHOT_TYPES; i++) {

        if (ngx_http_jpp_snapshot_types[i] == JPP_MESSAGE_DUMP
            && !shot->is_sampled)
        {
            continue;
        }

        ngx_memzero(&inquiry, sizeof(ngx_http_jpp_inquiry_t));

        inquiry.question.type = ngx_http_jpp_snapshot_types[i];
        inquiry.question.pools.wants = JPP_POOLS_REQUESTS;
        inquiry.question.pools.top = NGX_HTTP_JPP_SNAPSHOT_UNITS;
        inquiry.selector.kind = JPP_WORKER_ALL;
        inquiry.max_size = NGX_HTTP_JPP_SNAPSHOT_DUMP;
        inquiry.timeout = NGX_HTTP_JPP_SNAPSHOT_TIMEOUT;

        shot->subscribers[i].ready = ngx_http_jpp_shot_ready;
        shot->subscribers[i].data = shot;

        rc = ngx_http_jpp_collect(&shot->subscribers[i], &inquiry);

        if (rc == NGX_OK) {
            shot->n_waiting++;

        } else {
            ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                          "jemalloc_pprof: a snapshot lacks what workers would "
                          "send: %s", rc == NGX_BUSY
                          ? "dumps and answers use the memory that "
                            "jemalloc_pprof_max_size allows"
                          : "there is no memory");
        }
    }

    ngx_http_jpp_shot_ready(shot);
}


/* What the workers hold, and whether any is sampled, as they have written down
   themselves. */

static uint64_t
ngx_http_jpp_snapshot_held(ngx_http_jpp_zone_t *zone, ngx_uint_t *is_sampled)
{
    uint64_t           held;
    ngx_uint_t         i;
    const jpp_note_t  *note;

    *is_sampled = 0;

    for (i = 0, held = 0; i < zone->n_rows; i++) {
        note = &zone->notes.notes[i];

        if (zone->rows[i].who.pid == 0 || note->worker.started == 0) {
            continue;
        }

        jpp_add_known(&held, note->worker.activity.usage.rss_anon);

        if (jpp_worker_is_sampled(&note->worker)) {
            *is_sampled = 1;
        }
    }

    return held;
}


/* What is limited: the cgroup's memory, or the machine's. */

static void
ngx_http_jpp_snapshot_limits(jpp_trigger_look_t *look)
{
    jpp_system_t  system;

    static ngx_msec_t          found;
    static jpp_cgroup_watch_t  watch;

    if (found == 0 || look->now - found >= NGX_HTTP_JPP_SNAPSHOT_LIMITS) {
        found = look->now;
        jpp_cgroup_watch(&watch, "");
    }

    look->limit = watch.limit;
    jpp_cgroup_look(&watch, &look->usage, &look->kills);

    if (look->limit != JPP_NONE) {
        return;
    }

    jpp_system_memory(&system, "");

    if (system.available != JPP_NONE && system.total != JPP_NONE) {
        look->usage = jpp_less(system.total, system.available);
        look->limit = system.total;
        look->near = NGX_HTTP_JPP_SNAPSHOT_MACHINE;
    }
}


/* In the thread: files of the kernel may take their time. */

static void
ngx_http_jpp_glance_work(ngx_http_jpp_task_t *task)
{
    ngx_http_jpp_snapshot_limits(&ngx_http_jpp_glance.look);
}


static void
ngx_http_jpp_glance_done(ngx_http_jpp_task_t *task)
{
    ngx_uint_t            is_due;
    ngx_http_jpp_zone_t  *zone;

    zone = ngx_http_jpp_self.zone;
    ngx_http_jpp_glance.is_taken = 0;

    if (zone == NULL || ngx_http_jpp_self.snapshots == NULL || ngx_exiting) {
        return;
    }

    ngx_http_jpp_zone_lock(zone);
    is_due = jpp_trigger_look(&ngx_http_jpp_self.snapshots->trigger,
                              &ngx_http_jpp_glance.look,
                              &ngx_http_jpp_shot.about);
    ngx_http_jpp_zone_unlock(zone);

    if (is_due) {
        ngx_http_jpp_shot.is_sampled = ngx_http_jpp_glance.is_sampled;
        ngx_http_jpp_shot_take(&ngx_http_jpp_shot);
    }
}


static void
ngx_http_jpp_snapshot_look(void)
{
    ngx_uint_t               is_due;
    ngx_http_jpp_zone_t     *zone;
    ngx_http_jpp_glance_t   *glance;

    zone = ngx_http_jpp_self.zone;
    glance = &ngx_http_jpp_glance;

    ngx_http_jpp_zone_lock(zone);

    is_due = jpp_trigger_is_due(&ngx_http_jpp_self.snapshots->trigger,
                                ngx_current_msec);

    if (is_due) {
        glance->look.generation = zone->generation;
        glance->look.held = ngx_http_jpp_snapshot_held(zone,
                                                       &glance->is_sampled);
    }

    ngx_http_jpp_zone_unlock(zone);

    if (!is_due) {
        return;
    }

    glance->is_taken = 1;
    glance->task.work = ngx_http_jpp_glance_work;
    glance->task.done = ngx_http_jpp_glance_done;
    glance->task.is_brief = 1;
    glance->look.now = ngx_current_msec;
    glance->look.near = ngx_http_jpp_snapshots_conf.limit;
    glance->look.growth = ngx_http_jpp_snapshots_conf.growth;

    /* without a thread it has done its work in place */

    if (ngx_http_jpp_thread_post(&glance->task) != NGX_OK) {
        ngx_http_jpp_glance_done(&glance->task);
    }
}


static void
ngx_http_jpp_snapshot_tick(ngx_event_t *ev)
{
    if (ngx_http_jpp_self.zone == NULL || ngx_http_jpp_self.snapshots == NULL) {
        return;
    }

    /* an old worker leaves it to the new ones */

    if (!ngx_http_jpp_shot.is_taken && !ngx_http_jpp_glance.is_taken
        && !ngx_exiting
        && ngx_http_jpp_self.generation == ngx_http_jpp_self.zone->generation)
    {
        ngx_http_jpp_snapshot_look();
    }

    ngx_add_timer(ev, JPP_TRIGGER_EVERY);
}


void
ngx_http_jpp_snapshot_init(ngx_cycle_t *cycle)
{
    ngx_event_t  *ev;

    ev = &ngx_http_jpp_snapshot_timer;

    if (ngx_http_jpp_self.row.who.pid == 0
        || ngx_http_jpp_self.snapshots == NULL || ev->timer_set)
    {
        return;
    }

    ngx_http_jpp_timer_init(ev, ngx_http_jpp_snapshot_tick);
    ev->log = cycle->log;
    ev->cancelable = 1;

    ngx_add_timer(ev, JPP_TRIGGER_EVERY);
}


jpp_code_t
ngx_http_jpp_snapshot_none(jpp_err_t *err)
{
    return jpp_err_set(err, JPP_ERR_MISSING, "no snapshots are taken: "
                       "jemalloc_pprof_snapshots is off, or master_process is");
}


jpp_code_t
ngx_http_jpp_snapshot_want(jpp_err_t *err)
{
    ngx_http_jpp_zone_t  *zone;

    zone = ngx_http_jpp_self.zone;

    if (zone == NULL || ngx_http_jpp_self.snapshots == NULL) {
        return ngx_http_jpp_snapshot_none(err);
    }

    ngx_http_jpp_zone_lock(zone);
    ngx_http_jpp_self.snapshots->trigger.is_wanted = 1;
    ngx_http_jpp_zone_unlock(zone);

    return JPP_OK;
}
