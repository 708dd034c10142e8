
#include "ngx_http_jemalloc_pprof.h"
#include "ngx_http_jemalloc_pprof_registry.h"

#include "jpp_sort.h"

#include <signal.h>


typedef struct {
    ngx_atomic_t                                generation;
    ngx_atomic_t                                n_changes;
    ngx_atomic_t                                n_unclean_exits;
    volatile time_t                             loaded;
    volatile ngx_http_jemalloc_pprof_wanted_t   wanted;
    ngx_http_jemalloc_pprof_row_t
                                      rows[NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS];
    ngx_http_jemalloc_pprof_note_t              notes[];   /* one for each */
} ngx_http_jemalloc_pprof_registry_t;


/* a page of a note is there once a worker has written it */
#define NGX_HTTP_JEMALLOC_PPROF_REGISTRY                                      \
    (sizeof(ngx_http_jemalloc_pprof_registry_t)                               \
     + NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS                                       \
       * sizeof(ngx_http_jemalloc_pprof_note_t))

/* with what nginx keeps beside it, and some of it free, which it should be */
#define NGX_HTTP_JEMALLOC_PPROF_ZONE_SIZE                                     \
    ((NGX_HTTP_JEMALLOC_PPROF_REGISTRY / 4096 + 16) * 4096 / 4 * 5)


static ngx_int_t ngx_http_jemalloc_pprof_init_zone(ngx_shm_zone_t *zone,
    void *data);
static ngx_int_t ngx_http_jemalloc_pprof_registry_enter(ngx_shm_zone_t *zone,
    ngx_http_jemalloc_pprof_row_t *row);
static ngx_http_jemalloc_pprof_note_t *ngx_http_jemalloc_pprof_registry_note(
    ngx_http_jemalloc_pprof_registry_t *registry,
    const ngx_http_jemalloc_pprof_row_t *row);
static ngx_uint_t ngx_http_jemalloc_pprof_is_row(
    const ngx_http_jemalloc_pprof_row_t *a,
    const ngx_http_jemalloc_pprof_row_t *b);
static ngx_http_jemalloc_pprof_registry_t *ngx_http_jemalloc_pprof_lock(
    ngx_shm_zone_t *zone);
static void ngx_http_jemalloc_pprof_unlock(ngx_shm_zone_t *zone);
static int ngx_http_jemalloc_pprof_compare(const void *one, const void *two,
    void *ctx);


ngx_shm_zone_t *
ngx_http_jemalloc_pprof_registry_add(ngx_conf_t *cf)
{
    ngx_str_t        name = ngx_string("jemalloc_pprof");
    ngx_shm_zone_t  *zone;

    zone = ngx_shared_memory_add(cf, &name, NGX_HTTP_JEMALLOC_PPROF_ZONE_SIZE,
                                 &ngx_http_jemalloc_pprof_module);

    if (zone != NULL) {
        zone->init = ngx_http_jemalloc_pprof_init_zone;
    }

    return zone;
}


static ngx_int_t
ngx_http_jemalloc_pprof_init_zone(ngx_shm_zone_t *zone, void *data)
{
    ngx_slab_pool_t                     *shpool;
    ngx_http_jemalloc_pprof_registry_t  *registry;

    shpool = (ngx_slab_pool_t *) zone->shm.addr;

    /* after a reload, and where the system keeps zones by address */

    registry = data != NULL ? data
                            : zone->shm.exists ? shpool->data : NULL;

    if (registry == NULL) {
        registry = ngx_slab_alloc(shpool, NGX_HTTP_JEMALLOC_PPROF_REGISTRY);
        if (registry == NULL) {
            return NGX_ERROR;
        }

        /* a note is cleared by who joins */

        ngx_memzero(registry, sizeof(ngx_http_jemalloc_pprof_registry_t));

        registry->wanted.active = NGX_CONF_UNSET;
        registry->wanted.lg_sample = NGX_CONF_UNSET;
        registry->wanted.sampler = NGX_CONF_UNSET;
        registry->wanted.sampler_lg = NGX_CONF_UNSET;

        shpool->data = registry;
    }

    zone->data = registry;

    return NGX_OK;
}


/*
 * The master takes no lock: if a killed worker held it, the master would wait
 * for ever, since it reaps its children only later.
 */

ngx_uint_t
ngx_http_jemalloc_pprof_registry_advance(ngx_shm_zone_t *zone)
{
    ngx_http_jemalloc_pprof_registry_t *registry = zone->data;

    registry->loaded = ngx_time();

    return ngx_atomic_fetch_add(&registry->generation, 1) + 1;
}


ngx_int_t
ngx_http_jemalloc_pprof_registry_join(ngx_shm_zone_t *zone,
    ngx_http_jemalloc_pprof_row_t *row)
{
    ngx_uint_t  generation;

    static ngx_http_jemalloc_pprof_row_t
                                      rows[NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS];

    if (ngx_http_jemalloc_pprof_registry_enter(zone, row) == NGX_OK) {
        return NGX_OK;
    }

    /* this clears the rows of killed workers */

    (void) ngx_http_jemalloc_pprof_registry_list(zone, rows, &generation);

    return ngx_http_jemalloc_pprof_registry_enter(zone, row);
}


