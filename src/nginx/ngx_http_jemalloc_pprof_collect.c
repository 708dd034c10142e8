
#include "ngx_http_jemalloc_pprof_collect.h"


/* workers that are asked at the same time */
#define NGX_HTTP_JEMALLOC_PPROF_AT_ONCE  2

/* how old a collection may be for a request that comes later, ms */
#define NGX_HTTP_JEMALLOC_PPROF_FRESH    1000

/* bytes of dumps in memory, as a multiple of jemalloc_pprof_max_size */
#define NGX_HTTP_JEMALLOC_PPROF_TOTAL    4

/* what the arena of a collection needs beside it */
#define NGX_HTTP_JEMALLOC_PPROF_COLLECT_SPARE  (16 * 1024)


static ngx_http_jemalloc_pprof_collection_t *
    ngx_http_jemalloc_pprof_collect_shared(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    const ngx_http_jemalloc_pprof_loc_conf_t *conf);
static ngx_http_jemalloc_pprof_collection_t *
    ngx_http_jemalloc_pprof_collect_create(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    const ngx_http_jemalloc_pprof_loc_conf_t *conf, ngx_uint_t n,
    const ngx_http_jemalloc_pprof_row_t *rows);
static ngx_uint_t ngx_http_jemalloc_pprof_collect_choose(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    ngx_http_jemalloc_pprof_row_t *rows);
static ngx_uint_t ngx_http_jemalloc_pprof_collect_is_chosen(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    const ngx_http_jemalloc_pprof_row_t *row, ngx_uint_t generation);
static void ngx_http_jemalloc_pprof_collect_go(
    ngx_http_jemalloc_pprof_collection_t *co);
static void ngx_http_jemalloc_pprof_collect_ask(
    ngx_http_jemalloc_pprof_part_t *part);
static void ngx_http_jemalloc_pprof_collect_replied(
    ngx_http_jemalloc_pprof_peer_t *peer);
static void ngx_http_jemalloc_pprof_collect_take(
    ngx_http_jemalloc_pprof_part_t *part);
static void ngx_http_jemalloc_pprof_collect_done(
    ngx_http_jemalloc_pprof_part_t *part);
static void ngx_http_jemalloc_pprof_collect_timeout(ngx_event_t *ev);
static void ngx_http_jemalloc_pprof_collect_complete(
    ngx_http_jemalloc_pprof_collection_t *co);
static void ngx_http_jemalloc_pprof_collect_release(
    ngx_http_jemalloc_pprof_collection_t *co);


/* those that are being collected or read */
static ngx_queue_t  ngx_http_jemalloc_pprof_collections = {
    &ngx_http_jemalloc_pprof_collections, &ngx_http_jemalloc_pprof_collections
};

/* bytes of dumps that are mapped */
static size_t       ngx_http_jemalloc_pprof_mapped;


ngx_int_t
ngx_http_jemalloc_pprof_collect(ngx_http_jemalloc_pprof_reader_t *reader,
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    const ngx_http_jemalloc_pprof_loc_conf_t *conf)
{
    ngx_uint_t                             n;
    ngx_http_jemalloc_pprof_collection_t  *co;

    static ngx_http_jemalloc_pprof_row_t
                                      rows[NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS];

    if (ngx_http_jemalloc_pprof_mapped / NGX_HTTP_JEMALLOC_PPROF_TOTAL
        > conf->max_size)
    {
        return NGX_BUSY;
    }

    co = ngx_http_jemalloc_pprof_collect_shared(inquiry, conf);

    if (co == NULL) {
        n = ngx_http_jemalloc_pprof_collect_choose(inquiry, rows);

        if (n == 0) {
            return NGX_DECLINED;
        }

        co = ngx_http_jemalloc_pprof_collect_create(inquiry, conf, n, rows);

        if (co == NULL) {
            return NGX_ERROR;
        }

    } else {
        co->refs++;
    }

    reader->collection = co;

    if (co->is_complete) {
        return NGX_OK;
    }

    ngx_queue_insert_tail(&co->readers, &reader->queue);
    reader->is_waiting = 1;

    return NGX_AGAIN;
}


