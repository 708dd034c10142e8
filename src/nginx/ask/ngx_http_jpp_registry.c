
#include "ngx_http_jpp.h"
#include "ngx_http_jpp_registry.h"

#include "jpp_sort.h"
#include "jpp_usage.h"

#include <signal.h>


/* a lock is held for some microseconds: then its holder may be stopped */
#define NGX_HTTP_JPP_YIELDS  64

/* with what nginx keeps beside it, and some of it free, which it should be */
#define NGX_HTTP_JPP_ZONE_SIZE                                     \
    ((sizeof(ngx_http_jpp_registry_t) / 4096 + 16) * 4096 / 4 * 5)


static ngx_int_t
ngx_http_jpp_init_zone(ngx_shm_zone_t *zone, void *data)
{
    ngx_slab_pool_t          *shpool;
    ngx_http_jpp_registry_t  *registry;

    shpool = (ngx_slab_pool_t *) zone->shm.addr;

    /* after a reload, and where the system keeps zones by address */

    registry = data != NULL ? data : zone->shm.exists ? shpool->data : NULL;

    if (registry == NULL) {
        registry = ngx_slab_alloc(shpool, sizeof(ngx_http_jpp_registry_t));
        if (registry == NULL) {
            return NGX_ERROR;
        }

        ngx_memzero(registry, offsetof(ngx_http_jpp_registry_t, notes));
        jpp_notes_init(&registry->notes);

        registry->mutex = &shpool->mutex;
        shpool->data = registry;
    }

    zone->data = registry;

    return NGX_OK;
}


ngx_shm_zone_t *
ngx_http_jpp_registry_add(ngx_conf_t *cf)
{
    ngx_str_t        name = ngx_string("jemalloc_pprof");
    ngx_shm_zone_t  *zone;

    zone = ngx_shared_memory_add(cf, &name, NGX_HTTP_JPP_ZONE_SIZE,
                                 &ngx_http_jemalloc_pprof_module);

    if (zone != NULL) {
        zone->init = ngx_http_jpp_init_zone;
    }

    return zone;
}


/*
 * The master takes no lock: if a killed worker held it, the master would wait
 * for ever, since it reaps its children only later.
 */

ngx_uint_t
ngx_http_jpp_registry_advance(ngx_http_jpp_registry_t *registry)
{
    registry->loaded = ngx_time();

    return ngx_atomic_fetch_add(&registry->generation, 1) + 1;
}


static void
ngx_http_jpp_vanished(ngx_http_jpp_registry_t *registry, ngx_uint_t place)
{
    jpp_notes_vanished(&registry->notes, &registry->rows[place].who,
                       &registry->notes.notes[place], ngx_time());
}


ngx_uint_t
ngx_http_jpp_is_row(const ngx_http_jpp_row_t *a, const ngx_http_jpp_row_t *b)
{
    return a->who.pid == b->who.pid
           && ngx_memcmp(a->key, b->key, NGX_HTTP_JPP_KEY) == 0;
}


/*
 * A worker may be stopped while it holds the lock, by a signal or a debugger,
 * and must not stop the others: they take the lock from it.  When it continues,
 * it writes the rest beside them: of a note, which is wrong for a second, or of
 * a row, if it was stopped in the microsecond in which it starts or ends.
 */

void
ngx_http_jpp_registry_lock(ngx_http_jpp_registry_t *registry)
{
    ngx_uint_t          n;
    jpp_process_t       process;
    ngx_atomic_t       *lock;
    ngx_atomic_uint_t   holder;

    lock = registry->mutex->lock;

    for (n = 0; !ngx_shmtx_trylock(registry->mutex); n++) {

        if (n < NGX_HTTP_JPP_YIELDS) {
            ngx_sched_yield();
            continue;
        }

        ngx_msleep(1);

        holder = *lock;

        if (holder != 0
            && jpp_process_read((pid_t) holder, &process)
            && (process.state == 'T' || process.state == 't')
            && ngx_atomic_cmp_set(lock, holder, ngx_pid))
        {
            break;
        }
    }
}


void
ngx_http_jpp_registry_unlock(ngx_http_jpp_registry_t *registry)
{
    ngx_shmtx_unlock(registry->mutex);
}


static ngx_int_t
ngx_http_jpp_registry_enter(ngx_http_jpp_registry_t *registry,
    ngx_http_jpp_row_t *row)
{
    ngx_uint_t                i, place;
    ngx_http_jpp_row_t       *r;

    place = NGX_HTTP_JPP_MAX_ROWS;
    ngx_http_jpp_registry_lock(registry);

    for (i = 0; i < registry->n_rows; i++) {
        r = &registry->rows[i];

        /* our pid may have belonged to a killed worker */

        if (r->who.pid == row->who.pid) {

            if (!ngx_http_jpp_is_row(r, row)) {
                ngx_http_jpp_vanished(registry, i);
            }

            r->who.pid = 0;
        }

        if (r->who.pid == 0 && place == NGX_HTTP_JPP_MAX_ROWS) {
            place = i;
        }
    }

    if (place == NGX_HTTP_JPP_MAX_ROWS) {
        place = registry->n_rows;
    }

    if (place < NGX_HTTP_JPP_MAX_ROWS) {
        row->place = place;

        /* whoever is killed in between leaves a row with a note of its own */

        jpp_note_clear(&registry->notes.notes[place]);

        registry->rows[place] = *row;
        registry->n_rows = ngx_max(registry->n_rows, place + 1);
    }

    ngx_http_jpp_registry_unlock(registry);

    return place < NGX_HTTP_JPP_MAX_ROWS ? NGX_OK : NGX_DECLINED;
}


