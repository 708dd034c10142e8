
/*
 * A walk through the pools of this worker: what its files share.  Its phases
 * and its slices are ngx_http_jpp_pools.c's.
 *
 * In the event loop, from an event of its own, nginx's structures are whole,
 * but not all pointers in them lead anywhere: a free connection keeps that of
 * its pool, and one that is being closed that of its request.  The rules:
 *
 * - The pool of a connection with a descriptor is alive, and so is the request
 *   that the connection's log refers to, because nginx clears that before it
 *   destroys the request's pool.  Without a descriptor a pool has to prove
 *   itself (fakes).
 * - Any other pointer is followed only if it leads into memory that a pool in
 *   scope has handed out, and what is there is believed only if it points back.
 * - From one slice to the next nothing is kept but what lives as long as the
 *   configuration, copies, and numbers.  A pointer that is kept besides is
 *   compared, and never followed.
 *
 * - A pool that is too large for a slice says itself when it goes (rests).
 *
 * A walk takes no memory but its arena's, and nothing from malloc() or a pool.
 */


#ifndef _NGX_HTTP_JPP_POOLS_WALK_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_WALK_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_http.h>

#include "jpp_message.h"
#include "jpp_pools_table.h"


/* pools in scope at once: of a connection, HTTP/2, a request, its upstreams */
#define NGX_HTTP_JPP_SCOPE  8


/* A large allocation of a pool in scope. */
typedef struct {
    u_char                *start;
    void                 **cell;       /* where the pool itself has start */
    size_t                 size;       /* the allocator's */
    uint32_t               owner;
    uint32_t               module;     /* a name, or 0 */
    jpp_pools_class_t      class;
} ngx_http_jpp_large_t;


/* Objects of one sort. */
typedef struct {
    uint64_t               n;
    uint64_t               bytes;
    uint64_t               unused;
} ngx_http_jpp_blocks_t;


/* The rest of the configuration, and what the walk has seen of it. */
typedef struct {
    const ngx_pool_t      *block;
    const ngx_pool_large_t
                          *cell;
    ngx_http_jpp_blocks_t
                           blocks;
    ngx_http_jpp_blocks_t
                           larges;
} ngx_http_jpp_config_t;


/* In a tree that may change: after so many nodes with this key. */
typedef struct {
    ngx_rbtree_key_t       key;
    ngx_uint_t             n_same;
} ngx_http_jpp_place_t;


/* How much of a scope: all that came before is of the connection. */
typedef struct {
    ngx_uint_t             n_pools;
    size_t                 n_larges;
} ngx_http_jpp_extent_t;


typedef struct {
    ngx_pool_t            *pools[NGX_HTTP_JPP_SCOPE];
    jpp_vec_t             *larges;     /* ngx_http_jpp_large_t: */
                                       /*   in order up to base, and from */
                                       /*   there once they are sorted */
    ngx_uint_t             n_pools;
    ngx_http_jpp_extent_t
                           base;
    ngx_uint_t             n_unnamed;  /* larges above base, of class OTHER */
    ngx_int_t              n_passed;   /* buffers that pipes have made, those */
    size_t                 passed_size;    /* of a request, each of this size */
    ngx_uint_t             n_left;     /* blocks and large allocations that */
                                       /*   may be counted in this visit */
    ngx_uint_t             n_looks;    /* at blocks, in chains */
    const ngx_pool_t      *rest;       /* whose list went on, */
    const ngx_pool_large_t
                          *cell;       /*   from here */
    uint32_t               owner;      /* of what is marked, or 0: of its */
                                       /*   pool's */
    uint32_t               module;     /* of what is marked, or 0 */
    unsigned               is_sorted:1;
    unsigned               has_rest:1; /* so what is not in larges may be in */
                                       /*   a list all the same */
} ngx_http_jpp_scope_t;


/* A server: what its connections refer to, and whose they are. */
typedef struct {
    const ngx_http_conf_ctx_t  *ctx;
    ngx_http_core_srv_conf_t   *cscf;
    uint32_t                    idle;  /* owner of idle connections, or 0 */
} ngx_http_jpp_server_t;


typedef struct ngx_http_jpp_rest_s  ngx_http_jpp_rest_t;
typedef struct ngx_http_jpp_walk_s  ngx_http_jpp_walk_t;

/* C shares the pool of ACCEPTED: count, for OWNER, what else it has. */
typedef void (*ngx_http_jpp_sharing_pt)(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *accepted, const ngx_connection_t *c,
    uint32_t owner);


/* A client's log, which the connections that it causes have, too. */
typedef struct {
    const ngx_log_t            *log;
    const ngx_pool_t           *pool;      /* that was counted with it */
    uint32_t                    slot;      /* of the client's connection */
    uint32_t                    owner;
    ngx_atomic_uint_t           number;    /* of the client's connection */
    ngx_http_jpp_sharing_pt
                                sharing;   /* or NULL */
} ngx_http_jpp_client_t;


/* Memory of the configuration; cell: of a large allocation, which may go. */
typedef struct {
    const u_char               *start;
    const u_char               *end;
    const ngx_pool_large_t     *cell;
} ngx_http_jpp_range_t;


/* What nobody has added to the table yet. */
typedef struct {
    uint32_t               owner;
    uint32_t               module;
    jpp_pools_class_t      class;
    uint64_t               objects;
    uint64_t               bytes;
    uint64_t               unused;
} ngx_http_jpp_sum_t;


struct ngx_http_jpp_walk_s {
    jpp_arena_t            arena;
    jpp_pools_t            table;
    const ngx_cycle_t     *cycle;      /* a reload of a single process ends */
                                       /*   the walk */
    unsigned               has_clients:1;  /* addresses, URIs are wanted */