void
ngx_http_jemalloc_pprof_collect_leave(ngx_http_jemalloc_pprof_reader_t *reader)
{
    ngx_http_jemalloc_pprof_collection_t  *co;

    co = reader->collection;

    if (co == NULL) {
        return;
    }

    if (reader->is_waiting) {
        ngx_queue_remove(&reader->queue);
        reader->is_waiting = 0;
    }

    reader->collection = NULL;

    ngx_http_jemalloc_pprof_collect_release(co);
}


void
ngx_http_jemalloc_pprof_miss(jpp_missing_t *missing,
    const ngx_http_jemalloc_pprof_part_t *part, const char *why)
{
    missing->index = part->peer.row.index;
    missing->pid = part->peer.row.pid;
    missing->generation = part->peer.row.generation;
    missing->why = why;
}


/* One in which nobody was asked long ago: dumps are taken for all readers. */

static ngx_http_jemalloc_pprof_collection_t *
ngx_http_jemalloc_pprof_collect_shared(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    const ngx_http_jemalloc_pprof_loc_conf_t *conf)
{
    ngx_queue_t                           *q;
    ngx_http_jemalloc_pprof_collection_t  *co;

    if (inquiry->question.kind == JPP_MESSAGE_CONTROL) {
        return NULL;
    }

    for (q = ngx_queue_head(&ngx_http_jemalloc_pprof_collections);
         q != ngx_queue_sentinel(&ngx_http_jemalloc_pprof_collections);
         q = ngx_queue_next(q))
    {
        co = ngx_queue_data(q, ngx_http_jemalloc_pprof_collection_t, queue);

        if (!co->is_complete
            && co->inquiry.question.kind == inquiry->question.kind
            && co->inquiry.who == inquiry->who
            && co->inquiry.number == inquiry->number
            && co->max_size == conf->max_size
            && co->timeout == conf->timeout
            && ngx_current_msec - co->started
               < NGX_HTTP_JEMALLOC_PPROF_FRESH)
        {
            return co;
        }
    }

    return NULL;
}


static ngx_http_jemalloc_pprof_collection_t *
ngx_http_jemalloc_pprof_collect_create(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    const ngx_http_jemalloc_pprof_loc_conf_t *conf, ngx_uint_t n,
    const ngx_http_jemalloc_pprof_row_t *rows)
{
    size_t                                 size;
    ngx_uint_t                             i;
    jpp_arena_t                            memory;
    ngx_http_jemalloc_pprof_part_t        *part;
    ngx_http_jemalloc_pprof_collection_t  *co;

    size = sizeof(ngx_http_jemalloc_pprof_collection_t)
           + n * sizeof(ngx_http_jemalloc_pprof_part_t);

    jpp_arena_init(&memory, size + NGX_HTTP_JEMALLOC_PPROF_COLLECT_SPARE);

    co = jpp_arena_alloc(&memory, size);

    if (co == NULL) {
        jpp_arena_destroy(&memory);
        return NULL;
    }

    co->memory = memory;
    co->refs = 1;
    co->inquiry = *inquiry;
    co->max_size = conf->max_size;
    co->timeout = conf->timeout;
    co->started = ngx_current_msec;
    co->n = n;
    co->parts = (ngx_http_jemalloc_pprof_part_t *) (co + 1);

    for (i = 0; i < n; i++) {
        part = &co->parts[i];

        part->collection = co;
        part->peer.row = rows[i];
        part->peer.baseline = -1;
        part->peer.replied = ngx_http_jemalloc_pprof_collect_replied;
        part->peer.data = part;

        jpp_memfd_init(&part->dump);
        jpp_memfd_init(&part->baseline);
    }

    ngx_queue_init(&co->readers);
    ngx_queue_insert_tail(&ngx_http_jemalloc_pprof_collections, &co->queue);

    co->timer.handler = ngx_http_jemalloc_pprof_collect_timeout;
    co->timer.data = &ngx_http_jemalloc_pprof_no_connection;
    co->timer.log = ngx_cycle->log;

    ngx_add_timer(&co->timer, co->timeout);

    ngx_http_jemalloc_pprof_collect_go(co);

    return co;
}


/* Leave in ROWS the workers that are asked for; their number. */

