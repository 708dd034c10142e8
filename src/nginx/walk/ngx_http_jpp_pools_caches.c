
/*
 * Scans memory that nginx itself takes from malloc(): connection slots, open
 * file caches, and resolver answers.
 */


#include "ngx_http_jpp_pools.h"
#include "ngx_http_jpp_self.h"


/* different trees that are seen; more would be an odd configuration */
#define NGX_HTTP_JPP_CACHES  256


/* A tree of a cache: of open files, or of a resolver's answers. */
typedef struct {
    ngx_rbtree_t          *tree;
    ngx_http_jpp_node_pt   see;
} ngx_http_jpp_cache_t;


/* those of the cycle that was listed last: the configuration says which */
static ngx_http_jpp_cache_t  ngx_http_jpp_caches[NGX_HTTP_JPP_CACHES];
static ngx_uint_t            ngx_http_jpp_n_caches;
static const ngx_cycle_t    *ngx_http_jpp_listed;


static void
ngx_http_jpp_caches_add(ngx_http_jpp_walk_t *walk, jpp_pools_kind_t kind,
    uint64_t bytes)
{
    (void) jpp_pools_add(&walk->table,
                         jpp_pools_owner(&walk->table, kind, 0, 0, 0),
                         JPP_POOLS_ITSELF, 0, 1, bytes, 0);
}


static void
ngx_http_jpp_caches_file(ngx_http_jpp_walk_t *walk, ngx_rbtree_node_t *node)
{
    uint64_t                 bytes;
    ngx_cached_open_file_t  *file;

    file = ngx_rbtree_data(node, ngx_cached_open_file_t, node);

    bytes = ngx_http_jpp_size(file) + ngx_http_jpp_size(file->name);

    if (file->event != NULL) {
        bytes += ngx_http_jpp_size(file->event)
                 + ngx_http_jpp_size(file->event->data);
    }

    ngx_http_jpp_caches_add(walk, JPP_POOLS_OPEN_FILES, bytes);
}


/* What nginx frees with a node. */

static void
ngx_http_jpp_caches_name(ngx_http_jpp_walk_t *walk, ngx_rbtree_node_t *node)
{
    uint64_t              bytes;
    ngx_uint_t            i;
    ngx_resolver_node_t  *rn;

    rn = ngx_rbtree_data(node, ngx_resolver_node_t, node);

    bytes = ngx_http_jpp_size(rn)
            + ngx_http_jpp_size(rn->name)
            + ngx_http_jpp_size(rn->query);

    if (rn->cnlen != 0) {
        bytes += ngx_http_jpp_size(rn->u.cname);
    }

    /* -1: not known yet; and one is kept in the node itself */

    if (rn->naddrs > 1 && rn->naddrs != (u_short) -1) {
        bytes += ngx_http_jpp_size(rn->u.addrs);
    }

    if (rn->naddrs6 > 1 && rn->naddrs6 != (u_short) -1) {
        bytes += ngx_http_jpp_size(rn->u6.addrs6);
    }

    if (rn->nsrvs != 0) {
        bytes += ngx_http_jpp_size(rn->u.srvs);

        for (i = 0; i < rn->nsrvs; i++) {
            bytes += ngx_http_jpp_size(rn->u.srvs[i].name.data);
        }
    }

    ngx_http_jpp_caches_add(walk, JPP_POOLS_RESOLVER, bytes);
}


static void
ngx_http_jpp_caches_list(ngx_rbtree_t *tree, ngx_http_jpp_node_pt see)
{
    ngx_uint_t             i;
    ngx_http_jpp_cache_t  *cache;

    for (i = 0; i < ngx_http_jpp_n_caches; i++) {
        if (ngx_http_jpp_caches[i].tree == tree) {
            return;
        }
    }

    if (ngx_http_jpp_n_caches < NGX_HTTP_JPP_CACHES) {
        cache = &ngx_http_jpp_caches[ngx_http_jpp_n_caches++];
        cache->tree = tree;
        cache->see = see;
    }
}


static void
ngx_http_jpp_caches_location(const ngx_http_core_loc_conf_t *clcf)
{
    ngx_resolver_t  *resolver;

    resolver = clcf->resolver;

    if (clcf->open_file_cache != NULL) {
        ngx_http_jpp_caches_list(&clcf->open_file_cache->rbtree,
                                 ngx_http_jpp_caches_file);
    }

    if (resolver != NULL) {
        ngx_http_jpp_caches_list(&resolver->name_rbtree,
                                 ngx_http_jpp_caches_name);
        ngx_http_jpp_caches_list(&resolver->srv_rbtree,
                                 ngx_http_jpp_caches_name);
        ngx_http_jpp_caches_list(&resolver->addr_rbtree,
                                 ngx_http_jpp_caches_name);
        ngx_http_jpp_caches_list(&resolver->addr6_rbtree,
                                 ngx_http_jpp_caches_name);
    }
}


