
#include "ngx_http_jpp_pools.h"
#include "ngx_http_jpp_pools_walk.h"
#include "ngx_http_jpp_self.h"

#include "jpp_pools_table.h"
#include "jpp_stats.h"


/* a table that is full takes less */
#define NGX_HTTP_JPP_WALK_CAP   (64 * 1024 * 1024)

/* so many free slots are as much work as a block */
#define NGX_HTTP_JPP_FREE       16

/* of a slice, ns: what comes after the last look at the clock is work, too */
#define NGX_HTTP_JPP_SLICE      700000


static void
ngx_http_jpp_walk_connection(ngx_http_jpp_walk_t *walk, ngx_connection_t *c)
{
    /* what listens has no pool, and channels have the configuration's */

    if (c->pool == NULL || c->pool == walk->cycle->pool) {
        return;
    }

#if (NGX_SSL)
    walk->table.facts.n_tls += c->ssl != NULL;
#endif

    if (c->fd == (ngx_socket_t) -1) {
        ngx_http_jpp_fakes_postpone(walk, c);

    } else if (c->listening == NULL) {
        ngx_http_jpp_others_postpone(walk, c);

    } else if (c->listening->handler == ngx_http_init_connection) {
        ngx_http_jpp_http_connection(walk, c);

    } else if (!ngx_http_jpp_sessions_connection(walk, c)) {
        ngx_http_jpp_others_foreign(walk, c);
    }
}


/*
 * Most slots are free, and each costs a line of the processor's cache: a walk
 * that sees all that are used in one slice, while nothing changes, is done.
 */

static ngx_int_t
ngx_http_jpp_walk_connections(ngx_http_jpp_walk_t *walk)
{
    ngx_uint_t          n_used, n_seen;
    ngx_connection_t   *c;
    const ngx_cycle_t  *cycle;

    cycle = walk->cycle;

    if (cycle->connections == NULL) {
        return NGX_OK;
    }

    /* in a later slice nobody knows how many are before this one */

    n_used = walk->next == 0 ? cycle->connection_n - cycle->free_connection_n
                             : cycle->connection_n;
    n_seen = 0;

    while (walk->next < cycle->connection_n && n_seen < n_used) {

        if (ngx_http_jpp_walk_is_over(walk)) {
            return NGX_AGAIN;
        }

        c = &cycle->connections[walk->next++];
        walk->work += walk->next % NGX_HTTP_JPP_FREE == 0;

        if (ngx_http_jpp_walk_is_used(walk, c)) {
            n_seen++;
            walk->work++;

            ngx_http_jpp_walk_connection(walk, c);
        }
    }

    return NGX_OK;
}


static const ngx_http_jpp_phase_pt  ngx_http_jpp_phases[] = {
    ngx_http_jpp_config_walk,
    ngx_http_jpp_walk_connections,
    ngx_http_jpp_fakes_walk,
    ngx_http_jpp_others_walk,
    ngx_http_jpp_caches_walk,
    ngx_http_jpp_slots_walk,
    NULL
};

/* what this process started with, in no pool */
static uint64_t  ngx_http_jpp_outside;


void
ngx_http_jpp_pools_init(const ngx_cycle_t *cycle)
{
    uint64_t  known, total;

    ngx_http_jpp_sessions_init();

    known = ngx_http_jpp_config_init(cycle) + ngx_http_jpp_slots_bytes(cycle);

    ngx_http_jpp_outside = jpp_stats_thread(&total) && total > known
                           ? total - known : 0;
}


ngx_int_t
ngx_http_jpp_pools_slice(ngx_http_jpp_reply_t *reply)
{
    ngx_int_t             rc;
    ngx_http_jpp_walk_t  *walk;

    rc = ngx_http_jpp_pools_walk(reply);

    if (rc == NGX_OK) {
        walk = reply->state;

        (void) jpp_pools_save(&walk->table, reply->file.fd, &reply->reply.err);
    }

    return rc;
}


static ngx_http_jpp_walk_t *
ngx_http_jpp_walk_create(ngx_http_jpp_reply_t *reply)
{
    size_t                      size;
    jpp_arena_t                *arena;
    ngx_http_jpp_walk_t        *walk;
    const jpp_message_pools_t  *wanted;

    walk = jpp_arena_object(sizeof(ngx_http_jpp_walk_t));
    if (walk == NULL) {
        return NULL;
    }

    reply->state = walk;

    arena = &walk->arena;
    wanted = &reply->question.pools;

    jpp_arena_init(arena, NGX_HTTP_JPP_WALK_CAP);

    walk->cycle = (const ngx_cycle_t *) ngx_cycle;
    walk->has_clients = wanted->has_clients;

    size = walk->cycle->connections != NULL
           ? walk->cycle->connection_n / 8 + 1 : 1;

    /* a ledger counts what it takes itself */

    arena->is_plain = reply->question.type == JPP_MESSAGE_LEDGER;

    walk->is_counted = jpp_arena_alloc(arena, size);
    walk->is_free = jpp_arena_alloc(arena, size);
    walk->scope.larges = jpp_vec_create(arena);
    walk->ranges = jpp_vec_create(arena);
    walk->others = jpp_vec_create(arena);

    if (arena->is_plain) {
        walk->held = jpp_vec_create(arena);
    }

    if (walk->is_counted == NULL || walk->is_free == NULL
        || walk->scope.larges == NULL || walk->ranges == NULL
        || walk->others == NULL
        || ngx_http_jpp_keyed_init(&walk->clients, arena,
                                   sizeof(ngx_http_jpp_client_t), 64)
           != NGX_OK
        || ngx_http_jpp_keyed_init(&walk->fakes, arena,
                                   sizeof(ngx_http_jpp_fake_t), 0)
           != NGX_OK
        || ngx_http_jpp_keyed_init(&walk->marks, arena,
                                   sizeof(ngx_http_jpp_mark_t), 0)
           != NGX_OK
        || !jpp_pools_init(&walk->table, arena, wanted->wants, wanted->top)
        || ngx_http_jpp_names_init(walk) != NGX_OK)
    {
        return NULL;
    }

    return walk;
}


