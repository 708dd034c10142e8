
/*
 * Makes this worker's ledger in two steps: slices on the event loop scan the
 * pools and note their addresses; then the thread reads the mappings of the
 * process, and computes the rows.
 */


#include "ngx_http_jpp_lua.h"
#include "ngx_http_jpp_pools.h"
#include "ngx_http_jpp_thread.h"
#include "ngx_http_jpp_worker.h"


/* rows, and the pages of the mapping that is looked at */
#define NGX_HTTP_JPP_LEDGER_CAP    (32 * 1024 * 1024)

/* a mapping of more is shared out evenly: 64 GiB */
#define NGX_HTTP_JPP_LEDGER_PAGES  (16 * 1024 * 1024)

/* and of 2 GiB it needs no mapping of its own */
#define NGX_HTTP_JPP_LEDGER_FEW    (512 * 1024)


typedef struct {
    ngx_http_jpp_reply_t  *reply;
    ngx_http_jpp_walk_t   *walk;
    jpp_arena_t            arena;
    jpp_ledger_t           ledger;
    jpp_ledger_facts_t     facts;
    jpp_vec_t             *pages;
    int                    pagemap;
    uint64_t               internal;   /* see jpp_ledger.h */
    unsigned               has_jemalloc:1;
    unsigned               is_marked:1;    /* its maps are: see below */
} ngx_http_jpp_ledger_t;


static void
ngx_http_jpp_ledger_zones(ngx_http_jpp_walk_t *walk)
{
    char                   *name;
    const ngx_shm_t        *shm;
    jpp_ledger_range_t     *range;
    const ngx_shm_zone_t   *zone;
    const ngx_list_part_t  *part;

    for (part = &walk->cycle->shared_memory.part;
         part != NULL;
         part = part->next)
    {
        ngx_http_jpp_each(zone, part) {
            shm = &zone->shm;

            /* a copy: the thread has it when the configuration may be gone */

            name = jpp_arena_strndup(&walk->arena, (char *) shm->name.data,
                                     shm->name.len);

            range = shm->addr != NULL && name != NULL
                    ? ngx_http_jpp_walk_range(walk, JPP_LEDGER_ZONE,
                                              (uintptr_t) shm->addr, shm->size)
                    : NULL;

            if (range != NULL) {
                range->name = name;
                range->name_len = shm->name.len;
            }
        }
    }
}


ngx_int_t
ngx_http_jpp_ledger_slice(ngx_http_jpp_reply_t *reply)
{
    ngx_int_t      rc;
    jpp_worker_t  *worker;

    rc = ngx_http_jpp_pools_walk(reply);

    if (rc != NGX_OK) {
        return rc;
    }

    ngx_http_jpp_ledger_zones(reply->state);

    /* of the same moment as the walk's total, unless a dump is being taken */

    worker = &reply->reply.worker;

    if (ngx_http_jpp_thread_is_idle()) {
        worker->has_stats = jpp_stats_read(&worker->stats);
    }

    ngx_http_jpp_lua_describe(&worker->lua);

    return NGX_OK;
}


/* Data of programs that has no file, and what jemalloc keeps of its own. */

static ngx_int_t
ngx_http_jpp_ledger_ranges(ngx_http_jpp_ledger_t *ledger)
{
    size_t                i, n;
    uint64_t             *pair;
    ngx_int_t             slot;
    jpp_vec_t            *pairs;
    ngx_http_jpp_walk_t  *walk;

    walk = ledger->walk;

    pairs = jpp_vec_create(&ledger->arena);
    ledger->pages = jpp_vec_create(&ledger->arena);

    if (pairs == NULL || ledger->pages == NULL || !jpp_images_zeroed(pairs)
        || jpp_vec_reserve(ledger->pages, NGX_HTTP_JPP_LEDGER_FEW) == NULL)
    {
        return NGX_ERROR;
    }

    pair = jpp_vec_items(pairs, uint64_t);
    n = jpp_vec_count(pairs, uint64_t);

    for (i = 0; i < n; i += 2) {
        (void) ngx_http_jpp_walk_range(walk, JPP_LEDGER_FILE, pair[i],
                                       pair[i + 1] - pair[i]);
    }

    if (ledger->has_jemalloc) {
        (void) jpp_ledger_bases_find(walk->held, ledger->pagemap,
                   jpp_less(ledger->reply->reply.worker.stats.metadata,
                            ledger->internal),
                   &ledger->arena);
    }

    if (!jpp_ledger_init(&ledger->ledger, &ledger->arena, ngx_pagesize,
                         walk->held))
    {
        return NGX_ERROR;
    }

    /* the master and what it has forked, as far as it tells this worker */

    ledger->ledger.sharers = 2;

    for (slot = 0; slot < ngx_last_process; slot++) {
        ledger->ledger.sharers += slot != ngx_process_slot
                                  && ngx_processes[slot].pid > 0;
    }

    return NGX_OK;
}