ngx_int_t
ngx_http_jpp_registry_join(ngx_http_jpp_registry_t *registry,
    ngx_http_jpp_row_t *row)
{
    static ngx_http_jpp_row_t  rows[NGX_HTTP_JPP_MAX_ROWS];

    if (ngx_http_jpp_registry_enter(registry, row) == NGX_OK) {
        return NGX_OK;
    }

    /* this clears the rows of killed workers */

    (void) ngx_http_jpp_registry_list(registry, rows);

    return ngx_http_jpp_registry_enter(registry, row);
}


void
ngx_http_jpp_registry_clear(ngx_http_jpp_registry_t *registry,
    const ngx_http_jpp_row_t *row, ngx_uint_t has_vanished)
{
    ngx_uint_t  i, n_others, was_there;

    ngx_http_jpp_registry_lock(registry);

    for (i = 0, n_others = 0, was_there = 0; i < registry->n_rows; i++) {

        if (!ngx_http_jpp_is_row(&registry->rows[i], row)) {
            n_others += registry->rows[i].who.pid != 0
                        && registry->rows[i].who.generation
                           == row->who.generation;
            continue;
        }

        if (has_vanished) {
            ngx_http_jpp_vanished(registry, i);
        }

        registry->rows[i].who.pid = 0;
        was_there = 1;
    }

    if (was_there && n_others == 0
        && row->who.generation != registry->generation)
    {
        jpp_notes_ended(&registry->notes, &row->who, ngx_time());
    }

    ngx_http_jpp_registry_unlock(registry);
}


/* To be sure takes reading two files: its pid may have been used again. */

static ngx_uint_t
ngx_http_jpp_lives(const ngx_http_jpp_row_t *row, ngx_uint_t is_sure)
{
    jpp_process_t  process;

    if (kill((pid_t) row->who.pid, 0) == -1 && ngx_errno == NGX_ESRCH) {
        return 0;
    }

    return !is_sure || row->started == 0
           || !jpp_process_read((pid_t) row->who.pid, &process)
           || process.started == row->started;
}


static int
ngx_http_jpp_compare(const void *one, const void *two, void *ctx)
{
    const ngx_http_jpp_row_t *a = one;
    const ngx_http_jpp_row_t *b = two;

    if (a->who.generation != b->who.generation) {
        return a->who.generation < b->who.generation ? -1 : 1;
    }

    if (a->who.index != b->who.index) {
        return a->who.index < b->who.index ? -1 : 1;
    }

    return a->who.pid < b->who.pid ? -1 : a->who.pid > b->who.pid;
}


ngx_uint_t
ngx_http_jpp_registry_list(ngx_http_jpp_registry_t *registry,
    ngx_http_jpp_row_t rows[NGX_HTTP_JPP_MAX_ROWS])
{
    ngx_uint_t  i, n, n_rows;

    ngx_http_jpp_registry_lock(registry);

    for (i = 0, n_rows = 0; i < registry->n_rows; i++) {
        if (registry->rows[i].who.pid != 0) {
            rows[n_rows++] = registry->rows[i];
        }
    }

    ngx_http_jpp_registry_unlock(registry);

    for (i = 0, n = 0; i < n_rows; i++) {

        if (!ngx_http_jpp_lives(&rows[i], 0)) {
            ngx_http_jpp_registry_clear(registry, &rows[i], 1);

        } else {
            rows[n++] = rows[i];
        }
    }

    jpp_sort(rows, n, sizeof(ngx_http_jpp_row_t), ngx_http_jpp_compare, NULL);

    return n;
}


/* The first row of the present configuration; 0: there is none. */

static ngx_uint_t
ngx_http_jpp_first(ngx_http_jpp_registry_t *registry, ngx_http_jpp_row_t *first)
{
    ngx_uint_t                 i, is_there;
    const ngx_http_jpp_row_t  *row;

    for (i = 0, is_there = 0; i < registry->n_rows; i++) {
        row = &registry->rows[i];

        if (row->who.pid != 0 && row->who.generation == registry->generation
            && (!is_there
                || ngx_http_jpp_compare(row, first, NULL) < 0))
        {
            *first = *row;
            is_there = 1;
        }
    }

    return is_there;
}


ngx_uint_t
ngx_http_jpp_registry_leads(ngx_http_jpp_registry_t *registry,
    const ngx_http_jpp_row_t *row)
{
    ngx_uint_t                is_there;
    ngx_http_jpp_row_t        first;

    for ( ;; ) {
        ngx_http_jpp_registry_lock(registry);

        is_there = row->who.generation == registry->generation
                   && ngx_http_jpp_first(registry, &first);

        ngx_http_jpp_registry_unlock(registry);

        if (!is_there || ngx_http_jpp_is_row(&first, row)) {
            return is_there;
        }

        if (ngx_http_jpp_lives(&first, 1)) {
            return 0;
        }

        ngx_http_jpp_registry_clear(registry, &first, 1);
    }
}


ngx_uint_t
ngx_http_jpp_registry_has(ngx_http_jpp_registry_t *registry, ngx_pid_t pid)
{
    ngx_uint_t                i, n;

    ngx_http_jpp_registry_lock(registry);

    n = registry->n_rows;

    for (i = 0; i < n && registry->rows[i].who.pid != pid; i++) { /* void */ }

    ngx_http_jpp_registry_unlock(registry);

    return i < n;
}


jpp_note_t *
ngx_http_jpp_registry_note(ngx_http_jpp_registry_t *registry,
    const ngx_http_jpp_row_t *row)
{
    return row->place < NGX_HTTP_JPP_MAX_ROWS
           && ngx_http_jpp_is_row(&registry->rows[row->place], row)
           ? &registry->notes.notes[row->place] : NULL;
}
