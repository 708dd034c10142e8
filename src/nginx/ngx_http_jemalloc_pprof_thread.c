
#include "ngx_http_jemalloc_pprof_thread.h"

#include "jpp_source.h"
#include "jpp_thread.h"

#include <ngx_channel.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>


/* room for the C++ demangler, which recurses; unused pages cost nothing */
#define NGX_HTTP_JEMALLOC_PPROF_STACK      (8 * 1024 * 1024)

/*
 * What else a new thread may need.  jemalloc makes an arena for it, and 5.3.0
 * crashes without the memory for that (tcache_arena_associate()).
 */
#define NGX_HTTP_JEMALLOC_PPROF_ROOM       (32 * 1024 * 1024)

/* how long a worker that exits waits for a running task, ms */
#define NGX_HTTP_JEMALLOC_PPROF_EXIT_WAIT  300


typedef struct {
    int                               fd;        /* eventfd: a task is done */
    ngx_queue_t                       queue;
    ngx_http_jemalloc_pprof_task_t   *running;
    ngx_atomic_t                      is_done;   /* written by the thread */
} ngx_http_jemalloc_pprof_thread_t;


static ngx_int_t ngx_http_jemalloc_pprof_thread_start(
    ngx_http_jemalloc_pprof_task_t *task);
static ngx_int_t ngx_http_jemalloc_pprof_thread_has_room(void);
static void *ngx_http_jemalloc_pprof_thread_main(void *data);
static void ngx_http_jemalloc_pprof_thread_done(ngx_event_t *ev);


static ngx_http_jemalloc_pprof_thread_t  ngx_http_jemalloc_pprof_thread = {
    .fd = -1
};


ngx_int_t
ngx_http_jemalloc_pprof_thread_init(ngx_cycle_t *cycle)
{
    ngx_http_jemalloc_pprof_thread_t  *thread;

    thread = &ngx_http_jemalloc_pprof_thread;

    ngx_queue_init(&thread->queue);

    thread->fd = eventfd(0, EFD_CLOEXEC|EFD_NONBLOCK);

    if (thread->fd == -1) {
        ngx_log_error(NGX_LOG_WARN, cycle->log, ngx_errno,
                      "jemalloc_pprof: eventfd() failed, this worker "
                      "will serve no profiles");
        return NGX_ERROR;
    }

    /* as nginx does for the channel to the master: no alert at exit */

    if (ngx_add_channel_event(cycle, thread->fd, NGX_READ_EVENT,
                              ngx_http_jemalloc_pprof_thread_done)
        != NGX_OK)
    {
        ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                      "jemalloc_pprof: no free connection for an eventfd, "
                      "this worker will serve no profiles: raise "
                      "worker_connections");

        (void) close(thread->fd);
        thread->fd = -1;

        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_jemalloc_pprof_thread_post(ngx_http_jemalloc_pprof_task_t *task)
{
    ngx_http_jemalloc_pprof_thread_t  *thread;

    thread = &ngx_http_jemalloc_pprof_thread;

    if (thread->fd == -1) {
        return NGX_ERROR;
    }

    if (thread->running == NULL) {
        return ngx_http_jemalloc_pprof_thread_start(task);
    }

    ngx_queue_insert_tail(&thread->queue, &task->queue);

    return NGX_OK;
}


ngx_uint_t
ngx_http_jemalloc_pprof_thread_is_idle(void)
{
    return ngx_http_jemalloc_pprof_thread.running == NULL;
}


ngx_uint_t
ngx_http_jemalloc_pprof_thread_has_begun(
    const ngx_http_jemalloc_pprof_task_t *task)
{
    return ngx_http_jemalloc_pprof_thread.running == task;
}


ngx_uint_t
ngx_http_jemalloc_pprof_thread_cancel(ngx_http_jemalloc_pprof_task_t *task)
{
    ngx_http_jemalloc_pprof_thread_t  *thread;

    thread = &ngx_http_jemalloc_pprof_thread;

    if (thread->running == task) {
        return 0;
    }

    ngx_queue_remove(&task->queue);

    return 1;
}


void
ngx_http_jemalloc_pprof_thread_exit(ngx_cycle_t *cycle)
{
    struct pollfd                      pfd;
    ngx_http_jemalloc_pprof_thread_t  *thread;

    thread = &ngx_http_jemalloc_pprof_thread;

    if (thread->running == NULL) {
        return;
    }

    pfd.fd = thread->fd;
    pfd.events = POLLIN;

    (void) poll(&pfd, 1, NGX_HTTP_JEMALLOC_PPROF_EXIT_WAIT);

    /* a task that still runs uses nothing of nginx; its code stays mapped */

    ngx_log_debug1(NGX_LOG_DEBUG_CORE, cycle->log, 0,
                   "jemalloc_pprof: exit, task done: %uA", thread->is_done);
}


static ngx_int_t
ngx_http_jemalloc_pprof_thread_start(ngx_http_jemalloc_pprof_task_t *task)
{
    int                                err;
    ngx_http_jemalloc_pprof_thread_t  *thread;

    thread = &ngx_http_jemalloc_pprof_thread;

    if (ngx_http_jemalloc_pprof_thread_has_room() != NGX_OK) {
        return NGX_ERROR;
    }

    thread->is_done = 0;
    thread->running = task;

    err = jpp_thread_start(NGX_HTTP_JEMALLOC_PPROF_STACK,
                           ngx_http_jemalloc_pprof_thread_main, task);

    if (err) {
        thread->running = NULL;

        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, err,
                      "jemalloc_pprof: pthread_create() failed");
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_jemalloc_pprof_thread_has_room(void)
{
    void    *p;
    size_t   size;

    size = NGX_HTTP_JEMALLOC_PPROF_STACK + NGX_HTTP_JEMALLOC_PPROF_ROOM;

    p = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1,
             0);

    if (p == MAP_FAILED) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, ngx_errno,
                      "jemalloc_pprof: no memory for a thread: mmap(%uz) "
                      "failed", size);
        return NGX_ERROR;
    }

    (void) munmap(p, size);

    return NGX_OK;
}


