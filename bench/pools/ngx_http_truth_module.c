
/*
 * Holds the walk against the truth: walks each worker every 10 ms, looks up
 * what it says of each pool, and what it says nothing of.
 *
 * The counts are in memory that all workers share, of every generation.  The
 * master writes them to the file $TRUTH_REPORT as it exits.
 *
 * Where $TRUTH_ASK is set there is no storm: as soon as that file is there, a
 * worker walks once, and in the same event writes what the walk found to
 * $TRUTH_ASK.rows and jemalloc's profile to $TRUTH_ASK.heap.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_http.h>

#include "ngx_http_jpp_pools.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>


#define NGX_HTTP_TRUTH_ROWS    512
#define NGX_HTTP_TRUTH_PERIOD  10

/* a set of kinds */
#define NGX_HTTP_TRUTH_IS(kind)  (1 << (kind))


typedef enum {
    NGX_HTTP_TRUTH_FOUND = 0,
    NGX_HTTP_TRUTH_MISSED,
    NGX_HTTP_TRUTH_MOVED,
    NGX_HTTP_TRUTH_FALSE,
    NGX_HTTP_TRUTH_TWICE,
    NGX_HTTP_TRUTH_KIND,
    NGX_HTTP_TRUTH_OWNED,
    NGX_HTTP_TRUTH_NOBODY,
    NGX_HTTP_TRUTH_OWNER,
    NGX_HTTP_TRUTH_VERDICTS
} ngx_http_truth_verdict_t;


/* A kind of the truth, and those that the walk may take it for. */

typedef struct {
    const char                *name;
    ngx_uint_t                 may_be;
} ngx_http_truth_kind_t;


/* How often something was seen of pools that this creator made. */

typedef struct {
    ngx_http_truth_verdict_t   verdict;
    char                       creator[64];
    char                       said[256];
    uint64_t                   count;
} ngx_http_truth_row_t;


typedef struct {
    ngx_atomic_t               lock;
    uint64_t                   walks;
    uint64_t                   slices;
    uint64_t                   counts[NGX_HTTP_TRUTH_VERDICTS]
                                     [NGX_TRUTH_KINDS];
    ngx_uint_t                 nrows;
    ngx_http_truth_row_t       rows[NGX_HTTP_TRUTH_ROWS];
} ngx_http_truth_shared_t;


static ngx_int_t ngx_http_truth_preconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_http_truth_init_process(ngx_cycle_t *cycle);
static void ngx_http_truth_exit_master(ngx_cycle_t *cycle);

static void ngx_http_truth_timer(ngx_event_t *ev);
static ngx_int_t ngx_http_truth_begin(void);
static void ngx_http_truth_next(ngx_event_t *ev);
static ngx_int_t ngx_http_truth_slice(void);
static void ngx_http_truth_done(void);
static void ngx_http_truth_end(void);
static void ngx_http_truth_see(ngx_truth_pool_t *entry, void *data);

static void ngx_http_truth_found(const ngx_pool_t *pool,
    const jpp_pools_t *table, uint32_t owner);
static void ngx_http_truth_owner(ngx_truth_pool_t *entry,
    const jpp_pools_t *table, const jpp_pools_owner_t *owner);
static void ngx_http_truth_words(ngx_truth_pool_t *entry,
    const jpp_pools_t *table, const jpp_pools_owner_t *owner, char *said,
    size_t size);
static ngx_http_truth_verdict_t ngx_http_truth_name(const jpp_pools_t *table,
    const void *key, const ngx_str_t *name, uint32_t id);
static void ngx_http_truth_count(ngx_http_truth_verdict_t verdict,
    ngx_truth_pool_t *entry, const char *said);
static void ngx_http_truth_creator(ngx_truth_pool_t *entry, char *name,
    size_t size);

static void ngx_http_truth_answer(void);
static void ngx_http_truth_rows(const jpp_pools_t *table, const char *path);
static void ngx_http_truth_broken(const char *what);