static ngx_int_t
ngx_http_jemalloc_pprof_registry_enter(ngx_shm_zone_t *zone,
    ngx_http_jemalloc_pprof_row_t *row)
{
    ngx_uint_t                           i, place;
    ngx_http_jemalloc_pprof_row_t       *r;
    ngx_http_jemalloc_pprof_registry_t  *registry;

    place = NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS;
    registry = ngx_http_jemalloc_pprof_lock(zone);

    for (i = 0; i < NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS; i++) {
        r = &registry->rows[i];

        /* our pid may have belonged to a killed worker */

        if (r->pid == row->pid) {
            registry->n_unclean_exits += !ngx_http_jemalloc_pprof_is_row(r,
                                                                         row);
            r->pid = 0;
        }

        if (r->pid == 0 && place == NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS) {
            place = i;
        }
    }

    if (place < NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS) {
        row->place = place;
        registry->rows[place] = *row;

        registry->notes[place].worker.started = 0;
        jpp_history_init(&registry->notes[place].history);
    }

    ngx_http_jemalloc_pprof_unlock(zone);

    return place < NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS ? NGX_OK : NGX_DECLINED;
}


void
ngx_http_jemalloc_pprof_registry_leave(ngx_shm_zone_t *zone)
{
    ngx_uint_t                           i;
    ngx_http_jemalloc_pprof_registry_t  *registry;

    registry = ngx_http_jemalloc_pprof_lock(zone);

    for (i = 0; i < NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS; i++) {
        if (registry->rows[i].pid == ngx_pid) {
            registry->rows[i].pid = 0;
        }
    }

    ngx_http_jemalloc_pprof_unlock(zone);
}


void
ngx_http_jemalloc_pprof_registry_forget(ngx_shm_zone_t *zone,
    const ngx_http_jemalloc_pprof_row_t *row)
{
    ngx_uint_t                           i;
    ngx_http_jemalloc_pprof_row_t       *r;
    ngx_http_jemalloc_pprof_registry_t  *registry;

    registry = ngx_http_jemalloc_pprof_lock(zone);

    for (i = 0; i < NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS; i++) {
        r = &registry->rows[i];

        if (ngx_http_jemalloc_pprof_is_row(r, row)) {
            registry->n_unclean_exits++;
            r->pid = 0;
        }
    }

    ngx_http_jemalloc_pprof_unlock(zone);
}


ngx_uint_t
ngx_http_jemalloc_pprof_registry_list(ngx_shm_zone_t *zone,
    ngx_http_jemalloc_pprof_row_t rows[NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS],
    ngx_uint_t *generation)
{
    ngx_uint_t                           i, n, n_rows;
    ngx_http_jemalloc_pprof_registry_t  *registry;

    n_rows = 0;
    registry = ngx_http_jemalloc_pprof_lock(zone);

    *generation = registry->generation;

    for (i = 0; i < NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS; i++) {
        if (registry->rows[i].pid != 0) {
            rows[n_rows++] = registry->rows[i];
        }
    }

    ngx_http_jemalloc_pprof_unlock(zone);

    for (i = 0, n = 0; i < n_rows; i++) {

        if (kill(rows[i].pid, 0) == -1 && ngx_errno == NGX_ESRCH) {
            ngx_http_jemalloc_pprof_registry_forget(zone, &rows[i]);

        } else {
            rows[n++] = rows[i];
        }
    }

    jpp_sort(rows, n, sizeof(ngx_http_jemalloc_pprof_row_t),
             ngx_http_jemalloc_pprof_compare, NULL);

    return n;
}


void
ngx_http_jemalloc_pprof_registry_write(ngx_shm_zone_t *zone,
    const ngx_http_jemalloc_pprof_row_t *row, const jpp_worker_t *worker,
    uint64_t seconds)
{
    jpp_history_point_t                  point;
    ngx_http_jemalloc_pprof_note_t      *note;
    ngx_http_jemalloc_pprof_registry_t  *registry;

    point.allocated = worker->has_stats ? worker->stats.allocated : JPP_NONE;
    point.rss = worker->activity.usage.rss;

    registry = ngx_http_jemalloc_pprof_lock(zone);
    note = ngx_http_jemalloc_pprof_registry_note(registry, row);

    if (note != NULL) {
        note->worker = *worker;
        note->worker.jemalloc.variable = NULL;
        note->worker.history = NULL;

        jpp_history_add(&note->history, seconds, &point);
    }

    ngx_http_jemalloc_pprof_unlock(zone);
}


