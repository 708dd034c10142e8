
/*
 * The scan of this worker's pools, the answer to a question for pools: runs in
 * slices on the event loop, fills a table, and writes it to the reply's file.
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
 * - A pool that is too large for a slice says itself when it goes (rests).
 *
 * A walk takes no memory but its arena's, and nothing from malloc() or a pool.
 */


#ifndef _NGX_HTTP_JPP_POOLS_H_INCLUDED_
#define _NGX_HTTP_JPP_POOLS_H_INCLUDED_


#include "ngx_http_jpp_ask.h"


/* pools in scope at once: of a connection, HTTP/2, a request, its upstreams */
#define NGX_HTTP_JPP_SCOPE  8


/* A large allocation of a pool in scope, or memory of the configuration. */
typedef struct {
    const u_char          *start;
    void *const           *cell;       /* where the pool itself has start; */
                                       /*   NULL: in a block, which stays */
    size_t                 size;       /* of an allocation the allocator's */
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
    ngx_http_jpp_extent_t  base;
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


/* A server, by what its connections refer to. */
typedef struct {
    const ngx_http_conf_ctx_t  *ctx;
    ngx_http_core_srv_conf_t   *cscf;
} ngx_http_jpp_server_t;


/* Whose memory in no pool is. */
typedef struct {
    jpp_outside_t          owner;
    uint64_t               all;        /* bytes in no pool then; 0: nobody */
                                       /*   has looked */
    ngx_msec_t             at;
} ngx_http_jpp_outside_t;


typedef struct ngx_http_jpp_rest_s  ngx_http_jpp_rest_t;
typedef struct ngx_http_jpp_walk_s  ngx_http_jpp_walk_t;

/* The last owner of a kind: connections of a server often follow each other. */
typedef struct {
    const void                 *cscf;      /* compared only */
    const void                 *loc_conf;
    uint32_t                    third;
    uint32_t                    owner;
} ngx_http_jpp_last_t;


/* A client's log, which the connections that it causes have, too. */
typedef struct {
    const ngx_log_t            *log;
    const ngx_pool_t           *pool;      /* that was counted with it */
    uint32_t                    slot;      /* of the client's connection */
    uint32_t                    owner;
    ngx_atomic_uint_t           number;    /* of the client's connection */
    ngx_uint_t                  is_mail;   /* see sessions_auth() */
} ngx_http_jpp_client_t;


/* A connection without a descriptor, by its log. */
typedef struct {
    const ngx_log_t            *log;
    uint32_t                    slot;
} ngx_http_jpp_fake_t;


/* What is known of an address in a rest. */
typedef struct {
    const void            *p;
    uint32_t               visit;
    uint32_t               owner;      /* 0: its pool's */
    uint32_t               module;
    jpp_pools_class_t      class;
} ngx_http_jpp_mark_t;


/* Items that begin with a pointer, their key, which is compared only. */
typedef struct {
    jpp_vec_t                  *items;
    jpp_index_t                 index;
    size_t                      size;
} ngx_http_jpp_keyed_t;


struct ngx_http_jpp_walk_s {
    jpp_arena_t            arena;
    jpp_pools_t            table;
    const ngx_cycle_t     *cycle;      /* a reload of a single process ends */
                                       /*   the walk */
    unsigned               has_clients:1;  /* addresses, URIs are wanted */
    ngx_http_jpp_outside_t
                           outside;

    ngx_uint_t             phase;
    ngx_uint_t             slot;       /* the first that was not seen */
    ngx_uint_t             next;       /* where the phase goes on, */
    ngx_http_jpp_place_t
                           tree;       /*   in a tree */
    uint64_t               deadline;   /* of the slice, ns */
    ngx_uint_t             work;       /* since the clock was read */

    ngx_http_jpp_scope_t   scope;

    uint32_t               visit;      /* a connection each */
    ngx_http_jpp_rest_t   *rests;      /* the latest first */
    ngx_http_jpp_keyed_t   marks;      /* what is known of addresses in them */
    ngx_http_jpp_keyed_t   servers;    /* ngx_http_jpp_server_t */
    const void            *found_by;   /* the last context, compared only, */
    ngx_http_core_srv_conf_t
                          *found;      /*   and its server */
    ngx_http_jpp_last_t    last[JPP_POOLS_KINDS];
    ngx_http_jpp_keyed_t   clients;    /* ngx_http_jpp_client_t */
    ngx_http_jpp_keyed_t   fakes;      /* ngx_http_jpp_fake_t */
    jpp_vec_t             *known;      /* ngx_http_jpp_large_t: all of the */
                                       /*   configuration */
    jpp_vec_t             *others;     /* uint32_t: slots to be seen last */
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

/*
 * For a ledger: the SIZE bytes at START are of KIND, and perhaps of a name.
 * NULL: without memory, what lies there has its bytes, and no place.
 */
jpp_ledger_range_t *ngx_http_jpp_walk_range(ngx_http_jpp_walk_t *walk,
    jpp_ledger_kind_t kind, uint64_t start, uint64_t size);

/* The SIZE bytes at P are OWNER's, if a ledger is wanted. */
void ngx_http_jpp_walk_hold(ngx_http_jpp_walk_t *walk, uint32_t owner,
    const void *p, size_t size);

/* The same, and add it to the table. */
void ngx_http_jpp_walk_add(ngx_http_jpp_walk_t *walk, uint32_t owner,
    jpp_pools_class_t class, uint32_t module, const void *p, size_t size,
    size_t unused);

/* No items of SIZE bytes, with room for N; NGX_ERROR: no memory. */
ngx_int_t ngx_http_jpp_keyed_init(ngx_http_jpp_keyed_t *keyed,
    jpp_arena_t *arena, size_t size, uint32_t n);

/* A new item with KEY; NULL: no memory. */
void *ngx_http_jpp_keyed_add(ngx_http_jpp_keyed_t *keyed, const void *key);

/* [signal] The next item with KEY, or NULL; *POS starts as 0. */
void *ngx_http_jpp_keyed_next(const ngx_http_jpp_keyed_t *keyed,
    const void *key, uint32_t *pos);

/* Order N LARGES by their addresses; and find that which P lies in, or NULL. */
void ngx_http_jpp_larges_sort(ngx_http_jpp_large_t *larges, size_t n);
ngx_http_jpp_large_t *ngx_http_jpp_larges_find(ngx_http_jpp_large_t *larges,
    size_t n, const void *p);

typedef void (*ngx_http_jpp_node_pt)(ngx_http_jpp_walk_t *walk,
    ngx_rbtree_node_t *node);

/* SEE each node of TREE, which nginx may change between slices. */
ngx_int_t ngx_http_jpp_tree_walk(ngx_http_jpp_walk_t *walk, ngx_rbtree_t *tree,
    ngx_http_jpp_node_pt see);

/* The bytes of the connection slots, which a process takes as it starts. */
uint64_t ngx_http_jpp_slots_bytes(const ngx_cycle_t *cycle);

/* Phases. */
ngx_int_t ngx_http_jpp_caches_walk(ngx_http_jpp_walk_t *walk);
ngx_int_t ngx_http_jpp_slots_walk(ngx_http_jpp_walk_t *walk);

/* As this process starts: remember what it has.  Returns its bytes. */
uint64_t ngx_http_jpp_config_init(const ngx_cycle_t *cycle);

/* Phases: count the pool, whose rest is all of it; then it is known. */
ngx_int_t ngx_http_jpp_config_walk(ngx_http_jpp_walk_t *walk);
ngx_int_t ngx_http_jpp_config_known(ngx_http_jpp_walk_t *walk);

/* Are the LEN bytes at P the configuration's, now? */
ngx_uint_t ngx_http_jpp_config_has(const ngx_http_jpp_walk_t *walk,
    const void *p, size_t len);

/* As this process starts: find the functions of other modules. */
void ngx_http_jpp_connections_init(void);

/* A phase: those in use, or a list of those to be seen later (others). */
ngx_int_t ngx_http_jpp_connections_walk(ngx_http_jpp_walk_t *walk);

/*
 * Connections with LOG are on behalf of C, and of OWNER; those that share POOL
 * have no other, except where C IS_MAIL.
 */
void ngx_http_jpp_others_client(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c, const ngx_log_t *log, const ngx_pool_t *pool,
    uint32_t owner, ngx_uint_t is_mail);

/* Count, for OWNER, what C, with the pool of ACCEPTED, asks auth_http with. */
void ngx_http_jpp_sessions_auth(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *accepted, const ngx_connection_t *c,
    uint32_t owner);

/* PC is counted now, as somebody's peer; 0: it was already. */
ngx_uint_t ngx_http_jpp_others_count(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *pc);

/* C was not accepted, or has no descriptor: see it later. */
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

/* Phases: those without a descriptor that a timer proves, and the others. */
ngx_int_t ngx_http_jpp_fakes_walk(ngx_http_jpp_walk_t *walk);
ngx_int_t ngx_http_jpp_others_walk(ngx_http_jpp_walk_t *walk);


/* ngx_http_jpp_pools_names.c */

/* Learn the servers of CYCLE, in memory of ARENA; NGX_ERROR: no memory. */
ngx_int_t ngx_http_jpp_servers_init(ngx_http_jpp_keyed_t *servers,
    const ngx_cycle_t *cycle, jpp_arena_t *arena);

/* [signal] The server that has CTX, which may be any pointer, or NULL. */
ngx_http_core_srv_conf_t *ngx_http_jpp_servers_find(
    const ngx_http_jpp_keyed_t *servers, const void *ctx);

/* What CSCF is called: its first name, or where it is written, in TEXT. */
ngx_str_t ngx_http_jpp_server_text(const ngx_http_core_srv_conf_t *cscf,
    u_char text[JPP_POOLS_NAME]);

/* What USCF is called, in TEXT: a name, or an address, perhaps with a port. */
ngx_str_t ngx_http_jpp_upstream_text(const ngx_http_upstream_srv_conf_t *uscf,
    u_char text[JPP_POOLS_NAME]);

/* NULL: found at run time. */
uint32_t ngx_http_jpp_name_upstream(ngx_http_jpp_walk_t *walk,
    const ngx_http_upstream_srv_conf_t *uscf);

/* The owner of KIND of CSCF, which may be NULL: unknown. */
uint32_t ngx_http_jpp_owner_server(ngx_http_jpp_walk_t *walk,
    jpp_pools_kind_t kind, const ngx_http_core_srv_conf_t *cscf);

/* The owner of KIND, with the server and the location that R has. */
uint32_t ngx_http_jpp_owner_of(ngx_http_jpp_walk_t *walk,
    jpp_pools_kind_t kind, const ngx_http_request_t *r, uint32_t third);

/*
 * The owner of what R has for its upstream; 0: while the body is read there is
 * none yet.
 */
uint32_t ngx_http_jpp_owner_upstream(ngx_http_jpp_walk_t *walk,
    const ngx_http_request_t *r);

/* The HTTP module at TAG, or with context INDEX; 0: there is none. */
uint32_t ngx_http_jpp_name_module(ngx_http_jpp_walk_t *walk, const void *tag,
    ngx_uint_t index);


/* ngx_http_jpp_pools_scope.c */

/* A visit begins, with a scope of nothing but POOL, which is alive. */
void ngx_http_jpp_scope_open(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool);

/* From now on memory of POOL, which is alive, may be looked at. */
void ngx_http_jpp_scope_push(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool);

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

/* What P points to: a structure of that type. */
#define ngx_http_jpp_in_scope(walk, p)                                        \
    ngx_http_jpp_scope_has(walk, p, sizeof(*(p)))

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


/*
 * Count POOL, in scope or not, for OWNER: its blocks at once, its large
 * allocations at the next flush.  Those of a pool that has too many for a slice
 * are a rest (rests).
 */
void ngx_http_jpp_count_pool(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool,
    uint32_t owner);

/*
 * The same in two steps, where the owner depends on what is in POOL: its large
 * allocations come into scope, and are OWNER's as soon as that is known.
 */
void ngx_http_jpp_count_larges(ngx_http_jpp_walk_t *walk,
    const ngx_pool_t *pool);
void ngx_http_jpp_count_claim(ngx_http_jpp_walk_t *walk, ngx_pool_t *pool,
    uint32_t owner);

/*
 * Add all large allocations that were counted, under the class that they were
 * marked with.  They stay in scope, under what comes.
 */
void ngx_http_jpp_count_flush(ngx_http_jpp_walk_t *walk);


/*
 * The open unit ends, but has rests: fill in what is expensive to find out, and
 * it is ended with the last of them.  NULL: it has none.
 */
jpp_pools_unit_t *ngx_http_jpp_rests_park(ngx_http_jpp_walk_t *walk);

/* NGX_OK: all are counted; NGX_AGAIN: the slice is over. */
ngx_int_t ngx_http_jpp_rests_walk(ngx_http_jpp_walk_t *walk);

/* Count no more: their units end as they are, and their pools forget them. */
void ngx_http_jpp_rests_end(ngx_http_jpp_walk_t *walk);


/* ngx_http_jpp_pools_units.c */

/*
 * The unit of OWNER ends (jpp_pools_begin()): if it is kept, it has what C, in
 * use, and R, which is in scope, or NULL, are and do.
 */
void ngx_http_jpp_unit_end(ngx_http_jpp_walk_t *walk, uint32_t owner,
    const ngx_connection_t *c, ngx_http_request_t *r);


/* ngx_http_jpp_pools_requests.c */

/* A client's; HC may be any pointer. */
void ngx_http_jpp_buffers_connection(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c, const ngx_http_connection_t *hc);

/* One to an upstream. */
void ngx_http_jpp_buffers_tls(ngx_http_jpp_walk_t *walk,
    const ngx_connection_t *c);

/*
 * R is alive, and its client's pools are in scope.  C is the connection that
 * nginx accepted: for HTTP/2, R has another one.
 */
void ngx_http_jpp_request_count(ngx_http_jpp_walk_t *walk, ngx_connection_t *c,
    ngx_http_request_t *r);

/* Is R, which may be any pointer that is not free, the request of C? */
ngx_uint_t ngx_http_jpp_request_is_of(const ngx_http_request_t *r,
    const ngx_connection_t *c);

/* That of HC, which may be any pointer, if it is in scope; or NULL. */
ngx_http_core_srv_conf_t *ngx_http_jpp_request_server(
    ngx_http_jpp_walk_t *walk, const ngx_http_connection_t *hc);


/* As this process starts: what it has inherited. */
void ngx_http_jpp_pools_init(const ngx_cycle_t *cycle);

/*
 * A slice of the walk that answers REPLY's question: NGX_OK: its state is the
 * walk, which is done.
 */
ngx_int_t ngx_http_jpp_pools_walk(ngx_http_jpp_reply_t *reply);

/* The end of it. */
void ngx_http_jpp_pools_release(ngx_http_jpp_reply_t *reply);

/*
 * For tests: called with each pool that a walk counts, and the owner that it
 * has in the table.  NULL: nobody looks.
 */
extern void  (*ngx_http_jpp_pool_seen)(const ngx_pool_t *pool,
    const jpp_pools_t *table, uint32_t owner);


#endif /* _NGX_HTTP_JPP_POOLS_H_INCLUDED_ */
