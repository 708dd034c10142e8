
/*
 * Telemetry: everything known about this nginx's memory, from the workers, the
 * configuration, the shared zones, and the kernel.
 */


#include "ngx_http_jpp_lua.h"
#include "ngx_http_jpp_thread.h"
#include "ngx_http_jpp_worker.h"


/* for what all workers have written, and for what is read beside it */
#define NGX_HTTP_JPP_LOOK_CAP  (32 * 1024 * 1024)


/*
 * How often the owners of memory are looked at, ms: seldom, and soon again
 * while memory grows by a per cent a minute; but never for more than a
 * hundredth of the time.
 */
#define NGX_HTTP_JPP_OWNERS_SELDOM   60000
#define NGX_HTTP_JPP_OWNERS_SOON     10000
#define NGX_HTTP_JPP_OWNERS_SHARE    100

#define NGX_HTTP_JPP_OWNERS_TIMEOUT  1000
#define NGX_HTTP_JPP_OWNERS_SIZE     (16 * 1024 * 1024)


/* One at a time. */
typedef struct {
    ngx_http_jpp_task_t  task;
    ngx_uint_t           is_taken;

    ngx_http_jpp_subscriber_t  pools;      /* its collection may be NULL */
    ngx_msec_t                 asked;      /* for them: when, */
    ngx_msec_t                 took;       /*   and how long it took */
    uint64_t                   total;      /* that all held by then */

    jpp_arena_t                arena;
    ngx_http_jpp_telemetry_t  *telemetry;
    jpp_finding_t              findings[JPP_FINDINGS];
    ngx_uint_t                 n;
    ngx_uint_t                 has_looked;
    ngx_http_jpp_row_t         rows[NGX_HTTP_JPP_MAX_ROWS];
} ngx_http_jpp_look_t;


static void ngx_http_jpp_history_ready(void *data);
static void ngx_http_jpp_history_work(ngx_http_jpp_task_t *task);
static void ngx_http_jpp_history_done(ngx_http_jpp_task_t *task);


/* only an nginx with stub_status counts them */

extern ngx_atomic_t  *ngx_stat_requests  __attribute__((weak));

jpp_loop_t  ngx_http_jpp_dumps;

static jpp_worker_t  ngx_http_jpp_figures_last;
static ngx_msec_t    ngx_http_jpp_figures_at;


static ngx_http_jpp_look_t  ngx_http_jpp_look = {
    .task.work = ngx_http_jpp_history_work,
    .task.done = ngx_http_jpp_history_done,
    .task.is_brief = 1,
    .pools.ready = ngx_http_jpp_history_ready,
    .pools.data = &ngx_http_jpp_look
};

static ngx_event_t  ngx_http_jpp_history;
static ngx_msec_t   ngx_http_jpp_history_begun;


void
ngx_http_jpp_figures_read(jpp_worker_t *worker)
{
    if (ngx_http_jpp_thread_is_idle()) {
        worker->has_stats = jpp_stats_read(&worker->stats);
    }

    worker->activity.connections = ngx_cycle->connection_n;
    worker->activity.connections_free = ngx_cycle->free_connection_n;
    worker->activity.loop = ngx_http_jpp_loop;
    worker->activity.dumps = ngx_http_jpp_dumps;

    jpp_recent_read(&ngx_http_jpp_recent, ngx_current_msec,
                    &worker->activity.minute);

    ngx_http_jpp_lua_describe(&worker->lua);
}


const jpp_worker_t *
ngx_http_jpp_figures(ngx_msec_t age)
{
    jpp_worker_t  *worker;

    worker = &ngx_http_jpp_figures_last;

    if (worker->who.pid != 0
        && ngx_current_msec - ngx_http_jpp_figures_at < age)
    {
        return worker;
    }

    ngx_http_jpp_describe(worker);
    ngx_http_jpp_figures_read(worker);
    jpp_usage_memory(&worker->activity.usage, "/proc/self/status");

    ngx_http_jpp_figures_at = ngx_current_msec;

    return worker;
}


