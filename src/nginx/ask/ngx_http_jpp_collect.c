
#include "ngx_http_jpp_budget.h"
#include "ngx_http_jpp_choose.h"
#include "ngx_http_jpp_collect.h"
#include "ngx_http_jpp_self.h"

#include "jpp_arena.h"


/* how often a worker that refused is tried again, ms */
#define NGX_HTTP_JPP_RETRY          20

/* workers that are asked in one iteration of the event loop */
#define NGX_HTTP_JPP_A_TURN         8

/* late workers that are looked at, to say why: of many one knows then */
#define NGX_HTTP_JPP_SEEN           16


/* how old a collection may be for a request that comes later, ms */
#define NGX_HTTP_JPP_FRESH          1000

/* the same where the answer is about the time that follows, ms */
#define NGX_HTTP_JPP_AT_THE_TIME    100


ngx_queue_t  ngx_http_jpp_collections = {
    &ngx_http_jpp_collections, &ngx_http_jpp_collections
};


ngx_http_jpp_collection_t *
ngx_http_jpp_collections_shared(const ngx_http_jpp_inquiry_t *inquiry)
{
    ngx_uint_t                  n_changes;
    ngx_queue_t                *q;
    ngx_http_jpp_collection_t  *co;

    n_changes = ngx_http_jpp_registry_changes(ngx_http_jpp_self.zone);

    for (q = ngx_queue_head(&ngx_http_jpp_collections);
         q != ngx_queue_sentinel(&ngx_http_jpp_collections);
         q = ngx_queue_next(q))
    {
        co = ngx_queue_data(q, ngx_http_jpp_collection_t, queue);

        if (!co->is_complete
            && !co->kind->is_change
            && co->n_changes == n_changes
            && ngx_current_msec - co->started
               < (inquiry->wait + inquiry->delay != 0
                  ? NGX_HTTP_JPP_AT_THE_TIME
                  : NGX_HTTP_JPP_FRESH)
            && ngx_http_jpp_inquiry_is_same(&co->inquiry, inquiry))
        {
            return co;
        }
    }

    return NULL;
}


ngx_http_jpp_collection_t *
ngx_http_jpp_collections_next(ngx_uint_t is_done)
{
    ngx_queue_t                *q;
    ngx_http_jpp_collection_t  *co;

    for (q = ngx_queue_head(&ngx_http_jpp_collections);
         q != ngx_queue_sentinel(&ngx_http_jpp_collections);
         q = ngx_queue_next(q))
    {
        co = ngx_queue_data(q, ngx_http_jpp_collection_t, queue);

        if (!co->is_complete
            && (is_done ? co->n_done == co->n
                        : co->n_next < co->n
                          && ngx_current_msec - co->started
                             >= co->inquiry.delay
                          && ngx_http_jpp_share_has_room(&co->inquiry)))
        {
            return co;
        }
    }

    return NULL;
}


static ngx_http_jpp_collection_t *ngx_http_jpp_collect_create(
    const ngx_http_jpp_inquiry_t *inquiry, const ngx_http_jpp_row_t *rows,
    ngx_uint_t n);
static void ngx_http_jpp_collect_schedule(void);
static ngx_http_jpp_share_t *ngx_http_jpp_collect_share(
    ngx_http_jpp_collection_t *co);
static void ngx_http_jpp_collect_completed(ngx_event_t *ev);
static void ngx_http_jpp_collect_done(ngx_http_jpp_share_t *share);
static void ngx_http_jpp_collect_count(ngx_http_jpp_collection_t *co,
    const ngx_http_jpp_share_t *share);
static void ngx_http_jpp_collect_tick(ngx_event_t *ev);
static void ngx_http_jpp_collect_arm(ngx_http_jpp_collection_t *co);
static ngx_msec_int_t ngx_http_jpp_collect_left(
    const ngx_http_jpp_collection_t *co);