static const uint8_t *
ngx_http_jpp_ledger_pages(ngx_http_jpp_ledger_t *ledger,
    const jpp_smaps_t *mapping)
{
    uint8_t   *pages;
    uint64_t   n;
    jpp_err_t  err;

    n = (mapping->end - mapping->start) / ngx_pagesize;

    if (ledger->pagemap == -1 || n > NGX_HTTP_JPP_LEDGER_PAGES) {
        return NULL;
    }

    ledger->pages->len = 0;

    pages = jpp_vec_push(ledger->pages, n);

    if (pages == NULL) {
        return NULL;
    }

    if (!jpp_pagemap_read(ledger->pagemap, mapping->start, pages, n, &err)) {
        ngx_memcpy(ledger->facts.why, err.text, JPP_LEDGER_WHY - 1);
        return NULL;
    }

    return pages;
}


static ngx_int_t
ngx_http_jpp_ledger_maps(ngx_http_jpp_ledger_t *ledger)
{
    bool                is_malloc;
    uint64_t            start;
    ngx_int_t           rc;
    jpp_err_t          *err;
    jpp_smaps_t         mapping;
    const uint8_t      *pages;
    jpp_smaps_parser_t  parser;

    err = &ledger->reply->reply.err;

    start = jpp_clock();

    if (!jpp_smaps_open(&parser, "/proc/self/smaps")) {
        (void) jpp_err_sys(err, parser.lines.error,
                           "/proc/self/smaps cannot be opened");
        return NGX_ERROR;
    }

    rc = NGX_OK;

    while (rc == NGX_OK && jpp_smaps_next(&parser, &mapping)) {
        is_malloc = jpp_ledger_is_anonymous(&ledger->ledger, &mapping)
                    && (mapping.is_unreserved || !ledger->is_marked);

        pages = jpp_ledger_needs_pages(&ledger->ledger, &mapping)
                ? ngx_http_jpp_ledger_pages(ledger, &mapping) : NULL;

        rc = jpp_ledger_map(&ledger->ledger, &mapping, pages, is_malloc)
             ? NGX_OK : NGX_ERROR;
    }

    if (parser.lines.error != 0) {
        (void) jpp_err_sys(err, parser.lines.error,
                           "/proc/self/smaps cannot be read");
        rc = NGX_ERROR;
    }

    jpp_lines_close(&parser.lines);

    ledger->facts.nanos = jpp_clock() - start;

    return rc;
}


static ngx_int_t
ngx_http_jpp_ledger_heap(ngx_http_jpp_ledger_t *ledger)
{
    jpp_usage_t           usage;
    jpp_worker_t         *worker;
    jpp_ledger_heap_t     heap;
    jpp_ledger_facts_t   *facts;
    jpp_message_reply_t  *reply;

    reply = &ledger->reply->reply;
    worker = &reply->worker;
    facts = &ledger->facts;

    heap.pools = &ledger->walk->table;
    heap.stats = ledger->has_jemalloc ? &worker->stats : NULL;
    heap.internal = ledger->internal;
    heap.is_sampled = worker->jemalloc.state >= JPP_JEMALLOC_REFUSED;
    heap.is_marked = ledger->is_marked;

    if (!jpp_ledger_finish(&ledger->ledger, &heap)) {
        return NGX_ERROR;
    }

    jpp_usage_read(&usage);

    facts->sums = ledger->ledger.sums;
    facts->has_luajit = worker->jemalloc.has_luajit;
    facts->lua = jpp_known(worker->lua.bytes[0])
                 + jpp_known(worker->lua.bytes[1]);
    facts->sockets = jpp_sockets_bytes(usage.fds, &facts->n_sockets);

    return jpp_ledger_save(&ledger->ledger, facts, ledger->reply->file.fd,
                           &reply->err)
           == JPP_OK ? NGX_OK : NGX_ERROR;
}