static void *
ngx_http_jemalloc_pprof_thread_main(void *data)
{
    ngx_http_jemalloc_pprof_task_t *task = data;

    uint64_t                           one;
    ssize_t                            n;
    ngx_http_jemalloc_pprof_thread_t  *thread;

    thread = &ngx_http_jemalloc_pprof_thread;

    jpp_thread_name();

    (void) jpp_source_sample_thread(JPP_SOURCE_BY_NONE);

    task->work(task);

    __atomic_store_n(&thread->is_done, 1, __ATOMIC_RELEASE);

    one = 1;

    do {
        n = write(thread->fd, &one, sizeof(uint64_t));
    } while (n == -1 && ngx_errno == NGX_EINTR);

    return NULL;
}


static void
ngx_http_jemalloc_pprof_thread_done(ngx_event_t *ev)
{
    ssize_t                            n;
    uint64_t                           count;
    ngx_queue_t                       *q;
    ngx_http_jemalloc_pprof_task_t    *task;
    ngx_http_jemalloc_pprof_thread_t  *thread;

    thread = &ngx_http_jemalloc_pprof_thread;

    n = read(thread->fd, &count, sizeof(uint64_t));

    if (n == -1 && ngx_errno != NGX_EAGAIN) {
        ngx_log_error(NGX_LOG_ALERT, ev->log, ngx_errno,
                      "read() of an eventfd failed");
    }

    task = thread->running;

    if (task == NULL
        || !__atomic_load_n(&thread->is_done, __ATOMIC_ACQUIRE))
    {
        return;
    }

    thread->running = NULL;

    task->done(task);

    while (thread->running == NULL && !ngx_queue_empty(&thread->queue)) {

        q = ngx_queue_head(&thread->queue);
        ngx_queue_remove(q);

        task = ngx_queue_data(q, ngx_http_jemalloc_pprof_task_t, queue);

        /* no thread: the task counts as done, without having run */

        if (ngx_http_jemalloc_pprof_thread_start(task) != NGX_OK) {
            task->done(task);
        }
    }
}
