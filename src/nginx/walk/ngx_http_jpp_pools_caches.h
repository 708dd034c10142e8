
/*
 * What nginx itself takes from malloc(): the connection slots, the caches of
 * open files, and the answers of resolvers.
 */


#ifndef _NGX_HTTP_JPP_POOLS_CACHES_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_CACHES_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


typedef void (*ngx_http_jpp_node_pt)(ngx_http_jpp_walk_t *walk,
    ngx_rbtree_node_t *node);


/* SEE each node of TREE, which nginx may change between slices, or NULL. */
ngx_int_t ngx_http_jpp_tree_walk(ngx_http_jpp_walk_t *walk, ngx_rbtree_t *tree,
    ngx_http_jpp_node_pt see);

/* The bytes of the connection slots, which a process takes as it starts. */
uint64_t ngx_http_jpp_slots_bytes(const ngx_cycle_t *cycle);

/* Phases. */
ngx_int_t ngx_http_jpp_caches_walk(ngx_http_jpp_walk_t *walk);
ngx_int_t ngx_http_jpp_slots_walk(ngx_http_jpp_walk_t *walk);


#endif /* _NGX_HTTP_JPP_POOLS_CACHES_H_INCLUDED_ */
