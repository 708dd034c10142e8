
#include "ngx_http_jpp_self.h"
#include "ngx_http_jpp_slices.h"

#include <ngx_event.h>


static void ngx_http_jpp_slices_schedule(void);
static void ngx_http_jpp_slices_run(ngx_event_t *ev);


/* the first of them has its turn */
static ngx_queue_t  ngx_http_jpp_sliced = {
    &ngx_http_jpp_sliced, &ngx_http_jpp_sliced
};

/* the first, once it has had a slice */
static const ngx_http_jpp_task_t  *ngx_http_jpp_begun;

static ngx_event_t  ngx_http_jpp_next_slice = {
    .data = &ngx_http_jpp_no_connection,
    .handler = ngx_http_jpp_slices_run
};


void
ngx_http_jpp_slices_post(ngx_http_jpp_task_t *task)
{
    ngx_queue_insert_tail(&ngx_http_jpp_sliced, &task->queue);

    ngx_http_jpp_slices_schedule();
}


ngx_uint_t
ngx_http_jpp_slices_has_begun(const ngx_http_jpp_task_t *task)
{
    return ngx_http_jpp_begun == task;
}


void
ngx_http_jpp_slices_cancel(ngx_http_jpp_task_t *task)
{
    if (ngx_http_jpp_begun == task) {
        ngx_http_jpp_begun = NULL;
    }

    ngx_queue_remove(&task->queue);
}


/* In the next turn of the event loop, which does not wait for anything then. */

static void
ngx_http_jpp_slices_schedule(void)
{
    if (ngx_queue_empty(&ngx_http_jpp_sliced)) {
        return;
    }

    ngx_http_jpp_next_slice.log = ngx_cycle->log;

    ngx_post_event(&ngx_http_jpp_next_slice, &ngx_posted_next_events);
}


static void
ngx_http_jpp_slices_run(ngx_event_t *ev)
{
    ngx_queue_t          *q;
    ngx_http_jpp_task_t  *task;

    /* its last task may have been cancelled */

    if (ngx_queue_empty(&ngx_http_jpp_sliced)) {
        return;
    }

    q = ngx_queue_head(&ngx_http_jpp_sliced);
    task = ngx_queue_data(q, ngx_http_jpp_task_t, queue);

    ngx_http_jpp_begun = task;

    if (task->slice(task) != NGX_AGAIN) {
        ngx_http_jpp_slices_cancel(task);

        task->done(task);
    }

    ngx_http_jpp_slices_schedule();
}
