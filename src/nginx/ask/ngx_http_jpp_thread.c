
#include "ngx_http_jpp_thread.h"

#include "jpp_source.h"

#include <ngx_channel.h>

#include <poll.h>
#include <sys/eventfd.h>


/* room for the C++ demangler, which recurses; unused pages cost nothing */
#define NGX_HTTP_JPP_STACK      (8 * 1024 * 1024)

/*
 * What else a new thread may need.  jemalloc makes an arena for it, and 5.3.0
 * crashes without the memory for that (tcache_arena_associate()).
 */
#define NGX_HTTP_JPP_ROOM       (32 * 1024 * 1024)

/* how long a worker that exits waits for a running task, ms */
#define NGX_HTTP_JPP_EXIT_WAIT  300


/* the brief tasks, and the others: by is_brief */
#define NGX_HTTP_JPP_LANES      2


typedef struct {
    ngx_queue_t           queue;
    ngx_http_jpp_task_t  *running;
    ngx_uint_t            is_done;   /* written by the thread */
} ngx_http_jpp_lane_t;


/* an eventfd: a task is done */
static int  ngx_http_jpp_thread_fd = -1;

static ngx_http_jpp_lane_t  ngx_http_jpp_lanes[NGX_HTTP_JPP_LANES];


static ngx_int_t
ngx_http_jpp_thread_woken(void)
{
    uint64_t  count;

    return read(ngx_http_jpp_thread_fd, &count, sizeof(uint64_t))
           != -1 || ngx_errno == NGX_EAGAIN ? NGX_OK : NGX_ERROR;
}


static void *
ngx_http_jpp_thread_main(void *data)
{
    ngx_http_jpp_lane_t *lane = data;

    ssize_t   n;
    uint64_t  one;

    jpp_thread_name();

    /* jemalloc would take an arena for a thread that allocates nothing */

    if (!lane->running->is_brief) {
        (void) jpp_source_sample_thread(JPP_SOURCE_BY_NONE);
    }

    lane->running->work(lane->running);

    __atomic_store_n(&lane->is_done, 1, __ATOMIC_RELEASE);

    one = 1;

    do {
        n = write(ngx_http_jpp_thread_fd, &one, sizeof(uint64_t));
    } while (n == -1 && ngx_errno == NGX_EINTR);

    return NULL;
}


static ngx_int_t
ngx_http_jpp_thread_start(ngx_http_jpp_lane_t *lane, ngx_http_jpp_task_t *task)
{
    int     err;
    void   *p;
    size_t  size;

    if (ngx_http_jpp_thread_fd == -1) {
        return NGX_ERROR;
    }

    size = NGX_HTTP_JPP_STACK + NGX_HTTP_JPP_ROOM;

    p = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1,
             0);

    if (p == MAP_FAILED) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, ngx_errno,
                      "jemalloc_pprof: no memory for a thread: mmap(%uz) "
                      "failed", size);
        return NGX_ERROR;
    }

    (void) munmap(p, size);

    lane->is_done = 0;
    lane->running = task;

    err = jpp_thread_start(NGX_HTTP_JPP_STACK, ngx_http_jpp_thread_main, lane,
                           NULL);

    if (err) {
        lane->running = NULL;

        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, err,
                      "jemalloc_pprof: pthread_create() failed");
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_http_jpp_thread_is_done(const ngx_http_jpp_lane_t *lane)
{
    return __atomic_load_n(&lane->is_done, __ATOMIC_ACQUIRE);
}


/* Without a thread a brief task runs here, and any other does not run. */

static ngx_int_t
ngx_http_jpp_thread_begin(ngx_http_jpp_lane_t *lane, ngx_http_jpp_task_t *task)
{
    ngx_int_t  rc;

    rc = task->is_brief && ngx_process == NGX_PROCESS_SINGLE
         ? NGX_ERROR : ngx_http_jpp_thread_start(lane, task);

    if (rc != NGX_OK && task->is_brief) {
        task->work(task);
    }

    return rc;
}