static const ngx_http_truth_kind_t  ngx_http_truth_kinds[NGX_TRUTH_KINDS] = {

    /* what modules create may be any connection, or somebody's */

    { "other", NGX_HTTP_TRUTH_IS(JPP_POOLS_MODULE_CONNECTION)
               |NGX_HTTP_TRUTH_IS(JPP_POOLS_REQUEST)
               |NGX_HTTP_TRUTH_IS(JPP_POOLS_STREAM)
               |NGX_HTTP_TRUTH_IS(JPP_POOLS_MAIL) },

    { "configuration", NGX_HTTP_TRUTH_IS(JPP_POOLS_CONFIGURATION) },
    { "client connection", NGX_HTTP_TRUTH_IS(JPP_POOLS_CLIENT_CONNECTION)
                           |NGX_HTTP_TRUTH_IS(JPP_POOLS_CLOSING) },
    { "request", NGX_HTTP_TRUTH_IS(JPP_POOLS_REQUEST) },
    { "http2 connection", NGX_HTTP_TRUTH_IS(JPP_POOLS_HTTP2)
                          |NGX_HTTP_TRUTH_IS(JPP_POOLS_CLOSING) },
    { "http2 stream headers", NGX_HTTP_TRUTH_IS(JPP_POOLS_HTTP2_HEADERS) },
    { "http3", NGX_HTTP_TRUTH_IS(JPP_POOLS_HTTP3) },
    { "upstream", NGX_HTTP_TRUTH_IS(JPP_POOLS_UPSTREAM) },
    { "keepalive", NGX_HTTP_TRUTH_IS(JPP_POOLS_KEEPALIVE) },
    { "stream session", NGX_HTTP_TRUTH_IS(JPP_POOLS_STREAM) },
    { "mail session", NGX_HTTP_TRUTH_IS(JPP_POOLS_MAIL) },
    { "upstream, aside", NGX_HTTP_TRUTH_IS(JPP_POOLS_REQUEST)
                         |NGX_HTTP_TRUTH_IS(JPP_POOLS_UPSTREAM) },
    { "mail's auth_http", NGX_HTTP_TRUTH_IS(JPP_POOLS_MAIL) }
};


static const char  *ngx_http_truth_verdicts[] = {
    "found", "missed", "moved", "false", "twice", "kind", "owned", "nobody",
    "owner"
};


static ngx_http_truth_shared_t         *ngx_http_truth_shared;
static const char                      *ngx_http_truth_report;
static const char                      *ngx_http_truth_ask;
static ngx_event_t                      ngx_http_truth_event;
static ngx_connection_t                 ngx_http_truth_connection;

/* the walk of this worker that is under way, or its last */
static ngx_event_t           ngx_http_truth_posted;
static ngx_http_jpp_reply_t  ngx_http_truth_reply;
static const jpp_pools_t               *ngx_http_truth_table;
static ngx_uint_t                       ngx_http_truth_walks;
static ngx_uint_t                       ngx_http_truth_begun;
static ngx_uint_t                       ngx_http_truth_is_busy;


static ngx_http_module_t  ngx_http_truth_module_ctx = {
    ngx_http_truth_preconfiguration,       /* preconfiguration */
    NULL,                                  /* postconfiguration */

    NULL,                                  /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    NULL,                                  /* create location configuration */
    NULL                                   /* merge location configuration */
};


ngx_module_t  ngx_http_truth_module = {
    NGX_MODULE_V1,
    &ngx_http_truth_module_ctx,            /* module context */
    NULL,                                  /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    ngx_http_truth_init_process,           /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    NULL,                                  /* exit process */
    ngx_http_truth_exit_master,            /* exit master */
    NGX_MODULE_V1_PADDING
};


/* The master keeps the counts over all reloads. */

static ngx_int_t
ngx_http_truth_preconfiguration(ngx_conf_t *cf)
{
    void  *p;

    if (ngx_http_truth_shared != NULL) {
        return NGX_OK;
    }

    p = mmap(NULL, sizeof(ngx_http_truth_shared_t), PROT_READ|PROT_WRITE,
             MAP_SHARED|MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        return NGX_ERROR;
    }

    ngx_http_truth_shared = p;
    ngx_http_truth_report = getenv("TRUTH_REPORT");
    ngx_http_truth_ask = getenv("TRUTH_ASK");

    return NGX_OK;
}