/*
 * Until all phases are done, or the slice is over.  Rests come first: the fewer
 * pools are gone by then.
 */

static ngx_int_t
ngx_http_jpp_walk_go_on(ngx_http_jpp_walk_t *walk)
{
    ngx_uint_t              i, n;
    ngx_connection_t       *c;
    const ngx_cycle_t      *cycle;
    ngx_http_jpp_phase_pt   phase;

    walk->work = 0;
    walk->knows_free = 0;

    while (ngx_http_jpp_phases[walk->phase] != NULL) {

        if (ngx_http_jpp_rests_walk(walk) == NGX_AGAIN
            || ngx_http_jpp_phases[walk->phase](walk) == NGX_AGAIN)
        {
            if (walk->table.facts.reason == JPP_POOLS_WHOLE) {
                return NGX_AGAIN;
            }

            /* Without memory the rest is only counted. */

            ngx_http_jpp_rests_end(walk);

            cycle = walk->cycle;
            n = cycle->connections != NULL ? cycle->connection_n : 0;

            walk->knows_free = 0;

            phase = ngx_http_jpp_phases[walk->phase];

            /* from the slot after the last that was seen */

            for (i = phase == ngx_http_jpp_config_walk ? 0
                     : phase == ngx_http_jpp_walk_connections ? walk->next : n;
                 i < n;
                 i++)
            {
                c = &cycle->connections[i];

                walk->table.facts.n_missed +=
                    ngx_http_jpp_walk_is_used(walk, c) && c->pool != NULL
                    && c->pool != cycle->pool;
            }

            (void) ngx_http_jpp_slots_walk(walk);

            break;
        }

        walk->phase++;
        walk->next = 0;
    }

    return NGX_OK;
}


/* The total last: between slices nginx allocates and frees. */

static void
ngx_http_jpp_walk_facts(ngx_http_jpp_walk_t *walk)
{
    u_char             *last;
    ngx_uint_t          i;
    jpp_jemalloc_t      jemalloc;
    jpp_pools_facts_t  *facts;

    static const char *const  scripts[] = {
        "ngx_http_js_module", "ngx_stream_js_module", "ngx_http_perl_module"
    };

    facts = &walk->table.facts;

    jpp_jemalloc_read(&jemalloc);

    last = (u_char *) facts->allocator + JPP_POOLS_ALLOCATOR - 1;

    if (jemalloc.state == JPP_JEMALLOC_ABSENT) {
        facts->is_estimate = 1;
        *ngx_slprintf((u_char *) facts->allocator, last, "%s",
                      jemalloc.allocator) = '\0';

    } else {
        *ngx_slprintf((u_char *) facts->allocator, last, "jemalloc %s",
                      jemalloc.version) = '\0';
    }

    for (i = 0; i < sizeof(scripts) / sizeof(char *); i++) {
        facts->has_scripts |= ngx_http_jpp_names_has(walk, scripts[i]);
    }

    facts->outside_inherited = ngx_http_jpp_outside;
    facts->has_total = jpp_stats_thread(&facts->total);
}


ngx_int_t
ngx_http_jpp_pools_walk(ngx_http_jpp_reply_t *reply)
{
    uint64_t              start, nanos;
    ngx_int_t             rc;
    jpp_pools_facts_t    *facts;
    ngx_http_jpp_walk_t  *walk;

    start = jpp_clock();

    walk = reply->state != NULL ? reply->state
                                : ngx_http_jpp_walk_create(reply);
    if (walk == NULL) {
        (void) jpp_err_memory(&reply->reply.err);
        return NGX_ERROR;
    }

    /* a single process that was reloaded has another configuration now */

    if (walk->cycle != ngx_cycle) {
        (void) jpp_err_set(&reply->reply.err, JPP_ERR_GONE,
                           "its configuration was replaced meanwhile: try "
                           "again");
        return NGX_ERROR;
    }

    walk->deadline = start + NGX_HTTP_JPP_SLICE;

    rc = ngx_http_jpp_walk_go_on(walk);

    facts = &walk->table.facts;
    nanos = jpp_clock() - start;

    facts->n_slices++;
    facts->nanos += nanos;
    facts->longest_nanos = ngx_max(facts->longest_nanos, nanos);

    if (rc == NGX_OK) {
        ngx_http_jpp_walk_facts(walk);
    }

    return rc;
}


void
ngx_http_jpp_pools_release(ngx_http_jpp_reply_t *reply)
{
    ngx_http_jpp_walk_t  *walk;

    walk = reply->state;

    if (walk != NULL) {
        ngx_http_jpp_rests_end(walk);

        jpp_arena_destroy(&walk->arena);
        jpp_arena_object_destroy(walk);

        reply->state = NULL;
    }
}