    ngx_uint_t             phase;
    ngx_uint_t             next;       /* where the phase goes on, */
    ngx_http_jpp_config_t
                           config;     /*   in the configuration, */
    ngx_http_jpp_place_t
                           tree;       /*   in a tree of the caches */
    uint64_t               deadline;   /* of the slice, ns */
    ngx_uint_t             work;       /* since the clock was read */

    ngx_http_jpp_scope_t
                           scope;
    ngx_http_jpp_sum_t
                           sum;

    uint32_t               visit;      /* a connection each */
    ngx_http_jpp_rest_t
                          *rests;      /* the latest first */
    jpp_vec_t             *marks;      /* what is known of addresses in them */
    jpp_index_t            mark_index;

    ngx_http_jpp_server_t
                          *servers;
    jpp_index_t            server_index;
    ngx_http_jpp_server_t
                          *server;     /* the last that was looked up */
    jpp_vec_t             *clients;    /* ngx_http_jpp_client_t */
    jpp_index_t            client_index;
    jpp_vec_t             *ranges;     /* ngx_http_jpp_range_t */
    jpp_vec_t             *others;     /* uint32_t: slots to be seen last */
    jpp_vec_t             *fakes;      /* the same, without a descriptor; */
    jpp_index_t            fake_index; /*   by their logs */
    jpp_vec_t             *held;       /* jpp_ledger_range_t: where all that */
                                       /*   is counted lies; NULL: nobody */
                                       /*   asks */

    u_char                *is_counted; /* a bit for each slot: is it */
                                       /*   somebody's peer? */
    u_char                *is_free;    /* is it in the list of free ones? */
    unsigned               knows_free:1;   /* which was read in this slice */
};


/* A phase: NGX_OK: it is done; NGX_AGAIN: the slice is over. */
typedef ngx_int_t (*ngx_http_jpp_phase_pt)(ngx_http_jpp_walk_t *walk);


/* The allocator's size of P; 0 for NULL. */
size_t ngx_http_jpp_size(const void *p);

/* The time, ns, of a clock that nobody sets. */
uint64_t ngx_http_jpp_walk_clock(void);

/*
 * Is the slice over?  Work is counted in blocks, large allocations and such.
 * So is one that has no memory left.
 */
ngx_uint_t ngx_http_jpp_walk_is_over(ngx_http_jpp_walk_t *walk);

/* Is C in use? */
ngx_uint_t ngx_http_jpp_walk_is_used(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c);

/* The slot of C, or NGX_ERROR: it is none of the cycle's connections. */
ngx_int_t ngx_http_jpp_walk_slot(const ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c);

/* Add to the table what OWNER has, soon. */
void ngx_http_jpp_walk_add(ngx_http_jpp_walk_t *walk, uint32_t owner,
    jpp_pools_class_t class, uint32_t module, uint64_t objects, uint64_t bytes,
    uint64_t unused);

/* OWNER's SIZE bytes lie at P, for a ledger. */
void ngx_http_jpp_walk_hold(ngx_http_jpp_walk_t *walk, uint32_t owner,
    const void *p, size_t size);

/* Add it now. */
void ngx_http_jpp_walk_add_up(ngx_http_jpp_walk_t *walk);

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

/* As this process starts: remember what it has.  Returns its bytes. */
uint64_t ngx_http_jpp_config_init(const ngx_cycle_t *cycle);

/* A phase: count the pool, and learn its memory. */
ngx_int_t ngx_http_jpp_config_walk(ngx_http_jpp_walk_t *walk);

/* Are the LEN bytes at P the configuration's, now? */
ngx_uint_t ngx_http_jpp_config_has(const ngx_http_jpp_walk_t *walk,
    const void *p, size_t len);

/* C is in use, and has no descriptor: see it once it is proven. */
void ngx_http_jpp_fakes_postpone(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c);

/* A phase: those that a timer proves. */
ngx_int_t ngx_http_jpp_fakes_walk(ngx_http_jpp_walk_t *walk);

/* C, in use, with a pool, is a client's. */
void ngx_http_jpp_http_connection(ngx_http_jpp_walk_t *walk,
    ngx_connection_t *c);

/*
 * Connections with LOG are on behalf of C, and of OWNER; those that share POOL
 * have no other, but what SHARING counts, if it is not NULL.
 */
void ngx_http_jpp_others_client(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c, const ngx_log_t *log, const ngx_pool_t *pool,
    uint32_t owner, ngx_http_jpp_sharing_pt sharing);

/* PC is counted now, as somebody's peer; 0: it was already. */
ngx_uint_t ngx_http_jpp_others_count(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *pc);

/* C was not accepted: see it later. */
void ngx_http_jpp_others_postpone(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c);

/*
 * PC, whose request's data it has, is an upstream's: those that look like it
 * are, too, even if they were not there when their client was seen.
 */
void ngx_http_jpp_others_upstreams(const ngx_connection_t *pc);

/* C is a module's. */
void ngx_http_jpp_others_foreign(ngx_http_jpp_walk_t *walk,
    ngx_connection_t *c);

/* A phase: those that were postponed. */
ngx_int_t ngx_http_jpp_others_walk(ngx_http_jpp_walk_t *walk);

/* As this process starts: find their functions. */
void ngx_http_jpp_sessions_init(void);

/* Count C, in use, with a pool, if one of them accepted it; 0: none did. */
ngx_uint_t ngx_http_jpp_sessions_connection(ngx_http_jpp_walk_t *walk,
    ngx_connection_t *c);


#endif /* _NGX_HTTP_JPP_POOLS_WALK_H_INCLUDED_ */