static ngx_int_t
ngx_http_truth_init_process(ngx_cycle_t *cycle)
{
    ngx_event_t  *ev;

    if (ngx_process != NGX_PROCESS_WORKER
        || (ngx_http_truth_report == NULL && ngx_http_truth_ask == NULL))
    {
        return NGX_OK;
    }

    ngx_http_truth_posted.handler = ngx_http_truth_next;
    ngx_http_truth_posted.log = cycle->log;

    ngx_http_truth_connection.fd = -1;

    ev = &ngx_http_truth_event;
    ev->handler = ngx_http_truth_timer;
    ev->data = &ngx_http_truth_connection;
    ev->log = cycle->log;
    ev->cancelable = 1;

    ngx_add_timer(ev, NGX_HTTP_TRUTH_PERIOD);

    return NGX_OK;
}


static void
ngx_http_truth_timer(ngx_event_t *ev)
{
    if (ngx_http_truth_ask != NULL) {
        ngx_http_truth_answer();

    } else if (!ngx_http_truth_is_busy && ngx_http_truth_begin() == NGX_OK) {
        ngx_http_truth_is_busy = 1;
        ngx_post_event(&ngx_http_truth_posted, &ngx_posted_next_events);
    }

    ngx_add_timer(ev, NGX_HTTP_TRUTH_PERIOD);
}


/* Every walk wants something else shown: nothing, requests, connections. */

static ngx_int_t
ngx_http_truth_begin(void)
{
    jpp_message_pools_t   *wanted;
    ngx_http_jpp_reply_t  *reply;

    reply = &ngx_http_truth_reply;
    ngx_memzero(reply, sizeof(ngx_http_jpp_reply_t));

    wanted = &reply->question.pools;
    wanted->wants = ngx_http_truth_walks % JPP_POOLS_WANTS;
    wanted->top = 20;
    wanted->has_clients = ngx_http_truth_walks % 2;

    if (jpp_memfd_open(&reply->file, NULL, &reply->reply.err) != JPP_OK) {
        return NGX_ERROR;
    }

    ngx_http_truth_walks++;
    ngx_http_truth_begun = ++ngx_truth_now;
    ngx_http_truth_table = NULL;

    return NGX_OK;
}


/* Slices of clients' walks come between these. */

static void
ngx_http_truth_next(ngx_event_t *ev)
{
    if (ngx_http_truth_slice() == NGX_AGAIN) {
        ngx_post_event(ev, &ngx_posted_next_events);
        return;
    }

    ngx_http_truth_done();
}


static ngx_int_t
ngx_http_truth_slice(void)
{
    ngx_int_t              rc;
    ngx_http_jpp_walk_t   *walk;
    ngx_http_jpp_reply_t  *reply;

    (void) __sync_fetch_and_add(&ngx_http_truth_shared->slices, 1);

    reply = &ngx_http_truth_reply;

    /* the walks of clients, between these slices, are theirs */

    ngx_http_jpp_pool_seen = ngx_http_truth_found;
    rc = ngx_http_jpp_pools_walk(reply);
    ngx_http_jpp_pool_seen = NULL;

    if (rc == NGX_OK) {
        walk = reply->state;
        (void) jpp_pools_save(&walk->table, reply->file.fd, &reply->reply.err);
    }

    return rc;
}


static void
ngx_http_truth_done(void)
{
    ngx_http_truth_is_busy = 0;

    if (ngx_http_truth_reply.reply.err.code != JPP_OK) {
        ngx_http_truth_count(NGX_HTTP_TRUTH_FALSE, NULL,
                             ngx_http_truth_reply.reply.err.text);
    }

    ngx_truth_each(ngx_http_truth_see, NULL);
    (void) __sync_fetch_and_add(&ngx_http_truth_shared->walks, 1);

    ngx_http_truth_end();
}


static void
ngx_http_truth_end(void)
{
    ngx_http_jpp_pools_release(&ngx_http_truth_reply);
    jpp_memfd_close(&ngx_http_truth_reply.file);
}


/*
 * A walk of several slices is only held against pools that lived, and were of
 * one kind and owner, from its beginning to its end.
 */