static ngx_uint_t
ngx_http_jemalloc_pprof_collect_choose(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    ngx_http_jemalloc_pprof_row_t *rows)
{
    ngx_uint_t            i, n, chosen, generation;
    const jpp_control_t  *control;

    /* of those, too, that come between now and the list */

    if (inquiry->question.kind == JPP_MESSAGE_CONTROL
        && inquiry->who == JPP_WORKER_ALL)
    {
        control = &inquiry->question.control;

        ngx_http_jemalloc_pprof_table_want(ngx_http_jemalloc_pprof_worker.zone,
                                           control->active,
                                           control->lg_sample);
    }

    n = ngx_http_jemalloc_pprof_table_list(ngx_http_jemalloc_pprof_worker.zone,
                                           rows, &generation);
    chosen = 0;

    for (i = 0; i < n; i++) {
        if (ngx_http_jemalloc_pprof_collect_is_chosen(inquiry, &rows[i],
                                                      generation))
        {
            rows[chosen++] = rows[i];
        }
    }

    return chosen;
}


static ngx_uint_t
ngx_http_jemalloc_pprof_collect_is_chosen(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    const ngx_http_jemalloc_pprof_row_t *row, ngx_uint_t generation)
{
    switch (inquiry->who) {

    case JPP_WORKER_ALL:
        return 1;

    case JPP_WORKER_SELF:
        return row->pid == ngx_pid;

    case JPP_WORKER_EXITING:
        return row->generation != generation;

    case JPP_WORKER_INDEX:
        return row->generation == generation && row->index == inquiry->number;

    default: /* JPP_WORKER_PID */
        return (uint64_t) row->pid == inquiry->number;
    }
}


/* Ask as many as may be asked now. */

static void
ngx_http_jemalloc_pprof_collect_go(ngx_http_jemalloc_pprof_collection_t *co)
{
    while (co->n_next < co->n
           && co->n_asked < NGX_HTTP_JEMALLOC_PPROF_AT_ONCE)
    {
        ngx_http_jemalloc_pprof_collect_ask(&co->parts[co->n_next++]);
    }

    if (co->n_done == co->n && !co->is_complete) {
        ngx_http_jemalloc_pprof_collect_complete(co);
    }
}


static void
ngx_http_jemalloc_pprof_collect_ask(ngx_http_jemalloc_pprof_part_t *part)
{
    jpp_err_t                             *err;
    ngx_http_jemalloc_pprof_collection_t  *co;

    co = part->collection;
    err = &part->peer.reply.err;

    if (co->inquiry.question.kind == JPP_MESSAGE_DUMP
        && jpp_memfd_open(&part->dump,
                          ngx_http_jemalloc_pprof_worker.directory, err)
           != JPP_OK)
    {
        if (ngx_http_jemalloc_pprof_worker.directory == NULL
            && (err->sys_errno == NGX_EPERM || err->sys_errno == NGX_EACCES
                || err->sys_errno == NGX_ENOSYS))
        {
            (void) jpp_err_set(err, JPP_ERR_SYS,
                               "memfd_create is forbidden to nginx: name a "
                               "directory for its dumps by "
                               "jemalloc_pprof_temp_path");
        }

        ngx_http_jemalloc_pprof_collect_done(part);
        return;
    }

    if (ngx_http_jemalloc_pprof_peer_ask(&part->peer, &co->inquiry.question,
                                         part->dump.fd)
        != NGX_OK)
    {
        ngx_http_jemalloc_pprof_collect_done(part);
        return;
    }

    part->is_asked = 1;
    co->n_asked++;
}


static void
ngx_http_jemalloc_pprof_collect_replied(ngx_http_jemalloc_pprof_peer_t *peer)
{
    ngx_http_jemalloc_pprof_part_t        *part;
    ngx_http_jemalloc_pprof_collection_t  *co;

    part = peer->data;
    co = part->collection;

    if (peer->reply.err.code == JPP_OK
        && co->inquiry.question.kind == JPP_MESSAGE_DUMP)
    {
        ngx_http_jemalloc_pprof_collect_take(part);
    }

    part->is_asked = 0;
    co->n_asked--;

    ngx_http_jemalloc_pprof_collect_done(part);
    ngx_http_jemalloc_pprof_collect_go(co);
}


/* The dump is mapped, and needs no descriptor from here on. */