ngx_int_t
ngx_http_jpp_caches_walk(ngx_http_jpp_walk_t *walk)
{
    ngx_http_jpp_cache_t      *cache;
    ngx_http_jpp_loc_conf_t   *jlcf;
    ngx_http_jpp_main_conf_t  *jmcf;

    if (ngx_http_jpp_listed != walk->cycle) {
        ngx_http_jpp_listed = walk->cycle;
        ngx_http_jpp_n_caches = 0;

        jmcf = ngx_http_jpp_main_conf(walk->cycle);

        for (jlcf = jmcf != NULL ? jmcf->locations : NULL;
             jlcf != NULL;
             jlcf = jlcf->next)
        {
            ngx_http_jpp_caches_location(jlcf->clcf);
        }
    }

    while (walk->next < ngx_http_jpp_n_caches) {
        cache = &ngx_http_jpp_caches[walk->next];

        if (ngx_http_jpp_tree_walk(walk, cache->tree, cache->see) == NGX_AGAIN)
        {
            return NGX_AGAIN;
        }

        walk->next++;
    }

    return NGX_OK;
}


/* The first of TREE that was not seen, or NULL. */

static ngx_rbtree_node_t *
ngx_http_jpp_tree_from(const ngx_http_jpp_walk_t *walk, ngx_rbtree_t *tree)
{
    ngx_uint_t          n;
    ngx_rbtree_node_t  *node, *from;

    from = NULL;
    node = tree->root;

    while (node != tree->sentinel) {

        if (node->key < walk->tree.key) {
            node = node->right;

        } else {
            from = node;
            node = node->left;
        }
    }

    for (n = 0;
         n < walk->tree.n_same && from != NULL && from->key == walk->tree.key;
         n++)
    {
        from = ngx_rbtree_next(tree, from);
    }

    return from;
}


/*
 * In the order of their keys, which are looked up again in each slice: of those
 * that were there all the while none is seen twice, or missed.  Some may have
 * the same key: of these, n_same were seen.
 */

ngx_int_t
ngx_http_jpp_tree_walk(ngx_http_jpp_walk_t *walk, ngx_rbtree_t *tree,
    ngx_http_jpp_node_pt see)
{
    ngx_rbtree_node_t  *node;

    node = tree->root != NULL ? ngx_http_jpp_tree_from(walk, tree) : NULL;

    for ( /* void */ ; node != NULL; node = ngx_rbtree_next(tree, node)) {

        if (ngx_http_jpp_walk_is_over(walk)) {
            return NGX_AGAIN;
        }

        walk->tree.n_same = node->key == walk->tree.key
                            ? walk->tree.n_same + 1 : 1;
        walk->tree.key = node->key;
        walk->work++;

        see(walk, node);
    }

    walk->tree.key = 0;
    walk->tree.n_same = 0;

    return NGX_OK;
}


uint64_t
ngx_http_jpp_slots_bytes(const ngx_cycle_t *cycle)
{
    return ngx_http_jpp_size(cycle->connections)
           + ngx_http_jpp_size(cycle->read_events)
           + ngx_http_jpp_size(cycle->write_events);
}


ngx_int_t
ngx_http_jpp_slots_walk(ngx_http_jpp_walk_t *walk)
{
    uint32_t            owner;
    uint64_t            n, used, bytes;
    ngx_uint_t          i;
    const ngx_cycle_t  *cycle;

    cycle = walk->cycle;

    const void *const  parts[] = {
        cycle->connections, cycle->read_events, cycle->write_events
    };

    /* a single process that was reloaded serves nothing, and has none */

    if (cycle->connections == NULL) {
        return NGX_OK;
    }

    n = cycle->connection_n - cycle->free_connection_n;
    used = n * (sizeof(ngx_connection_t) + 2 * sizeof(ngx_event_t));
    bytes = ngx_http_jpp_slots_bytes(cycle) - used;

    walk->table.facts.n_connections = n;
    walk->table.facts.n_slots = cycle->connection_n;

    if (n != 0) {
        owner = jpp_pools_owner(&walk->table, JPP_POOLS_SLOTS_USED, 0, 0, 0);
        (void) jpp_pools_add(&walk->table, owner, JPP_POOLS_ITSELF, 0, n, used,
                             0);
    }

    owner = jpp_pools_owner(&walk->table, JPP_POOLS_SLOTS_FREE, 0, 0, 0);

    if (cycle->free_connection_n != 0) {
        (void) jpp_pools_add(&walk->table, owner, JPP_POOLS_ITSELF, 0,
                             cycle->free_connection_n, bytes, bytes);
    }

    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        ngx_http_jpp_walk_hold(walk, owner, parts[i],
                               ngx_http_jpp_size(parts[i]));
    }

    return NGX_OK;
}