static void
ngx_http_truth_see(ngx_truth_pool_t *entry, void *data)
{
    if (entry->born > ngx_http_truth_begun) {
        return;
    }

    if (entry->found == ngx_http_truth_walks) {
        ngx_http_truth_count(NGX_HTTP_TRUTH_FOUND, entry, "");

    } else if (entry->changed > ngx_http_truth_begun) {
        ngx_http_truth_count(NGX_HTTP_TRUTH_MOVED, entry, "");

    } else {
        ngx_http_truth_count(NGX_HTTP_TRUTH_MISSED, entry,
                             ngx_http_truth_kinds[entry->kind].name);
    }
}


static void
ngx_http_truth_found(const ngx_pool_t *pool, const jpp_pools_t *table,
    uint32_t owner)
{
    const char                *is;
    char                       said[256];
    ngx_truth_pool_t          *entry;
    const jpp_pools_owner_t   *of;

    ngx_http_truth_table = table;

    entry = ngx_truth_find((ngx_pool_t *) pool);

    if (entry == NULL || owner == 0) {
        ngx_http_truth_count(NGX_HTTP_TRUTH_FALSE, entry,
                             owner == 0 ? "no owner" : "no pool");
        return;
    }

    of = jpp_pools_owner_at(table, owner);
    is = ngx_http_truth_kinds[entry->kind].name;

    if (entry->found == ngx_http_truth_walks) {
        snprintf(said, sizeof(said), "%s: the last time as kind %u", is,
                 (unsigned) of->kind);
        ngx_http_truth_count(NGX_HTTP_TRUTH_TWICE, entry, said);
    }

    entry->found = ngx_http_truth_walks;

    if (entry->changed > ngx_http_truth_begun) {
        ngx_http_truth_count(NGX_HTTP_TRUTH_MOVED, entry, "");
        return;
    }

    if ((ngx_http_truth_kinds[entry->kind].may_be
         & NGX_HTTP_TRUTH_IS(of->kind))
        == 0)
    {
        ngx_http_truth_words(entry, table, of, said, sizeof(said));
        ngx_http_truth_count(NGX_HTTP_TRUTH_KIND, entry, said);
        return;
    }

    /* whom a module works for is not known here */

    if (entry->kind == NGX_TRUTH_OTHER || entry->kind == NGX_TRUTH_AUTH) {
        return;
    }

    if (entry->kind == NGX_TRUTH_ASIDE && of->kind == JPP_POOLS_REQUEST) {
        entry = ngx_truth_find(entry->main);
    }

    ngx_http_truth_owner(entry, table, of);
}


static void
ngx_http_truth_owner(ngx_truth_pool_t *entry, const jpp_pools_t *table,
    const jpp_pools_owner_t *owner)
{
    char                       said[256];
    ngx_str_t                  third;
    ngx_http_core_loc_conf_t  *loc;
    ngx_http_core_srv_conf_t  *srv;
    ngx_http_truth_verdict_t   verdict;

    srv = entry->srv_conf != NULL
          ? entry->srv_conf[ngx_http_core_module.ctx_index] : NULL;
    loc = entry->loc_conf != NULL
          ? entry->loc_conf[ngx_http_core_module.ctx_index] : NULL;

    ngx_str_null(&third);

    if (entry->kind == NGX_TRUTH_STREAM || entry->kind == NGX_TRUTH_MAIL) {
        third = ((ngx_listening_t *) entry->third)->addr_text;

    } else if (entry->third == NULL
               && (entry->kind == NGX_TRUTH_UPSTREAM
                   || entry->kind == NGX_TRUTH_ASIDE))
    {
        ngx_str_set(&third, "(found at run time)");

    } else if (entry->third != NULL
               && ((ngx_http_upstream_srv_conf_t *) entry->third)->port == 0)
    {
        third = ((ngx_http_upstream_srv_conf_t *) entry->third)->host;
    }

    verdict = ngx_http_truth_name(table, srv, srv ? &srv->server_name : NULL,
                                  owner->server);
    verdict = ngx_max(verdict,
                      ngx_http_truth_name(table, loc, loc ? &loc->name : NULL,
                                          owner->location));

    verdict = ngx_max(verdict,
                      ngx_http_truth_name(table, entry->third, &third,
                                          owner->third));

    if (verdict == NGX_HTTP_TRUTH_OWNED) {
        ngx_http_truth_count(verdict, entry, "");
        return;
    }

    ngx_http_truth_words(entry, table, owner, said, sizeof(said));
    ngx_http_truth_count(verdict, entry, said);
}