static void
ngx_http_jemalloc_pprof_collect_take(ngx_http_jemalloc_pprof_part_t *part)
{
    size_t      max_size;
    jpp_err_t  *err, ignored;

    err = &part->peer.reply.err;

    max_size = part->collection->max_size;

    if (jpp_memfd_map(&part->dump, max_size, err) != JPP_OK) {

        if (err->code == JPP_ERR_LIMIT) {
            (void) jpp_err_set(err, JPP_ERR_LIMIT,
                               "its dump is larger than the %zu bytes of "
                               "jemalloc_pprof_max_size: raise that, or "
                               "lg_prof_sample", max_size);
        }

        return;
    }

    ngx_http_jemalloc_pprof_mapped += part->dump.len;

    (void) close(part->dump.fd);
    part->dump.fd = -1;

    part->baseline.fd = part->peer.baseline;
    part->peer.baseline = -1;

    /* without it the worker's inheritance is told as its own, and said so */

    if (part->baseline.fd != -1) {
        (void) jpp_memfd_map(&part->baseline, max_size, &ignored);
        ngx_http_jemalloc_pprof_mapped += part->baseline.len;

        (void) close(part->baseline.fd);
        part->baseline.fd = -1;
    }
}


static void
ngx_http_jemalloc_pprof_collect_done(ngx_http_jemalloc_pprof_part_t *part)
{
    part->is_done = 1;
    part->collection->n_done++;

    if (part->peer.reply.err.code == JPP_OK) {
        part->collection->n_answered++;

    } else {
        jpp_memfd_close(&part->dump);

        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "jemalloc_pprof: worker %ui (pid %P) did not answer: %s",
                      part->peer.row.index, part->peer.row.pid,
                      part->peer.reply.err.text);
    }
}


static void
ngx_http_jemalloc_pprof_collect_timeout(ngx_event_t *ev)
{
    ngx_uint_t                             i;
    ngx_http_jemalloc_pprof_part_t        *part;
    ngx_http_jemalloc_pprof_collection_t  *co;

    co = ngx_queue_data(ev, ngx_http_jemalloc_pprof_collection_t, timer);

    for (i = 0; i < co->n; i++) {
        part = &co->parts[i];

        if (part->is_done) {
            continue;
        }

        ngx_http_jemalloc_pprof_peer_close(&part->peer);

        part->is_late = 1;

        (void) jpp_err_set(&part->peer.reply.err, JPP_ERR_LIMIT,
                           part->is_asked
                           ? "no answer within %lu ms "
                             "(jemalloc_pprof_timeout)"
                           : "it was not asked: %lu ms were over "
                             "(jemalloc_pprof_timeout)",
                           (unsigned long) co->timeout);

        ngx_http_jemalloc_pprof_collect_done(part);
    }

    ngx_http_jemalloc_pprof_collect_complete(co);
}


static void
ngx_http_jemalloc_pprof_collect_complete(
    ngx_http_jemalloc_pprof_collection_t *co)
{
    ngx_queue_t                       *q;
    ngx_http_jemalloc_pprof_reader_t  *reader;

    co->is_complete = 1;

    if (co->timer.timer_set) {
        ngx_del_timer(&co->timer);
    }

    /* a reader may leave at once, and the last one takes the collection */

    co->refs++;

    while (!ngx_queue_empty(&co->readers)) {

        q = ngx_queue_head(&co->readers);
        ngx_queue_remove(q);

        reader = ngx_queue_data(q, ngx_http_jemalloc_pprof_reader_t, queue);
        reader->is_waiting = 0;

        reader->ready(reader);
    }

    ngx_http_jemalloc_pprof_collect_release(co);
}


static void
ngx_http_jemalloc_pprof_collect_release(
    ngx_http_jemalloc_pprof_collection_t *co)
{
    ngx_uint_t                       i;
    jpp_arena_t                      memory;
    ngx_http_jemalloc_pprof_part_t  *part;

    if (--co->refs != 0) {
        return;
    }

    if (co->timer.timer_set) {
        ngx_del_timer(&co->timer);
    }

    ngx_queue_remove(&co->queue);

    for (i = 0; i < co->n; i++) {
        part = &co->parts[i];

        ngx_http_jemalloc_pprof_mapped -= part->dump.len + part->baseline.len;

        ngx_http_jemalloc_pprof_peer_close(&part->peer);
        jpp_memfd_close(&part->dump);
        jpp_memfd_close(&part->baseline);
    }

    memory = co->memory;
    jpp_arena_destroy(&memory);
}