static void ngx_http_jpp_collect_complete(ngx_http_jpp_collection_t *co);
static void ngx_http_jpp_collect_release(ngx_http_jpp_collection_t *co);


static ngx_event_t  ngx_http_jpp_completion = {
    .data = &ngx_http_jpp_no_connection,
    .handler = ngx_http_jpp_collect_completed
};


ngx_int_t
ngx_http_jpp_collect(ngx_http_jpp_reader_t *reader,
    const ngx_http_jpp_inquiry_t *inquiry)
{
    ngx_int_t                   rc;
    ngx_uint_t                  n;
    const ngx_http_jpp_row_t   *rows;
    ngx_http_jpp_collection_t  *co;

    /* after a reload without the module a single process still serves */

    if (ngx_http_jpp_self.zone == NULL) {
        return NGX_DECLINED;
    }

    if (ngx_http_jpp_kinds[inquiry->question.kind].file != NULL
        && ngx_http_jpp_budget_hold(0, ngx_http_jpp_share_cap(inquiry))
           != NGX_OK)
    {
        return NGX_BUSY;
    }

    co = ngx_http_jpp_collections_shared(inquiry);

    if (co == NULL) {

        rc = ngx_http_jpp_choose(&inquiry->selector, &rows, &n);

        if (rc != NGX_OK) {
            return rc;
        }

        co = ngx_http_jpp_collect_create(inquiry, rows, n);

        if (co == NULL) {
            return NGX_ERROR;
        }
    }

    co->refs++;

    reader->collection = co;
    reader->is_waiting = 1;

    ngx_queue_insert_tail(&co->readers, &reader->queue);

    return NGX_OK;
}


ngx_uint_t
ngx_http_jpp_collect_gaps(const ngx_http_jpp_collection_t *co)
{
    ngx_uint_t                   i, n;
    const ngx_http_jpp_share_t  *share;

    for (i = 0, n = 0; co->kind->is_sampled && i < co->n; i++) {
        share = &co->shares[i];

        n += share->state == NGX_HTTP_JPP_SHARE_ANSWERED
             && jpp_worker_has_gap(&share->peer.reply.worker);
    }

    return n;
}


void
ngx_http_jpp_collect_leave(ngx_http_jpp_reader_t *reader)
{
    ngx_http_jpp_collection_t  *co;

    co = reader->collection;

    if (co == NULL) {
        return;
    }

    if (reader->is_waiting) {
        ngx_queue_remove(&reader->queue);
        reader->is_waiting = 0;
    }

    reader->collection = NULL;

    ngx_http_jpp_collect_release(co);
}


void
ngx_http_jpp_collect_hurry(ngx_http_jpp_reader_t *reader)
{
    ngx_msec_t                  passed;
    ngx_uint_t                  i;
    ngx_http_jpp_collection_t  *co;

    co = reader->collection;

    if (co == NULL || co->is_complete) {
        return;
    }

    for (i = 0; i < co->n; i++) {
        ngx_http_jpp_share_hurry(&co->shares[i]);
    }

    passed = ngx_current_msec - co->started;

    co->inquiry.wait = ngx_min(co->inquiry.wait, passed);
    co->inquiry.delay = ngx_min(co->inquiry.delay, passed);

    ngx_http_jpp_collect_schedule();
    ngx_http_jpp_collect_arm(co);
}


