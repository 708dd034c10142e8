
#include "ngx_http_jemalloc_pprof_memory.h"
#include "ngx_http_jemalloc_pprof_part.h"


/* workers that are asked at the same time */
#define NGX_HTTP_JEMALLOC_PPROF_AT_ONCE  2

/* the part of the time after which one that does not answer is not counted */
#define NGX_HTTP_JEMALLOC_PPROF_SLICES   8

/* how often a worker that accepts no more is tried again, ms */
#define NGX_HTTP_JEMALLOC_PPROF_RETRY    20

/* how old a collection may be for a request that comes later, ms */
#define NGX_HTTP_JEMALLOC_PPROF_FRESH    1000

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
static void ngx_http_jemalloc_pprof_collect_want(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry);
static ngx_uint_t ngx_http_jemalloc_pprof_collect_choose(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    ngx_http_jemalloc_pprof_row_t *rows);
static ngx_uint_t ngx_http_jemalloc_pprof_collect_is_chosen(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    const ngx_http_jemalloc_pprof_row_t *row, ngx_uint_t generation);
static void ngx_http_jemalloc_pprof_collect_go(void);
static void ngx_http_jemalloc_pprof_collect_completed(ngx_event_t *ev);
static ngx_http_jemalloc_pprof_collection_t *
    ngx_http_jemalloc_pprof_collect_next(ngx_uint_t is_done);
static void ngx_http_jemalloc_pprof_collect_ask(
    ngx_http_jemalloc_pprof_part_t *part);
static void ngx_http_jemalloc_pprof_collect_try(
    ngx_http_jemalloc_pprof_part_t *part);
static void ngx_http_jemalloc_pprof_collect_replied(
    ngx_http_jemalloc_pprof_peer_t *peer);
static void ngx_http_jemalloc_pprof_collect_done(
    ngx_http_jemalloc_pprof_part_t *part);
static void ngx_http_jemalloc_pprof_collect_free_slot(
    ngx_http_jemalloc_pprof_part_t *part);
static void ngx_http_jemalloc_pprof_collect_tick(ngx_event_t *ev);
static void ngx_http_jemalloc_pprof_collect_look(
    ngx_http_jemalloc_pprof_collection_t *co);
static void ngx_http_jemalloc_pprof_collect_give_up(
    ngx_http_jemalloc_pprof_collection_t *co);
static void ngx_http_jemalloc_pprof_collect_arm(
    ngx_http_jemalloc_pprof_collection_t *co);
static void ngx_http_jemalloc_pprof_collect_complete(
    ngx_http_jemalloc_pprof_collection_t *co);
static void ngx_http_jemalloc_pprof_collect_release(
    ngx_http_jemalloc_pprof_collection_t *co);


/* those that are being collected or read */
static ngx_queue_t  ngx_http_jemalloc_pprof_collections = {
    &ngx_http_jemalloc_pprof_collections, &ngx_http_jemalloc_pprof_collections
};

static ngx_event_t  ngx_http_jemalloc_pprof_completion = {
    .handler = ngx_http_jemalloc_pprof_collect_completed
};

/* workers that are being asked */
static ngx_uint_t   ngx_http_jemalloc_pprof_n_slots;


ngx_int_t
ngx_http_jemalloc_pprof_collect(ngx_http_jemalloc_pprof_reader_t *reader,
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    const ngx_http_jemalloc_pprof_loc_conf_t *conf)
{
    ngx_uint_t                             n;
    ngx_http_jemalloc_pprof_collection_t  *co;

    static ngx_http_jemalloc_pprof_row_t
                                  rows[NGX_HTTP_JEMALLOC_PPROF_MAX_ROWS + 1];

    /* a single process goes on to serve after a reload without the module */

    if (ngx_http_jemalloc_pprof_worker.zone == NULL) {
        return NGX_DECLINED;
    }

    if (inquiry->question.kind == JPP_MESSAGE_DUMP
        && ngx_http_jemalloc_pprof_memory_hold(0,
               ngx_http_jemalloc_pprof_part_cap(inquiry, conf->max_size))
           != NGX_OK)
    {
        return NGX_BUSY;
    }

    co = ngx_http_jemalloc_pprof_collect_shared(inquiry, conf);

    if (co == NULL) {

        /* before the list: of those, too, that come in between */

        ngx_http_jemalloc_pprof_collect_want(inquiry);

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
    reader->is_waiting = 1;

    ngx_queue_insert_tail(&co->readers, &reader->queue);

    return NGX_OK;
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
            && co->inquiry.is_second == inquiry->is_second
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

    /* a change that was begun is made in all, whether or not somebody waits */

    co->refs = inquiry->question.kind == JPP_MESSAGE_CONTROL ? 2 : 1;
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
        jpp_memfd_init(&part->inherited);
    }

    ngx_queue_init(&co->readers);
    ngx_queue_insert_tail(&ngx_http_jemalloc_pprof_collections, &co->queue);

    co->timer.handler = ngx_http_jemalloc_pprof_collect_tick;
    co->timer.data = &ngx_http_jemalloc_pprof_no_connection;
    co->timer.log = ngx_cycle->log;

    ngx_http_jemalloc_pprof_collect_arm(co);
    ngx_http_jemalloc_pprof_collect_go();

    return co;
}