void
ngx_http_jpp_ledger_work(ngx_http_jpp_reply_t *reply)
{
    jpp_err_t              *err;
    jpp_worker_t           *worker;
    ngx_http_jpp_ledger_t  *ledger;

    ledger = jpp_arena_object(sizeof(ngx_http_jpp_ledger_t));

    if (ledger == NULL) {
        (void) jpp_err_memory(&reply->reply.err);
        return;
    }

    ledger->reply = reply;
    ledger->walk = reply->state;

    worker = &reply->reply.worker;

    if (!worker->has_stats) {
        worker->has_stats = jpp_stats_read(&worker->stats);
    }

    ledger->has_jemalloc = worker->has_stats;
    ledger->internal = ledger->has_jemalloc ? jpp_stats_internal() : 0;

    /*
     * jemalloc maps with MAP_NORESERVE, unless the machine reserves all the
     * same, and nobody else does so that we know of.  The kernel makes no one
     * mapping of those with and those without.
     */

    ledger->is_marked = ledger->has_jemalloc
                        && jpp_keys_file("/proc/sys/vm/overcommit_memory")
                           != 2;

    jpp_arena_init(&ledger->arena, NGX_HTTP_JPP_LEDGER_CAP);

    /* without it a ledger is less exact, and says why */

    err = &reply->reply.err;
    ledger->pagemap = jpp_pagemap_open(err);

    ngx_memcpy(ledger->facts.why, err->text, JPP_LEDGER_WHY - 1);
    ngx_memzero(err, sizeof(jpp_err_t));

    if ((ngx_http_jpp_ledger_ranges(ledger) != NGX_OK
         || ngx_http_jpp_ledger_maps(ledger) != NGX_OK
         || ngx_http_jpp_ledger_heap(ledger) != NGX_OK)
        && err->code == JPP_OK)
    {
        (void) jpp_err_memory(err);
    }

    if (ledger->pagemap != -1) {
        (void) close(ledger->pagemap);
    }

    jpp_arena_destroy(&ledger->arena);
    jpp_arena_object_destroy(ledger);
}


static void
ngx_http_jpp_ledger_write(ngx_http_jpp_reply_t *reply, const void *data,
    size_t len)
{
    int  rc;

    rc = jpp_write(&reply->file.fd, data, len);

    if (rc != 0) {
        (void) jpp_write_failed(&reply->reply.err, rc, "its answer");
    }
}


void
ngx_http_jpp_ledger_smaps(ngx_http_jpp_reply_t *reply)
{
    char     text[JPP_USAGE_SMAPS];
    ssize_t  n;

    /* the kernel gives all of it to one read */

    n = jpp_read_file("/proc/self/smaps_rollup", text, sizeof(text));

    if (n == -1) {
        (void) jpp_err_sys(&reply->reply.err, errno,
                           "/proc/self/smaps_rollup cannot be read");
        return;
    }

    ngx_http_jpp_ledger_write(reply, text, (size_t) n);
}


void
ngx_http_jpp_ledger_arenas(ngx_http_jpp_reply_t *reply)
{
    jpp_vec_t   *out;
    jpp_arena_t  arena;

    jpp_arena_init(&arena, NGX_HTTP_JPP_LEDGER_CAP);

    out = jpp_vec_create(&arena);

    if (out == NULL) {
        (void) jpp_err_memory(&reply->reply.err);

    } else if (jpp_stats_report(out, &reply->reply.err) == JPP_OK) {
        ngx_http_jpp_ledger_write(reply, out->data, out->len);
    }

    jpp_arena_destroy(&arena);
}