void
ngx_http_jpp_telemetry_start(void)
{
    jpp_cgroup_t  cgroup;

    static ngx_uint_t  is_started;

    if (is_started) {
        return;
    }

    is_started = 1;

    ngx_http_jpp_self.oom_kills =
        jpp_cgroup_read(&cgroup, "", NULL) == JPP_OK ? cgroup.events.oom_kill
                                                     : JPP_NONE;
}


/*
 * Nobody waits for a zone that is busy: its numbers are right one by one, but
 * not of one moment.
 */

static ngx_int_t
ngx_http_jpp_zones_one(const ngx_shm_zone_t *zone, jpp_arena_t *arena,
    jpp_zone_t *to)
{
    char                   *name;
    ngx_uint_t              i, n;
    jpp_zone_slot_t        *slots;
    ngx_slab_pool_t        *sp;
    const ngx_slab_stat_t  *stat;

    sp = (ngx_slab_pool_t *) zone->shm.addr;
    n = ngx_pagesize_shift - sp->min_shift;

    slots = jpp_arena_alloc(arena, n * sizeof(jpp_zone_slot_t));
    name = jpp_arena_alloc(arena, zone->shm.name.len);

    if (slots == NULL || name == NULL) {
        return NGX_ERROR;
    }

    /* a thread reads it, which may outlive the configuration */

    ngx_memcpy(name, zone->shm.name.data, zone->shm.name.len);

    to->name = name;
    to->name_len = zone->shm.name.len;
    to->size = zone->shm.size;
    to->slots = slots;
    to->n_slots = n;

    to->is_own = zone->tag == &ngx_http_jemalloc_pprof_module;
    to->was_busy = !ngx_shmtx_trylock(&sp->mutex);

    to->free = sp->pfree * ngx_pagesize;

    for (i = 0; i < n; i++) {
        stat = &sp->stats[i];

        slots[i].size = (uint64_t) 1 << (i + sp->min_shift);
        slots[i].total = stat->total;
        slots[i].used = stat->used;
        slots[i].allocations = stat->reqs;
        slots[i].failures = stat->fails;

        to->used += slots[i].used * slots[i].size;
        to->allocations += slots[i].allocations;
        to->failures += slots[i].failures;
    }

    if (!to->was_busy) {
        ngx_shmtx_unlock(&sp->mutex);
    }

    return NGX_OK;
}


/* A zone's lock is held for a moment, by somebody who is not to be stopped. */

static ngx_int_t
ngx_http_jpp_zones(jpp_arena_t *arena, jpp_telemetry_t *telemetry)
{
    jpp_vec_t              *zones;
    jpp_zone_t             *to;
    const ngx_shm_zone_t   *zone;
    const ngx_list_part_t  *part;

    zones = jpp_vec_create(arena);
    if (zones == NULL) {
        return NGX_ERROR;
    }

    for (part = (ngx_list_part_t *) &ngx_cycle->shared_memory.part;
         part != NULL;
         part = part->next)
    {
        ngx_http_jpp_each(zone, part) {
            if (zone->shm.addr == NULL) {
                continue;
            }

            to = jpp_vec_push(zones, sizeof(jpp_zone_t));

            if (to == NULL || ngx_http_jpp_zones_one(zone, arena, to) != NGX_OK)
            {
                return NGX_ERROR;
            }
        }
    }

    telemetry->zones = jpp_vec_items(zones, jpp_zone_t);
    telemetry->n_zones = jpp_vec_count(zones, jpp_zone_t);

    return NGX_OK;
}


