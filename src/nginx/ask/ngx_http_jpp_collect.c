
/*
 * A collection: one question to the chosen workers, and their replies.
 *
 * Requests that ask the same question at about the same time share one
 * collection, unless it changes something or a change was made since it began.
 * When the time is over, it is complete with the answers that have come, and
 * the missing parts say why.
 *
 * A collection lives in pages of its own, and counts its subscribers.  It ends
 * early when the last one leaves; but a change is made in all workers even if
 * nobody waits.
 */


#include "ngx_http_jpp_ask.h"
#include "ngx_http_jpp_self.h"


/* how often a worker that refused is tried again, ms */
#define NGX_HTTP_JPP_RETRY          20

/* workers that are asked in one iteration of the event loop */
#define NGX_HTTP_JPP_A_TURN         8

/* how old a collection may be for a request that comes later, ms */
#define NGX_HTTP_JPP_FRESH          1000

/* the same where the answer is about the time that follows, ms */
#define NGX_HTTP_JPP_AT_THE_TIME    100


/* all that are being made or read; the next to be asked comes first */
static ngx_queue_t  ngx_http_jpp_collections = {
    &ngx_http_jpp_collections, &ngx_http_jpp_collections
};

static ngx_event_t  ngx_http_jpp_completion = {
    .handler = ngx_http_jpp_collect_proceed
};


static ngx_uint_t
ngx_http_jpp_inquiry_is_same(const ngx_http_jpp_inquiry_t *a,
    const ngx_http_jpp_inquiry_t *b)
{
    return jpp_message_question_is_same(&a->question, &b->question)
           && a->selector.kind == b->selector.kind
           && a->selector.number == b->selector.number
           && a->snapshot == b->snapshot
           && a->is_second == b->is_second
           && a->delay == b->delay
           && a->max_size == b->max_size
           && a->timeout == b->timeout;
}


/* One for INQUIRY that began recently, and after the last change; or NULL. */