static ngx_http_jpp_collection_t *
ngx_http_jpp_collect_create(const ngx_http_jpp_inquiry_t *inquiry,
    const ngx_http_jpp_row_t *rows, ngx_uint_t n)
{
    size_t                      size;
    ngx_http_jpp_collection_t  *co;

    size = sizeof(ngx_http_jpp_collection_t)
           + n * (sizeof(ngx_http_jpp_share_t) + sizeof(ngx_http_jpp_row_t));

    co = jpp_arena_object(size);
    if (co == NULL) {
        return NULL;
    }

    co->refs = 1;
    co->inquiry = *inquiry;
    co->kind = &ngx_http_jpp_kinds[inquiry->question.kind];
    co->n_changes = ngx_http_jpp_registry_changes(ngx_http_jpp_self.zone);
    co->started = ngx_current_msec;
    co->n = n;
    co->shares = (ngx_http_jpp_share_t *) (co + 1);
    co->rows = (ngx_http_jpp_row_t *) (co->shares + n);

    ngx_memcpy(co->rows, rows, n * sizeof(ngx_http_jpp_row_t));

    ngx_queue_init(&co->readers);
    ngx_queue_insert_tail(&ngx_http_jpp_collections, &co->queue);

    co->timer.handler = ngx_http_jpp_collect_tick;
    co->timer.data = &ngx_http_jpp_no_connection;
    co->timer.log = ngx_cycle->log;

    ngx_http_jpp_collect_schedule();
    ngx_http_jpp_collect_arm(co);

    return co;
}


/*
 * Ask as many workers as may be asked now, in all collections in turn.  Those
 * that are done are completed from the timer: that ends their requests, and the
 * caller may be in the middle of another request.
 */

static void
ngx_http_jpp_collect_schedule(void)
{
    ngx_uint_t                  n;
    ngx_http_jpp_share_t       *share;
    ngx_http_jpp_collection_t  *co;

    n = 0;
    ngx_http_jpp_completion.log = ngx_cycle->log;

    while ((co = ngx_http_jpp_collections_next(0)) != NULL) {

        if (n++ == NGX_HTTP_JPP_A_TURN) {
            ngx_post_event(&ngx_http_jpp_completion, &ngx_posted_next_events);
            break;
        }

        ngx_queue_remove(&co->queue);
        ngx_queue_insert_tail(&ngx_http_jpp_collections, &co->queue);

        share = ngx_http_jpp_collect_share(co);

        ngx_http_jpp_share_ask(share);
        ngx_http_jpp_collect_count(co, share);

        /* which is to be soon */

        if (share->state == NGX_HTTP_JPP_SHARE_REFUSED) {
            ngx_http_jpp_collect_arm(co);
        }
    }

    if (ngx_http_jpp_collections_next(1) != NULL) {
        ngx_post_event(&ngx_http_jpp_completion, &ngx_posted_events);
    }
}


/* The next share: they are filled one by one, since there may be many. */

static ngx_http_jpp_share_t *
ngx_http_jpp_collect_share(ngx_http_jpp_collection_t *co)
{
    ngx_http_jpp_share_t  *share;

    share = &co->shares[co->n_next];

    ngx_http_jpp_share_init(share, &co->inquiry, &co->rows[co->n_next]);

    share->all = co->shares;
    share->n_all = co->n;
    share->done = ngx_http_jpp_collect_done;
    share->data = co;

    co->n_next++;

    return share;
}


/* A reader may end collections and start others. */

static void
ngx_http_jpp_collect_completed(ngx_event_t *ev)
{
    ngx_http_jpp_collection_t  *co;

    while ((co = ngx_http_jpp_collections_next(1)) != NULL) {
        ngx_http_jpp_collect_complete(co);
    }

    ngx_http_jpp_collect_schedule();
}


static void
ngx_http_jpp_collect_done(ngx_http_jpp_share_t *share)
{
    ngx_http_jpp_collect_count(share->data, share);
    ngx_http_jpp_collect_schedule();
}


/* Called once for each share that is done, and any time before. */

static void
ngx_http_jpp_collect_count(ngx_http_jpp_collection_t *co,
    const ngx_http_jpp_share_t *share)
{
    co->n_done += ngx_http_jpp_share_is_done(share);
    co->n_answered += share->state == NGX_HTTP_JPP_SHARE_ANSWERED;
}