/* What is asked of all is wanted of those that are to come. */

static void
ngx_http_jemalloc_pprof_collect_want(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry)
{
    if (inquiry->question.kind == JPP_MESSAGE_CONTROL
        && inquiry->who == JPP_WORKER_ALL)
    {
        ngx_http_jemalloc_pprof_table_want(ngx_http_jemalloc_pprof_worker.zone,
                                           inquiry->question.control.active,
                                           inquiry->question.control.lg_sample);
    }
}


/* Leave in ROWS the workers that are asked for; their number. */

static ngx_uint_t
ngx_http_jemalloc_pprof_collect_choose(
    const ngx_http_jemalloc_pprof_inquiry_t *inquiry,
    ngx_http_jemalloc_pprof_row_t *rows)
{
    ngx_uint_t  i, n, chosen, generation, is_listed;

    n = ngx_http_jemalloc_pprof_table_list(ngx_http_jemalloc_pprof_worker.zone,
                                           rows, &generation);
    is_listed = 0;

    for (i = 0; i < n; i++) {
        is_listed |= rows[i].pid == ngx_pid;
    }

    /* a worker for which the table had no row knows itself at least */

    if (!is_listed) {
        rows[n++] = ngx_http_jemalloc_pprof_worker.row;
    }

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


/*
 * Ask as many as may be asked now, of all collections in turn.  Those in which
 * nobody is left are completed when nothing else is being done: their requests
 * end by that, and this may be in the midst of another one's.
 */

static void
ngx_http_jemalloc_pprof_collect_go(void)
{
    ngx_http_jemalloc_pprof_collection_t  *co;

    while (ngx_http_jemalloc_pprof_n_slots < NGX_HTTP_JEMALLOC_PPROF_AT_ONCE) {

        co = ngx_http_jemalloc_pprof_collect_next(0);

        if (co == NULL) {
            break;
        }

        ngx_queue_remove(&co->queue);
        ngx_queue_insert_tail(&ngx_http_jemalloc_pprof_collections,
                              &co->queue);

        ngx_http_jemalloc_pprof_collect_ask(&co->parts[co->n_next++]);
    }

    if (ngx_http_jemalloc_pprof_collect_next(1) != NULL) {
        ngx_http_jemalloc_pprof_completion.log = ngx_cycle->log;

        ngx_post_event(&ngx_http_jemalloc_pprof_completion,
                       &ngx_posted_events);
    }
}


/* What a reader does may end collections and start others. */

static void
ngx_http_jemalloc_pprof_collect_completed(ngx_event_t *ev)
{
    ngx_http_jemalloc_pprof_collection_t  *co;

    while ((co = ngx_http_jemalloc_pprof_collect_next(1)) != NULL) {
        ngx_http_jemalloc_pprof_collect_complete(co);
    }
}


/* The first in which everybody IS_DONE, or somebody was not asked; or NULL. */

static ngx_http_jemalloc_pprof_collection_t *
ngx_http_jemalloc_pprof_collect_next(ngx_uint_t is_done)
{
    ngx_queue_t                           *q;
    ngx_http_jemalloc_pprof_collection_t  *co;

    for (q = ngx_queue_head(&ngx_http_jemalloc_pprof_collections);
         q != ngx_queue_sentinel(&ngx_http_jemalloc_pprof_collections);
         q = ngx_queue_next(q))
    {
        co = ngx_queue_data(q, ngx_http_jemalloc_pprof_collection_t, queue);

        if (!co->is_complete
            && (is_done ? co->n_done == co->n : co->n_next < co->n))
        {
            return co;
        }
    }

    return NULL;
}


static void
ngx_http_jemalloc_pprof_collect_ask(ngx_http_jemalloc_pprof_part_t *part)
{
    if (part->collection->inquiry.question.kind == JPP_MESSAGE_DUMP
        && ngx_http_jemalloc_pprof_part_open(part) != NGX_OK)
    {
        ngx_http_jemalloc_pprof_collect_done(part);
        return;
    }

    part->is_asked = 1;
    part->asked = ngx_current_msec;

    part->has_slot = 1;
    ngx_http_jemalloc_pprof_n_slots++;

    ngx_http_jemalloc_pprof_collect_try(part);
}


static void
ngx_http_jemalloc_pprof_collect_try(ngx_http_jemalloc_pprof_part_t *part)
{
    ngx_int_t  rc;

    rc = ngx_http_jemalloc_pprof_peer_ask(&part->peer,
                                          &part->collection->inquiry.question,
                                          part->dump.fd);

    part->is_refused = rc == NGX_AGAIN;

    if (rc == NGX_AGAIN) {
        ngx_http_jemalloc_pprof_collect_arm(part->collection);

    } else if (rc == NGX_ERROR) {
        ngx_http_jemalloc_pprof_collect_done(part);
    }
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
        ngx_http_jemalloc_pprof_part_take(part);
    }

    ngx_http_jemalloc_pprof_collect_done(part);
    ngx_http_jemalloc_pprof_collect_go();
}