ngx_http_jpp_telemetry_t *
ngx_http_jpp_telemetry(jpp_arena_t *arena)
{
    jpp_stall_t               *stalls;
    jpp_event_t               *marks;
    jpp_snapshot_t            *snapshots;
    const ngx_core_conf_t     *ccf;
    ngx_http_jpp_self_t       *self;
    ngx_http_jpp_telemetry_t  *telemetry;

    self = &ngx_http_jpp_self;

    telemetry = jpp_arena_alloc(arena, sizeof(ngx_http_jpp_telemetry_t));
    stalls = jpp_arena_alloc(arena, JPP_STALLS * sizeof(jpp_stall_t));
    marks = jpp_arena_alloc(arena, JPP_EVENTS * sizeof(jpp_event_t));
    snapshots = jpp_arena_alloc(arena, JPP_SNAPSHOTS * sizeof(jpp_snapshot_t));

    /* a single process may have lost its zone by a reload meanwhile */

    if (telemetry == NULL || stalls == NULL || marks == NULL
        || snapshots == NULL || self->zone == NULL
        || ngx_http_jpp_zones(arena, &telemetry->all) != NGX_OK)
    {
        return NULL;
    }

    telemetry->zone = self->zone;
    telemetry->all.now = ngx_time();

    telemetry->fleet.nginx = NGINX_VERSION;
    telemetry->fleet.host = self->host;
    ngx_http_jpp_worker_wanted((ngx_cycle_t *) ngx_cycle, &telemetry->wanted);

    telemetry->fleet.wanted = &telemetry->wanted;

    if (self->unnamed[0] != '\0') {
        ngx_memcpy(telemetry->unnamed, self->unnamed, JPP_UNNAMED_TEXT);
        telemetry->fleet.unnamed = telemetry->unnamed;
    }

    telemetry->all.stalls = stalls;
    telemetry->all.n_stalls =
        ngx_http_jpp_stall_list((telemetry->all.now - 60) * 1000000000, stalls);

    telemetry->marks = marks;
    telemetry->snapshots = snapshots;

    telemetry->all.fleet = &telemetry->fleet;
    telemetry->all.oom_kills = self->oom_kills;

    ccf = (ngx_core_conf_t *) ngx_get_conf(ngx_cycle->conf_ctx,
                                           ngx_core_module);

    telemetry->all.shutdown_timeout = ccf->shutdown_timeout / 1000;

    telemetry->all.generation = self->zone->generation;
    telemetry->all.loaded = self->zone->loaded;

    return telemetry;
}


/* A worker without a table is left out of the owners, not of the rest. */

static void
ngx_http_jpp_telemetry_holders(ngx_http_jpp_telemetry_t *telemetry,
    const ngx_http_jpp_collection_t *pools, jpp_arena_t *arena)
{
    jpp_err_t                   err;
    ngx_uint_t                  i;
    jpp_pools_t                *table;
    jpp_holders_t               holders;
    jpp_telemetry_t            *all;
    const ngx_http_jpp_part_t  *part;

    all = &telemetry->all;

    jpp_holders_init(&holders, arena);

    jpp_each(part, pools->parts, pools->n) {
        table = jpp_arena_alloc(arena, sizeof(jpp_pools_t));

        if (part->state == NGX_HTTP_JPP_PART_ANSWERED && table != NULL
            && jpp_pools_load(table, arena, part->dump.data, part->dump.len,
                              &err)
               == JPP_OK)
        {
            jpp_holders_pools(&holders, &part->reply.worker, table);
        }
    }

    for (i = 0; i < telemetry->fleet.n; i++) {
        jpp_holders_worker(&holders, &telemetry->workers[i]);
    }

    for (i = 0; i < all->n_zones; i++) {
        jpp_holders_zone(&holders, &all->zones[i]);
    }

    all->n_holders = jpp_holders_close(&holders, &all->holders);
}


static ngx_int_t
ngx_http_jpp_telemetry_room(ngx_http_jpp_telemetry_t *telemetry, ngx_uint_t n,
    jpp_arena_t *arena)
{
    telemetry->workers = jpp_arena_alloc(arena, n * sizeof(jpp_worker_t));
    telemetry->histories = jpp_arena_alloc(arena, n * sizeof(jpp_history_t));

    telemetry->fleet.workers = telemetry->workers;
    telemetry->fleet.n_asked = n;

    return telemetry->workers != NULL && telemetry->histories != NULL
           ? NGX_OK : NGX_ERROR;
}


/*
 * The next worker is as ROW's has written down; 0: it has written nothing.  The
 * lock is held for one note at a time: all workers need it.
 */

