
/*
 * The truth about pools: a table of all that live, kept by nginx itself, to
 * hold against what the module's walk says.
 *
 * patch.pl puts this into a copy of nginx's sources.  It knows nothing of the
 * walk and of its rules: a pool is entered where it is created, its kind and
 * owner are noted at the lines where nginx decides them, and it is struck out
 * where it is destroyed.  The table is in pages of its own, outside the heap,
 * and a fork takes it along as it takes the pools.
 *
 * ngx_http_truth_module.c compares.
 */


#ifndef _NGX_TRUTH_H_INCLUDED_
#define _NGX_TRUTH_H_INCLUDED_


#define NGX_TRUTH_OTHER          0
#define NGX_TRUTH_CONFIGURATION  1
#define NGX_TRUTH_CLIENT         2
#define NGX_TRUTH_REQUEST        3
#define NGX_TRUTH_H2             4
#define NGX_TRUTH_H2_HEADERS     5
#define NGX_TRUTH_H3             6
#define NGX_TRUTH_UPSTREAM       7
#define NGX_TRUTH_KEEPALIVE      8
#define NGX_TRUTH_STREAM         9
#define NGX_TRUTH_MAIL           10
#define NGX_TRUTH_ASIDE          11
#define NGX_TRUTH_AUTH           12
#define NGX_TRUTH_KINDS          13


typedef struct {
    ngx_pool_t               *pool;
    const char               *creator;
    void                     *caller;
    ngx_uint_t                kind;

    /* the arrays of a server and a location; an upstream or a socket */

    void                    **srv_conf;
    void                    **loc_conf;
    void                     *third;

    /* that of the main request, of a peer */

    ngx_pool_t               *main;

    /* moments of ngx_truth_now: of the birth, and of the last change */

    ngx_uint_t                born;
    ngx_uint_t                changed;

    /* the walk that found it last */

    ngx_uint_t                found;
} ngx_truth_pool_t;


/* ngx_palloc.c calls these where a pool begins and ends. */

void ngx_truth_born(ngx_pool_t *pool, void *caller);
void ngx_truth_died(ngx_pool_t *pool);


/* Notes the function that has just created POOL, and passes it on. */

ngx_pool_t *ngx_truth_creator(ngx_pool_t *pool, const char *creator);


/*
 * What POOL is for from now on.  A NULL among the owners is that nginx knows
 * of none.
 */

void ngx_truth_is(ngx_pool_t *pool, ngx_uint_t kind, void **srv_conf,
    void **loc_conf, void *third);


/* A new owner of a pool that stays of its kind. */

void ngx_truth_owner(ngx_pool_t *pool, void **srv_conf, void **loc_conf);


/*
 * An assignment to r->srv_conf or r->loc_conf has just been made.  That of a
 * subrequest moves nothing: it lives in the pool of its main request.  The
 * connection of HTTP/1 and 3 is its request's as long as there is one.
 */

#define ngx_truth_request(r)                                                  \
    do {                                                                      \
        if ((r)->main == (r)) {                                               \
            ngx_truth_owner((r)->pool, (r)->srv_conf, (r)->loc_conf);         \
                                                                              \
            if ((r)->stream == NULL) {                                        \
                ngx_truth_owner((r)->connection->pool, (r)->srv_conf, NULL);  \
                                                                              \
            } else if ((r)->stream->pool != NULL) {                           \
                ngx_truth_owner((r)->stream->pool, (r)->srv_conf, NULL);      \
            }                                                                 \
        }                                                                     \
    } while (0)


/*
 * The pool of a connection to an upstream.  A subrequest in the background is
 * referred to by nobody, and one that a module waits for perhaps by that alone:
 * what these cause may count for their main request.
 */

#define ngx_truth_peer(own, r, upstream)                                      \
    do {                                                                      \
        ngx_truth_is(own, (r)->background                                     \
                     || ((r)->post_subrequest != NULL                         \
                         && ngx_truth_is_foreign(                             \
                              (void *) (r)->post_subrequest->handler))        \
                     ? NGX_TRUTH_ASIDE : NGX_TRUTH_UPSTREAM,                  \
                     (r)->srv_conf, (r)->loc_conf, upstream);                 \
        ngx_truth_find(own)->main = (r)->main->pool;                          \
    } while (0)


/* Is CODE of another file than nginx's own? */

ngx_uint_t ngx_truth_is_foreign(void *code);


/* Whether the first shutdown of a TLS connection is to be put off. */

extern ngx_uint_t  ngx_truth_again;


/* The moment, which every birth and change moves on. */

extern ngx_uint_t  ngx_truth_now;


/* The entry of a pool that lives, or NULL. */

ngx_truth_pool_t *ngx_truth_find(ngx_pool_t *pool);


/* Calls SEE for each pool that lives. */

void ngx_truth_each(void (*see)(ngx_truth_pool_t *entry, void *data),
    void *data);


/* A macro does not expand in itself: the function is called. */

#define ngx_create_pool(size, log)                                            \
    ngx_truth_creator(ngx_create_pool(size, log), __func__)


#endif /* _NGX_TRUTH_H_INCLUDED_ */
