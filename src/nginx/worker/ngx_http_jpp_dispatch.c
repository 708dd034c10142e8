
/*
 * Dispatches events to their handlers, and tells whose each is.
 *
 * nginx's event modules call handlers themselves, or post the events, which
 * nginx hands on later, as accept_mutex has it.  While anything is sampled they
 * post them here, too; and they are handed on at once, so that the order of all
 * is nginx's: what is accepted, events of connections, timers, and then what
 * was posted.
 *
 * What handlers post nginx hands on in the end: the first that it finds in its
 * queue is an event of this module, whose handler does so with the others.
 * Where accept_mutex is held, the events of connections are among these, and
 * nobody is told for timers.
 *
 * For the event loop.
 */


#include "ngx_http_jpp_worker.h"

#include "jpp_cpu_sampler.h"
#include "jpp_owners.h"


ngx_http_jpp_process_pt  ngx_http_jpp_process;

/* hands on what handlers have posted */
static ngx_event_t  ngx_http_jpp_dispatch_rest;


/* An event has the index of its connection; another may be of anything. */

static uint32_t
ngx_http_jpp_dispatch_index(const ngx_event_t *ev)
{
    size_t              reads, writes, size;
    const ngx_cycle_t  *cycle;

    cycle = (const ngx_cycle_t *) ngx_cycle;

    size = cycle->connection_n * sizeof(ngx_event_t);
    reads = (uintptr_t) ev - (uintptr_t) cycle->read_events;
    writes = (uintptr_t) ev - (uintptr_t) cycle->write_events;

    if (reads < size) {
        return reads / sizeof(ngx_event_t);
    }

    return writes < size ? writes / sizeof(ngx_event_t) : JPP_OWNERS_ELSE;
}


/*
 * What a handler puts on the stack lies below the caller's frame, the size of
 * which is known: one with a frame pointer is walked for each sample.
 */

static inline __attribute__((always_inline)) void
ngx_http_jpp_dispatch_handle(ngx_event_t *ev)
{
    uintptr_t  here;

    jpp_owners_base((uintptr_t) &here);

    (void) jpp_owners_tell(ngx_http_jpp_dispatch_index(ev));

    ev->handler(ev);

    (void) jpp_owners_tell(JPP_OWNERS_UNTOLD);
}


static inline __attribute__((always_inline)) void
ngx_http_jpp_dispatch_posted(ngx_queue_t *posted)
{
    ngx_event_t  *ev;

    while (!ngx_queue_empty(posted)) {
        ev = ngx_queue_data(ngx_queue_head(posted), ngx_event_t, queue);

        ngx_delete_posted_event(ev);

        ngx_http_jpp_dispatch_handle(ev);
    }
}


/* All of FROM follows what is in TO. */

static void
ngx_http_jpp_dispatch_move(ngx_queue_t *to, ngx_queue_t *from)
{
    if (!ngx_queue_empty(from)) {
        ngx_queue_add(to, from);
        ngx_queue_init(from);
    }
}


/* The names of these are in stacks, in place of nginx's. */


static void
ngx_http_jpp_process_posted(ngx_event_t *ev)
{
    ngx_http_jpp_dispatch_posted(&ngx_posted_events);
}


static void __attribute__((noinline))
ngx_http_jpp_expire_timers(void)
{
    ngx_event_t        *ev;
    ngx_rbtree_node_t  *node;

    while (ngx_event_timer_rbtree.root != ngx_event_timer_rbtree.sentinel) {

        node = ngx_rbtree_min(ngx_event_timer_rbtree.root,
                              ngx_event_timer_rbtree.sentinel);

        if ((ngx_msec_int_t) (node->key - ngx_current_msec) > 0) {
            return;
        }

        ev = ngx_rbtree_data(node, ngx_event_t, timer);

        ngx_event_del_timer(ev);

        ev->timedout = 1;

        ngx_http_jpp_dispatch_handle(ev);
    }
}


static ngx_int_t __attribute__((noinline))
ngx_http_jpp_process_events(ngx_cycle_t *cycle, ngx_msec_t timer,
    ngx_uint_t flags)
{
    ngx_int_t     rc;
    ngx_msec_t    before;
    ngx_event_t  *rest;
    ngx_queue_t   posted, events;

    before = ngx_current_msec;

    ngx_queue_init(&posted);
    ngx_queue_init(&events);

    ngx_http_jpp_dispatch_move(&posted, &ngx_posted_events);

    rc = ngx_http_jpp_process(cycle, timer, flags | NGX_POST_EVENTS);

    if (!(flags & NGX_POST_EVENTS)) {
        ngx_http_jpp_dispatch_move(&events, &ngx_posted_events);
    }

    ngx_http_jpp_dispatch_posted(&ngx_posted_accept_events);
    ngx_http_jpp_dispatch_posted(&events);

    /* nginx looks at none before a millisecond has passed */

    if (!(flags & NGX_POST_EVENTS) && ngx_current_msec != before) {
        ngx_http_jpp_expire_timers();
    }

    ngx_http_jpp_dispatch_move(&posted, &ngx_posted_events);
    ngx_http_jpp_dispatch_move(&ngx_posted_events, &posted);

    rest = &ngx_http_jpp_dispatch_rest;

    if (!ngx_queue_empty(&ngx_posted_events) && !rest->posted) {
        rest->log = cycle->log;
        rest->handler = ngx_http_jpp_process_posted;
        rest->posted = 1;

        ngx_queue_insert_head(&ngx_posted_events, &rest->queue);
    }

    return rc;
}


ngx_int_t
ngx_http_jpp_dispatch(ngx_cycle_t *cycle, ngx_msec_t timer, ngx_uint_t flags)
{
    return ngx_http_jpp_self.has_owners
           && (ngx_http_jpp_self.is_hooked
               || jpp_samples.generation % 2 != 0
               || jpp_cpu_sampler.frequency[JPP_MODE_CPU] != 0
               || jpp_cpu_sampler.frequency[JPP_MODE_WALL] != 0)
           ? ngx_http_jpp_process_events(cycle, timer, flags)
           : ngx_http_jpp_process(cycle, timer, flags);
}
