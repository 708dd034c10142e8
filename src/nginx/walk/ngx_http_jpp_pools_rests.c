
/*
 * The rests of pools that are too large for a slice: a request's with 200,000
 * buffers, a connection's that a module leaks into.  What a connection needs to
 * be understood is in the first of their blocks and of their lists, and is
 * looked at while it is visited.  What is beyond is only counted, in the slices
 * after that.
 *
 * Meanwhile nginx may destroy such a pool.  A cleanup handler, which lies in
 * the walk's arena, says when: as long as a rest has its pool, that is alive,
 * and so are its blocks and the cells of its list, which leave no pool before
 * its end.  It is the only thing that a walk writes into nginx's memory, and it
 * is gone with the rest.
 */


#include "ngx_http_jpp_pools_walk.h"


/* A unit that is ended with the last of its rests. */
typedef struct {
    jpp_pools_open_t       open;
    ngx_uint_t             n_rests;
} ngx_http_jpp_parked_t;


struct ngx_http_jpp_rest_s {
    ngx_pool_cleanup_t                  cleanup;   /* in the pool's list */
    ngx_pool_t                         *pool;      /* NULL: it is no more */
    size_t                              size;      /* of a block */
    const ngx_pool_t                   *block;     /* the next ones */
    const ngx_pool_large_t             *cell;
    uint32_t                            owner;
    uint32_t                            visit;     /* that has its marks */
    unsigned                            is_in_unit:1;
    ngx_http_jpp_parked_t   *parked;    /* the unit, or NULL */
    ngx_http_jpp_rest_t                *next;
};


static void
ngx_http_jpp_rest_gone(void *data)
{
    ngx_http_jpp_rest_t *rest = data;

    rest->pool = NULL;
}


void
ngx_http_jpp_rests_add(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool,
    uint32_t owner, const ngx_pool_t *block, const ngx_pool_large_t *cell)
{
    ngx_http_jpp_rest_t  *rest;

    rest = jpp_arena_alloc(&walk->arena, sizeof(ngx_http_jpp_rest_t));
    if (rest == NULL) {
        walk->table.facts.reason = JPP_POOLS_NO_MEMORY;
        return;
    }

    rest->pool = pool;
    rest->size = ngx_http_jpp_size(pool);
    rest->block = block;
    rest->cell = cell;
    rest->owner = owner;
    rest->visit = walk->visit;
    rest->is_in_unit = walk->table.open.is_open;

    rest->next = walk->rests;
    walk->rests = rest;

    rest->cleanup.handler = ngx_http_jpp_rest_gone;
    rest->cleanup.data = rest;
    rest->cleanup.next = pool->cleanup;
    pool->cleanup = &rest->cleanup;
}


void
ngx_http_jpp_rests_mark(ngx_http_jpp_walk_t *walk, const void *p,
    jpp_pools_class_t class)
{
    ngx_http_jpp_mark_t  *mark;

    mark = ngx_http_jpp_keyed_add(&walk->marks, p);

    if (mark == NULL) {
        walk->table.facts.reason = JPP_POOLS_NO_MEMORY;
        return;
    }

    mark->visit = walk->visit;
    mark->owner = walk->scope.owner;
    mark->module = walk->scope.module;
    mark->class = class;
}


/* Those of the open unit are the first. */

jpp_pools_unit_t *
ngx_http_jpp_rests_park(ngx_http_jpp_walk_t *walk)
{
    ngx_http_jpp_rest_t    *rest;
    ngx_http_jpp_parked_t  *parked;

    if (!walk->table.open.is_open || walk->rests == NULL
        || !walk->rests->is_in_unit || walk->rests->parked != NULL)
    {
        return NULL;
    }

    parked = jpp_arena_alloc(&walk->arena, sizeof(ngx_http_jpp_parked_t));
    if (parked == NULL) {
        walk->table.facts.reason = JPP_POOLS_NO_MEMORY;
        return NULL;
    }

    for (rest = walk->rests;
         rest != NULL && rest->is_in_unit && rest->parked == NULL;
         rest = rest->next)
    {
        rest->parked = parked;
        parked->n_rests++;
    }

    jpp_pools_park(&walk->table, &parked->open);

    return &parked->open.unit;
}


static void
ngx_http_jpp_rest_large(ngx_http_jpp_walk_t *walk, ngx_http_jpp_rest_t *rest)
{
    uint32_t                    pos, owner, module;
    jpp_pools_class_t           class;
    const ngx_pool_large_t     *cell;
    const ngx_http_jpp_mark_t  *mark;

    cell = rest->cell;
    rest->cell = cell->next;

    if (cell->alloc == NULL) {
        return;
    }

    owner = rest->owner;
    class = JPP_POOLS_OTHER;
    module = 0;
    pos = 0;

    while ((mark = ngx_http_jpp_keyed_next(&walk->marks, cell->alloc, &pos))
           != NULL)
    {
        if (mark->visit == rest->visit) {
            owner = mark->owner != 0 ? mark->owner : owner;
            class = mark->class;
            module = mark->module;
            break;
        }
    }

    ngx_http_jpp_walk_add(walk, owner, class, module, cell->alloc,
                          ngx_http_jpp_size(cell->alloc), 0);
}


static ngx_int_t
ngx_http_jpp_rest_walk(ngx_http_jpp_walk_t *walk, ngx_http_jpp_rest_t *rest)
{
    const ngx_pool_t  *block;

    while (rest->pool != NULL && (rest->block != NULL || rest->cell != NULL)) {

        if (ngx_http_jpp_walk_is_over(walk)) {
            return NGX_AGAIN;
        }

        walk->work++;

        if (rest->block == NULL) {
            ngx_http_jpp_rest_large(walk, rest);
            continue;
        }

        block = rest->block;
        rest->block = block->d.next;

        ngx_http_jpp_walk_add(walk, rest->owner, JPP_POOLS_BLOCKS, 0, block,
                              rest->size, block->d.end - block->d.last);
    }

    return NGX_OK;
}


/* REST is the first. */

static void
ngx_http_jpp_rest_end(ngx_http_jpp_walk_t *walk, ngx_http_jpp_rest_t *rest)
{
    ngx_pool_cleanup_t  **cln;

    walk->rests = rest->next;

    if (rest->pool != NULL) {

        for (cln = &rest->pool->cleanup; *cln != NULL; cln = &(*cln)->next) {

            if (*cln == &rest->cleanup) {
                *cln = rest->cleanup.next;
                break;
            }
        }

        rest->pool = NULL;
    }

    if (rest->parked != NULL && --rest->parked->n_rests == 0) {
        jpp_pools_resume(&walk->table, &rest->parked->open);
        (void) jpp_pools_end(&walk->table);
    }
}


ngx_int_t
ngx_http_jpp_rests_walk(ngx_http_jpp_walk_t *walk)
{
    ngx_int_t             rc;
    ngx_http_jpp_rest_t  *rest;

    while (walk->rests != NULL) {

        rest = walk->rests;

        if (rest->parked != NULL) {
            jpp_pools_resume(&walk->table, &rest->parked->open);
        }

        rc = ngx_http_jpp_rest_walk(walk, rest);

        if (rest->parked != NULL) {
            jpp_pools_park(&walk->table, &rest->parked->open);
        }

        if (rc == NGX_AGAIN) {
            return NGX_AGAIN;
        }

        ngx_http_jpp_rest_end(walk, rest);
    }

    return NGX_OK;
}


void
ngx_http_jpp_rests_end(ngx_http_jpp_walk_t *walk)
{
    while (walk->rests != NULL) {
        ngx_http_jpp_rest_end(walk, walk->rests);
    }
}