ngx_int_t
ngx_http_jemalloc_pprof_registry_read(ngx_shm_zone_t *zone,
    const ngx_http_jemalloc_pprof_row_t *row, jpp_worker_t *worker,
    jpp_history_t *history)
{
    ngx_int_t                             rc;
    ngx_http_jemalloc_pprof_registry_t    *registry;
    const ngx_http_jemalloc_pprof_note_t  *note;

    rc = NGX_DECLINED;
    registry = ngx_http_jemalloc_pprof_lock(zone);
    note = ngx_http_jemalloc_pprof_registry_note(registry, row);

    if (note != NULL && note->worker.started != 0) {

        if (worker != NULL) {
            *worker = note->worker;
        }

        if (history != NULL) {
            *history = note->history;
        }

        rc = NGX_OK;
    }

    ngx_http_jemalloc_pprof_unlock(zone);

    return rc;
}


/* of a worker that is there; NULL: it has no row, or another has it now */

static ngx_http_jemalloc_pprof_note_t *
ngx_http_jemalloc_pprof_registry_note(
    ngx_http_jemalloc_pprof_registry_t *registry,
    const ngx_http_jemalloc_pprof_row_t *row)
{
    return row->place < NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS
           && ngx_http_jemalloc_pprof_is_row(&registry->rows[row->place], row)
           ? &registry->notes[row->place] : NULL;
}


ngx_uint_t
ngx_http_jemalloc_pprof_registry_has(ngx_shm_zone_t *zone, ngx_pid_t pid)
{
    ngx_uint_t                           i, found;
    ngx_http_jemalloc_pprof_registry_t  *registry;

    found = 0;
    registry = ngx_http_jemalloc_pprof_lock(zone);

    for (i = 0; i < NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS; i++) {
        if (registry->rows[i].pid == pid) {
            found = 1;
            break;
        }
    }

    ngx_http_jemalloc_pprof_unlock(zone);

    return found;
}


void
ngx_http_jemalloc_pprof_registry_facts(ngx_shm_zone_t *zone,
    uint64_t *generation, int64_t *loaded, uint64_t *unclean_exits)
{
    ngx_http_jemalloc_pprof_registry_t *registry = zone->data;

    *generation = registry->generation;
    *loaded = registry->loaded;
    *unclean_exits = registry->n_unclean_exits;
}


ngx_uint_t
ngx_http_jemalloc_pprof_registry_changes(ngx_shm_zone_t *zone)
{
    ngx_http_jemalloc_pprof_registry_t *registry = zone->data;

    return registry->n_changes;
}


void
ngx_http_jemalloc_pprof_registry_changed(ngx_shm_zone_t *zone)
{
    ngx_http_jemalloc_pprof_registry_t *registry = zone->data;

    (void) ngx_atomic_fetch_add(&registry->n_changes, 1);
}


/* each is one word, and no lock is taken */

void
ngx_http_jemalloc_pprof_registry_get_wanted(ngx_shm_zone_t *zone,
    ngx_http_jemalloc_pprof_wanted_t *wanted)
{
    ngx_http_jemalloc_pprof_registry_t *registry = zone->data;

    *wanted = registry->wanted;
}


void
ngx_http_jemalloc_pprof_registry_set_wanted(ngx_shm_zone_t *zone,
    const ngx_http_jemalloc_pprof_wanted_t *wanted)
{
    ngx_http_jemalloc_pprof_registry_t *registry = zone->data;

    registry->wanted = *wanted;
}


/* a pid may be used again, a key is not */

static ngx_uint_t
ngx_http_jemalloc_pprof_is_row(const ngx_http_jemalloc_pprof_row_t *a,
    const ngx_http_jemalloc_pprof_row_t *b)
{
    return a->pid == b->pid
           && ngx_memcmp(a->key, b->key, NGX_HTTP_JEMALLOC_PPROF_KEY) == 0;
}


static ngx_http_jemalloc_pprof_registry_t *
ngx_http_jemalloc_pprof_lock(ngx_shm_zone_t *zone)
{
    ngx_slab_pool_t  *shpool;

    shpool = (ngx_slab_pool_t *) zone->shm.addr;

    ngx_shmtx_lock(&shpool->mutex);

    return zone->data;
}


static void
ngx_http_jemalloc_pprof_unlock(ngx_shm_zone_t *zone)
{
    ngx_slab_pool_t  *shpool;

    shpool = (ngx_slab_pool_t *) zone->shm.addr;

    ngx_shmtx_unlock(&shpool->mutex);
}


static int
ngx_http_jemalloc_pprof_compare(const void *one, const void *two, void *ctx)
{
    const ngx_http_jemalloc_pprof_row_t *a = one;
    const ngx_http_jemalloc_pprof_row_t *b = two;

    if (a->generation != b->generation) {
        return a->generation < b->generation ? -1 : 1;
    }

    if (a->index != b->index) {
        return a->index < b->index ? -1 : 1;
    }

    return a->pid < b->pid ? -1 : a->pid > b->pid;
}