static void
ngx_http_jemalloc_pprof_collect_done(ngx_http_jemalloc_pprof_part_t *part)
{
    ngx_http_jemalloc_pprof_collect_free_slot(part);

    part->is_done = 1;
    part->is_refused = 0;
    part->collection->n_done++;

    if (part->peer.reply.err.code == JPP_OK) {
        part->collection->n_answered++;

    } else {
        ngx_http_jemalloc_pprof_peer_close(&part->peer);
        jpp_memfd_close(&part->dump);

        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "jemalloc_pprof: worker %ui (pid %P) did not answer: %s",
                      part->peer.row.index, part->peer.row.pid,
                      part->peer.reply.err.text);
    }
}


static void
ngx_http_jemalloc_pprof_collect_free_slot(ngx_http_jemalloc_pprof_part_t *part)
{
    if (part->has_slot) {
        part->has_slot = 0;
        ngx_http_jemalloc_pprof_n_slots--;
    }
}


static void
ngx_http_jemalloc_pprof_collect_tick(ngx_event_t *ev)
{
    ngx_http_jemalloc_pprof_collection_t  *co;

    co = ngx_queue_data(ev, ngx_http_jemalloc_pprof_collection_t, timer);

    if (ngx_current_msec - co->started < co->timeout) {
        ngx_http_jemalloc_pprof_collect_look(co);
        ngx_http_jemalloc_pprof_collect_arm(co);

    } else {
        ngx_http_jemalloc_pprof_collect_give_up(co);
    }

    ngx_http_jemalloc_pprof_collect_go();
}


/* Those that could not be asked, and those that are slow to answer. */

static void
ngx_http_jemalloc_pprof_collect_look(ngx_http_jemalloc_pprof_collection_t *co)
{
    ngx_uint_t                       i;
    ngx_http_jemalloc_pprof_part_t  *part;

    for (i = 0; i < co->n; i++) {
        part = &co->parts[i];

        if (part->is_refused) {
            ngx_http_jemalloc_pprof_collect_try(part);
        }

        if (ngx_current_msec - part->asked
            >= co->timeout / NGX_HTTP_JEMALLOC_PPROF_SLICES)
        {
            ngx_http_jemalloc_pprof_collect_free_slot(part);
        }
    }
}


/* The time is over for who has not answered. */

static void
ngx_http_jemalloc_pprof_collect_give_up(
    ngx_http_jemalloc_pprof_collection_t *co)
{
    ngx_uint_t                       i;
    ngx_http_jemalloc_pprof_part_t  *part;

    for (i = 0; i < co->n; i++) {
        part = &co->parts[i];

        if (part->is_done) {
            continue;
        }

        ngx_http_jemalloc_pprof_peer_close(&part->peer);

        part->is_late = 1;

        /* one that was refused says why itself */

        if (!part->is_refused) {
            (void) jpp_err_set(&part->peer.reply.err, JPP_ERR_LIMIT,
                               part->is_asked
                               ? "no answer within %lu ms "
                                 "(jemalloc_pprof_timeout)"
                               : "it was not asked: %lu ms were over "
                                 "(jemalloc_pprof_timeout)",
                               (unsigned long) co->timeout);
        }

        ngx_http_jemalloc_pprof_collect_done(part);
    }

    co->n_next = co->n;
}


static void
ngx_http_jemalloc_pprof_collect_arm(ngx_http_jemalloc_pprof_collection_t *co)
{
    ngx_uint_t  i;
    ngx_msec_t  delay, left;

    delay = co->timeout / NGX_HTTP_JEMALLOC_PPROF_SLICES / 2 + 1;

    for (i = 0; i < co->n; i++) {
        if (co->parts[i].is_refused) {
            delay = ngx_min(delay, NGX_HTTP_JEMALLOC_PPROF_RETRY);
            break;
        }
    }

    left = co->timeout - (ngx_current_msec - co->started);

    /* one that is set is not moved by a little */

    if (co->timer.timer_set) {
        ngx_del_timer(&co->timer);
    }

    ngx_add_timer(&co->timer, ngx_min(delay, left));
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

    if (co->inquiry.question.kind != JPP_MESSAGE_CONTROL) {
        co->refs++;
    }

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

        ngx_http_jemalloc_pprof_collect_free_slot(part);
        ngx_http_jemalloc_pprof_part_close(part);
    }

    memory = co->memory;
    jpp_arena_destroy(&memory);

    /* others may have waited for its slots */

    ngx_http_jemalloc_pprof_collect_go();
}