/* What is so, and what the walk says instead. */

static void
ngx_http_truth_words(ngx_truth_pool_t *entry, const jpp_pools_t *table,
    const jpp_pools_owner_t *owner, char *said, size_t size)
{
    ngx_http_core_loc_conf_t  *loc;
    ngx_http_core_srv_conf_t  *srv;

    srv = entry->srv_conf != NULL
          ? entry->srv_conf[ngx_http_core_module.ctx_index] : NULL;
    loc = entry->loc_conf != NULL
          ? entry->loc_conf[ngx_http_core_module.ctx_index] : NULL;

    snprintf(said, size, "%s of \"%.*s\" \"%.*s\" is said to be kind %u of"
             " \"%s\" \"%s\" \"%s\"", ngx_http_truth_kinds[entry->kind].name,
             srv ? (int) srv->server_name.len : 0,
             srv ? (char *) srv->server_name.data : "",
             loc ? (int) loc->name.len : 0,
             loc ? (char *) loc->name.data : "", (unsigned) owner->kind,
             jpp_pools_str(table, owner->server).data,
             jpp_pools_str(table, owner->location).data,
             jpp_pools_str(table, owner->third).data);
}


/*
 * Whether the name with ID is that of KEY, and NAME, where that has any: what
 * has none gets one from the walk.  The worse, the larger.
 */

static ngx_http_truth_verdict_t
ngx_http_truth_name(const jpp_pools_t *table, const void *key,
    const ngx_str_t *name, uint32_t id)
{
    jpp_str_t  said;

    if (id == 0) {
        return key == NULL ? NGX_HTTP_TRUTH_OWNED : NGX_HTTP_TRUTH_NOBODY;
    }

    said = jpp_pools_str(table, id);

    if (name != NULL && name->len != 0) {
        return said.len == name->len
               && ngx_memcmp(said.data, name->data, said.len) == 0
               ? NGX_HTTP_TRUTH_OWNED : NGX_HTTP_TRUTH_OWNER;
    }

    return key != NULL && jpp_pools_find(table, key) == id
           ? NGX_HTTP_TRUTH_OWNED : NGX_HTTP_TRUTH_OWNER;
}


/* What is as expected has no words, and is only counted. */

static void
ngx_http_truth_count(ngx_http_truth_verdict_t verdict, ngx_truth_pool_t *entry,
    const char *said)
{
    char                      name[64];
    ngx_uint_t                i;
    ngx_http_truth_row_t     *row;
    ngx_http_truth_shared_t  *shared;

    shared = ngx_http_truth_shared;

    (void) __sync_fetch_and_add(
        &shared->counts[verdict][entry ? entry->kind : NGX_TRUTH_OTHER], 1);

    if (said[0] == '\0') {
        return;
    }

    ngx_http_truth_creator(entry, name, sizeof(name));

    ngx_spinlock(&shared->lock, 1, 1024);

    for (i = 0; i < shared->nrows; i++) {
        row = &shared->rows[i];

        if (row->verdict == verdict
            && ngx_strncmp(row->creator, name, sizeof(row->creator)) == 0
            && ngx_strncmp(row->said, said, sizeof(row->said) - 1) == 0)
        {
            break;
        }
    }

    if (i < NGX_HTTP_TRUTH_ROWS) {
        row = &shared->rows[i];

        row->verdict = verdict;
        snprintf(row->creator, sizeof(row->creator), "%s", name);
        snprintf(row->said, sizeof(row->said), "%s", said);
        row->count++;

        shared->nrows = ngx_max(shared->nrows, i + 1);
    }

    ngx_unlock(&shared->lock);
}


/* Of a module that was not built here there is the place of the call. */

static void
ngx_http_truth_creator(ngx_truth_pool_t *entry, char *name, size_t size)
{
    Dl_info  info;

    if (entry == NULL) {
        snprintf(name, size, "nobody");

    } else if (entry->creator != NULL) {
        snprintf(name, size, "%s", entry->creator);

    } else if (dladdr(entry->caller, &info) != 0) {
        snprintf(name, size, "%.40s+0x%lx", strrchr(info.dli_fname, '/') + 1,
                 (unsigned long) ((char *) entry->caller
                                  - (char *) info.dli_fbase));

    } else {
        snprintf(name, size, "%p", entry->caller);
    }
}


