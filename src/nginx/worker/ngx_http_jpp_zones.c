
#include "ngx_http_jpp_zones.h"


static ngx_int_t ngx_http_jpp_zones_one(const ngx_shm_zone_t *zone,
    jpp_arena_t *arena, jpp_zone_t *to);


ngx_int_t
ngx_http_jpp_zones(jpp_arena_t *arena, jpp_telemetry_t *telemetry)
{
    ngx_uint_t              i, n;
    jpp_zone_t             *zones;
    const ngx_shm_zone_t   *zone;
    const ngx_list_part_t  *part;

    for (n = 0, part = (ngx_list_part_t *) &ngx_cycle->shared_memory.part;
         part != NULL;
         part = part->next)
    {
        n += part->nelts;
    }

    zones = jpp_arena_alloc(arena, (n + 1) * sizeof(jpp_zone_t));
    if (zones == NULL) {
        return NGX_ERROR;
    }

    telemetry->zones = zones;

    for (part = (ngx_list_part_t *) &ngx_cycle->shared_memory.part;
         part != NULL;
         part = part->next)
    {
        zone = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (zone[i].shm.addr == NULL) {
                continue;
            }

            if (ngx_http_jpp_zones_one(&zone[i], arena,
                                       &zones[telemetry->n_zones])
                != NGX_OK)
            {
                return NGX_ERROR;
            }

            telemetry->n_zones++;
        }
    }

    return NGX_OK;
}


/*
 * Nobody waits for a zone that is busy: its numbers are right one by one, but
 * not of one moment.
 */

static ngx_int_t
ngx_http_jpp_zones_one(const ngx_shm_zone_t *zone, jpp_arena_t *arena,
    jpp_zone_t *to)
{
    char                        *name;
    ngx_uint_t                   i, n;
    jpp_zone_slot_t             *slots;
    ngx_slab_pool_t             *sp;
    const ngx_slab_stat_t       *stat;

    sp = (ngx_slab_pool_t *) zone->shm.addr;
    n = ngx_pagesize_shift - sp->min_shift;

    slots = jpp_arena_alloc(arena, n * sizeof(jpp_zone_slot_t));
    name = jpp_arena_alloc(arena, zone->shm.name.len);

    if (slots == NULL || name == NULL) {
        return NGX_ERROR;
    }

    /* a thread reads it, which may outlive the configuration */

    ngx_memcpy(name, zone->shm.name.data, zone->shm.name.len);

    ngx_memzero(to, sizeof(jpp_zone_t));

    to->name = name;
    to->name_len = zone->shm.name.len;
    to->size = zone->shm.size;
    to->slots = slots;
    to->n_slots = n;

    to->was_busy = !ngx_shmtx_trylock(&sp->mutex);

    to->free = sp->pfree * ngx_pagesize;

    for (i = 0; i < n; i++) {
        stat = &sp->stats[i];

        slots[i].size = (uint64_t) 1 << (i + sp->min_shift);
        slots[i].total = stat->total;
        slots[i].used = stat->used;
        slots[i].allocations = stat->reqs;
        slots[i].failures = stat->fails;
    }

    if (!to->was_busy) {
        ngx_shmtx_unlock(&sp->mutex);
    }

    for (i = 0; i < n; i++) {
        to->used += slots[i].used * slots[i].size;
        to->allocations += slots[i].allocations;
        to->failures += slots[i].failures;
    }

    return NGX_OK;
}