static ngx_http_jpp_collection_t *
ngx_http_jpp_collect_shared(const ngx_http_jpp_inquiry_t *inquiry)
{
    ngx_uint_t                  n_changes;
    ngx_http_jpp_collection_t  *co;

    n_changes = ngx_http_jpp_self.zone->n_changes;

    ngx_http_jpp_each_queued(co, &ngx_http_jpp_collections) {
        if (!co->is_complete
            && !co->type->is_change
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


/* The first with all parts done (IS_DONE), or one to be asked; or NULL. */

static ngx_http_jpp_collection_t *
ngx_http_jpp_collect_next(ngx_uint_t is_done)
{
    ngx_http_jpp_collection_t  *co;

    ngx_http_jpp_each_queued(co, &ngx_http_jpp_collections) {
        if (!co->is_complete
            && (is_done ? co->n_done == co->n
                        : co->n_next < co->n
                          && ngx_current_msec - co->started
                             >= co->inquiry.delay
                          && ngx_http_jpp_part_has_room(&co->inquiry)))
        {
            return co;
        }
    }

    return NULL;
}


/* Milliseconds until the answers that have come are all there are. */

static ngx_msec_int_t
ngx_http_jpp_collect_left(const ngx_http_jpp_collection_t *co)
{
    return (ngx_msec_int_t) (co->started + co->inquiry.delay + co->inquiry.wait
                             + co->inquiry.timeout - ngx_current_msec);
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
        if (co->parts[i].state == NGX_HTTP_JPP_PART_REFUSED) {
            delay = ngx_min(delay, NGX_HTTP_JPP_RETRY);
            break;
        }
    }

    /* nginx ignores small changes of a timer that is set */

    ngx_http_jpp_timer_stop(&co->timer);

    left = ngx_max(0, ngx_http_jpp_collect_left(co));

    ngx_add_timer(&co->timer, ngx_min(delay, (ngx_msec_t) left));
}


/*
 * Ask as many workers as may be asked now, in all collections in turn.  Those
 * that are done at once are completed from an event: that ends their requests,
 * and the caller may be in the middle of another request.
 */

static void
ngx_http_jpp_collect_schedule(void)
{
    ngx_uint_t                  n;
    ngx_http_jpp_part_t        *part;
    ngx_http_jpp_collection_t  *co;

    n = 0;
    ngx_http_jpp_completion.log = ngx_cycle->log;

    while ((co = ngx_http_jpp_collect_next(0)) != NULL) {

        if (n++ == NGX_HTTP_JPP_A_TURN) {
            ngx_post_event(&ngx_http_jpp_completion, &ngx_posted_next_events);
            break;
        }

        ngx_queue_remove(&co->queue);
        ngx_queue_insert_tail(&ngx_http_jpp_collections, &co->queue);

        part = &co->parts[co->n_next++];

        ngx_http_jpp_part_ask(part);

        /* which is to be soon */

        if (part->state == NGX_HTTP_JPP_PART_REFUSED) {
            ngx_http_jpp_collect_arm(co);
        }
    }

    if (ngx_http_jpp_collect_next(1) != NULL) {
        ngx_post_event(&ngx_http_jpp_completion, &ngx_posted_events);
    }
}


static void
ngx_http_jpp_collect_tick(ngx_event_t *ev)
{
    ngx_uint_t                  is_late;
    ngx_http_jpp_part_t        *part;
    ngx_http_jpp_collection_t  *co;

    co = ngx_queue_data(ev, ngx_http_jpp_collection_t, timer);

    is_late = ngx_http_jpp_collect_left(co) <= 0;

    /* those that nobody has asked say so */

    if (is_late) {
        co->n_next = co->n;
    }

    jpp_each(part, co->parts, co->n_next) {
        if (part->state >= NGX_HTTP_JPP_PART_ANSWERED) {
            continue;
        }

        if (is_late) {
            ngx_http_jpp_part_give_up(part);

        } else {
            ngx_http_jpp_part_check(part);
        }
    }

    if (!is_late) {
        ngx_http_jpp_collect_arm(co);
    }

    ngx_http_jpp_collect_proceed(ev);
}


static ngx_http_jpp_collection_t *
ngx_http_jpp_collect_create(const ngx_http_jpp_inquiry_t *inquiry,
    const ngx_http_jpp_row_t *rows, ngx_uint_t n)
{
    ngx_uint_t                  i;
    ngx_http_jpp_collection_t  *co;

    co = jpp_arena_object(sizeof(ngx_http_jpp_collection_t)
                          + n * sizeof(ngx_http_jpp_part_t));
    if (co == NULL) {
        return NULL;
    }

    co->inquiry = *inquiry;
    co->type = &ngx_http_jpp_types[inquiry->question.type];
    co->n_changes = ngx_http_jpp_self.zone->n_changes;
    co->started = ngx_current_msec;
    co->n = n;
    co->parts = (ngx_http_jpp_part_t *) (co + 1);

    for (i = 0; i < n; i++) {
        co->parts[i].row = rows[i];
        co->parts[i].collection = co;

        jpp_memfd_init(&co->parts[i].dump);
        jpp_memfd_init(&co->parts[i].inherited);
    }

    if (inquiry->snapshot != 0) {

        /* until it is loaded it has a part that nobody asks for */

        co->n = 1;
        co->n_next = 1;

        if (ngx_http_jpp_recorded_load(co) != NGX_OK) {
            jpp_arena_object_destroy(co);
            return NULL;
        }
    }

    ngx_queue_init(&co->subscribers);
    ngx_queue_insert_tail(&ngx_http_jpp_collections, &co->queue);

    ngx_http_jpp_timer_init(&co->timer, ngx_http_jpp_collect_tick);

    if (inquiry->snapshot == 0) {
        ngx_http_jpp_collect_schedule();
        ngx_http_jpp_collect_arm(co);
    }

    return co;
}


ngx_int_t
ngx_http_jpp_collect(ngx_http_jpp_subscriber_t *subscriber,
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

    if (ngx_http_jpp_types[inquiry->question.type].file != NULL
        && ngx_http_jpp_budget_hold(0, inquiry->max_size, inquiry->is_second)
           != NGX_OK)
    {
        return NGX_BUSY;
    }

    co = ngx_http_jpp_collect_shared(inquiry);

    if (co == NULL) {

        rows = NULL;
        n = 0;

        rc = inquiry->snapshot != 0
             ? NGX_OK : ngx_http_jpp_choose(&inquiry->selector, &rows, &n);

        if (rc != NGX_OK) {
            return rc;
        }

        co = ngx_http_jpp_collect_create(inquiry, rows, n);

        if (co == NULL) {
            return NGX_ERROR;
        }
    }

    co->refs++;

    subscriber->collection = co;
    subscriber->is_waiting = 1;

    ngx_queue_insert_tail(&co->subscribers, &subscriber->queue);

    return NGX_OK;
}


static void
ngx_http_jpp_collect_release(ngx_http_jpp_collection_t *co)
{
    ngx_uint_t  i;

    if (--co->refs != 0 || (co->type->is_change && !co->is_complete)) {
        return;
    }

    ngx_http_jpp_timer_stop(&co->timer);

    ngx_queue_remove(&co->queue);

    if (co->load != NULL) {
        ngx_http_jpp_recorded_leave(co->load);

    } else {
        for (i = 0; i < co->n_next; i++) {
            ngx_http_jpp_part_close(&co->parts[i]);
        }
    }

    jpp_arena_object_destroy(co);

    /* others may be waiting for its slots */

    ngx_http_jpp_collect_schedule();
}


void
ngx_http_jpp_collect_leave(ngx_http_jpp_subscriber_t *subscriber)
{
    ngx_http_jpp_collection_t  *co;

    co = subscriber->collection;

    if (co == NULL) {
        return;
    }

    if (subscriber->is_waiting) {
        ngx_queue_remove(&subscriber->queue);
        subscriber->is_waiting = 0;
    }

    subscriber->collection = NULL;

    ngx_http_jpp_collect_release(co);
}


void
ngx_http_jpp_collect_hurry(ngx_http_jpp_subscriber_t *subscriber)
{
    ngx_msec_t                  passed;
    ngx_uint_t                  i;
    ngx_http_jpp_collection_t  *co;

    co = subscriber->collection;

    if (co == NULL || co->is_complete || co->load != NULL) {
        return;
    }

    for (i = 0; i < co->n; i++) {
        ngx_http_jpp_part_hurry(&co->parts[i]);
    }

    passed = ngx_current_msec - co->started;

    co->inquiry.wait = ngx_min(co->inquiry.wait, passed);
    co->inquiry.delay = ngx_min(co->inquiry.delay, passed);

    ngx_http_jpp_collect_schedule();
    ngx_http_jpp_collect_arm(co);
}


/* A subscriber may end collections and start others. */

void
ngx_http_jpp_collect_proceed(ngx_event_t *ev)
{
    ngx_queue_t                *q;
    ngx_http_jpp_subscriber_t  *subscriber;
    ngx_http_jpp_collection_t  *co;

    while ((co = ngx_http_jpp_collect_next(1)) != NULL) {
        co->is_complete = 1;
        co->refs++;

        ngx_http_jpp_timer_stop(&co->timer);

        /* first: no subscriber may get an answer from before the change */

        if (co->type->is_change && ngx_http_jpp_self.zone != NULL) {
            (void) ngx_atomic_fetch_add(&ngx_http_jpp_self.zone->n_changes,
                                        1);
        }

        while (!ngx_queue_empty(&co->subscribers)) {

            q = ngx_queue_head(&co->subscribers);
            ngx_queue_remove(q);

            subscriber = ngx_queue_data(q, ngx_http_jpp_subscriber_t, queue);
            subscriber->is_waiting = 0;

            subscriber->ready(subscriber->data);
        }

        ngx_http_jpp_collect_release(co);
    }

    ngx_http_jpp_collect_schedule();
}
