
#include "ngx_http_jpp.h"
#include "ngx_http_jpp_zone.h"


/*
 * A lock is held for some microseconds: who has it after so many yields may be
 * stopped.  On a busy machine, a single yield can last tens of milliseconds.
 */
#define NGX_HTTP_JPP_YIELDS  4

/* with what nginx keeps beside it, and some of it free, which it should be */
#define NGX_HTTP_JPP_ZONE_SIZE                                     \
    ((sizeof(ngx_http_jpp_zone_t) / 4096 + 16) * 4096 / 4 * 5)


static ngx_int_t
ngx_http_jpp_zone_init(ngx_shm_zone_t *shm, void *data)
{
    ngx_slab_pool_t      *shpool;
    ngx_http_jpp_zone_t  *zone;

    shpool = (ngx_slab_pool_t *) shm->shm.addr;

    /* after a reload, and where the system keeps zones by address */

    zone = data != NULL ? data : shm->shm.exists ? shpool->data : NULL;

    if (zone == NULL) {
        zone = ngx_slab_alloc(shpool, sizeof(ngx_http_jpp_zone_t));
        if (zone == NULL) {
            return NGX_ERROR;
        }

        ngx_memzero(zone, offsetof(ngx_http_jpp_zone_t, notes));
        jpp_notes_init(&zone->notes);

        zone->mutex = &shpool->mutex;
        shpool->data = zone;
    }

    shm->data = zone;

    return NGX_OK;
}


ngx_shm_zone_t *
ngx_http_jpp_zone_add(ngx_conf_t *cf)
{
    ngx_str_t        name = ngx_string("jemalloc_pprof");
    ngx_shm_zone_t  *shm;

    shm = ngx_shared_memory_add(cf, &name, NGX_HTTP_JPP_ZONE_SIZE,
                                &ngx_http_jemalloc_pprof_module);

    if (shm != NULL) {
        shm->init = ngx_http_jpp_zone_init;
    }

    return shm;
}


static ngx_int_t
ngx_http_jpp_snapshots_zone_init(ngx_shm_zone_t *shm, void *data)
{
    size_t            size;
    ngx_slab_pool_t  *shpool;
    jpp_snapshots_t  *snapshots;

    shpool = (ngx_slab_pool_t *) shm->shm.addr;

    snapshots = data != NULL ? data : shm->shm.exists ? shpool->data : NULL;

    if (snapshots == NULL) {
        size = shpool->pfree / 5 * 4 * ngx_pagesize;
        snapshots = ngx_slab_alloc(shpool, size);

        if (snapshots == NULL) {
            return NGX_ERROR;
        }

        ngx_memzero(snapshots, sizeof(jpp_snapshots_t));
        jpp_snapshots_init(snapshots, size);

        shpool->data = snapshots;
    }

    shm->data = snapshots;

    return NGX_OK;
}


ngx_shm_zone_t *
ngx_http_jpp_snapshots_zone_add(ngx_conf_t *cf, size_t size)
{
    ngx_str_t        name = ngx_string("jemalloc_pprof_snapshots");
    ngx_shm_zone_t  *shm;

    shm = ngx_shared_memory_add(cf, &name, (JPP_SNAPSHOTS_MIN + size) / 4 * 5
                                           + 16 * ngx_pagesize,
                                &ngx_http_jemalloc_pprof_module);

    if (shm != NULL) {
        shm->init = ngx_http_jpp_snapshots_zone_init;
    }

    return shm;
}


/*
 * A worker may be stopped while it holds the lock, by a signal or a debugger,
 * and must not stop the others: they take the lock from it.  When it continues,
 * it writes the rest beside them: of a note, which is wrong for a second, or of
 * a row, if it was stopped in the microsecond in which it starts or ends.
 */

void
ngx_http_jpp_zone_lock(ngx_http_jpp_zone_t *zone)
{
    ngx_uint_t         n;
    jpp_process_t      process;
    ngx_atomic_t      *lock;
    ngx_atomic_uint_t  holder;

    lock = zone->mutex->lock;

    for (n = 0; !ngx_shmtx_trylock(zone->mutex); n++) {

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
ngx_http_jpp_zone_unlock(ngx_http_jpp_zone_t *zone)
{
    ngx_shmtx_unlock(zone->mutex);
}