static ngx_uint_t
ngx_http_jpp_telemetry_note(ngx_http_jpp_telemetry_t *telemetry,
    const ngx_http_jpp_row_t *row)
{
    ngx_uint_t         n, is_there;
    const jpp_note_t  *note;

    n = telemetry->fleet.n;

    ngx_http_jpp_zone_lock(telemetry->zone);

    note = ngx_http_jpp_registry_note(telemetry->zone, row);
    is_there = note != NULL && note->worker.started != 0;

    if (is_there) {
        telemetry->workers[n] = note->worker;
        telemetry->histories[n] = note->history;
        telemetry->workers[n].history = &telemetry->histories[n];
    }

    ngx_http_jpp_zone_unlock(telemetry->zone);

    return is_there;
}


static void
ngx_http_jpp_telemetry_facts(ngx_http_jpp_telemetry_t *telemetry)
{
    ngx_http_jpp_zone_t    *zone;
    const jpp_snapshots_t  *snapshots;

    zone = telemetry->zone;

    ngx_http_jpp_zone_lock(zone);

    jpp_notes_facts(&zone->notes, &telemetry->all);

    telemetry->all.marks = telemetry->marks;
    telemetry->all.n_marks = jpp_events_list(&zone->notes.events,
                                             telemetry->marks);

    snapshots = ngx_http_jpp_self.snapshots;

    if (snapshots != NULL) {
        telemetry->all.snapshots = telemetry->snapshots;
        telemetry->all.n_snapshots = jpp_snapshots_list(snapshots,
                                                        telemetry->snapshots);
        telemetry->all.snapshots_failed = snapshots->n_failed;
        ngx_memcpy(telemetry->all.snapshots_taken, snapshots->counts,
                   sizeof(snapshots->counts));
    }

    telemetry->fleet.findings = telemetry->findings;
    telemetry->fleet.n_findings =
        jpp_active_findings(&zone->notes, telemetry->findings);

    ngx_http_jpp_zone_unlock(zone);

    /* about twenty small files */

    jpp_system_read(&telemetry->system, "");
    telemetry->all.system = &telemetry->system;

    if (jpp_cgroup_read(&telemetry->cgroup, "", &telemetry->err) == JPP_OK) {
        telemetry->all.cgroup = &telemetry->cgroup;

    } else {
        telemetry->all.cgroup_why = telemetry->err.text;
    }
}