static void
ngx_http_truth_exit_master(ngx_cycle_t *cycle)
{
    FILE                     *fp;
    ngx_uint_t                i, j;
    ngx_http_truth_row_t     *row;
    ngx_http_truth_shared_t  *shared;

    shared = ngx_http_truth_shared;

    if (shared == NULL || ngx_http_truth_report == NULL) {
        return;
    }

    fp = fopen(ngx_http_truth_report, "w");

    if (fp == NULL) {
        ngx_http_truth_broken(ngx_http_truth_report);
        return;
    }

    fprintf(fp, "walks\t%lu\t%lu\n", (unsigned long) shared->walks,
            (unsigned long) shared->slices);

    for (i = 0; i < NGX_HTTP_TRUTH_VERDICTS; i++) {
        for (j = 0; j < NGX_TRUTH_KINDS; j++) {
            fprintf(fp, "count\t%s\t%s\t%lu\n", ngx_http_truth_verdicts[i],
                    ngx_http_truth_kinds[j].name,
                    (unsigned long) shared->counts[i][j]);
        }
    }

    for (i = 0; i < shared->nrows; i++) {
        row = &shared->rows[i];

        fprintf(fp, "row\t%s\t%s\t%s\t%lu\n",
                ngx_http_truth_verdicts[row->verdict], row->creator, row->said,
                (unsigned long) row->count);
    }

    fclose(fp);
}


/* All slices at once, and the profile before anything else happens. */

static void
ngx_http_truth_answer(void)
{
    int          (*mallctl)(const char *name, void *old, size_t *old_len,
                            void *new, size_t len);
    char          rows[NGX_MAX_PATH], heap[NGX_MAX_PATH];
    const char   *path;

    if (access(ngx_http_truth_ask, F_OK) != 0
        || ngx_http_truth_begin() != NGX_OK)
    {
        return;
    }

    while (ngx_http_truth_slice() == NGX_AGAIN) { /* void */ }

    snprintf(rows, sizeof(rows), "%s.rows", ngx_http_truth_ask);
    snprintf(heap, sizeof(heap), "%s.heap", ngx_http_truth_ask);

    mallctl = dlsym(RTLD_DEFAULT, "mallctl");
    path = heap;

    if (mallctl != NULL
        && mallctl("prof.dump", NULL, NULL, &path, sizeof(path)) != 0)
    {
        ngx_http_truth_broken("prof.dump");
    }

    ngx_http_truth_rows(ngx_http_truth_table, rows);
    ngx_http_truth_end();

    /* whoever asks waits until the file is gone */

    if (unlink(ngx_http_truth_ask) == -1) {
        ngx_http_truth_broken(ngx_http_truth_ask);
    }
}


static void
ngx_http_truth_rows(const jpp_pools_t *table, const char *path)
{
    FILE                     *fp;
    size_t                    i, n;
    const jpp_pools_row_t    *rows, *row;
    const jpp_pools_owner_t  *owner;

    fp = fopen(path, "w");

    if (fp == NULL) {
        ngx_http_truth_broken(path);
        return;
    }

    fprintf(fp, "total\t%lu\noutside\t%lu\n",
            (unsigned long) table->facts.total,
            (unsigned long) table->facts.outside_inherited);

    rows = jpp_vec_items(table->rows, jpp_pools_row_t);
    n = jpp_vec_count(table->rows, jpp_pools_row_t);

    for (i = 0; i < n; i++) {
        row = &rows[i];
        owner = jpp_pools_owner_at(table, row->owner);

        if (row->is_inherited) {
            continue;
        }

        fprintf(fp, "row\t%u\t%u\t%s\t%s\t%s\t%lu\t%lu\n",
                (unsigned) owner->kind, (unsigned) row->class,
                jpp_pools_str(table, owner->server).data,
                jpp_pools_str(table, owner->location).data,
                jpp_pools_str(table, owner->third).data,
                (unsigned long) row->objects, (unsigned long) row->bytes);
    }

    fclose(fp);
}


static void
ngx_http_truth_broken(const char *what)
{
    ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, ngx_errno, "truth: \"%s\"",
                  what);
}