static void
ngx_http_jpp_thread_next(ngx_http_jpp_lane_t *lane)
{
    ngx_queue_t          *q;
    ngx_http_jpp_task_t  *task;

    task = lane->running;

    if (task == NULL || !ngx_http_jpp_thread_is_done(lane)) {
        return;
    }

    lane->running = NULL;

    task->done(task);

    while (lane->running == NULL && !ngx_queue_empty(&lane->queue)) {

        q = ngx_queue_head(&lane->queue);
        ngx_queue_remove(q);

        task = ngx_queue_data(q, ngx_http_jpp_task_t, queue);

        if (ngx_http_jpp_thread_begin(lane, task) != NGX_OK) {
            task->done(task);
        }
    }
}


static void
ngx_http_jpp_thread_done(ngx_event_t *ev)
{
    ngx_uint_t  i;

    if (ngx_http_jpp_thread_woken() != NGX_OK) {
        ngx_log_error(NGX_LOG_ALERT, ev->log, ngx_errno,
                      "read() of an eventfd failed");
    }

    for (i = 0; i < NGX_HTTP_JPP_LANES; i++) {
        ngx_http_jpp_thread_next(&ngx_http_jpp_lanes[i]);
    }
}


ngx_int_t
ngx_http_jpp_thread_init(ngx_cycle_t *cycle)
{
    int         fd;
    ngx_uint_t  i;

    for (i = 0; i < NGX_HTTP_JPP_LANES; i++) {
        ngx_queue_init(&ngx_http_jpp_lanes[i].queue);
    }

    fd = eventfd(0, EFD_CLOEXEC|EFD_NONBLOCK);

    if (fd == -1) {
        ngx_log_error(NGX_LOG_WARN, cycle->log, ngx_errno,
                      "jemalloc_pprof: eventfd() failed, this worker "
                      "will serve no profiles");
        return NGX_ERROR;
    }

    /* as nginx does for the channel to the master: no alert at exit */

    if (ngx_add_channel_event(cycle, fd, NGX_READ_EVENT,
                              ngx_http_jpp_thread_done)
        != NGX_OK)
    {
        ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                      "jemalloc_pprof: no free connection for an eventfd, "
                      "this worker will serve no profiles: raise "
                      "worker_connections");

        (void) close(fd);
        return NGX_ERROR;
    }

    ngx_http_jpp_thread_fd = fd;

    return NGX_OK;
}


ngx_int_t
ngx_http_jpp_thread_post(ngx_http_jpp_task_t *task)
{
    ngx_http_jpp_lane_t  *lane;

    lane = &ngx_http_jpp_lanes[task->is_brief];

    if (lane->running == NULL) {
        return ngx_http_jpp_thread_begin(lane, task);
    }

    ngx_queue_insert_tail(&lane->queue, &task->queue);

    return NGX_OK;
}


ngx_uint_t
ngx_http_jpp_thread_is_idle(void)
{
    return ngx_http_jpp_lanes[0].running == NULL;
}


ngx_uint_t
ngx_http_jpp_thread_has_begun(const ngx_http_jpp_task_t *task)
{
    return ngx_http_jpp_lanes[task->is_brief].running == task;
}


ngx_uint_t
ngx_http_jpp_thread_cancel(ngx_http_jpp_task_t *task)
{
    if (ngx_http_jpp_thread_has_begun(task)) {
        return 0;
    }

    ngx_queue_remove(&task->queue);

    return 1;
}


/* A task that still runs uses nothing of nginx; its code stays mapped. */

void
ngx_http_jpp_thread_exit(ngx_cycle_t *cycle)
{
    int                   wait;
    struct pollfd         pfd;
    ngx_http_jpp_lane_t  *lane;

    wait = NGX_HTTP_JPP_EXIT_WAIT;

    pfd.fd = ngx_http_jpp_thread_fd;
    pfd.events = POLLIN;

    jpp_each(lane, ngx_http_jpp_lanes, NGX_HTTP_JPP_LANES) {
        while (lane->running != NULL && !ngx_http_jpp_thread_is_done(lane)) {
            if (poll(&pfd, 1, wait) != 1) {
                wait = 0;
                break;
            }

            (void) ngx_http_jpp_thread_woken();
        }

        ngx_log_debug2(NGX_LOG_DEBUG_CORE, cycle->log, 0,
                       "jemalloc_pprof: exit, lane %z: task %p",
                       lane - ngx_http_jpp_lanes, lane->running);
    }
}
