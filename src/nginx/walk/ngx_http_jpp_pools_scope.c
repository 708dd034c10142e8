
/*
 * The pools in scope while a connection is scanned, and the remainders of pools
 * that are too large for one slice, such as the configuration's.
 */


#include "ngx_http_jpp_pools.h"


/*
 * The rests of pools that are too large for a slice: a request's with 200,000
 * buffers, a connection's that a module leaks into.  What a connection needs to
 * be understood is in the first of their blocks and of their lists, and is
 * looked at while it is visited.  What is beyond is only counted, in the slices
 * after that.  Of the configuration's pool all is a rest.
 *
 * Meanwhile nginx may destroy such a pool.  A cleanup handler, which lies in
 * the walk's arena, says when: as long as a rest has its pool, that is alive,
 * and so are its blocks and the cells of its list, which leave no pool before
 * its end.  It is the only thing that a walk writes into nginx's memory, and it
 * is gone with the rest.
 */


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


/*
 * Count later, for OWNER and the open unit, what POOL, which is alive, has from
 * BLOCK and from CELL on; NULL: nothing of that.
 */

static void
ngx_http_jpp_rests_add(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool,
    uint32_t owner, const ngx_pool_t *block, const ngx_pool_large_t *cell)
{
    ngx_http_jpp_rest_t  *rest;

    rest = jpp_arena_alloc(&walk->arena, sizeof(ngx_http_jpp_rest_t));
    if (rest == NULL) {
        walk->table.facts.is_partial = 1;
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


/*
 * P, in the list of a pool of which there will be a rest, is of CLASS, if it is
 * a large allocation at all.
 */

static void
ngx_http_jpp_rests_mark(ngx_http_jpp_walk_t *walk, const void *p,
    jpp_pools_class_t class)
{
    ngx_http_jpp_mark_t  *mark;

    mark = ngx_http_jpp_keyed_add(&walk->marks, p);

    if (mark == NULL) {
        walk->table.facts.is_partial = 1;
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
        walk->table.facts.is_partial = 1;
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


/*
 * The SIZE bytes at START are the configuration's, as long as CELL points to
 * them.  Without memory, what lies there is not believed to be.
 */

static void
ngx_http_jpp_config_learn(ngx_http_jpp_walk_t *walk, const u_char *start,
    size_t size, void *const *cell)
{
    ngx_http_jpp_large_t  *large;

    large = jpp_vec_push(walk->known, sizeof(ngx_http_jpp_large_t));

    if (large != NULL) {
        large->start = start;
        large->size = size;
        large->cell = cell;
    }
}


static void
ngx_http_jpp_rest_large(ngx_http_jpp_walk_t *walk, ngx_http_jpp_rest_t *rest)
{
    size_t                      size;
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

    size = ngx_http_jpp_size(cell->alloc);

    if (rest->pool == walk->cycle->pool) {
        ngx_http_jpp_config_learn(walk, cell->alloc, size, &cell->alloc);
    }

    ngx_http_jpp_walk_add(walk, owner, class, module, cell->alloc, size, 0);
}


/* A block; only the first has all of the header. */

static void
ngx_http_jpp_rest_block(ngx_http_jpp_walk_t *walk, ngx_http_jpp_rest_t *rest)
{
    const u_char      *start;
    const ngx_pool_t  *block;

    block = rest->block;
    rest->block = block->d.next;

    if (rest->pool == walk->cycle->pool) {
        start = (const u_char *) block
                + (block == rest->pool ? sizeof(ngx_pool_t)
                                       : sizeof(ngx_pool_data_t));

        ngx_http_jpp_config_learn(walk, start, block->d.last - start, NULL);
    }

    ngx_http_jpp_walk_add(walk, rest->owner, JPP_POOLS_BLOCKS, 0, block,
                          rest->size, block->d.end - block->d.last);
}


static ngx_int_t
ngx_http_jpp_rest_walk(ngx_http_jpp_walk_t *walk, ngx_http_jpp_rest_t *rest)
{
    while (rest->pool != NULL && (rest->block != NULL || rest->cell != NULL)) {

        if (ngx_http_jpp_walk_is_over(walk)) {
            return NGX_AGAIN;
        }

        walk->work++;

        if (rest->block != NULL) {
            ngx_http_jpp_rest_block(walk, rest);

        } else {
            ngx_http_jpp_rest_large(walk, rest);
        }
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
        walk->table.open = rest->parked->open;
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
            walk->table.open = rest->parked->open;
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


/*
 * The pools at hand while a connection is looked at: what they hold, and which
 * memory is theirs.  A pointer is only followed into that.  They are counted,
 * blocks and large allocations, with their owner and their class, into the
 * walk's table.
 */


/* does a pool keep what is LEN bytes as an allocation of its own? */
#if (NGX_DEBUG_PALLOC)
#define ngx_http_jpp_is_large(pool, len)  1
#else
#define ngx_http_jpp_is_large(pool, len)  ((len) > (pool)->max)
#endif

/*
 * How far memory is looked for: what nginx itself keeps in a pool is in its
 * first blocks, and a pool that somebody leaks into has very many.
 */
#define NGX_HTTP_JPP_SEARCHED  256

/* of a chain; a free link may have become part of another one */
#define NGX_HTTP_JPP_LINKS     4096

/* how many blocks are looked at for the links of a visit: a tenth of a ms */
#define NGX_HTTP_JPP_LOOKS     65536

/*
 * How many blocks and large allocations are counted while a connection is
 * visited, with all that it has: a tenth of a ms, or one where they are cold.
 */
#define NGX_HTTP_JPP_VISIT     1024

/*
 * Of each pool there are some in any case, however much a visit has counted, so
 * that its buffers have a name.
 */
#define NGX_HTTP_JPP_ANYWAY  32


void  (*ngx_http_jpp_pool_seen)(const ngx_pool_t *pool,
    const jpp_pools_t *table, uint32_t owner);


void
ngx_http_jpp_scope_open(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool)
{
    const ngx_http_jpp_extent_t  none = { 0, 0 };

    ngx_http_jpp_scope_restore(walk, none);
    ngx_http_jpp_scope_push(walk, pool);

    walk->visit++;
    walk->scope.n_left = NGX_HTTP_JPP_VISIT;
    walk->scope.n_looks = 0;
    walk->scope.rest = NULL;
}


void
ngx_http_jpp_scope_push(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool)
{
    /* what is in others is not looked at */

    if (walk->scope.n_pools < NGX_HTTP_JPP_SCOPE) {
        walk->scope.pools[walk->scope.n_pools++] = pool;
    }
}


ngx_http_jpp_extent_t
ngx_http_jpp_scope_extent(const ngx_http_jpp_walk_t *walk)
{
    ngx_http_jpp_extent_t  extent;

    extent.n_pools = walk->scope.n_pools;
    extent.n_larges = jpp_vec_count(walk->scope.larges, ngx_http_jpp_large_t);
    return extent;
}


void
ngx_http_jpp_scope_restore(ngx_http_jpp_walk_t *walk,
    ngx_http_jpp_extent_t extent)
{
    ngx_http_jpp_scope_t  *scope;

    scope = &walk->scope;

    scope->n_pools = extent.n_pools;
    scope->larges->len = extent.n_larges * sizeof(ngx_http_jpp_large_t);
    scope->base = extent;
    scope->n_unnamed = 0;
    scope->is_sorted = 1;
    scope->has_rest = 0;
}


ngx_uint_t
ngx_http_jpp_scope_has(ngx_http_jpp_walk_t *walk, const void *p, size_t len)
{
    const u_char  *end;

    end = p != NULL ? ngx_http_jpp_scope_end(walk, p) : NULL;

    return end != NULL && (size_t) (end - (const u_char *) p) >= len;
}


/*
 * A pool of small blocks keeps what is larger as an allocation of its own: a
 * request, where request_pool_size is 1k.  That is the first it has made, and
 * the last of its list, however long; but its cell is the first in the pool.
 */

static ngx_uint_t
ngx_http_jpp_pool_has_large(const ngx_pool_t *pool, const void *p, size_t len)
{
    ngx_uint_t               n;
    const u_char            *first;
    const ngx_pool_large_t  *l;

    first = (const u_char *) pool + sizeof(ngx_pool_t);
    l = (const ngx_pool_large_t *) first;

    if (first + sizeof(ngx_pool_large_t) > pool->d.last || l->alloc != p) {

        for (l = pool->large, n = 0;
             l != NULL && l->alloc != p;
             l = l->next, n++)
        {
            if (n == NGX_HTTP_JPP_SEARCHED) {
                return 0;
            }
        }
    }

    return l != NULL && p != NULL && ngx_http_jpp_size(p) >= len;
}


static const u_char *
ngx_http_jpp_pool_end(const ngx_pool_t *pool, const void *p,
    ngx_uint_t *n_looks)
{
    size_t             header;
    ngx_uint_t         n;
    const u_char      *address;
    const ngx_pool_t  *block;

    address = p;
    header = sizeof(ngx_pool_t);

    for (block = pool, n = 0;
         block != NULL && n < NGX_HTTP_JPP_SEARCHED;
         block = block->d.next, n++)
    {
        (*n_looks)++;

        if (address >= (const u_char *) block + header
            && address < block->d.last)
        {
            return block->d.last;
        }

        header = sizeof(ngx_pool_data_t);
    }

    return NULL;
}


ngx_uint_t
ngx_http_jpp_pool_has(const ngx_pool_t *pool, const void *p, size_t len)
{
    ngx_uint_t     n_looks;
    const u_char  *end;

    if (ngx_http_jpp_is_large(pool, len)) {
        return ngx_http_jpp_pool_has_large(pool, p, len);
    }

    n_looks = 0;
    end = ngx_http_jpp_pool_end(pool, p, &n_looks);

    return end != NULL && (size_t) (end - (const u_char *) p) >= len;
}


/* The large allocation above base that P lies in, or NULL. */

static ngx_http_jpp_large_t *
ngx_http_jpp_scope_large(ngx_http_jpp_walk_t *walk, const void *p)
{
    size_t                 base, n;
    ngx_http_jpp_large_t  *larges;

    larges = jpp_vec_items(walk->scope.larges, ngx_http_jpp_large_t);
    base = walk->scope.base.n_larges;
    n = jpp_vec_count(walk->scope.larges, ngx_http_jpp_large_t);

    if (!walk->scope.is_sorted) {
        walk->scope.is_sorted = 1;
        ngx_http_jpp_larges_sort(larges + base, n - base);
    }

    return ngx_http_jpp_larges_find(larges + base, n - base, p);
}


const u_char *
ngx_http_jpp_scope_end(ngx_http_jpp_walk_t *walk, const void *p)
{
    ngx_uint_t             i;
    const u_char          *end;
    ngx_http_jpp_large_t  *large;

    /* the latest is the most likely */

    for (i = walk->scope.n_pools; i > 0; i--) {
        end = ngx_http_jpp_pool_end(walk->scope.pools[i - 1], p,
                                    &walk->scope.n_looks);

        if (end != NULL) {
            return end;
        }
    }

    large = ngx_http_jpp_scope_large(walk, p);

    if (large == NULL) {
        large = ngx_http_jpp_larges_find(
                    jpp_vec_items(walk->scope.larges, ngx_http_jpp_large_t),
                    walk->scope.base.n_larges, p);
    }

    return large != NULL ? large->start + large->size : NULL;
}


ngx_http_jpp_large_t *
ngx_http_jpp_scope_unnamed(ngx_http_jpp_walk_t *walk, const void *p)
{
    ngx_http_jpp_large_t  *large;

    if (p == NULL || walk->scope.n_unnamed == 0) {
        return NULL;
    }

    large = ngx_http_jpp_scope_large(walk, p);

    return large != NULL && large->class == JPP_POOLS_OTHER ? large : NULL;
}


void
ngx_http_jpp_scope_name(ngx_http_jpp_walk_t *walk, ngx_http_jpp_large_t *large,
    jpp_pools_class_t class)
{
    ngx_http_jpp_scope_t  *scope;

    scope = &walk->scope;

    large->class = class;
    large->module = scope->module;
    large->owner = scope->owner != 0 ? scope->owner : large->owner;

    scope->n_unnamed--;
}


void
ngx_http_jpp_scope_mark(ngx_http_jpp_walk_t *walk, const void *p,
    jpp_pools_class_t class)
{
    ngx_http_jpp_large_t  *large;

    large = ngx_http_jpp_scope_unnamed(walk, p);

    if (large != NULL) {
        if (large->start == p) {
            ngx_http_jpp_scope_name(walk, large, class);
        }

    } else if (walk->scope.has_rest && p != NULL) {
        ngx_http_jpp_rests_mark(walk, p, class);
    }
}


/* One that is a part of something may not know where that begins. */

static const u_char *
ngx_http_jpp_scope_of(const ngx_buf_t *b)
{
    return b->start != NULL ? b->start : b->pos;
}


void
ngx_http_jpp_scope_mark_buf(ngx_http_jpp_walk_t *walk, const ngx_buf_t *b,
    jpp_pools_class_t class)
{
    const u_char          *p;
    ngx_http_jpp_large_t  *large;

    p = ngx_http_jpp_scope_of(b);
    large = ngx_http_jpp_scope_unnamed(walk, p);

    ngx_http_jpp_scope_mark(walk, large != NULL ? large->start : p, class);
}


ngx_uint_t
ngx_http_jpp_scope_wants(ngx_http_jpp_walk_t *walk, const ngx_buf_t *b)
{
    return walk->scope.has_rest
           || ngx_http_jpp_scope_unnamed(walk,
                                         ngx_http_jpp_scope_of(b)) != NULL;
}


ngx_uint_t
ngx_http_jpp_scope_is_spent(const ngx_http_jpp_walk_t *walk)
{
    return walk->scope.n_looks >= NGX_HTTP_JPP_LOOKS;
}


const ngx_chain_t *
ngx_http_jpp_scope_link(ngx_http_jpp_walk_t *walk, const ngx_chain_t *cl,
    ngx_uint_t *n)
{
    if (*n >= NGX_HTTP_JPP_LINKS || walk->scope.n_unnamed == 0
        || ngx_http_jpp_scope_is_spent(walk)
        || !ngx_http_jpp_in_scope(walk, cl)
        || !ngx_http_jpp_in_scope(walk, cl->buf))
    {
        return NULL;
    }

    (*n)++;
    walk->work++;

    return cl;
}


void
ngx_http_jpp_scope_mark_chain(ngx_http_jpp_walk_t *walk, const ngx_chain_t *cl,
    jpp_pools_class_t class)
{
    ngx_uint_t  n;

    n = 0;

    for (cl = ngx_http_jpp_scope_link(walk, cl, &n);
         cl != NULL;
         cl = ngx_http_jpp_scope_link(walk, cl->next, &n))
    {
        ngx_http_jpp_scope_mark_buf(walk, cl->buf, class);
    }
}


void
ngx_http_jpp_count_pool(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool,
    uint32_t owner)
{
    ngx_http_jpp_count_larges(walk, pool);
    ngx_http_jpp_count_claim(walk, pool, owner);
}


void
ngx_http_jpp_count_larges(ngx_http_jpp_walk_t *walk, const ngx_pool_t *pool)
{
    ngx_uint_t             n, limit;
    ngx_pool_large_t      *l;
    ngx_http_jpp_large_t  *large;
    ngx_http_jpp_scope_t  *scope;

    scope = &walk->scope;
    limit = ngx_max(scope->n_left, NGX_HTTP_JPP_ANYWAY);

    for (l = pool->large, n = 0; l != NULL && n < limit; l = l->next, n++) {

        if (l->alloc == NULL) {
            continue;
        }

        large = jpp_vec_push(scope->larges, sizeof(ngx_http_jpp_large_t));

        if (large == NULL) {
            walk->table.facts.is_partial = 1;
            return;
        }

        large->start = l->alloc;
        large->cell = &l->alloc;
        large->size = ngx_http_jpp_size(l->alloc);
        large->owner = 0;
        large->module = 0;
        large->class = JPP_POOLS_OTHER;

        scope->n_unnamed++;
        scope->is_sorted = 0;
    }

    scope->n_left -= ngx_min(scope->n_left, n);
    walk->work += n;

    scope->rest = l != NULL ? pool : NULL;
    scope->cell = l;

    if (l != NULL) {
        scope->has_rest = 1;
        scope->n_unnamed++;
    }
}


/* Show it POOL. */

static void
ngx_http_jpp_count_see(ngx_http_jpp_walk_t *walk, const ngx_pool_t *pool,
    uint32_t owner)
{
    if (ngx_http_jpp_pool_seen != NULL) {
        ngx_http_jpp_pool_seen(pool, &walk->table, owner);
    }
}


/*
 * Fill BLOCKS with those of POOL, from its first, LIMIT at most; the next, or
 * NULL: that is all.  All blocks of a pool have one size; only d is valid in
 * those after the first.
 */

static const ngx_pool_t *
ngx_http_jpp_count_blocks(const ngx_pool_t *pool, ngx_http_jpp_blocks_t *blocks,
    ngx_uint_t limit)
{
    const ngx_pool_t  *p;

    ngx_memzero(blocks, sizeof(ngx_http_jpp_blocks_t));

    for (p = pool; p != NULL && blocks->n < limit; p = p->d.next) {
        blocks->n++;
        blocks->unused += p->d.end - p->d.last;
    }

    blocks->bytes = blocks->n * ngx_http_jpp_size(pool);

    return p;
}


void
ngx_http_jpp_count_claim(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool,
    uint32_t owner)
{
    size_t                   i, n;
    const ngx_pool_t        *block, *held;
    const ngx_pool_large_t  *cell;
    ngx_http_jpp_large_t    *larges;
    ngx_http_jpp_scope_t    *scope;
    ngx_http_jpp_blocks_t    blocks;

    ngx_http_jpp_count_see(walk, pool, owner);

    scope = &walk->scope;

    block = ngx_http_jpp_count_blocks(pool, &blocks,
                                      ngx_max(scope->n_left,
                                              NGX_HTTP_JPP_ANYWAY));

    (void) jpp_pools_add(&walk->table, owner, JPP_POOLS_BLOCKS, 0, blocks.n,
                         blocks.bytes, blocks.unused);

    for (held = pool; walk->held != NULL && held != block; held = held->d.next)
    {
        ngx_http_jpp_walk_hold(walk, owner, held, blocks.bytes / blocks.n);
    }

    scope->n_left -= ngx_min(scope->n_left, blocks.n);
    walk->work += blocks.n;

    cell = scope->rest == pool ? scope->cell : NULL;

    if (block != NULL || cell != NULL) {
        ngx_http_jpp_rests_add(walk, pool, owner, block, cell);
    }

    larges = jpp_vec_items(scope->larges, ngx_http_jpp_large_t);
    n = jpp_vec_count(scope->larges, ngx_http_jpp_large_t);

    for (i = scope->base.n_larges; i < n; i++) {
        if (larges[i].owner == 0) {
            larges[i].owner = owner;
        }
    }
}


void
ngx_http_jpp_count_flush(ngx_http_jpp_walk_t *walk)
{
    size_t                 i, n;
    ngx_http_jpp_large_t  *larges;
    ngx_http_jpp_scope_t  *scope;

    scope = &walk->scope;

    larges = jpp_vec_items(scope->larges, ngx_http_jpp_large_t);
    n = jpp_vec_count(scope->larges, ngx_http_jpp_large_t);

    if (!scope->is_sorted) {
        ngx_http_jpp_larges_sort(larges + scope->base.n_larges,
                                 n - scope->base.n_larges);
    }

    for (i = scope->base.n_larges; i < n; i++) {
        ngx_http_jpp_walk_add(walk, larges[i].owner, larges[i].class,
                              larges[i].module, larges[i].start,
                              larges[i].size, 0);
    }

    ngx_http_jpp_scope_restore(walk, ngx_http_jpp_scope_extent(walk));
}


/*
 * The configuration's pool is scanned in slices, like the rest of a large pool,
 * and its blocks are recorded, because connections point into them.
 */

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


ngx_int_t
ngx_http_jpp_config_walk(ngx_http_jpp_walk_t *walk)
{
    uint32_t     owner;
    ngx_pool_t  *pool;

    pool = walk->cycle->pool;
    owner = jpp_pools_owner(&walk->table, JPP_POOLS_CONFIGURATION, 0, 0, 0);

    ngx_http_jpp_count_see(walk, pool, owner);
    ngx_http_jpp_rests_add(walk, pool, owner, pool, pool->large);

    return NGX_OK;
}


/* A single process has no parent that has the same. */

ngx_int_t
ngx_http_jpp_config_known(ngx_http_jpp_walk_t *walk)
{
    uint32_t                      owner;
    const ngx_http_jpp_blocks_t  *blocks, *larges;

    ngx_http_jpp_larges_sort(jpp_vec_items(walk->known, ngx_http_jpp_large_t),
                             jpp_vec_count(walk->known, ngx_http_jpp_large_t));

    if (ngx_process == NGX_PROCESS_WORKER) {
        blocks = &ngx_http_jpp_first_blocks;
        larges = &ngx_http_jpp_first_larges;
        owner = jpp_pools_owner(&walk->table, JPP_POOLS_CONFIGURATION, 0, 0, 0);

        (void) jpp_pools_add_inherited(&walk->table, owner, JPP_POOLS_BLOCKS,
                                       blocks->n, blocks->bytes,
                                       blocks->unused);
        (void) jpp_pools_add_inherited(&walk->table, owner, JPP_POOLS_OTHER,
                                       larges->n, larges->bytes, 0);
    }

    return NGX_OK;
}


/* Of large allocations only those that are still there. */

ngx_uint_t
ngx_http_jpp_config_has(const ngx_http_jpp_walk_t *walk, const void *p,
    size_t len)
{
    const ngx_http_jpp_large_t  *large;

    large = ngx_http_jpp_larges_find(jpp_vec_items(walk->known,
                                                   ngx_http_jpp_large_t),
                                     jpp_vec_count(walk->known,
                                                   ngx_http_jpp_large_t), p);

    return large != NULL
           && (size_t) (large->start + large->size - (const u_char *) p) >= len
           && (large->cell == NULL
               || (*large->cell == large->start
                   && ngx_http_jpp_size(large->start) == large->size));
}