static void
ngx_http_jpp_collect_tick(ngx_event_t *ev)
{
    ngx_uint_t                  i, is_late;
    ngx_http_jpp_share_t       *share;
    ngx_http_jpp_collection_t  *co;

    co = ngx_queue_data(ev, ngx_http_jpp_collection_t, timer);

    is_late = ngx_http_jpp_collect_left(co) <= 0;

    /* those that nobody has asked say so */

    while (is_late && co->n_next < co->n) {
        (void) ngx_http_jpp_collect_share(co);
    }

    for (i = 0; i < co->n_next; i++) {
        share = &co->shares[i];

        if (ngx_http_jpp_share_is_done(share)) {
            continue;
        }

        if (is_late) {
            ngx_http_jpp_share_give_up(share);

        } else {
            co->n_seen += ngx_http_jpp_share_check(share,
                              co->n_seen < NGX_HTTP_JPP_SEEN);
        }

        ngx_http_jpp_collect_count(co, share);
    }

    if (!is_late) {
        ngx_http_jpp_collect_arm(co);
    }

    ngx_http_jpp_collect_schedule();
}


static void
ngx_http_jpp_collect_arm(ngx_http_jpp_collection_t *co)
{
    ngx_uint_t      i;
    ngx_msec_t      delay, passed;
    ngx_msec_int_t  left;

    delay = co->inquiry.timeout / NGX_HTTP_JPP_SLICES / 2 + 1;
    passed = ngx_current_msec - co->started;

    if (passed < co->inquiry.delay) {
        delay = ngx_min(delay, co->inquiry.delay - passed);
    }

    for (i = 0; i < co->n_next; i++) {
        if (co->shares[i].state == NGX_HTTP_JPP_SHARE_REFUSED) {
            delay = ngx_min(delay, NGX_HTTP_JPP_RETRY);
            break;
        }
    }

    /* nginx ignores small changes of a timer that is set */

    if (co->timer.timer_set) {
        ngx_del_timer(&co->timer);
    }

    left = ngx_max(0, ngx_http_jpp_collect_left(co));

    ngx_add_timer(&co->timer, ngx_min(delay, (ngx_msec_t) left));
}


/* Milliseconds until the answers that have come are all there are. */

static ngx_msec_int_t
ngx_http_jpp_collect_left(const ngx_http_jpp_collection_t *co)
{
    return (ngx_msec_int_t) (co->started + co->inquiry.delay + co->inquiry.wait
                             + co->inquiry.timeout - ngx_current_msec);
}


static void
ngx_http_jpp_collect_complete(ngx_http_jpp_collection_t *co)
{
    ngx_queue_t            *q;
    ngx_http_jpp_reader_t  *reader;

    co->is_complete = 1;

    if (co->timer.timer_set) {
        ngx_del_timer(&co->timer);
    }

    /* before the readers: none may get an answer from before the change */

    if (co->kind->is_change && ngx_http_jpp_self.zone != NULL) {
        ngx_http_jpp_registry_changed(ngx_http_jpp_self.zone);
    }

    while (!ngx_queue_empty(&co->readers)) {

        q = ngx_queue_head(&co->readers);
        ngx_queue_remove(q);

        reader = ngx_queue_data(q, ngx_http_jpp_reader_t, queue);
        reader->is_waiting = 0;

        reader->ready(reader);
    }

    ngx_http_jpp_collect_release(co);
}


static void
ngx_http_jpp_collect_release(ngx_http_jpp_collection_t *co)
{
    ngx_uint_t  i;

    co->refs--;

    /* its own reference keeps only a change that was begun */

    if (co->refs == 1 && !co->is_complete && !co->kind->is_change) {
        co->refs = 0;
    }

    if (co->refs != 0) {
        return;
    }

    if (co->timer.timer_set) {
        ngx_del_timer(&co->timer);
    }

    ngx_queue_remove(&co->queue);

    for (i = 0; i < co->n_next; i++) {
        ngx_http_jpp_share_close(&co->shares[i]);
    }

    jpp_arena_object_destroy(co);

    /* others may be waiting for its slots */

    ngx_http_jpp_collect_schedule();
}