ngx_int_t
ngx_http_jpp_telemetry_collected(ngx_http_jpp_telemetry_t *telemetry,
    const ngx_http_jpp_collection_t *co,
    const ngx_http_jpp_collection_t *pools, jpp_arena_t *arena)
{
    size_t                      n;
    jpp_fleet_t                *fleet;
    jpp_worker_t               *worker;
    jpp_missing_t              *missing;
    jpp_finding_t               findings[JPP_FINDINGS];
    const jpp_history_t        *history;
    const ngx_http_jpp_part_t  *part;

    missing = jpp_arena_alloc(arena, co->n * sizeof(jpp_missing_t));

    if (missing == NULL
        || ngx_http_jpp_telemetry_room(telemetry, co->n, arena) != NGX_OK)
    {
        return NGX_ERROR;
    }

    fleet = &telemetry->fleet;
    fleet->missing = missing;

    jpp_each(part, co->parts, co->n) {
        if (part->state != NGX_HTTP_JPP_PART_ANSWERED) {
            missing[fleet->n_missing].who = part->row.who;
            missing[fleet->n_missing++].why = part->reply.err.text;
            continue;
        }

        /* what it has answered is newer than what it has written down */

        (void) ngx_http_jpp_telemetry_note(telemetry, &part->row);

        worker = &telemetry->workers[fleet->n++];
        history = worker->history;

        *worker = part->reply.worker;
        worker->history = history;
    }

    jpp_status_former(telemetry->workers, fleet->n);

    ngx_http_jpp_telemetry_facts(telemetry);

    if (pools != NULL) {
        ngx_http_jpp_telemetry_holders(telemetry, pools, arena);

        n = jpp_findings(&telemetry->all, findings);

        jpp_verdict(&telemetry->all, findings, n, &telemetry->verdict);
        fleet->verdict = &telemetry->verdict;
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_http_jpp_history_is_due(const ngx_http_jpp_look_t *look,
    const jpp_held_t *held)
{
    uint64_t    now;
    ngx_msec_t  passed;

    passed = ngx_current_msec - look->asked;

    if (look->asked == 0 || passed >= NGX_HTTP_JPP_OWNERS_SELDOM) {
        return passed / NGX_HTTP_JPP_OWNERS_SHARE >= look->took;
    }

    now = held->all.n != 0 ? held->all.rss[held->all.n - 1] : 0;

    return passed >= NGX_HTTP_JPP_OWNERS_SOON
           && passed / NGX_HTTP_JPP_OWNERS_SHARE >= look->took
           && (double) jpp_less(now, look->total) * 100
              > (double) look->total * passed / 60000;
}


/* The others are asked for their pools first, if it is time for that. */

static void
ngx_http_jpp_history_look(ngx_http_jpp_look_t *look)
{
    ngx_http_jpp_inquiry_t  inquiry;
    ngx_http_jpp_zone_t    *zone;

    zone = ngx_http_jpp_self.zone;

    if (&ngx_stat_requests != NULL) {
        ngx_http_jpp_zone_lock(zone);
        jpp_notes_counted(&zone->notes, *ngx_stat_requests,
                          ngx_current_msec);
        ngx_http_jpp_zone_unlock(zone);
    }

    look->is_taken = 1;

    if (ngx_http_jpp_history_is_due(look, &zone->notes.held)) {
        ngx_memzero(&inquiry, sizeof(ngx_http_jpp_inquiry_t));

        inquiry.question.type = JPP_MESSAGE_POOLS;
        inquiry.selector.kind = JPP_WORKER_ALL;
        inquiry.max_size = NGX_HTTP_JPP_OWNERS_SIZE;
        inquiry.timeout = NGX_HTTP_JPP_OWNERS_TIMEOUT;

        look->asked = ngx_current_msec;

        if (ngx_http_jpp_collect(&look->pools, &inquiry) == NGX_OK) {
            return;
        }
    }

    ngx_http_jpp_history_ready(look);
}


static void
ngx_http_jpp_history_ready(void *data)
{
    ngx_http_jpp_look_t *look = data;

    if (look->pools.collection != NULL) {
        look->took = ngx_current_msec - look->asked;
    }

    /* not before: a single process may have lost the zone meanwhile */

    jpp_arena_init(&look->arena, NGX_HTTP_JPP_LOOK_CAP);

    look->telemetry = ngx_http_jpp_telemetry(&look->arena);
    look->has_looked = 0;

    if (look->telemetry == NULL
        || ngx_http_jpp_thread_post(&look->task) != NGX_OK)
    {
        ngx_http_jpp_history_done(&look->task);
    }
}


static void
ngx_http_jpp_history_tick(ngx_event_t *ev)
{
    jpp_note_t           *note;
    const jpp_worker_t   *worker;
    ngx_http_jpp_self_t  *self;

    self = &ngx_http_jpp_self;

    /* of a single process, after a reload without a location that serves */

    if (self->zone == NULL) {
        return;
    }

    worker = ngx_http_jpp_figures(0);

    ngx_http_jpp_zone_lock(self->zone);

    note = ngx_http_jpp_registry_note(self->zone, &self->row);

    if (note != NULL) {
        jpp_note_write(note, worker, (ngx_current_msec
                        - ngx_http_jpp_history_begun) / 1000);
    }

    ngx_http_jpp_zone_unlock(self->zone);

    if (!ngx_http_jpp_look.is_taken
        && ngx_http_jpp_registry_leads(self->zone, &self->row))
    {
        ngx_http_jpp_history_look(&ngx_http_jpp_look);
    }

    ngx_add_timer(ev, JPP_HISTORY_INTERVAL * 1000);
}


void
ngx_http_jpp_history_init(ngx_cycle_t *cycle)
{
    ngx_event_t          *ev;
    const jpp_worker_t   *worker;
    ngx_http_jpp_self_t  *self;

    ev = &ngx_http_jpp_history;
    self = &ngx_http_jpp_self;

    if (self->row.who.pid == 0 || self->zone == NULL) {
        return;
    }

    ngx_http_jpp_history_begun = ngx_current_msec;

    ngx_http_jpp_timer_init(ev, ngx_http_jpp_history_tick);
    ev->log = cycle->log;
    ev->cancelable = 1;

    worker = ngx_http_jpp_figures(0);

    ngx_http_jpp_zone_lock(self->zone);

    jpp_notes_started(&self->zone->notes, &worker->who, ngx_time());

    /* a single process inherits nothing */

    if (ngx_process == NGX_PROCESS_WORKER && worker->has_stats) {
        self->inherited = worker->stats.allocated;

        jpp_notes_inherited(&self->zone->notes, self->generation,
                            self->inherited);
    }

    ngx_http_jpp_zone_unlock(self->zone);

    ngx_http_jpp_history_tick(ev);
}


static void
ngx_http_jpp_history_work(ngx_http_jpp_task_t *task)
{
    ngx_uint_t                 i, n, number;
    jpp_worker_t              *worker;
    ngx_http_jpp_look_t       *look;
    ngx_http_jpp_telemetry_t  *telemetry;

    look = &ngx_http_jpp_look;
    telemetry = look->telemetry;

    /* this finds out who was killed, too */

    n = ngx_http_jpp_registry_list(telemetry->zone, look->rows);

    look->has_looked = ngx_http_jpp_telemetry_room(telemetry, n, &look->arena)
                       == NGX_OK;

    if (!look->has_looked) {
        return;
    }

    /* without asking: the others may be busy, and numbers seconds old */

    for (i = 0; i < n; i++) {
        telemetry->fleet.n += ngx_http_jpp_telemetry_note(telemetry,
                                                          &look->rows[i]);
    }

    ngx_http_jpp_telemetry_facts(telemetry);

    if (look->pools.collection != NULL) {
        ngx_http_jpp_telemetry_holders(telemetry, look->pools.collection,
                                       &look->arena);
    }

    look->n = jpp_findings(&telemetry->all, look->findings);

    for (i = 0; i < look->n; i++) {
        number = look->findings[i].number;

        if (number == JPP_FINDING_OLD_WORKERS
            || number == JPP_FINDING_RETAINED)
        {
            break;
        }
    }

    if (i == look->n) {
        return;
    }

    /*
     * pages that no other process has: page tables take the kernel some time,
     * so they are read only where it may matter
     */

    jpp_each(worker, telemetry->workers, telemetry->fleet.n) {
        worker->activity.usage.private = jpp_usage_private(worker->who.pid);
    }

    look->n = jpp_findings(&telemetry->all, look->findings);
}


static void
ngx_http_jpp_history_done(ngx_http_jpp_task_t *task)
{
    uint64_t              total;
    ngx_uint_t            n, level;
    jpp_verdict_t         verdict;
    const jpp_finding_t  *finding;
    ngx_http_jpp_look_t  *look;
    ngx_http_jpp_zone_t  *zone;

    look = &ngx_http_jpp_look;

    n = 0;

    if (look->has_looked) {
        zone = look->telemetry->zone;

        ngx_http_jpp_zone_lock(zone);
        jpp_notes_killed(&zone->notes,
                         jpp_finding_kills(&look->telemetry->all), ngx_time());
        jpp_notes_limit(&zone->notes, look->telemetry->all.cgroup,
                        ngx_time());
        n = jpp_active_update(&zone->notes, look->findings, look->n,
                              ngx_time());
        total = jpp_notes_held(&zone->notes, &look->telemetry->all,
                               ngx_current_msec);

        if (look->pools.collection != NULL) {
            look->total = total;
        }

        ngx_http_jpp_zone_unlock(zone);
    }

    jpp_each(finding, look->findings, n) {
        level = finding->is_critical ? NGX_LOG_ERR : NGX_LOG_WARN;

        jpp_verdict_finding(&look->telemetry->all, finding, &verdict);

        ngx_log_error(level, ngx_cycle->log, 0,
                      "jemalloc_pprof: finding %s: %s. %s", finding->id,
                      verdict.text, finding->fix);
    }

    ngx_http_jpp_collect_leave(&look->pools);

    jpp_arena_destroy(&look->arena);

    look->is_taken = 0;
}
