
/*
 * The pools at hand while a connection is looked at: what they hold, and which
 * memory is theirs.  A pointer is only followed into that.
 */


#ifndef _NGX_HTTP_JPP_POOLS_SCOPE_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_SCOPE_H_INCLUDED_


#include "ngx_http_jpp_pools_walk.h"


/* A visit begins, with an empty scope. */
void ngx_http_jpp_scope_open(ngx_http_jpp_walk_t *walk);

/* From now on memory of POOL, which is alive, may be looked at. */
void ngx_http_jpp_scope_push(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool);

/* The large allocations above base, by their addresses. */
void ngx_http_jpp_scope_sort(ngx_http_jpp_walk_t *walk);

/* What is in scope; and back to it. */
ngx_http_jpp_extent_t ngx_http_jpp_scope_extent(
    const ngx_http_jpp_walk_t *walk);
void ngx_http_jpp_scope_restore(ngx_http_jpp_walk_t *walk,
    ngx_http_jpp_extent_t extent);

/* Have LEN bytes at P been handed out by a pool in scope; by POOL? */
ngx_uint_t ngx_http_jpp_scope_has(ngx_http_jpp_walk_t *walk, const void *p,
    size_t len);
ngx_uint_t ngx_http_jpp_pool_has(const ngx_pool_t *pool, const void *p,
    size_t len);

/* Where the memory in scope that P lies in ends; NULL: it is not in scope. */
const u_char *ngx_http_jpp_scope_end(ngx_http_jpp_walk_t *walk, const void *p);

/*
 * The large allocation that P lies in, if it was counted after the last flush,
 * and has no class yet; or NULL.
 */
ngx_http_jpp_large_t *ngx_http_jpp_scope_unnamed(ngx_http_jpp_walk_t *walk,
    const void *p);

/* It is of CLASS, and of the scope's owner and module, if there are any. */
void ngx_http_jpp_scope_name(ngx_http_jpp_walk_t *walk,
    ngx_http_jpp_large_t *large, jpp_pools_class_t class);

/* So is the one that begins at P, if any does. */
void ngx_http_jpp_scope_mark(ngx_http_jpp_walk_t *walk, const void *p,
    jpp_pools_class_t class);

/*
 * And the one that B, which is in scope, is a part of.  Is there one, perhaps,
 * that has no class yet?
 */
void ngx_http_jpp_scope_mark_buf(ngx_http_jpp_walk_t *walk, const ngx_buf_t *b,
    jpp_pools_class_t class);
ngx_uint_t ngx_http_jpp_scope_wants(ngx_http_jpp_walk_t *walk,
    const ngx_buf_t *b);

/* The same for the buffers of a chain. */
void ngx_http_jpp_scope_mark_chain(ngx_http_jpp_walk_t *walk,
    const ngx_chain_t *cl, jpp_pools_class_t class);

/* Have the visit's pools been searched often enough for one slice? */
ngx_uint_t ngx_http_jpp_scope_is_spent(const ngx_http_jpp_walk_t *walk);

/*
 * CL, the link after *N of its chain, if it and its buffer are in scope, and it
 * is worth going on; or NULL.
 */
const ngx_chain_t *ngx_http_jpp_scope_link(ngx_http_jpp_walk_t *walk,
    const ngx_chain_t *cl, ngx_uint_t *n);


#endif /* _NGX_HTTP_JPP_POOLS_SCOPE_H_INCLUDED_ */
