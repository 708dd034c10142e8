
/*
 * Scans the configuration's pool, whose memory connections refer to.  Its
 * blocks and the cells of its large allocations live as long as the
 * configuration, so any number of slices can read it.
 */


#include "ngx_http_jpp_pools.h"


/* what this process started with */
static ngx_http_jpp_blocks_t  ngx_http_jpp_first_blocks;
static ngx_http_jpp_blocks_t  ngx_http_jpp_first_larges;


uint64_t
ngx_http_jpp_config_init(const ngx_cycle_t *cycle)
{
    ngx_pool_large_t       *l;
    ngx_http_jpp_blocks_t  *larges;

    larges = &ngx_http_jpp_first_larges;

    (void) ngx_http_jpp_count_blocks(cycle->pool, &ngx_http_jpp_first_blocks,
                                     (ngx_uint_t) -1);

    ngx_memzero(larges, sizeof(ngx_http_jpp_blocks_t));

    for (l = cycle->pool->large; l != NULL; l = l->next) {
        if (l->alloc != NULL) {
            larges->n++;
            larges->bytes += ngx_http_jpp_size(l->alloc);
        }
    }

    return ngx_http_jpp_first_blocks.bytes + larges->bytes;
}


/* Without memory, what lies there is not believed to be the configuration's. */

static void
ngx_http_jpp_config_range(ngx_http_jpp_walk_t *walk, const void *start,
    const void *end, const ngx_pool_large_t *cell)
{
    ngx_http_jpp_range_t  *range;

    range = jpp_vec_push(walk->ranges, sizeof(ngx_http_jpp_range_t));

    if (range != NULL) {
        range->start = start;
        range->end = end;
        range->cell = cell;
    }
}


static ngx_int_t
ngx_http_jpp_config_blocks(ngx_http_jpp_walk_t *walk, uint32_t owner)
{
    size_t             header, size;
    const ngx_pool_t  *block;

    size = ngx_http_jpp_size(walk->cycle->pool);

    while (walk->config.block != NULL) {

        if (ngx_http_jpp_walk_is_over(walk)) {
            return NGX_AGAIN;
        }

        block = walk->config.block;
        walk->config.block = block->d.next;
        walk->work++;

        header = block == walk->cycle->pool ? sizeof(ngx_pool_t)
                                            : sizeof(ngx_pool_data_t);

        ngx_http_jpp_walk_hold(walk, owner, block, size);

        walk->config.blocks.n++;
        walk->config.blocks.unused += block->d.end - block->d.last;

        ngx_http_jpp_config_range(walk, (const u_char *) block + header,
                                  block->d.last, NULL);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_jpp_config_larges(ngx_http_jpp_walk_t *walk, uint32_t owner)
{
    size_t                   size;
    const ngx_pool_large_t  *cell;

    while (walk->config.cell != NULL) {

        if (ngx_http_jpp_walk_is_over(walk)) {
            return NGX_AGAIN;
        }

        cell = walk->config.cell;
        walk->config.cell = cell->next;
        walk->work++;

        if (cell->alloc == NULL) {
            continue;
        }

        size = ngx_http_jpp_size(cell->alloc);

        walk->config.larges.n++;
        walk->config.larges.bytes += size;

        ngx_http_jpp_config_range(walk, cell->alloc,
                                  (u_char *) cell->alloc + size, cell);
        ngx_http_jpp_walk_hold(walk, owner, cell->alloc, size);
    }

    return NGX_OK;
}


/* A single process has no parent that has the same. */

static void
ngx_http_jpp_config_add(ngx_http_jpp_walk_t *walk, uint32_t owner,
    jpp_pools_class_t class, const ngx_http_jpp_blocks_t *now,
    const ngx_http_jpp_blocks_t *was)
{
    if (now->n != 0) {
        (void) jpp_pools_add(&walk->table, owner, class, 0, now->n, now->bytes,
                             now->unused);
    }

    if (ngx_process == NGX_PROCESS_WORKER && was->n != 0) {
        (void) jpp_pools_add_inherited(&walk->table, owner, class,
                                       ngx_min(was->n, now->n),
                                       ngx_min(was->bytes, now->bytes),
                                       ngx_min(was->unused, now->unused));
    }
}


ngx_int_t
ngx_http_jpp_config_walk(ngx_http_jpp_walk_t *walk)
{
    uint32_t  owner;

    if (walk->next == 0) {
        walk->next = 1;
        walk->config.block = walk->cycle->pool;
        walk->config.cell = walk->cycle->pool->large;
    }

    owner = jpp_pools_owner(&walk->table, JPP_POOLS_CONFIGURATION, 0, 0, 0);

    if (ngx_http_jpp_config_blocks(walk, owner) == NGX_AGAIN
        || ngx_http_jpp_config_larges(walk, owner) == NGX_AGAIN)
    {
        return NGX_AGAIN;
    }

    walk->config.blocks.bytes = walk->config.blocks.n
                                * ngx_http_jpp_size(walk->cycle->pool);

    ngx_http_jpp_sort(walk->ranges->data,
                      jpp_vec_count(walk->ranges, ngx_http_jpp_range_t),
                      sizeof(ngx_http_jpp_range_t));

    ngx_http_jpp_count_see(walk, walk->cycle->pool, owner);

    ngx_http_jpp_config_add(walk, owner, JPP_POOLS_BLOCKS, &walk->config.blocks,
                            &ngx_http_jpp_first_blocks);
    ngx_http_jpp_config_add(walk, owner, JPP_POOLS_OTHER, &walk->config.larges,
                            &ngx_http_jpp_first_larges);
    return NGX_OK;
}


/* Of large allocations only those that are still there. */

ngx_uint_t
ngx_http_jpp_config_has(const ngx_http_jpp_walk_t *walk, const void *p,
    size_t len)
{
    const u_char                *address;
    const ngx_http_jpp_range_t  *range;

    address = p;
    range = ngx_http_jpp_search(walk->ranges->data,
                                jpp_vec_count(walk->ranges,
                                              ngx_http_jpp_range_t),
                                sizeof(ngx_http_jpp_range_t), p);

    return range != NULL && address < range->end
           && (size_t) (range->end - address) >= len
           && (range->cell == NULL
               || (range->cell->alloc == range->start
                   && ngx_http_jpp_size(range->start)
                      == (size_t) (range->end - range->start)));
}
